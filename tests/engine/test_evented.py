"""Evented PLEG: a stop event is a hint to look, the stream is joined again for ever."""

import itertools
import random

import pytest

from app.engine.effects import CancelWake, CloseStream, ListPods, OpenStream, WakeAt
from app.engine.inputs import (
    EndCode,
    StreamLive,
    StreamLost,
    StreamOpened,
    StreamRenewed,
)
from app.engine.model import ContainerStatus
from app.engine.records import (
    ContainerEventSeen,
    EventIgnored,
    Gap,
    Lifecycle,
    PodCached,
    Record,
    RequestMade,
    RuntimeSeen,
    StreamChanged,
)
from app.engine.settings import EngineSettings
from tests.engine.play import (
    MS,
    SECOND,
    WALL,
    Dice,
    Stage,
    StreamPlan,
    container_event,
    lifecycle,
    of,
)

ALL_CODES: tuple[EndCode, ...] = (
    "eof",
    "immediate_eof",
    "unimplemented",
    "unavailable",
    "deadline",
    "cancelled",
    "error",
)


def connected(policy_stream: StreamPlan = "live", dice: Dice | None = None) -> Stage:
    """A stage with one running container and an open stream, half a second later."""
    stage = Stage(stream=policy_stream, dice=dice or Dice())
    stage.node.sandbox("p", "s")
    stage.node.container("p", "c1", sandbox="s")
    stage.start()
    stage.relist()
    stage.run(0.5)
    return stage


def failing(code: EndCode, dice: Dice | None = None) -> Stage:
    """A stage whose stream ends as soon as it is opened, each time."""
    stage = Stage(stream=code, dice=dice or Dice())
    stage.start()
    return stage


def pauses(stage: Stage) -> list[float]:
    """Seconds between tries to open the stream."""
    times = stage.opened
    return [(later - earlier) / SECOND for earlier, later in itertools.pairwise(times)]


def states(records: list[Record]) -> list[str]:
    return [one.state for one in of(records, StreamChanged)]


# Events


@pytest.mark.parametrize(
    "payload",
    [
        pytest.param({"exit_code": 2, "reason": "Error"}, id="k4-exit-2"),
        pytest.param({"exit_code": 137, "reason": "OOMKilled"}, id="k5-oom"),
        pytest.param({"exit_code": 0, "reason": "Completed"}, id="k6-clean"),
        pytest.param({}, id="k7-no-status"),
    ],
)
def test_k4_k5_k6_k7_every_stop_asks_for_a_relist(payload: dict[str, object]) -> None:
    stage = connected()
    stage.node.exit("p", "c1", 2)
    told = stage.stopped("p", "c1", **payload)
    (made,) = of(told, RequestMade)
    assert (made.uid, made.source, made.event, made.outcome) == ("p", "evented_pleg", 1, "queued")
    (seen,) = of(told, ContainerEventSeen)
    assert seen.request == made.request
    assert lifecycle(stage.run(0.1)) == ["p Died c1"]


@pytest.mark.parametrize("kind", ["created", "started", "deleted", "unknown(17)"])
def test_k8_k9_k12_no_other_type_asks_for_one(kind: str) -> None:
    stage = connected()
    told = stage.event(
        container_event("p", "c1", kind, stage.clock.wall, exit_code=2, reason="Error")
    )
    (seen,) = of(told, ContainerEventSeen)
    assert (seen.type, seen.request) == (kind, None)
    assert of(told, RequestMade) == []
    counted = "unknown" if kind.startswith("unknown") else kind
    assert stage.state().stream_events[counted] == 1


@pytest.mark.parametrize(
    ("missing", "reason"),
    [
        pytest.param(
            {"has_sandbox_status": False, "has_metadata": False, "pod_uid": ""},
            "missing_sandbox_status",
            id="k10-no-sandbox-status",
        ),
        pytest.param({"has_metadata": False, "pod_uid": ""}, "missing_metadata", id="k11"),
        pytest.param({"pod_uid": ""}, "missing_uid", id="p11-empty-uid"),
    ],
)
def test_k10_k11_p11_an_event_without_a_pod_is_told_and_ignored(
    missing: dict[str, object], reason: str
) -> None:
    stage = connected()
    told = stage.stopped("p", "c1", **missing)
    (ignored,) = of(told, EventIgnored)
    assert (ignored.reason, ignored.type, ignored.container_id) == (reason, "stopped", "c1")
    assert len(told) == 1
    counts = stage.state().stream_events
    assert (counts["ignored"], counts["stopped"]) == (1, 0)
    assert stage.state().queue.length == 0


