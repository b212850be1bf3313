"""Virtual time is worth its name: the benchmark's node does what it says, much faster than life."""

import time

import pytest

from app.engine.records import Lifecycle
from app.sim.units import seconds
from app.sim.virtual import VirtualSession
from tests.sim.speed import busy_session, crowded_session, elapsed


def test_the_benchmarks_node_has_one_end_a_second_and_each_is_found() -> None:
    session = busy_session(110)
    died: list[Lifecycle] = []
    session.listeners.append(
        lambda record: (
            died.append(record)
            if isinstance(record, Lifecycle) and record.type == "ContainerDied"
            else None
        )
    )
    session.run_until(session.clock.mono() + seconds(60))
    assert session.world.count >= 110
    assert 57 <= len(died) <= 61
    assert session.settle()
    assert session.differences() == ()


def test_a_busy_node_is_played_hundreds_of_times_faster_than_life() -> None:
    """The goal (2000 times) is the benchmark's; here a machine may be busy with other things."""
    assert min(elapsed(110, 20) for _ in range(3)) < 20 / 300


# ---------------------------------------------------------------------------- five hundred pods


def held(session: VirtualSession) -> dict[str, int]:
    """How much is held of what must not grow with time, by what it is held for."""
    workers = session.workers
    return {
        "containers": session.world.count,
        "workers": len(workers.pods),
        "waiting": len(workers.waiting),
        "cached": len(workers.cache._entries),
        "freshness": len(workers.cache._pod_t),
        "back-off": len(workers._backoff._entries),
        "processes": len(workers.processes._running),
        "channel": len(workers._loop),
        "appointments": len(session.agenda._heap),
        "engine": len(session.engine.cache),
    }


@pytest.mark.parametrize("profile", ["kep", "legacy"])
def test_five_hundred_pods_are_played_many_times_faster_than_life_and_held_in_bounds(
    profile: str,
) -> None:
    """On one core of a laptop some 200 times; here a machine may be busy with other things."""
    session = crowded_session(profile=profile)
    began = time.process_time()
    session.run_until(seconds(100))
    assert time.process_time() - began < 100 / 20
    assert 440 <= len(session.workers.pods) <= 540
    early = held(session)
    session.run_until(seconds(250))
    late = held(session)
    # One dead instance of each container is kept, so there may be two of each.
    assert late["containers"] <= 2 * late["workers"] + 50
    for what in ("workers", "waiting", "processes", "channel"):
        assert late[what] <= early["workers"] + 60, what
    for what in ("cached", "freshness", "back-off", "engine"):
        assert late[what] <= 600, what
    assert late["appointments"] < 1000


def test_five_hundred_pods_end_well_whatever_happened_to_them() -> None:
    session = crowded_session()
    session.run_until(seconds(60))
    assert session.settle()
    assert session.differences() == ()
