"""Who gets an event, and what is kept for whoever comes."""

from typing import Any

import msgspec

from app.sim.audience import Audience
from app.sim.chance import generator
from app.sim.flavour import Backlog, RuntimeRules
from app.sim.flavours import CONTAINERD_1_6, CONTAINERD_1_7, CONTAINERD_2, CRI_O
from app.sim.objects import RuntimeEvent, Sandbox, SandboxConfig

SANDBOX = Sandbox("s", SandboxConfig(name="p", uid="u", namespace="n"), "ready", 1)


def event(name: str, t: int = 0) -> RuntimeEvent:
    return RuntimeEvent("stopped", name, t, SANDBOX)


def audience(rules: RuntimeRules, seed: int = 1, **changed: Any) -> Audience[str]:
    return Audience(msgspec.structs.replace(rules, **changed), generator(seed, "audience"))


def kept(of: Audience[str], now: int = 0) -> list[str]:
    return [told.container_id for told in of.join("anybody", now)]


def test_each_or_one_or_nobody_gets_it() -> None:
    def told_to(rules: RuntimeRules) -> list[tuple[str, ...] | None]:
        of = audience(rules)
        of.join("a", 0)
        of.join("b", 0)
        return [of.hand(event(name)) for name in "xyz"]

    assert told_to(CONTAINERD_2) == [("a", "b")] * 3
    assert told_to(CRI_O) == [("a", "b")] * 3
    assert told_to(CONTAINERD_1_7) == [("a",), ("b",), ("a",)]
    assert told_to(CONTAINERD_1_6) == [()] * 3


def test_where_each_gets_it_all_wait_for_the_one_without_room() -> None:
    of = audience(CONTAINERD_2)
    of.join("slow", 0)
    of.join("quick", 0)
    assert of.hand(event("x"), lambda one: one != "slow") is None
    assert of.hand(event("x")) == ("slow", "quick")


def test_where_one_gets_it_the_one_without_room_is_passed_over() -> None:
    of = audience(CONTAINERD_1_7)
    of.join("slow", 0)
    of.join("quick", 0)
    for _ in range(3):
        assert of.hand(event("x"), lambda one: one != "slow") == ("quick",)
    assert of.hand(event("x"), lambda _: False) is None
    assert of.hand(event("x")) == ("slow",)


def test_nobody_there_keeps_it_for_the_next_and_for_no_one_else() -> None:
    of = audience(CONTAINERD_2)
    assert of.hand(event("x")) == ()
    assert kept(of) == ["x"]
    assert kept(of) == []


def test_how_much_is_kept_and_for_how_long() -> None:
    def after(backlog: Backlog, now: int) -> list[str]:
        of = audience(CONTAINERD_2, backlog=backlog)
        for t in range(6):
            of.hand(event(str(t), t))
        return kept(of, now)

    assert after(Backlog(count=4, keeps="oldest"), 1000) == ["0", "1", "2", "3"]
    assert after(Backlog(count=4, keeps="newest"), 1000) == ["2", "3", "4", "5"]
    assert after(Backlog(count=9, keeps="newest", age_ns=10), 14) == ["4", "5"]
    assert after(Backlog(count=0, keeps="newest"), 0) == []


def test_kept_once_is_kept_until_somebody_comes_and_again_after_a_restart() -> None:
    of = audience(CRI_O)
    of.hand(event("early"))
    assert kept(of) == ["early"]
    of.leave("anybody", noticed=False)
    of.hand(event("missed"))
    assert kept(of) == []
    of.restart()
    of.hand(event("anew"))
    assert kept(of) == ["anew"]


def test_one_that_has_left_swallows_an_event_or_two_before_any_is_kept() -> None:
    lost = set()
    for seed in range(20):
        of = audience(CONTAINERD_2, seed)
        of.join("a", 0)
        of.leave("a", noticed=False)
        for name in "xyz":
            of.hand(event(name))
        lost.add(3 - len(kept(of)))
    assert lost == {1, 2}


def test_one_whose_stream_the_runtime_ended_swallows_none() -> None:
    of = audience(CONTAINERD_1_7)
    of.join("a", 0)
    of.leave("a", noticed=True)
    of.hand(event("x"))
    assert kept(of) == ["x"]


def test_leaving_twice_or_without_having_come_is_nothing() -> None:
    of = audience(CONTAINERD_1_7, ghosts=(1, 1))
    of.join("a", 0)
    of.leave("a", noticed=False)
    of.leave("a", noticed=False)
    of.leave("stranger", noticed=False)
    of.hand(event("swallowed"))
    of.hand(event("kept"))
    assert kept(of) == ["kept"]


def test_where_one_gets_it_the_one_that_left_has_its_turn_like_the_others() -> None:
    of = audience(CONTAINERD_1_7, ghosts=(1, 1))
    for one in ("a", "b", "gone"):
        of.join(one, 0)
    of.leave("gone", noticed=False)
    assert [of.hand(event(name)) for name in "vwxyz"] == [("a",), ("b",), (), ("a",), ("b",)]


def test_a_restart_forgets_what_was_kept_and_who_was_there() -> None:
    of = audience(CONTAINERD_1_7)
    of.hand(event("x"))
    of.restart()
    assert kept(of) == []
    of.restart()
    assert of.hand(event("y")) == ()
    assert kept(of) == ["y"]
