"""The summary, counted again from the records by other means."""

from collections import Counter
from itertools import pairwise

import msgspec
import pytest

from app.engine.records import (
    HealthChanged,
    Lifecycle,
    Record,
    RelistFinished,
    RelistStarted,
    RequestMade,
    StreamChanged,
    SyncFinished,
)
from app.engine.settings import EngineSettings
from app.sim.account import MOST_DIFFERENCES, Summary, play_to_end
from app.sim.faults import EventsLost, Fault, ListsFail, ListsHang, RuntimeRestarts, StreamSilent
from app.sim.flavour import SECOND
from app.sim.milestones import Milestone
from app.sim.pods import ERROR, Probe, Resources
from app.sim.scenario import Scenario
from app.sim.units import Ns, seconds
from app.sim.virtual import VirtualSession
from app.sim.workloads import InPlace, MassEnd, Mishap, Replicas, Resize
from tests.sim.orders import runs_on


def scenario(*faults: Fault, count: int = 12, threshold_s: int = 180) -> Scenario:
    return Scenario(
        name="counted",
        title="A node to count on",
        shows="Numbers.",
        workloads=(
            Replicas(
                namespace="shop",
                name="web",
                containers=(runs_on("app"), runs_on("side")),
                count=count,
                mishaps=(
                    Mishap(every=(seconds(1), seconds(3)), containers=("app",), ending=ERROR),
                ),
            ),
        ),
        faults=faults,
        engine=EngineSettings(threshold_ns=threshold_s * SECOND, event_channel=4),
    )


TROUBLE = (
    EventsLost(at=seconds(5), lasts=seconds(60), share=0.5),
    RuntimeRestarts(at=seconds(20), lasts=seconds(3)),
    ListsFail(at=seconds(40), lasts=seconds(5), share=0.5),
    StreamSilent(at=seconds(50)),
)


@pytest.fixture(scope="module")
def played() -> tuple[list[Record], Summary]:
    records: list[Record] = []
    session = VirtualSession(scenario(*TROUBLE), seed=3, on_record=records.append)
    return records, play_to_end(session, seconds(90))


def test_it_says_what_was_played(played: tuple[list[Record], Summary]) -> None:
    _, summary = played
    assert summary.played.scenario == "counted"
    assert summary.played.title == "A node to count on"
    assert (summary.played.profile, summary.played.seed) == ("kep", 3)
    assert summary.played.runtime == "containerd-2"
    assert summary.played.duration_ns == 90 * SECOND
    assert summary.ended_t > 90 * SECOND


def test_records_are_counted_by_kind(played: tuple[list[Record], Summary]) -> None:
    records, summary = played
    assert summary.records == len(records)
    kinds = Counter(str(one.__struct_config__.tag) for one in records)
    assert summary.by_kind == kinds
    assert list(summary.by_kind) == sorted(kinds)


def test_lifecycle_events_by_source_and_type(played: tuple[list[Record], Summary]) -> None:
    records, summary = played
    found = [one for one in records if isinstance(one, Lifecycle)]
    assert sum(sum(types.values()) for types in summary.lifecycle.values()) == len(found)
    for source, types in summary.lifecycle.items():
        assert types == Counter(one.type for one in found if one.source == source)
    assert summary.deliveries == Counter(one.delivery for one in found)
    assert set(summary.lifecycle) == {"global", "evented_pleg", "post_sync"}


def test_ends_by_source_are_the_lifecycle_events_of_containers(
    played: tuple[list[Record], Summary],
) -> None:
    records, summary = played
    died = Counter(
        one.source
        for one in records
        if isinstance(one, Lifecycle) and one.type == "ContainerDied" and not one.is_sandbox
    )
    assert {source: spread.count for source, spread in summary.ends.by_source.items()} == died
    assert summary.ends.happened == died.total()
    assert summary.runtime_lag.count <= summary.ends.happened
    # No finding is earlier than the runtime's own knowledge of the end.
    assert all(spread.min >= summary.runtime_lag.min for spread in summary.ends.by_source.values())


def test_requests(played: tuple[list[Record], Summary]) -> None:
    records, summary = played
    made = [one for one in records if isinstance(one, RequestMade)]
    requests = summary.requests
    assert requests["made"] == len(made) > 20
    executed = {
        one.request for one in records if isinstance(one, RelistStarted) and one.request is not None
    }
    assert requests["executed"] <= len(executed)
    assert requests["made"] == sum(
        requests[one] for one in ("executed", "skipped", "coalesced", "dropped", "cancelled")
    )


def test_relists(played: tuple[list[Record], Summary]) -> None:
    records, summary = played
    started = [one for one in records if isinstance(one, RelistStarted)]
    finished = [one for one in records if isinstance(one, RelistFinished)]
    whole = [one.t for one in started if one.scope == "global"]
    relists = summary.relists
    assert (relists.globally, relists.targeted) == (len(whole), len(started) - len(whole))
    assert relists.failed == sum(not one.ok for one in finished) > 1
    took = sorted(one.duration_ns for one in finished if one.ok and one.scope == "global")
    assert (relists.took.count, relists.took.max) == (len(took), took[-1])
    assert relists.interval.count == len(whole) - 1
    assert relists.interval.max == max(later - t for t, later in pairwise(whole))
    assert relists.targeted_took.count == sum(one.ok and one.scope == "pod" for one in finished)


