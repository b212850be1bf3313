"""The lessons' nodes: what their files claim."""

import pytest

from app.engine.records import EventRefused, HealthChanged, RelistFinished, StreamChanged
from app.sim.flavour import MS, SECOND
from tests.sim.claims import claim, played


@claim("lesson-arena")
def test_the_arena_every_end_is_found_by_its_hint() -> None:
    play = played("lesson-arena")
    assert {one.source for one in play.died()} == {"evented_pleg"}
    assert {one.container_name for one in play.died()} == {"api", "web"}


@claim("lesson-hint")
def test_the_hint_is_there_for_the_first_and_the_third_death() -> None:
    play = played("lesson-hint")
    first, second, third = play.died()
    assert [one.source for one in (first, second, third)] == [
        "evented_pleg",
        "global",
        "evented_pleg",
    ]
    assert max(first.after_ns or 0, third.after_ns or 0) < 10 * MS
    assert second.event is None
    # Half-way between two polls, so that one sees the waiting.
    assert 300 * MS < play.ends("global").max < 1.1 * SECOND


@claim("lesson-loop")
def test_the_loop_is_quick_twice_over_and_fails_only_when_nothing_answers() -> None:
    play = played("lesson-loop")
    took = [one.duration_ns for one in play.of(RelistFinished) if one.scope == "global"]
    assert sorted(took)[len(took) // 2] < 5 * MS
    sick, well = play.of(HealthChanged)[-2:]
    assert (sick.healthy, well.healthy) == (False, True)
    assert 239 * SECOND < sick.t < 242 * SECOND
    assert 260 * SECOND <= well.t < 262 * SECOND


@claim("lesson-loop")
def test_the_loop_under_polling_takes_a_multiple_while_pods_start() -> None:
    play = played("lesson-loop", "polling")

    def took(begin: float, end: float) -> list[int]:
        return [
            one.duration_ns
            for one in play.of(RelistFinished)
            if one.scope == "global" and begin < one.started / SECOND < end
        ]

    idle = took(8, 19)
    assert max(took(29, 34)) > 3 * sum(idle) / len(idle)
    assert play.summary.starts.never > 0


@claim("lesson-trap")
def test_the_trap_is_none_for_whoever_only_asks() -> None:
    play = played("lesson-trap")
    assert len(play.died()) == 4
    assert play.slowest < 1.2 * SECOND


@claim("lesson-trap")
def test_the_trap_catches_whoever_believes_events() -> None:
    play = played("lesson-trap", "legacy")
    assert play.slowest > 240 * SECOND
    assert play.of(EventRefused)
    assert play.summary.differences > 0


@claim("lesson-which")
@pytest.mark.parametrize(("profile", "blind"), [("kep", 3), ("legacy", 280)])
def test_which_one_it_is_shows_in_what_a_swallowed_event_costs(profile: str, blind: int) -> None:
    play = played("lesson-which", profile)
    first = play.died()[0]
    assert first.source == "evented_pleg"
    assert [one.source for one in play.died()[1:]].count("global") >= 1
    assert (play.slowest > 100 * SECOND) == (profile == "legacy")
    assert play.slowest > (0 if profile == "kep" else blind) * SECOND
    assert play.slowest < (blind if profile == "kep" else 300) * SECOND
    # Nothing tells of the swallowed event.
    changes = [one.t / SECOND for one in play.of(StreamChanged)]
    assert not [t for t in changes if 2 < t < 330]
