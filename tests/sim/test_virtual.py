"""A whole session in virtual time: the same each time, and always right in the end."""

import gc
import random
import subprocess
import sys
from collections.abc import Callable

import msgspec
import pytest

from app.engine.hanging import HUNG_AFTER_NS, LOOK_NS
from app.engine.inputs import EventsTaken, Input, StreamEvent
from app.engine.profiles import PROFILES
from app.engine.records import (
    Lifecycle,
    Note,
    Record,
    RelistFinished,
    RuntimeHung,
    RuntimeSeen,
    StreamChanged,
    SyncBegan,
    SyncFinished,
    Watching,
)
from app.engine.settings import EngineSettings
from app.sim.account import Summary, play_to_end
from app.sim.faults import (
    AnyFault,
    EventsDamaged,
    EventsDoubled,
    EventsLost,
    EventsMisdated,
    EventsReordered,
    InspectionsFail,
    InspectionsSlow,
    ListsFail,
    ListsHang,
    ListsSlow,
    RuntimeFreezes,
    RuntimeRestarts,
    StreamDelayed,
    StreamEnds,
    StreamRefused,
    StreamSilent,
)
from app.sim.library import load
from app.sim.pods import COMPLETED, ERROR, ContainerSpec, Lifetime, Probe, Resources
from app.sim.scenario import Scenario
from app.sim.units import Ns, Offset, millis, seconds
from app.sim.virtual import HELD, VirtualSession
from app.sim.workers import WorkerSettings
from app.sim.workloads import CronJob, InPlace, Mishap, Replicas, TrainingGroup

WORKLOADS = (
    Replicas(
        namespace="shop",
        name="web",
        containers=(
            ContainerSpec(name="app", image="i"),
            ContainerSpec(
                name="side",
                image="i",
                lifetime=Lifetime((seconds(5), seconds(40)), (ERROR, COMPLETED)),
            ),
        ),
        count=6,
        range=(0, 12),
        scale=(seconds(3), seconds(20)),
        mishaps=(
            Mishap(every=(seconds(1), seconds(6)), containers=("app",), ending=ERROR),
            Mishap(every=(seconds(4), seconds(16)), containers=("app", "side")),
        ),
    ),
    CronJob(
        namespace="shop",
        name="job",
        image="i",
        every=(seconds(3), seconds(9)),
        runs=(seconds(1), seconds(4)),
        failures=4,
        ttl_ns=seconds(4),
    ),
    TrainingGroup(namespace="shop", name="t", image="i", every=(seconds(10), seconds(30))),
    Replicas(
        namespace="shop",
        name="grows",
        containers=(
            ContainerSpec(name="app", image="i", probe=Probe("startup", (seconds(4), seconds(25)))),
        ),
        count=3,
        in_place=tuple(
            InPlace(at=seconds(at), resources=Resources(100 + at, 128), within=seconds(2))
            for at in (5, 6, 15, 33, 52)
        ),
    ),
    TrainingGroup(
        namespace="shop",
        name="m",
        image="i",
        every=(seconds(10), seconds(30)),
        launcher=True,
        failure="replace",
    ),
)

TWO_PROCESSES = """
import sys
import msgspec
from tests.sim.test_virtual import troubled
from app.sim.account import play_to_end
from app.sim.virtual import VirtualSession
out = []
for seed in range(4):
    for profile in ("kep", "legacy"):
        session = VirtualSession(troubled(seed), seed=seed, profile=profile, on_record=out.append)
        out.append(play_to_end(session, 30_000_000_000))
sys.stdout.buffer.write(msgspec.json.encode(out))
"""


def window(dice: random.Random) -> tuple[Ns, Ns | None]:
    """When a fault begins, and how long it lasts; some last to the end."""
    lasts = seconds(dice.random() * 15)
    return seconds(dice.random() * 50), lasts if dice.random() < 0.9 else None


