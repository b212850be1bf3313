"""The truth beside the findings."""

from typing import Any

from app.engine.records import Lifecycle
from app.sim.durations import Spread
from app.sim.ledger import Ledger
from app.sim.objects import Container, ContainerConfig, RuntimeEvent, Sandbox, SandboxConfig

SANDBOX = Sandbox("s1", SandboxConfig(name="web", uid="u", namespace="n"), "ready", 0)


def found(kind: Any, container_id: str, t: int, source: Any = "global", **more: Any) -> Lifecycle:
    given: dict[str, Any] = {"is_sandbox": False, "baseline": False, **more}
    return Lifecycle(
        t=t,
        wall=t,
        type=kind,
        uid="u",
        container_id=container_id,
        container_name="app",
        old_state="running",
        new_state="exited",
        relist=1,
        source=source,
        delivery="sent",
        **given,
    )


def test_a_finding_is_measured_from_the_true_moment_by_its_source() -> None:
    ledger = Ledger()
    for number, (source, later) in enumerate([("global", 500), ("evented_pleg", 60)]):
        ledger.began(f"c{number}", 10)
        ledger.on_record(found("ContainerStarted", f"c{number}", 13, "post_sync"))
        ledger.ended(f"c{number}", 1000)
        ledger.on_record(found("ContainerDied", f"c{number}", 1000 + later, source))
    ends = ledger.ends(frozenset())
    assert {source: spread.max for source, spread in ends.by_source.items()} == {
        "evented_pleg": 60,
        "global": 500,
    }
    assert list(ends.by_source) == ["evented_pleg", "global"]
    assert (ends.happened, ends.twice, ends.wrong, ends.waiting, ends.never) == (2, 0, 0, 0, 0)
    assert ledger.starts(frozenset()).by_source == {"post_sync": Spread(2, 3, 3, 3, 3, 3, 3)}


def test_what_was_there_when_the_shadow_came_late_is_no_finding() -> None:
    ledger = Ledger()
    ledger.began("c", 0)
    ledger.on_record(found("ContainerStarted", "c", 5, baseline=True))
    starts = ledger.starts(frozenset())
    assert (starts.happened, starts.by_source) == (1, {})


def test_what_is_told_again_or_wrongly_is_counted() -> None:
    ledger = Ledger()
    for name in ("dead", "alive"):
        ledger.began(name, 0)
    ledger.ended("dead", 10)
    for _ in range(3):
        ledger.on_record(found("ContainerDied", "dead", 20))
    ledger.on_record(found("ContainerDied", "alive", 20))
    ends = ledger.ends(frozenset())
    assert (ends.twice, ends.wrong) == (2, 1)
    assert ends.by_source["global"].count == 1


def test_one_that_was_never_started_cannot_have_ended() -> None:
    ledger = Ledger()
    ledger.on_record(found("ContainerDied", "created only", 20))
    assert ledger.ends(frozenset()).wrong == 0


def test_sandboxes_are_not_processes() -> None:
    ledger = Ledger()
    ledger.began("s1", 0)
    ledger.on_record(found("ContainerDied", "s1", 20, is_sandbox=True))
    ledger.told(RuntimeEvent("stopped", "s1", 0, SANDBOX), 5)
    assert ledger.ends(frozenset()).happened == 0
    assert ledger.runtime_lag().count == 0


def test_an_end_that_was_not_found_waits_or_is_gone_for_good() -> None:
    ledger = Ledger()
    for name in ("listed", "gone"):
        ledger.began(name, 0)
        ledger.ended(name, 10)
    ends = ledger.ends(frozenset({"listed"}))
    assert (ends.happened, ends.waiting, ends.never) == (2, 1, 1)


def test_the_runtimes_own_lag_is_from_the_end_to_its_event() -> None:
    ledger = Ledger()
    ledger.began("c", 0)
    ledger.ended("c", 100)
    ledger.told(RuntimeEvent("started", "c", 0, SANDBOX), 130)
    ledger.told(RuntimeEvent("stopped", "c", 0, SANDBOX), 152)
    assert ledger.runtime_lag() == Spread(1, 52, 52, 52, 52, 52, 52)


def test_what_the_runtime_killed_itself_ended_when_it_tells_so() -> None:
    ledger = Ledger()
    ledger.began("c", 0)
    ledger.told(RuntimeEvent("stopped", "c", 0, SANDBOX), 70)
    ledger.on_record(found("ContainerDied", "c", 75))
    assert ledger.ends(frozenset()).by_source["global"].max == 5
    assert ledger.runtime_lag().max == 0


def test_each_happening_is_told_with_its_finding_and_its_owner() -> None:
    ledger = Ledger()
    config = ContainerConfig(name="app", image="i")
    made = Container("c", "s1", config, "created", 0)
    ledger.told(RuntimeEvent("created", "c", 0, SANDBOX, (made,)), 1)
    ledger.began("c", 2)
    ledger.on_record(found("ContainerStarted", "c", 5, "post_sync"))
    ledger.ended("c", 9)
    start, end = ledger.happenings()
    assert (start.what, start.t, start.found_t, start.source) == ("start", 2, 5, "post_sync")
    assert (start.uid, start.container_name) == ("u", "app")
    assert (end.what, end.t, end.uid, end.found_t, end.source) == ("end", 9, "u", None, None)


def test_what_nobody_told_of_has_no_owner_and_baseline_is_said() -> None:
    ledger = Ledger()
    ledger.began("c", 0)
    ledger.on_record(found("ContainerStarted", "c", 5, baseline=True))
    (start,) = ledger.happenings()
    assert (start.uid, start.container_name, start.baseline) == ("", "", True)
