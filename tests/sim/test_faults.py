"""Faults as declarations: each says what it is, whom it hits, and what it imitates."""

import re
import typing
from importlib import resources

import msgspec
import pytest

from app.sim import faults
from app.sim.faults import (
    AnyFault,
    EventsLost,
    Fault,
    InspectionsFail,
    ListsSlow,
    PodFault,
    StreamDelayed,
)
from app.sim.library import parse
from app.sim.scenariofile import EnginePart, ScenarioFile
from app.sim.units import Ns, millis, seconds

KINDS: tuple[type[Fault], ...] = typing.get_args(AnyFault)


def test_every_fault_of_the_module_can_stand_in_a_file() -> None:
    declared = {
        one
        for one in vars(faults).values()
        if isinstance(one, type)
        and issubclass(one, Fault)
        and one not in (Fault, faults.PodFault, faults.EventFault)
    }
    assert declared == set(KINDS)
    assert len({str(kind.__struct_config__.tag) for kind in KINDS}) == len(KINDS) == 22


@pytest.mark.parametrize("kind", KINDS)
def test_each_says_what_it_imitates_in_a_sentence(kind: type[Fault]) -> None:
    assert kind.imitates.endswith(".")
    assert len(kind.imitates.split()) >= 5
    assert kind.family in ("stream", "lists", "inspections", "runtime", "kubelet", "node")
    assert kind.__doc__


PAGE = (resources.files("app.sim") / "scenarios" / "FAULTS.md").read_text("utf-8")


def test_the_page_on_faults_has_every_kind_with_its_own_keys() -> None:
    rows = dict(re.findall(r"^\| `([a-z-]+)` \|[^|]*\|(.*)\|$", PAGE, re.MULTILINE))
    assert list(rows) == [str(kind.__struct_config__.tag) for kind in KINDS]
    for kind, told in zip(KINDS, rows.values(), strict=True):
        told_keys = set(re.findall(r"`([a-z_]+)", told))
        own = {field.encode_name for field in msgspec.structs.fields(kind)} - {"at", "for"}
        if issubclass(kind, PodFault):
            own -= {"pods", "share", "events"}
        assert own - told_keys == set(), kind


def test_the_page_on_faults_has_the_keys_of_a_file_and_an_example_that_plays() -> None:
    head = PAGE.partition("Every fault has")[0]
    for part in (ScenarioFile, EnginePart):
        for field in msgspec.structs.fields(part):
            assert re.search(rf"`[\[]*{field.name}\b", head), field.name
    (example,) = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    assert [one.kind for one in parse(example, "a").faults] == ["lists-slow"]


def test_a_fault_knows_what_it_is_called() -> None:
    assert EventsLost(at=Ns(0)).kind == "events-lost"


@pytest.mark.parametrize(
    ("pods", "hit"),
    [("*", True), ("shop/*", True), ("*/web-?", True), ("shop/web", False), ("Shop/*", False)],
)
def test_pods_are_chosen_by_namespace_and_name(pods: str, hit: bool) -> None:
    assert InspectionsFail(at=Ns(0), pods=pods).concerns("shop", "web-1") is hit


def test_many_stars_cost_no_time() -> None:
    fault = InspectionsFail(at=Ns(0), pods="*a" * 100)
    assert not fault.concerns("shop", "a" * 60 + "b")


@pytest.mark.parametrize("kind", [ListsSlow, StreamDelayed])
def test_a_span_is_the_shortest_and_the_longest(kind: type[Fault]) -> None:
    wrong = {"kind": kind.__struct_config__.tag, "at": 0, "by": [5, 3]}
    with pytest.raises(msgspec.ValidationError, match="shortest and the longest"):
        msgspec.convert(wrong, kind, dec_hook=lambda wanted, given: wanted(given))


def test_what_has_no_end_of_its_own_has_none_unless_it_is_told() -> None:
    assert StreamDelayed(at=Ns(0), by=(millis(1), millis(2))).lasts is None
    assert faults.RuntimeRestarts(at=Ns(0)).lasts == millis(400)
    assert faults.RuntimeFreezes(at=Ns(0)).lasts == seconds(20)
    assert faults.StreamEnds(at=Ns(0)).lasts == 0


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"every": [9, 5]}, "shortest and the longest"),
        ({"runs": [9, 5]}, "shortest and the longest"),
        ({"ttl": [9, 5]}, "shortest and the longest"),
        ({"every": [9, 10**9]}, "10 ms at least"),
    ],
)
def test_short_lives_come_at_a_distance_and_in_order(wrong: dict[str, object], said: str) -> None:
    told = {"kind": "short-lived-pods", "at": 0, **wrong}
    with pytest.raises(msgspec.ValidationError, match=said):
        msgspec.convert(told, faults.ShortLivedPods, dec_hook=lambda kind, given: kind(given))


@pytest.mark.parametrize("times", [0, 901])
def test_a_flood_is_bounded(times: int) -> None:
    told = {"kind": "events-repeated", "at": 0, "times": times}
    with pytest.raises(msgspec.ValidationError, match="times"):
        msgspec.convert(told, faults.EventsRepeated, dec_hook=lambda kind, given: kind(given))


def test_the_faults_of_the_kubelet_and_the_node_can_stand_in_a_scenario_file() -> None:
    made = parse(
        """
        title = "T"
        shows = "S."

        [[fault]]
        kind = "syncpods-slow"
        at = "1s"
        pods = "shop/*"
        by = ["2s", "3s"]

        [[fault]]
        kind = "sync-loop-stalls"
        at = "1s"
        for = "5s"
        room = 2

        [[fault]]
        kind = "short-lived-pods"
        at = "1s"
        every = ["100ms", "200ms"]

        [[fault]]
        kind = "termination-storm"
        at = "1s"
        within = "5ms"
        ending = "killed"

        [[fault]]
        kind = "events-repeated"
        at = "1s"
        times = 5

        [[fault]]
        kind = "events-damaged"
        at = "1s"
        without = "statuses"
        """,
        "mine",
    )
    at = seconds(1)
    assert made.faults == (
        faults.SyncPodsSlow(at=at, pods="shop/*", by=(seconds(2), seconds(3))),
        faults.SyncLoopStalls(at=at, lasts=seconds(5), room=2),
        faults.ShortLivedPods(at=at, every=(millis(100), millis(200))),
        faults.TerminationStorm(at=at, within=millis(5), ending="killed"),
        faults.EventsRepeated(at=at, times=5),
        faults.EventsDamaged(at=at, without="statuses"),
    )
