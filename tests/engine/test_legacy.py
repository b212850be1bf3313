"""The design before the revision: events write the cache, and what goes wrong with that."""

import pytest

from app.engine.effects import CancelWake
from app.engine.inputs import EventsTaken
from app.engine.model import ContainerStatus, RuntimeState, SandboxStatus
from app.engine.records import (
    CacheTimeMoved,
    ContainerEventSeen,
    EventRefused,
    HealthChanged,
    Lifecycle,
    PodCached,
    PodUncached,
    Record,
    RelistFinished,
    RelistStarted,
    RequestMade,
    Retuned,
    RunningMoved,
    StreamChanged,
    Watching,
)
from app.engine.settings import EngineSettings
from tests.engine.play import MS, SECOND, WALL, Stage, container_event, lifecycle, of

LEGACY = EngineSettings(profile="legacy")


def trusting(settings: EngineSettings = LEGACY) -> Stage:
    """One running container, an open stream, ten seconds after the first relist."""
    stage = Stage(settings=settings)
    stage.node.sandbox("p", "s", "ready", "10.0.0.1")
    stage.node.container("p", "c1", sandbox="s")
    stage.start()
    stage.relist()
    stage.run(10)
    return stage


def claim(
    stage: Stage,
    kind: str,
    state: RuntimeState,
    *,
    item_id: str = "c1",
    created_at: int | None = None,
    exit_code: int | None = None,
    uid: str = "p",
) -> list[Record]:
    """An event with a full payload: the sandbox is ready, the one container is so."""
    status = ContainerStatus(item_id, "app", 3, state, WALL + 5, exit_code=exit_code)
    sandbox = SandboxStatus(f"sandbox-of-{uid}", 0, "ready", WALL, ("10.0.0.1",))
    return stage.event(
        container_event(
            uid,
            item_id,
            kind,
            stage.clock.wall if created_at is None else created_at,
            container_name="app",
            sandbox=sandbox,
            containers=(status,),
        )
    )


def test_the_global_relist_is_slow_while_the_stream_is_trusted() -> None:
    stage = trusting()
    (watching,) = of(stage.records, Watching)
    assert (watching.period_ns, watching.threshold_ns) == (300 * SECOND, 600 * SECOND)
    stage.run(289)
    assert len(of(stage.records, RelistStarted)) == 1
    assert stage.state().health.healthy
    stage.run(11)
    starts = [one.t for one in of(stage.records, RelistStarted)]
    assert starts == [0, 300 * SECOND + 2 * MS]
    assert stage.state().period_ns == stage.state().pace_ns == 300 * SECOND


def test_a_ticker_moves_the_cache_time_every_two_seconds() -> None:
    stage = trusting()
    waiter = stage.engine.cache.wait("p", stage.clock.t)
    told = stage.run(4)
    assert [one.t for one in of(told, CacheTimeMoved)] == [12 * SECOND, 14 * SECOND]
    assert stage.engine.cache.woken() == (waiter,)
    assert stage.engine.cache.time == 14 * SECOND


def test_earlier_releases_moved_the_cache_time_every_five_seconds() -> None:
    stage = trusting(EngineSettings(profile="legacy", cache_tick_ns=5 * SECOND))
    told = stage.run(10)
    assert [one.t for one in of(told, CacheTimeMoved)] == [15 * SECOND, 20 * SECOND]


def test_l5_a_stop_is_written_and_told_at_once() -> None:
    stage = trusting()
    told = claim(stage, "stopped", "exited", exit_code=9)
    (cached,) = of(told, PodCached)
    assert (cached.relist, cached.ips) == (0, ("10.0.0.1",))
    assert [one.exit_code for one in stage.engine.cache.get("p").containers] == [9]
    (died,) = of(told, Lifecycle)
    assert (died.type, died.relist, died.source, died.exit_code) == (
        "ContainerDied",
        0,
        "evented_pleg",
        9,
    )
    assert (died.container_name, died.attempt, died.is_sandbox) == ("app", 3, False)
    assert (died.event, died.after_ns, died.baseline) == (1, 0, False)
    assert stage.state().events["evented_pleg"] == 1
    assert of(told, RequestMade) == []