def some_fault(dice: random.Random) -> AnyFault:
    """Any fault at any time."""
    at, lasts = window(dice)
    share = dice.random()
    makers: tuple[Callable[[], AnyFault], ...] = (
        lambda: StreamRefused(at=at, lasts=lasts),
        lambda: StreamRefused(at=at, lasts=lasts, answer="unavailable"),
        lambda: StreamEnds(at=at, lasts=lasts, how="cleanly"),
        lambda: StreamEnds(at=at, lasts=lasts, how="broken", after=seconds(dice.random() * 4)),
        lambda: StreamSilent(at=at, lasts=lasts, late=share < 0.5),
        lambda: StreamDelayed(at=at, lasts=lasts, by=(millis(1), seconds(3))),
        lambda: EventsLost(at=at, lasts=lasts, share=share),
        lambda: EventsDoubled(at=at, lasts=lasts, share=share),
        lambda: EventsReordered(at=at, lasts=lasts, share=share),
        lambda: EventsDamaged(at=at, lasts=lasts, without="uid"),
        lambda: EventsDamaged(at=at, lasts=lasts, without="sandbox-status"),
        lambda: EventsMisdated(at=at, lasts=lasts, by=Offset(round(share * 10**13) - 10**12)),
        lambda: ListsSlow(at=at, lasts=lasts, by=(millis(1), seconds(2))),
        lambda: ListsFail(at=at, lasts=lasts, share=share),
        lambda: ListsHang(at=at, lasts=lasts),
        lambda: InspectionsFail(at=at, lasts=lasts, share=share, pods="shop/web*"),
        lambda: InspectionsSlow(at=at, lasts=lasts, by=(millis(1), seconds(1))),
        lambda: RuntimeRestarts(at=at, lasts=lasts),
        lambda: RuntimeFreezes(at=at, lasts=lasts),
    )
    return dice.choice(makers)()


def troubled(seed: int) -> Scenario:
    """A lively node with up to six faults, and numbers that are not the usual ones."""
    dice = random.Random(seed)
    return Scenario(
        name="trouble",
        title="Trouble",
        shows="That the shadow knows the node in the end, whatever happened.",
        workloads=WORKLOADS,
        faults=tuple(some_fault(dice) for _ in range(dice.randint(0, 6))),
        engine=EngineSettings(
            period_ns=dice.choice([10**8, 10**9, 5 * 10**9]),
            queue_capacity=dice.choice([1, 5, 200]),
            event_channel=dice.choice([None, 1, 20]),
        ),
        workers=WorkerSettings(backoff_scale=dice.choice([0.01, 0.1, 1])),
    )


def calm(*faults: AnyFault, seed: int = 7) -> Scenario:
    return Scenario(
        name="calm", title="Calm", shows="Calm.", seed=seed, workloads=WORKLOADS, faults=faults
    )


def play(
    scenario: Scenario, time_s: float = 40, profile: str = "kep", seed: int | None = None
) -> tuple[list[Record], Summary]:
    records: list[Record] = []
    session = VirtualSession(scenario, seed=seed, profile=profile, on_record=records.append)
    return records, play_to_end(session, seconds(time_s))


# ------------------------------------------------------------------------- the law of the end


@pytest.mark.parametrize("profile", [name for name in PROFILES if name != "legacy"])
def test_whatever_happened_the_shadow_knows_the_node_in_the_end(profile: str) -> None:
    struck: set[str] = set()
    for seed in range(25):
        _, summary = play(troubled(seed), 60, profile, seed)
        told = f"seed {seed}"
        assert summary.settled, told
        assert summary.difference == (), told
        assert (summary.ends.twice, summary.ends.wrong, summary.ends.waiting) == (0, 0, 0), told
        requests = summary.requests
        outcomes = ("executed", "skipped", "coalesced", "dropped", "cancelled")
        assert requests["made"] == sum(requests[one] for one in outcomes), told
        assert requests["held"] == 0, told
        struck |= {one.kind for one in summary.faults if one.hits}
    kinds = {fault.kind for seed in range(25) for fault in troubled(seed).faults}
    if PROFILES[profile].hints == "none":
        kinds = {one for one in kinds if not one.startswith(("stream-", "events-"))}
    assert struck == kinds, "a fault of the generator never hit anything"


