"""When a runtime is taken for hung: told once by whoever looks, understood from records alone."""

from __future__ import annotations

import pytest

from app.engine.hanging import (
    HUNG_AFTER_NS,
    LONG_NS,
    LOOK_NS,
    Hanging,
    HangWatch,
    OldestCall,
    hangs_since,
    oldest_of,
)
from app.engine.records import Note, Record, RelistFinished, RuntimeHung, Scope, Watching
from app.engine.state import HealthState, RelistState
from tests.build import engine_state

SECOND = 1_000_000_000


def looked(waits: dict[int, tuple[str, int] | None], until: int) -> list[RuntimeHung]:
    """What is told by looking twice a second; ``waits``: what waits, from each time on."""
    watch, told = HangWatch(), []
    for t in range(0, until, LOOK_NS):
        now = waits[max(since for since in waits if since <= t)]
        record = watch.look(oldest_of(now, t), t, 1000 + t)
        if record is not None:
            told.append(record)
    return told


def hung(t: int, age_ns: int, *, hung: bool = True, method: str = "ListPodSandbox") -> RuntimeHung:
    return RuntimeHung(t=t, wall=t, hung=hung, method=method, age_ns=age_ns)


def finished(t: int, started: int, scope: Scope = "global", *, ok: bool = True) -> RelistFinished:
    return RelistFinished(
        t=t, wall=t, relist=1, scope=scope, source="global", started=started,
        duration_ns=t - started, ok=ok,
    )  # fmt: skip


def test_a_call_is_hung_from_the_limit_on() -> None:
    assert oldest_of(None, 9) is None
    assert oldest_of(("Version", 7), HUNG_AFTER_NS + 6) == OldestCall("Version", 7, False)
    assert oldest_of(("Version", 7), HUNG_AFTER_NS + 7) == OldestCall("Version", 7, True)


def test_whoever_looks_tells_a_hang_once_and_its_end_with_the_age_it_reached() -> None:
    call = ("ListPodSandbox", SECOND)
    told = looked({0: None, SECOND: call, 9 * SECOND: None}, 20 * SECOND)
    assert [(one.t, one.hung, one.age_ns) for one in told] == [
        (SECOND + HUNG_AFTER_NS, True, HUNG_AFTER_NS),
        (9 * SECOND, False, 8 * SECOND - LOOK_NS),
    ]
    assert {(one.method, one.wall - one.t) for one in told} == {("ListPodSandbox", 1000)}
    assert looked({0: ("ListPodSandbox", 0), 5 * SECOND - 1: None}, 20 * SECOND) == []


def test_two_calls_that_hang_one_after_the_other_are_one_hang() -> None:
    waits = {0: ("ListPodSandbox", 0), 8 * SECOND: ("ListContainers", SECOND), 9 * SECOND: None}
    told = looked(waits, 20 * SECOND)
    assert [(one.method, one.hung) for one in told] == [
        ("ListPodSandbox", True),
        ("ListContainers", False),
    ]


def after(*records: Record) -> OldestCall | None:
    """What hangs once they have happened."""
    hanging = Hanging()
    for record in records:
        hanging.apply(record)
    return hanging.call


HANGS = hung(6 * SECOND, 5 * SECOND)


@pytest.mark.parametrize(
    ("record", "over"),
    [
        (hung(9 * SECOND, 8 * SECOND, hung=False), True),
        (finished(9 * SECOND, SECOND), True),
        (finished(9 * SECOND, SECOND, "pod"), True),
        (finished(9 * SECOND, SECOND - 5, ok=False), True),
        (finished(9 * SECOND, SECOND + 1), False),
        (Note(t=9 * SECOND, wall=0, level="info", text=""), False),
        (
            Watching(t=0, wall=0, profile="kep", period_ns=1, threshold_ns=1, queue_capacity=1),
            True,
        ),
    ],
)
def test_a_call_hangs_until_it_is_told_or_its_relist_ends(record: Record, *, over: bool) -> None:
    assert after(record) is None
    hangs = OldestCall("ListPodSandbox", SECOND, True)
    assert after(record, HANGS) == hangs
    assert after(record, HANGS, record) == (None if over else hangs)


@pytest.mark.parametrize(
    ("scope", "age_ns", "listed", "hangs"),
    [
        ("global", HUNG_AFTER_NS, False, False),
        ("global", HUNG_AFTER_NS + 1, False, True),
        ("global", LONG_NS, True, False),
        ("global", LONG_NS + 1, True, True),
        ("pod", HUNG_AFTER_NS, True, False),
        ("pod", HUNG_AFTER_NS + 1, True, True),
    ],
)
def test_a_relist_that_does_not_come_back_hangs_though_nobody_has_looked(
    scope: Scope, age_ns: int, *, listed: bool, hangs: bool
) -> None:
    t = 100 * SECOND
    began = t - age_ns
    seen = began if listed else began - SECOND
    state = engine_state(
        t,
        running=RelistState(7, scope, "global", began),
        health=HealthState(True, "", seen, 180 * SECOND, None),
    )
    assert hangs_since(state, None) == (began if hangs else None)
    waits = OldestCall("Version", 3, hung=False)
    assert hangs_since(state, waits) == hangs_since(state, None)
    assert hangs_since(state, OldestCall("Version", 3, hung=True)) == 3
    assert hangs_since(engine_state(t), None) is None


def test_the_end_of_a_relist_says_nothing_of_a_call_beside_it() -> None:
    beside = hung(6 * SECOND, 5 * SECOND, method="Version")
    assert after(beside, finished(9 * SECOND, 0)) == OldestCall("Version", SECOND, True)