def test_l5_a_stop_without_the_containers_status_is_told_all_the_same() -> None:
    stage = trusting()
    told = stage.stopped("p", "c1", sandbox=SandboxStatus("s", 0, "ready", WALL))
    (died,) = of(told, Lifecycle)
    assert (died.container_id, died.attempt, died.exit_code) == ("c1", 0, None)


def test_an_event_without_a_uid_is_believed() -> None:
    (told,) = of(claim(trusting(), "stopped", "exited", uid=""), Lifecycle)
    assert (told.uid, told.type) == ("", "ContainerDied")


def test_a_reinspection_without_a_change_is_not_told() -> None:
    stage = trusting()
    stage.mark("p")
    told = stage.relist()
    assert [one.uid for one in of(told, PodCached)] == ["p"]
    assert lifecycle(told) == []


def test_l6_a_start_is_told() -> None:
    stage = trusting()
    told = claim(stage, "started", "running", item_id="c2")
    assert lifecycle(told) == ["p Started c2"]
    assert set(stage.statuses("p")) == {"c2", "sandbox-of-p"}, "the payload is all there is"


def test_l7_a_creation_is_written_and_not_told() -> None:
    stage = trusting()
    told = claim(stage, "created", "created", item_id="c2")
    assert of(told, Lifecycle) == []
    assert len(of(told, PodCached)) == 1


def test_l8_a_deletion_is_died_and_removed_and_never_written() -> None:
    stage = trusting()
    before = stage.statuses("p")
    told = claim(stage, "deleted", "exited", created_at=stage.clock.wall - 100 * SECOND)
    assert lifecycle(told) == ["p Died c1", "p Removed c1"], "however late it comes"
    assert of(told, PodCached) == []
    assert stage.statuses("p") == before


def test_l9_the_deletion_of_the_sandbox_deletes_the_entry() -> None:
    stage = trusting()
    told = claim(stage, "deleted", "exited", item_id="sandbox-of-p")
    assert [(one.uid, one.relist) for one in of(told, PodUncached)] == [("p", 0)]
    assert lifecycle(told) == ["p Died sandbox-of-p", "p Removed sandbox-of-p"]
    assert stage.engine.cache.entry("p") is None


def test_the_stop_of_a_sandbox_is_told_as_one() -> None:
    stage = trusting()
    told = stage.event(
        container_event("p", "sandbox-of-p", "stopped", stage.clock.wall, container_name="x")
    )
    (died,) = of(told, Lifecycle)
    assert (died.is_sandbox, died.container_name, died.container_id) == (True, "", "sandbox-of-p")
    assert stage.statuses("p") == {}, "an event without a payload empties the cache"


def test_l10_j18_an_event_older_than_the_cache_is_refused() -> None:
    stage = trusting()
    claim(stage, "started", "running", item_id="c2", created_at=stage.clock.wall)
    told = claim(stage, "stopped", "exited", item_id="c2", created_at=stage.clock.wall - 3 * SECOND)
    (refused,) = of(told, EventRefused)
    assert (refused.uid, refused.type, refused.container_id, refused.behind_ns) == (
        "p",
        "stopped",
        "c2",
        3 * SECOND,
    )
    assert of(told, Lifecycle) == []
    assert stage.statuses("p")["c2"] == "running"


def test_an_equal_time_is_not_older() -> None:
    stage = trusting()
    at = stage.clock.wall
    claim(stage, "started", "running", created_at=at)
    assert lifecycle(claim(stage, "stopped", "exited", created_at=at)) == ["p Died c1"]


def test_a_relist_older_than_an_event_is_refused_and_tells_nothing() -> None:
    """Two writers: the event from the future wins, and the relist's finding is lost for now."""
    stage = trusting()
    claim(stage, "started", "running", created_at=stage.clock.wall + 1000 * SECOND)
    stage.node.exit("p", "c1", 7)
    told = stage.relist()
    assert [one.ok for one in of(told, RelistFinished)] == [True]
    assert of(told, Lifecycle) == []
    assert stage.statuses("p")["c1"] == "running"
    assert stage.recorded()["p"]["c1"] == "running"


def test_events_move_no_records_so_the_next_relist_tells_again() -> None:
    stage = trusting()
    stage.node.exit("p", "c1", 7)
    assert lifecycle(claim(stage, "stopped", "exited")) == ["p Died c1"]
    assert lifecycle(stage.relist()) == ["p Died c1"]