def test_k13_the_latency_of_every_valid_event_is_measured() -> None:
    for kind in ("created", "started", "stopped", "deleted"):
        stage = connected()
        told = stage.event(container_event("p", "c1", kind, stage.clock.wall - 7 * MS))
        (seen,) = of(told, ContainerEventSeen)
        assert (seen.latency_ns, seen.backlog) == (7 * MS, False)


def test_k19_what_the_payload_claims_is_shown_and_never_used() -> None:
    stage = connected()
    stage.node.exit("p", "c1", 3, "Error")
    told = stage.stopped("p", "c1", exit_code=99, reason="Lies", finished_at=5)
    told += stage.run(2)
    (seen,) = of(told, ContainerEventSeen)
    assert (seen.exit_code, seen.reason, seen.finished_at) == (99, "Lies", 5)
    (died,) = of(told, Lifecycle)
    assert (died.exit_code, died.reason) == (3, "Error")
    (cached,) = of(told, PodCached)
    assert [(one.exit_code, one.reason) for one in cached.containers] == [(3, "Error")]


def test_k19_a_stop_that_is_not_true_changes_nothing() -> None:
    stage = connected()
    before = (stage.recorded(), stage.engine.cache.get("p"))
    stage.stopped("p", "c1", exit_code=1)
    told = stage.run(3)
    assert of(told, Lifecycle) == []
    assert (stage.recorded(), stage.engine.cache.get("p")) == before
    assert isinstance(before[1].containers[0], ContainerStatus)


def test_k20_the_stop_of_a_sandbox_asks_for_its_pods_relist() -> None:
    stage = connected()
    stage.node.exit("p", "s")
    told = stage.stopped("p", "s", sandbox_id="s")
    (seen,) = of(told, ContainerEventSeen)
    assert seen.is_sandbox
    assert lifecycle(stage.run(0.1)) == ["p Died s"]


def test_p20_a_late_event_asks_and_finds_nothing() -> None:
    stage = connected()
    stage.node.exit("p", "c1", 1)
    assert lifecycle(stage.relist()) == ["p Died c1"]
    stage.run(0.1)
    stage.stopped("p", "c1")
    told = stage.targeted()
    assert of(told, Lifecycle) == []


def test_p21_a_duplicate_event_costs_one_relist_at_most() -> None:
    stage = connected()
    stage.node.exit("p", "c1", 1)
    stage.stopped("p", "c1")
    stage.stopped("p", "c1")
    assert lifecycle(stage.run(0.5)) == ["p Died c1"]
    assert stage.state().requests["executed"] == 2


@pytest.mark.parametrize(
    ("age_ns", "latency", "backlog"),
    [
        pytest.param(5 * MS, 5 * MS, False, id="just-now"),
        pytest.param(SECOND, None, True, id="before-the-subscription"),
        pytest.param(-3600 * SECOND, None, False, id="in-the-future"),
        pytest.param(None, None, False, id="zero"),
        pytest.param(WALL * 2, None, False, id="before-1970"),
    ],
)
def test_p29_created_at_is_for_the_latency_and_nothing_else(
    age_ns: int | None, latency: int | None, backlog: bool
) -> None:
    stage = connected()
    created_at = 0 if age_ns is None else stage.clock.wall - age_ns
    stage.node.exit("p", "c1", 1)
    told = stage.event(container_event("p", "c1", created_at=created_at))
    (seen,) = of(told, ContainerEventSeen)
    assert (seen.latency_ns, seen.backlog) == (latency, backlog)
    assert seen.created_at == created_at
    assert stage.state().stream_events["backlog"] == backlog
    (died,) = of(stage.run(0.1), Lifecycle)
    assert died.event == 1
    assert died.after_ns == (None if backlog else 2 * MS)


