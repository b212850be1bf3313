"""The event stream: joined again for ever with a backoff, or given up after five ends."""

import itertools
import random
from typing import get_args

import pytest

from app.engine.effects import CancelWake, CloseStream, ListPods, OpenStream, WakeAt
from app.engine.inputs import EndCode, StreamLive, StreamOpened, StreamRenewed
from app.engine.records import Record, RuntimeSeen, StreamChanged
from app.engine.settings import EngineSettings
from app.engine.stream import ENDED, NO_STREAM_NOW
from tests.engine.play import SECOND, Dice, Stage, StreamPlan, lifecycle, of

ALL_CODES: tuple[EndCode, ...] = get_args(EndCode)


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


def test_a_retry_timer_from_before_an_off_and_on_is_not_believed_either() -> None:
    stage = failing("unimplemented")
    stage.run(1)
    old = stage.timer("reconnect")
    assert old is not None
    stage.probe("relist_only")
    stage.probe("join")
    stage.run(1)
    assert len(stage.opened) == 2
    stage.fire(old)
    assert stage.state().stream.state == "waiting"
    stage.run(1)
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
    assert (view.since_t, view.attempt) == (0, 0)
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


def test_every_way_to_end_has_its_sentence() -> None:
    assert set(ENDED) == set(ALL_CODES)
    assert len(set(ENDED.values())) == len(ENDED)


@pytest.mark.parametrize("code", ALL_CODES)
@pytest.mark.parametrize("profile", ["kep", "1.37"])
def test_it_is_said_in_that_sentence_and_no_try_is_promised_that_will_not_come(
    profile: str, code: EndCode
) -> None:
    stage = Stage(settings=EngineSettings(profile=profile))
    stage.start()
    stage.run(0.5)
    (told,) = of(stage.stream_ends(code, "A text."), StreamChanged)
    assert (told.code, told.detail) == (code, "A text.")
    none_now = profile == "1.37" and code == "unimplemented"
    assert told.meaning == (NO_STREAM_NOW if none_now else ENDED[code])


# Five tries in all (1.26 to 1.37)


def five(code: EndCode = "unavailable") -> Stage:
    stage = Stage(stream=code, settings=EngineSettings(profile="1.37"))
    stage.start()
    return stage


def test_k1_k18_five_ends_without_a_pause_and_it_is_over() -> None:
    stage = five()
    told = of(stage.run(0), StreamChanged)
    assert pauses(stage) == [0, 0, 0, 0]
    assert (told[-1].state, told[-1].attempt, told[-1].code) == ("closed", 5, "unavailable")
    assert told[-1].meaning == (
        "The event stream ended five times, and this profile does not try again until a restart."
    )
    stage.run(3600)
    assert len(stage.opened) == 5
    assert stage.timer("reconnect") is None
    assert stage.state().stream_events["errors"] == 5


@pytest.mark.parametrize("code", ["eof", "immediate_eof", "unimplemented"])
def test_k2_a_clean_end_counts_and_unimplemented_waits_for_nobody(code: EndCode) -> None:
    stage = five(code)
    stage.run(0)
    assert (len(stage.opened), stage.state().stream.state) == (5, "closed")


def test_k17_a_long_good_connection_resets_nothing() -> None:
    stage = Stage(settings=EngineSettings(profile="1.37"))
    stage.start()
    for _ in range(4):
        stage.run(100)
        stage.stream_ends("error")
    stage.run(1000)
    assert stage.state().stream.state == "connected"
    (changed,) = of(stage.stream_ends("error"), StreamChanged)
    assert (changed.state, changed.attempt) == ("closed", 5)


def test_k17_not_even_being_off_for_a_while_does() -> None:
    stage = five()
    stage.run(0)
    stage.probe("relist_only")
    stage.probe("join")
    stage.stop()
    told = stage.start()
    stage.run(100)
    assert len(stage.opened) == 5
    assert states(told)[-1] == "closed"
    assert "five times" in stage.state().stream.meaning


def test_p24_polling_goes_on_after_giving_up() -> None:
    stage = five()
    stage.node.container("p", "c1")
    assert lifecycle(stage.run(10)) == ["p Started c1"]
    assert (stage.state().pace_ns, stage.state().health.healthy) == (SECOND, True)