def test_a_lost_event_is_missed_for_up_to_five_minutes() -> None:
    stage = trusting()
    stage.node.exit("p", "c1", 7)
    assert lifecycle(stage.run(280)) == []
    assert lifecycle(stage.run(20)) == ["p Died c1"]


def test_the_time_of_an_entry_goes_with_it() -> None:
    """A static pod's UID comes again; what the dead one's entry carried must not refuse it."""
    stage = trusting()
    future = stage.clock.wall + 1000 * SECOND
    claim(stage, "started", "running", created_at=future)
    stage.node.remove_pod("p")
    assert [one.uid for one in of(stage.relist(), PodUncached)] == ["p"]
    assert lifecycle(claim(stage, "started", "running", item_id="c9")) == ["p Started c9"]
    stage.node.container("p", "c9")
    stage.relist()
    assert stage.recorded() == {"p": {"c9": "running"}}


def test_times_of_entries_that_are_gone_are_not_kept_for_ever() -> None:
    stage = trusting()
    claim(stage, "started", "running")
    claim(stage, "deleted", "exited", item_id="sandbox-of-p")
    legacy = stage.engine._legacy
    assert legacy is not None
    stage.run(3)
    assert legacy._modified == {}


def test_l11_each_end_of_the_stream_forces_a_global_relist() -> None:
    stage = trusting()
    stage.node.exit("p", "c1", 1)
    ended_t = stage.clock.t
    told = stage.stream_ends("unavailable") + stage.run(0.1)
    assert lifecycle(told) == ["p Died c1"]
    assert [one.t for one in of(told, RelistStarted)] == [ended_t]
    assert stage.state().stream.state == "connected"
    assert stage.state().pace_ns == 300 * SECOND


def test_l11_an_end_during_a_relist_brings_another_one_right_after() -> None:
    stage = Stage(settings=LEGACY, by_hand=True)
    stage.start()
    stage.run(0.5)
    stage.stream_ends("error")
    stage.run(0)
    told = stage.answer()
    assert [one.relist for one in of(told, RelistStarted)] == [2]
    assert len(stage.opened) == 1, "the next try waits for the forced relist"
    stage.answer()
    assert len(stage.opened) == 2
    assert stage.state().next_global_t == stage.clock.t + 300 * SECOND


def test_l11_a_stop_while_a_try_waits_forgets_the_try() -> None:
    stage = Stage(settings=LEGACY, by_hand=True)
    stage.start()
    stage.run(0.5)
    stage.stream_ends("error")
    stage.run(0)
    stage.stop()
    stage.calls.clear()
    stage.run(10)
    assert len(stage.opened) == 1
    stage.start()
    assert (len(stage.opened), len(stage.calls)) == (2, 1)
    stage.answer()
    assert stage.calls == [], "what was forced before the stop is not made up for"


def test_l11_a_try_that_waits_is_forgotten_where_the_stream_is_refused_meanwhile() -> None:
    stage = trusting()
    stage.by_hand = True
    stage.stream_ends("error")
    stage.run(0)
    assert len(stage.opened) == 1, "the next try waits for the forced relist"
    stage.probe("relist_only")
    for _ in range(3):
        stage.relist()
    stage.run(0)
    assert stage.state().stream.state == "off"
    assert len(stage.opened) == 1


def test_l11_however_much_was_forced_before_a_stop_is_not_made_up_for() -> None:
    stage = trusting()
    stage.by_hand = True
    stage.stream_ends("error")
    stage.probe("relist_only")
    assert len(stage.calls) == 1, "one relist is in progress, another one is to follow"
    stage.stop()
    stage.calls.clear()
    stage.start()
    stage.answer()
    assert stage.calls == []


def test_l12_the_fifth_end_brings_polling_back_for_good() -> None:
    stage = trusting()
    stage.stream = "unavailable"
    told = stage.stream_ends("unavailable") + stage.run(0.1)
    assert stage.state().stream.state == "closed"
    assert len(stage.opened) == 5
    # One for each end, and the one with which the restarted generic PLEG begins.
    assert len(of(told, RelistStarted)) == 6
    assert CancelWake(timer="cache_time") in stage.effects
    state = stage.state()
    assert (state.period_ns, state.health.threshold_ns) == (SECOND, 180 * SECOND)
    assert [(one.period_ns, one.threshold_ns) for one in of(told, Retuned)] == [
        (SECOND, 180 * SECOND)
    ]
    told = stage.run(10)
    assert len(of(told, RelistStarted)) == 10
    assert of(told, CacheTimeMoved) == []