def test_an_event_before_the_stream_object_is_known_has_no_time_to_compare_with() -> None:
    stage = Stage(stream="silent")
    stage.start()
    stage.run(0.1)
    for created_at, latency in ((stage.clock.wall - SECOND, SECOND), (0, None)):
        told = stage.event(container_event("p", "c1", created_at=created_at))
        (seen,) = of(told, ContainerEventSeen)
        assert (seen.backlog, seen.latency_ns) == (False, latency)


def test_events_outside_a_stream_are_not_taken() -> None:
    stage = failing("unimplemented")
    stage.run(0.1)
    assert stage.state().stream.state == "waiting"
    assert stage.stopped("p", "c1") == []
    assert stage.state().stream_events["stopped"] == 0


def test_p22_lost_events_are_shown_as_a_gap_and_polling_finds_what_they_told() -> None:
    stage = connected()
    stage.node.exit("p", "c1", 1)
    told = stage.tell(StreamLost(t=stage.clock.t, wall=stage.clock.wall, count=5, from_t=400 * MS))
    (gap,) = of(told, Gap)
    assert (gap.hop, gap.count, gap.from_t, gap.t) == ("stream", 5, 400 * MS, stage.clock.t)
    assert stage.state().stream_events["lost"] == 5
    died = of(stage.relist(), Lifecycle)
    assert [(one.type, one.source) for one in died] == [("ContainerDied", "global")]


def test_p22_a_stop_while_disconnected_is_found_at_the_normal_period() -> None:
    stage = connected()
    stage.stream = "unavailable"
    stage.stream_ends("unavailable")
    due = stage.state().next_global_t
    stage.node.exit("p", "c1", 1)
    told = stage.relist()
    assert [one.source for one in of(told, Lifecycle)] == ["global"]
    assert stage.state().last_global is not None
    assert stage.clock.t == (due or 0) + 2 * MS


# Joining, leaving, joining again


def test_k15_the_way_to_a_connection() -> None:
    stage = Stage(stream="silent")
    told = stage.start()
    assert states(told) == ["connecting"]
    assert stage.state().stream_events["opened"] == 0
    now = stage.clock
    assert stage.tell(StreamOpened(t=now.t, wall=now.wall)) == []
    assert stage.state().stream_events["opened"] == 1
    stage.run(1)
    assert states(stage.tell(StreamLive(t=now.t, wall=now.wall))) == ["connected"]
    view = stage.state().stream
    assert (view.state, view.since_t) == ("connected", SECOND)
    assert stage.tell(StreamLive(t=now.t, wall=now.wall)) == []
    assert stage.tell(StreamOpened(t=now.t, wall=now.wall)) == []
    assert stage.state().stream_events["opened"] == 1


def test_k14_every_end_is_counted() -> None:
    stage = connected()
    for _ in range(3):
        stage.stream_ends("error", "Reset by peer.")
        stage.run(5)
    assert stage.state().stream_events["errors"] == 3
    assert stage.state().stream.state == "connected"


def test_k16_one_stream_at_a_time() -> None:
    stage = connected()
    stage.probe("join")
    stage.start()
    assert len(stage.opened) == 1


def test_p12_the_first_reconnect_is_immediate() -> None:
    stage = connected()
    told = stage.stream_ends("unavailable", "connection refused")
    (changed,) = of(told, StreamChanged)
    assert (changed.state, changed.code, changed.detail) == (
        "waiting",
        "unavailable",
        "connection refused",
    )
    assert (changed.attempt, changed.retry_t) == (1, stage.clock.t)
    stage.run(0)
    assert stage.opened[-1] == stage.clock.t
    assert stage.state().stream.state == "connected"


def test_p13_then_exponential_up_to_the_cap_for_ever() -> None:
    stage = failing("unavailable", Dice(1.0))
    stage.run(1200)
    assert pauses(stage)[:10] == [0, 1, 2, 4, 8, 16, 32, 60, 60, 60]
    assert set(pauses(stage)[7:]) == {60}


def test_p13_jitter_takes_off_up_to_half() -> None:
    stage = failing("unavailable", Dice(0.0))
    stage.run(600)
    assert pauses(stage)[:9] == [0, 0.5, 1, 2, 4, 8, 16, 30, 30]
    varied = failing("unavailable", Dice(0.5))
    varied.run(100)
    assert pauses(varied)[:4] == [0, 0.75, 1.5, 3]


