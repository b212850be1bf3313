"""The law: under ``kep`` nothing that is pressed breaks it, under ``legacy`` it can be broken."""

from __future__ import annotations

import msgspec
import pytest

from app.engine.profiles import PROFILES
from app.engine.records import PodCached
from app.sim.presses import PALETTE
from app.stage.law import judge
from app.stage.lessonfile import lessons
from app.stage.spec import Press
from tests.stage.lessonruns import S, arena, lesson

RIGHT = [name for name, profile in PROFILES.items() if profile.trusting_period_ns is None]
OFFERED = [
    pytest.param(one.name, press.name, id=f"{one.name}-{press.name}")
    for one in lessons()
    for press in one.file.press
]


def pressed(name: str, t: float) -> tuple[Press, ...]:
    button = next(one for one in PALETTE if one.name == name)
    return (Press(int(t * S), name, "shop/web-0" if button.target == "pod" else ""),)


@pytest.mark.parametrize("profile", PROFILES)
def test_it_holds_under_every_design_as_long_as_nothing_is_wrong(profile: str) -> None:
    verdict = judge(arena(profile), 60 * S)
    assert verdict.holds
    assert verdict.changes == verdict.seen > 10


@pytest.mark.parametrize("name", [button.name for button in PALETTE])
@pytest.mark.parametrize("profile", RIGHT)
def test_nothing_that_is_pressed_breaks_it_where_relists_find_changes(
    profile: str, name: str
) -> None:
    for t in (11, 17.9, 23.3):
        verdict = judge(arena(profile, *pressed(name, t)), 60 * S)
        assert (verdict.holds, verdict.breach) == (True, None)
        assert verdict.changes == verdict.seen > 0


def test_all_presses_together_do_not_break_it_under_kep() -> None:
    presses = [pressed(one.name, 5 + at)[0] for at, one in enumerate(PALETTE)]
    verdict = judge(arena("kep", *presses, seconds=90), 90 * S)
    assert (verdict.holds, verdict.breach) == (True, None)


@pytest.mark.parametrize("one", [one.name for one in lessons()])
def test_each_lesson_offers_a_press_that_breaks_it_under_legacy(one: str) -> None:
    broken = [
        press.name
        for press in lesson(one).lesson.file.press
        if not judge(arena("legacy", *pressed(press.name, 11)), 60 * S).holds
    ]
    assert broken


@pytest.mark.parametrize(("one", "name"), OFFERED)
def test_what_a_lesson_offers_does_not_break_it_under_kep(one: str, name: str) -> None:
    assert judge(arena("kep", *pressed(name, 11)), 60 * S).holds


def test_a_relist_that_forgot_to_write_would_be_seen() -> None:
    """The law is no formality: take away the one write that tells of a new container."""
    run = arena("kep")
    starts = [
        one
        for one in run.records
        if isinstance(one, PodCached)
        and one.t > 2 * S
        and any(container.runtime_state == "running" for container in one.containers)
    ]
    assert len(starts) > 5
    broken = 0
    for gone in starts:
        left = tuple(one for one in run.records if one is not gone)
        broken += not judge(msgspec.structs.replace(run, records=left), 60 * S).holds
    # One container dies again before anybody could have been late.
    assert broken >= len(starts) - 1


def test_a_lost_stop_is_a_breach_from_its_deadline_on() -> None:
    run = arena("legacy", *pressed("lose-stops", 11))
    breach = judge(run, 60 * S).breach
    assert breach is not None
    assert breach.says == "runs"
    assert S <= breach.t - breach.from_t < 1.2 * S
    assert judge(run, breach.t - 1).holds
    assert not judge(run, breach.t).holds
    assert breach.pod.startswith("shop/")


def test_a_breach_that_is_over_is_told_as_over_only_then() -> None:
    run = arena("legacy", *pressed("delay-stream", 11))
    breach = judge(run, 60 * S).breach
    assert breach is not None
    assert breach.to_t is not None
    before = judge(run, breach.to_t - 1).breach
    assert before is not None
    assert before.to_t is None
    assert before.from_t == breach.from_t


def test_changes_are_counted_when_they_are_due_or_seen() -> None:
    run = lesson("legacy-trap")._runs["main"]
    verdict = judge(run, 20 * S)
    assert not verdict.holds
    assert verdict.changes == verdict.seen + 1


def test_a_frozen_runtime_excuses_and_nothing_else_does() -> None:
    frozen = arena("kep", *pressed("freeze-runtime", 11))
    late = max(
        one.found_t - one.known_t
        for one in frozen.truth.moments
        if one.found_t is not None and one.known_t is not None
    )
    assert late > 0
    assert judge(frozen, 60 * S).holds