def test_a_stream_that_may_not_be_joined_is_not_trusted() -> None:
    stage = Stage(settings=LEGACY, policy="relist_only")
    stage.start()
    told = stage.run(10)
    assert stage.state().pace_ns == SECOND
    assert len(of(told, RelistFinished)) == 10
    assert of(told, CacheTimeMoved) == []


def test_trust_follows_what_the_runtime_is_said_to_allow() -> None:
    stage = trusting()
    stage.node.exit("p", "c1", 1)
    told = stage.probe("relist_only") + stage.run(0.1)
    assert lifecycle(told) == ["p Died c1"], "nobody waits five minutes for a stream that is off"
    assert stage.state().pace_ns == SECOND
    stage.run(5)
    told = stage.probe("join") + stage.probe("join")
    assert stage.state().pace_ns == 300 * SECOND
    assert [(one.period_ns, one.threshold_ns) for one in of(told, Retuned)] == [
        (300 * SECOND, 600 * SECOND)
    ]
    assert len(of(stage.run(10), CacheTimeMoved)) == 5


def test_a_probe_before_the_start_and_after_the_stop_changes_no_pace() -> None:
    stage = Stage(settings=LEGACY)
    stage.probe("join")
    assert stage.state().pace_ns == SECOND
    told = stage.start()
    assert stage.state().pace_ns == 300 * SECOND
    told += stage.stop() + stage.probe("relist_only") + stage.start()
    assert of(told, Retuned) == [], "Watching says it, and nothing is in force after the stop"
    assert stage.state().pace_ns == 300 * SECOND, "start() probes again: join"


def test_started_again_without_a_stream_it_polls() -> None:
    stage = trusting()
    stage.stop()
    stage.policy = "relist_only"
    stage.start()
    assert stage.state().pace_ns == SECOND


def test_p19_the_ticker_ends_with_the_session() -> None:
    stage = trusting()
    timer = stage.timer("cache_time")
    assert timer is not None
    stage.stop()
    assert stage.timer("cache_time") is None
    assert stage.fire(timer) == []


def test_a_ticker_from_before_is_not_believed() -> None:
    stage = trusting()
    old = stage.timer("cache_time")
    assert old is not None
    stage.run(2)
    assert stage.fire(old) == []


def test_other_profiles_have_no_ticker() -> None:
    stage = Stage()
    stage.start()
    stage.run(5)
    legacy = Stage(settings=LEGACY)
    legacy.start()
    timer = legacy.timer("cache_time")
    assert timer is not None
    assert stage.fire(timer) == []
    assert of(stage.records, CacheTimeMoved) == []


@pytest.mark.parametrize("lacks", [{"has_sandbox_status": False}, {"has_metadata": False}])
def test_k10_k11_an_event_without_a_pod_is_not_believed(lacks: dict[str, bool]) -> None:
    stage = trusting()
    stage.event(container_event("p", "c1", "stopped", stage.clock.wall, **lacks))
    assert of(stage.records, ContainerEventSeen) == []
    assert stage.statuses("p") == {"s": "ready", "c1": "running"}


# Health and gauges


def test_l1_l2_only_a_full_channel_is_unhealthy() -> None:
    stage = Stage(settings=EngineSettings(profile="legacy", event_channel=100))
    stage.start()
    stage.relist()
    for number in range(5):
        claim(stage, "started", "running", item_id=f"c{number}")
    stage.run(2)
    assert stage.state().health.healthy
    for number in range(5, 100):
        claim(stage, "started", "running", item_id=f"c{number}")
    (changed,) = of(stage.run(2), HealthChanged)
    text = "EventedPLEG: pleg event channel capacity is full with 100 events"
    assert (changed.healthy, changed.message) == (False, text)
    assert lifecycle(claim(stage, "started", "running", item_id="late")) == [], "discarded"
    stage.tell(EventsTaken(t=stage.clock.t, wall=stage.clock.wall, count=1))
    assert [one.healthy for one in of(stage.run(2), HealthChanged)] == [True]


