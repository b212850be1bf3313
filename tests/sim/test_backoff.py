"""The crash loop back-off, step by step as client-go counts it."""

from hypothesis import given
from hypothesis import strategies as st

from app.sim.backoff import CrashLoopBackoff
from app.sim.flavour import SECOND


def crash_loop(backoff: CrashLoopBackoff, restarts: int, lives_ns: int) -> list[int]:
    """Pauses (ns) that a container keeps which always lives that long."""
    pauses, now = [], 0
    for _ in range(restarts):
        finished_at = now + lives_ns
        due = backoff.until("uid", "app", finished_at, finished_at)
        pauses.append(0 if due is None else due - finished_at)
        now = due or finished_at
        backoff.restarted("uid", "app", finished_at, now)
    return pauses


def test_the_first_restart_is_immediate_then_pauses_double_up_to_five_minutes() -> None:
    pauses = crash_loop(CrashLoopBackoff(), 9, SECOND)
    assert [pause // SECOND for pause in pauses] == [0, 10, 20, 40, 80, 160, 300, 300, 300]


def test_a_scale_shortens_all_of_it() -> None:
    pauses = crash_loop(CrashLoopBackoff(0.1), 8, SECOND)
    assert [pause // SECOND for pause in pauses] == [0, 1, 2, 4, 8, 16, 30, 30]


def test_a_container_that_ran_for_twice_the_longest_pause_starts_over() -> None:
    backoff = CrashLoopBackoff()
    crash_loop(backoff, 5, SECOND)
    now = 1_000_000 * SECOND
    backoff.restarted("uid", "app", now, now)
    long_ago = now + 601 * SECOND
    assert backoff.until("uid", "app", long_ago, long_ago) is None
    backoff.restarted("uid", "app", long_ago, long_ago)
    again = long_ago + SECOND
    assert backoff.until("uid", "app", again, again) == again + 10 * SECOND


def test_ten_minutes_exactly_are_not_enough() -> None:
    backoff = CrashLoopBackoff()
    backoff.restarted("uid", "app", 0, 0)
    finished_at = 600 * SECOND
    assert backoff.until("uid", "app", finished_at, finished_at) == finished_at + 10 * SECOND


def test_the_pause_counts_from_the_end_of_the_container() -> None:
    backoff = CrashLoopBackoff()
    backoff.restarted("uid", "app", 0, 0)
    finished_at = 5 * SECOND
    assert backoff.until("uid", "app", finished_at, finished_at + 9 * SECOND) == 15 * SECOND
    assert backoff.until("uid", "app", finished_at, finished_at + 10 * SECOND) is None


def test_containers_wait_each_for_themselves_and_a_pods_pauses_can_be_forgotten() -> None:
    backoff = CrashLoopBackoff()
    for uid, name in (("u1", "app"), ("u1", "side"), ("u2", "app")):
        backoff.restarted(uid, name, 0, 0)
    assert backoff.until("u1", "other", 1, 1) is None
    backoff.forget("u1")
    assert backoff.until("u1", "app", 1, 1) is None
    assert backoff.until("u1", "side", 1, 1) is None
    assert backoff.until("u2", "app", 1, 1) is not None


@given(st.lists(st.integers(0, 900 * SECOND), min_size=1, max_size=20))
def test_no_pause_is_ever_longer_than_five_minutes_or_shorter_than_the_one_before(
    lives: list[int],
) -> None:
    backoff = CrashLoopBackoff()
    now = last = 0
    for life in lives:
        finished_at = now + life
        due = backoff.until("uid", "app", finished_at, finished_at)
        pause = 0 if due is None else due - finished_at
        assert pause <= 300 * SECOND
        assert pause >= last or life > 600 * SECOND
        last = pause if life <= 600 * SECOND else 0
        now = finished_at + pause
        backoff.restarted("uid", "app", finished_at, now)