def test_the_stream_spends_its_time_in_its_states(played: tuple[list[Record], Summary]) -> None:
    records, summary = played
    changes = [one for one in records if isinstance(one, StreamChanged)]
    stream = summary.stream
    assert stream.state == "connected"  # before the end; the last record is the engine's stop
    assert changes[-1].state == "closed"
    assert sum(one.ns for one in stream.states.values()) == summary.ended_t
    entered = Counter(one.state for one in changes[:-1])
    assert {state: one.entered for state, one in stream.states.items() if one.entered} == entered
    assert stream.states["waiting"].ns > 0
    assert stream.events["errors"] == entered["waiting"]
    assert stream.events["stopped"] > 0


def test_syncs_and_calls(played: tuple[list[Record], Summary]) -> None:
    records, summary = played
    syncs = [one for one in records if isinstance(one, SyncFinished)]
    assert summary.syncs.count == len(syncs)
    assert summary.syncs.did_work == sum(one.did_work for one in syncs)
    assert summary.syncs.failed == sum(one.failed for one in syncs)
    assert summary.syncs.took.max == max(one.duration_ns for one in syncs)
    calls = summary.calls
    relists = summary.relists
    assert calls["ListPodSandbox"] == relists.globally + relists.targeted
    assert calls["ListContainers"] <= calls["ListPodSandbox"]
    assert summary.calls_failed >= relists.failed
    assert list(calls) == sorted(calls)


def test_faults_are_told_with_what_they_hit(played: tuple[list[Record], Summary]) -> None:
    _, summary = played
    assert [one.kind for one in summary.faults] == [one.kind for one in TROUBLE]
    assert all(one.hits > 0 for one in summary.faults)
    assert [one.ended_t is None for one in summary.faults] == [False, False, False, True]


def test_the_time_a_pleg_was_unhealthy() -> None:
    records: list[Record] = []
    hung = scenario(ListsHang(at=seconds(20), lasts=seconds(40)), threshold_s=10)
    session = VirtualSession(hung, on_record=records.append)
    summary = play_to_end(session, seconds(90))
    turns = [(one.t, one.healthy) for one in records if isinstance(one, HealthChanged)]
    assert [healthy for _, healthy in turns] == [True, False, True]
    assert summary.unhealthy.entered == 1
    assert summary.unhealthy.ns == turns[2][0] - turns[1][0]
    assert 28 * SECOND < summary.unhealthy.ns < 35 * SECOND


def test_a_pleg_that_is_unhealthy_again_and_again_and_in_the_end() -> None:
    records: list[Record] = []
    slow = msgspec.structs.replace(
        scenario(), engine=EngineSettings(period_ns=5 * SECOND, threshold_ns=SECOND)
    )
    summary = play_to_end(VirtualSession(slow, on_record=records.append), seconds(33))
    turns = [one for one in records if isinstance(one, HealthChanged)]
    sick = [one.t for one in turns if not one.healthy]
    well = [one.t for one in turns if one.healthy][1:]
    assert len(sick) == len(well) + 1 > 3
    assert summary.unhealthy.entered == len(sick)
    assert summary.unhealthy.ns == sum((*well, summary.ended_t)) - sum(sick)


def test_not_every_difference_is_told_but_all_are_counted() -> None:
    ends = MassEnd(at=seconds(10), ending=ERROR)
    many = Replicas(
        namespace="shop", name="web", containers=(runs_on(),), count=90, mass_ends=(ends,)
    )
    made = msgspec.structs.replace(scenario(), workloads=(many,))
    summary = play_to_end(VirtualSession(made, profile="legacy"), seconds(30))
    assert len(summary.difference) == MOST_DIFFERENCES
    assert summary.differences > MOST_DIFFERENCES


def test_who_watches_is_told_once_a_second_and_changes_nothing() -> None:
    seen: list[int] = []
    watched = play_to_end(VirtualSession(scenario()), 5 * SECOND, seen.append)
    assert seen == [0, SECOND, 2 * SECOND, 3 * SECOND, 4 * SECOND]
    assert play_to_end(VirtualSession(scenario()), 5 * SECOND) == watched


def test_nothing_at_all_can_be_summed_up() -> None:
    empty = Scenario(name="empty", title="Nothing", shows="Nothing.")
    summary = play_to_end(VirtualSession(empty), Ns(SECOND))
    assert summary.settled
    assert summary.ends.happened == 0
    assert summary.requests["made"] == 0
    assert summary.relists.globally >= 2


def test_what_the_kubelet_got_done_is_summed_up_with_the_time_it_took() -> None:
    pods = Replicas(
        namespace="shop",
        name="web",
        containers=(runs_on("app", probe=Probe("startup", (seconds(5), seconds(5)))),),
        count=2,
        resizes=(Resize(at=seconds(10), count=4), Resize(at=seconds(30), count=1)),
        in_place=(InPlace(at=seconds(20), resources=Resources(500, 256)),),
    )
    played = scenario()
    session = VirtualSession(msgspec.structs.replace(played, workloads=(pods,)), seed=3)
    reached: list[Milestone] = []
    session.workers.on_milestone.append(reached.append)
    kubelet = play_to_end(session, seconds(60)).kubelet
    for what in ("running", "resized", "deleted", "waited"):
        took = [one.took_ns for one in reached if one.what == what]
        spread = getattr(kubelet, what)
        assert (spread.count, spread.max) == (len(took), max(took))
    assert (kubelet.running.count, kubelet.deleted.count) == (2, 3)
    assert kubelet.resized.count == 4
    # Residents have started up long ago; each new pod gives up at each of its starts.
    assert kubelet.probes_failed["startup"] >= 2


def test_of_a_kubelet_that_nobody_asks_for_anything_nothing_is_told() -> None:
    session = VirtualSession(scenario(), seed=3)
    kubelet = play_to_end(session, seconds(1)).kubelet
    assert (kubelet.running.count, kubelet.resized.count, kubelet.deleted.count) == (0, 0, 0)
    assert kubelet.probes_failed == {}