def test_l2_two_complaints_are_listed() -> None:
    stage = Stage(settings=EngineSettings(profile="legacy", event_channel=1))
    stage.start()
    claim(stage, "started", "running")
    assert stage.state().health.message == (
        "[pleg has yet to be successful, "
        "EventedPLEG: pleg event channel capacity is full with 1 events]"
    )


def test_the_second_check_writes_last_seen_over_the_first() -> None:
    stage = trusting()
    stage.run(100)
    assert stage.state().health.last_seen == (WALL + 110 * SECOND) // SECOND, "relist at 0"


def test_l3_l4_events_move_the_gauge_by_sandboxes_among_the_containers() -> None:
    stage = Stage(settings=LEGACY)
    stage.start()
    stage.relist()
    pods = [f"p{number}" for number in range(5)]
    told: list[Record] = []
    for uid in pods:
        told += claim(stage, "started", "running", item_id=f"sandbox-of-{uid}", uid=uid)
    assert sum(one.running_pods for one in of(told, RunningMoved)) == 5
    told = []
    for uid in pods[:2]:
        told += claim(stage, "stopped", "exited", item_id=f"sandbox-of-{uid}", uid=uid)
    assert [one.running_pods for one in of(told, RunningMoved)] == [-1, -1]
    assert of(told, RunningMoved)[0].containers_by_state == {"running": -1, "exited": 1}


def test_a_real_runtimes_events_move_the_gauge_of_containers_only() -> None:
    stage = trusting()
    told = claim(stage, "stopped", "exited")
    assert [(one.running_pods, one.containers_by_state) for one in of(told, RunningMoved)] == [
        (0, {"running": -1, "exited": 1})
    ]
    told = claim(stage, "stopped", "exited")
    assert of(told, RunningMoved) == [], "nothing moved"
    told = claim(stage, "stopped", "exited", created_at=stage.clock.wall - SECOND, item_id="c2")
    assert of(told, RunningMoved) == [], "one exited container for another"


def test_a_refused_event_moves_the_gauges_all_the_same() -> None:
    stage = trusting()
    told = claim(stage, "stopped", "exited", created_at=stage.clock.wall - 100 * SECOND)
    assert len(of(told, EventRefused)) == len(of(told, RunningMoved)) == 1


# Two clocks


def test_a_relist_stamps_what_it_inspects_with_the_time_of_the_inspection() -> None:
    """An event that came between a relist's list and its inspection does not refuse it."""
    stage = Stage(settings=LEGACY, by_hand=True)
    stage.node.sandbox("p", "s")
    stage.node.container("p", "c1", sandbox="s")
    stage.start()
    stage.run(0.1)
    claim(stage, "started", "running", created_at=stage.clock.wall)
    stage.run(0.1)
    stage.answer()
    told = stage.answer()
    assert set(lifecycle(told)) == {"p Started c1", "p Started s"}
    assert stage.statuses("p") == {"s": "ready", "c1": "running"}


def test_a_failed_inspection_older_than_an_event_is_not_written_either() -> None:
    stage = trusting()
    claim(stage, "started", "running", created_at=stage.clock.wall + 1000 * SECOND)
    stage.node.exit("p", "c1", 7)
    stage.node.broken_pods["p"] = "Shim is gone."
    assert of(stage.relist(), PodCached) == []
    entry = stage.engine.cache.entry("p")
    assert entry is not None
    assert entry.error == ""


def test_what_the_first_relist_finds_is_the_baseline_however_long_it_takes() -> None:
    stage = Stage(settings=LEGACY, list_ns=5 * SECOND)
    stage.node.container("p", "c1")
    stage.start()
    told = stage.relist()
    assert of(told, CacheTimeMoved) != []
    assert [one.baseline for one in of(told, Lifecycle)] == [True]


def test_unimplemented_promises_no_later_try() -> None:
    stage = Stage(settings=LEGACY, stream="unimplemented")
    stage.start()
    stage.run(0.1)
    ends = [one for one in of(stage.records, StreamChanged) if one.state == "waiting"]
    assert {one.meaning for one in ends} == {
        "This runtime has no event stream. Polling finds every change."
    }