def test_p13_attempts_an_hour_are_bounded_and_numbers_stay_small() -> None:
    settings = EngineSettings(period_ns=3600 * SECOND, health_poll_ns=3600 * SECOND)
    dice = Dice(*(random.Random(number).random() for number in range(999)))
    stage = Stage(stream="error", settings=settings, dice=dice)
    stage.start()
    for _ in range(24):
        before = len(stage.opened)
        stage.run(3600)
        assert 60 <= len(stage.opened) - before <= 128
    assert max(pauses(stage)) <= 60


def test_p14_sixty_seconds_of_health_start_the_backoff_over() -> None:
    stage = failing("unavailable", Dice(1.0))
    stage.run(10)
    stage.stream = "live"
    stage.run(10)
    assert stage.state().stream.state == "connected"
    since = stage.state().stream.since_t
    stage.stream = "unavailable"
    stage.run((since + 60 * SECOND - stage.clock.t) / SECOND)
    (changed,) = of(stage.stream_ends("eof"), StreamChanged)
    assert (changed.attempt, changed.connected_ns) == (1, 60 * SECOND)
    tries = len(stage.opened)
    stage.run(4)
    assert pauses(stage)[tries:] == [1, 2]


def test_p15_less_than_sixty_seconds_does_not() -> None:
    stage = failing("unavailable", Dice(1.0))
    stage.run(10)
    stage.stream = "live"
    stage.run(10)
    attempt = stage.state().stream.attempt
    since = stage.state().stream.since_t
    stage.run((since + 60 * SECOND - 1 - stage.clock.t) / SECOND)
    (changed,) = of(stage.stream_ends("eof"), StreamChanged)
    assert changed.connected_ns == 60 * SECOND - 1
    assert changed.attempt == attempt + 1
    assert changed.retry_t == stage.clock.t + 16 * SECOND


@pytest.mark.parametrize("code", [code for code in ALL_CODES if code != "unimplemented"])
def test_p16_however_it_ends_it_is_a_failure(code: EndCode) -> None:
    stage = connected(dice=Dice(1.0))
    stage.stream = code
    (changed,) = of(stage.stream_ends(code), StreamChanged)
    assert changed.code == code
    assert changed.meaning.endswith(".")
    stage.run(7)
    assert pauses(stage)[1:] == [1, 2, 4]
    assert stage.state().stream_events["errors"] == 5


def test_p17_unimplemented_is_tried_again_each_minute_until_an_upgrade() -> None:
    stage = failing("unimplemented")
    stage.run(185)
    assert pauses(stage) == [60, 60, 60]
    assert "no event stream" in stage.state().stream.meaning
    stage.stream = "live"
    stage.run(60)
    assert stage.state().stream.state == "connected"
    assert stage.engine.state(stage.clock.t).stream.meaning.startswith("A container that stops")


def test_p18_a_failure_is_told_once_and_nothing_while_waiting() -> None:
    stage = failing("unimplemented")
    stage.run(0.1)
    told = stage.run(3600)
    assert states(told) == ["connecting", "waiting"] * 60


@pytest.mark.parametrize("stream", ["live", "opened", "silent"])
def test_p19_k3_shutdown_cancels_the_stream_or_the_attempt_and_counts_no_error(
    stream: StreamPlan,
) -> None:
    stage = connected(stream)
    since = len(stage.effects)
    told = stage.stop()
    assert states(told) == ["closed"]
    assert [type(one) for one in stage.effects[since:]] == [CloseStream, CancelWake, CancelWake]
    assert stage.stream_ends("cancelled") == []
    assert stage.state().stream_events["errors"] == 0
    stage.run(3600)
    assert len(stage.opened) == 1


def test_p19_shutdown_cancels_the_pending_retry() -> None:
    stage = failing("unimplemented")
    stage.run(1)
    timer = stage.timer("reconnect")
    assert timer is not None
    stage.stop()
    assert CancelWake(timer="reconnect") in stage.effects
    assert CloseStream() not in stage.effects
    assert stage.fire(timer) == []
    stage.run(3600)
    assert len(stage.opened) == 1


def test_a_retry_timer_from_before_is_not_believed() -> None:
    stage = failing("unimplemented")
    stage.run(1)
    old = stage.timer("reconnect")
    assert old is not None
    stage.run(60)
    assert len(stage.opened) == 2
    stage.fire(old)
    assert len(stage.opened) == 2