def test_the_old_design_does_not() -> None:
    wrong = sum(play(troubled(seed), 60, "legacy", seed)[1].differences > 0 for seed in range(10))
    assert wrong > 3


# ------------------------------------------------------------------------------- determinism


def test_the_same_seed_is_the_same_session_in_every_process() -> None:
    def printed(hash_seed: str) -> bytes:
        return subprocess.run(
            [sys.executable, "-c", TWO_PROCESSES],
            env={"PYTHONHASHSEED": hash_seed, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True,
            check=True,
        ).stdout

    first = printed("0")
    assert len(first) > 1_000_000
    assert printed("4711") == first


def test_another_seed_is_another_session() -> None:
    first, _ = play(calm(), seed=1)
    again, _ = play(calm(), seed=1)
    other, _ = play(calm(), seed=2)
    assert first == again
    assert first != other


def test_a_fault_of_one_kind_shifts_nothing_elsewhere() -> None:
    """A lossy stream changes what is found when, but not what truly happens to jobs."""

    def happened(*faults: AnyFault) -> dict[str, set[int]]:
        script = (WORKLOADS[1],)
        scenario = Scenario(name="x", title="x", shows="x", workloads=script, faults=faults)
        records, _ = play(scenario)
        ends: dict[str, set[int]] = {}
        for one in records:
            if isinstance(one, Lifecycle) and one.type == "ContainerDied" and one.finished_at:
                ends.setdefault(one.container_name, set()).add(one.finished_at)
        return ends

    plain = happened()
    assert len(plain["job"]) > 4
    # These pods never restart: their ends follow from their starts alone.
    assert happened(EventsLost(at=Ns(0), events=("deleted",))) == plain
    assert happened(EventsDoubled(at=Ns(0), share=0.3)) == plain


# --------------------------------------------------------------------------- how it is played


def test_it_begins_with_the_runtime_and_the_watch_at_time_0() -> None:
    records, _ = play(calm(), 1)
    assert isinstance(records[0], RuntimeSeen)
    assert records[0].policy == "join"
    assert isinstance(records[1], Watching)
    assert records[1].t == 0
    assert [one.t for one in records] == sorted(one.t for one in records)


def test_faults_and_the_end_are_told_in_notes() -> None:
    fault = ListsHang(at=seconds(2), lasts=seconds(1))
    records, summary = play(calm(fault), 5)
    notes = [(one.t, one.level, one.text) for one in records if isinstance(one, Note)]
    assert notes == [
        (seconds(2), "warning", f"Fault begins: Hanging lists. It imitates: {ListsHang.imitates}"),
        (seconds(3), "info", "Fault is over: Hanging lists."),
        (seconds(5), "info", HELD),
    ]
    assert [one.kind for one in summary.faults] == ["lists-hang"]


@pytest.mark.parametrize(
    ("fault", "method"),
    [
        (RuntimeFreezes(at=seconds(10), lasts=seconds(9)), "ListPodSandbox"),
        (ListsHang(at=seconds(10), lasts=seconds(9)), "ListPodSandbox"),
        (
            ListsSlow(at=seconds(10), lasts=seconds(1), by=(seconds(8), seconds(9))),
            "ListPodSandbox",
        ),
        (
            InspectionsSlow(at=seconds(10), lasts=seconds(1), by=(seconds(8), seconds(9))),
            "PodSandboxStatus",
        ),
    ],
)
def test_a_call_that_hangs_is_told_as_of_a_real_runtime(fault: AnyFault, method: str) -> None:
    records, _summary = play(calm(fault))
    told = [one for one in records if isinstance(one, RuntimeHung)]
    assert [one.hung for one in told] == [True, False] * (len(told) // 2)
    first, last = told[:2]
    assert first.method == method
    assert HUNG_AFTER_NS <= first.age_ns < HUNG_AFTER_NS + LOOK_NS
    assert first.t - first.age_ns >= seconds(10)
    assert seconds(7) < last.age_ns <= seconds(9)
    assert not [one for one in play(calm())[0] if isinstance(one, RuntimeHung)]


def test_after_the_end_only_what_was_under_way_is_found() -> None:
    records, summary = play(calm(), 20)
    late = [one for one in records if one.t > seconds(23)]
    assert late == []
    assert seconds(20) < summary.ended_t < seconds(23)


def test_faults_of_the_stream_last_on_while_the_node_is_held() -> None:
    forever = (
        StreamRefused(at=Ns(0)),
        ListsHang(at=seconds(10)),
        InspectionsFail(at=seconds(10)),
        RuntimeFreezes(at=seconds(10), lasts=None),
    )
    records, summary = play(calm(*forever), 20)
    assert summary.settled
    assert summary.differences == 0
    ended = {one.kind for one in summary.faults if one.ended_t is not None}
    assert ended == {"lists-hang", "inspections-fail", "runtime-freezes"}
    assert isinstance(records[-1], StreamChanged)
    assert records[-1].state == "closed"


def test_a_design_that_looks_every_five_minutes_is_not_waited_for() -> None:
    _, summary = play(calm(), 60, "legacy")
    assert not summary.settled
    assert summary.ended_t <= seconds(66)
    assert summary.differences > 0


def test_a_slowed_shadow_is_waited_for() -> None:
    """Politeness may have stretched the pause to a minute."""
    slow = ListsSlow(at=Ns(0), lasts=None, by=(seconds(8), seconds(9)))
    records, summary = play(calm(slow), 120)
    assert summary.settled
    assert summary.differences == 0
    pauses = [one.duration_ns for one in records if isinstance(one, RelistFinished)]
    assert max(pauses) > seconds(16)


class Ear(VirtualSession):
    """Hears what is fed."""

    heard: list[Input]

    def feed(self, happened: Input) -> None:
        self.__dict__.setdefault("heard", []).append(happened)
        super().feed(happened)


@pytest.mark.parametrize(("profile", "believes"), [("kep", False), ("legacy", True)])
def test_only_who_believes_events_gets_their_payload(profile: str, believes: bool) -> None:
    session = Ear(calm(), profile=profile)
    session.start()
    session.run_until(seconds(20))
    events = [one.event for one in session.heard if isinstance(one, StreamEvent)]
    assert len(events) > 10
    assert {one.sandbox is not None for one in events} == {believes}
    assert any(one.containers for one in events) is believes


def test_an_input_fed_from_within_a_step_is_a_mistake() -> None:
    session = VirtualSession(calm())
    session.listeners.append(
        lambda record: session.feed(EventsTaken(t=record.t, wall=record.wall, count=1))
    )
    with pytest.raises(AssertionError, match="from within"):
        session.start()


def test_a_session_that_is_dropped_while_pods_are_synced_ends_without_a_word(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Enough(Exception):
        pass

    told: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", told.append)
    syncing: set[str] = set()

    def on_record(record: Record) -> None:
        if isinstance(record, SyncBegan):
            syncing.add(record.uid)
            if len(syncing) == 3:
                raise Enough
        elif isinstance(record, SyncFinished):
            syncing.discard(record.uid)

    session = VirtualSession(load("demo"), on_record=on_record)
    session.start()
    with pytest.raises(Enough):
        session.run_until(seconds(60))
    del session
    gc.collect()
    assert told == []


def test_a_session_is_bounded_in_a_long_life() -> None:
    session = VirtualSession(calm(StreamRefused(at=seconds(100))))
    session.start()
    session.run_until(seconds(1800))
    assert len(session.agenda._heap) < 300
    session.settle()
    assert len(session.runtime._rows._containers) == session.world.count


def test_records_can_be_written_as_they_are() -> None:
    """Nothing in a record is of a kind that only the simulation knows."""
    faults = (EventsMisdated(at=Ns(0), by=Offset(-5)), StreamDelayed(at=Ns(0), by=(Ns(1), Ns(9))))
    for profile in PROFILES:
        records, summary = play(calm(*faults), 20, profile)
        lines = [msgspec.json.encode(one) for one in (*records, summary)]
        assert len(lines) == summary.records + 1