def test_p24_p28_relist_only_joins_nothing_and_polls_as_ever() -> None:
    stage = Stage(policy="relist_only")
    stage.node.container("p", "c1")
    told = stage.start()
    (seen,) = of(told, RuntimeSeen)
    assert (seen.policy, seen.reason, seen.name) == ("relist_only", "Asked.", "containerd")
    stage.run(10)
    assert stage.opened == []
    assert (stage.state().stream.state, stage.state().stream.meaning) == ("off", "Asked.")
    lists = [one for one in stage.effects if isinstance(one, ListPods)]
    assert len(lists) == 10


def test_p28_off_and_on_again_is_a_new_stream() -> None:
    stage = connected()
    told = stage.probe("relist_only", "Somebody else reads this stream.")
    assert states(told) == ["off"]
    assert stage.effects[-1] == CloseStream()
    assert stage.stopped("p", "c1") == []
    assert states(stage.probe("relist_only", "Somebody else reads this stream.")) == []
    stage.probe("join")
    stage.run(0)
    assert len(stage.opened) == 2
    assert stage.state().stream.state == "connected"
    stage.node.exit("p", "c1")
    stage.stopped("p", "c1")
    assert lifecycle(stage.run(0.1)) == ["p Died c1"]


def test_off_while_waiting_cancels_the_retry() -> None:
    stage = failing("unimplemented")
    stage.run(1)
    since = len(stage.effects)
    stage.probe("relist_only")
    assert stage.effects[since:] == [CancelWake(timer="reconnect")]
    stage.run(100)
    assert len(stage.opened) == 1


def test_without_a_probe_nothing_is_joined_until_it_comes() -> None:
    stage = Stage(policy=None)
    stage.start()
    stage.run(5)
    assert stage.opened == []
    assert stage.state().stream.meaning == "plegscope has not yet learned which runtime this is."
    stage.probe("join")
    assert OpenStream() in stage.effects


def test_a_probe_before_the_start_opens_nothing() -> None:
    stage = Stage()
    stage.probe("join")
    assert stage.effects == []


def test_p25_a_runtime_restart_brings_the_stream_back_by_itself() -> None:
    stage = connected(dice=Dice(1.0))
    stage.stream = "unavailable"
    stage.node.broken_list = "connection refused"
    stage.stream_ends("unavailable")
    stage.node.exit("p", "c1", 1)
    stage.run(20)
    assert stage.state().stream.state == "waiting"
    stage.node.broken_list = ""
    stage.stream = "live"
    told = stage.run(20)
    assert stage.state().stream.state == "connected"
    assert lifecycle(told) == ["p Died c1"]


def test_a_planned_renewal_is_no_error_and_no_new_connection() -> None:
    stage = connected()
    now = stage.clock
    (changed,) = of(stage.tell(StreamRenewed(t=now.t, wall=now.wall, duplicates=3)), StreamChanged)
    assert (changed.state, changed.renewed) == ("connected", True)
    view = stage.state().stream
    assert (view.since_t, view.attempt) == (MS, 0) or view.since_t == 0
    assert stage.state().stream_events["errors"] == 0
    stage.run(59.6)
    (ended,) = of(stage.stream_ends("deadline"), StreamChanged)
    assert ended.connected_ns is not None
    assert ended.connected_ns >= 60 * SECOND


def test_a_renewal_without_a_connection_says_nothing() -> None:
    stage = failing("unimplemented")
    stage.run(1)
    assert stage.tell(StreamRenewed(t=stage.clock.t, wall=stage.clock.wall)) == []


def test_an_end_that_concerns_no_stream_changes_nothing() -> None:
    stage = failing("unimplemented")
    stage.run(1)
    since = len(stage.effects)
    assert stage.stream_ends("error") == []
    assert len(stage.effects) == since
    timer = stage.timer("reconnect")
    assert isinstance(timer, WakeAt)


def test_the_settings_rule_the_backoff() -> None:
    settings = EngineSettings(
        backoff_base_ns=10 * SECOND, backoff_cap_ns=30 * SECOND, healthy_after_ns=SECOND
    )
    stage = Stage(stream="error", settings=settings, dice=Dice(1.0))
    stage.start()
    stage.run(95)
    assert pauses(stage) == [0, 10, 20, 30, 30]
