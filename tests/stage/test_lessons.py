"""Every lesson against the runs it speaks of: what it points at is there, its numbers can be told,
and what it says is right is what the engine did."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest

from app.stage.lesson import LessonInRuns, law_view
from app.stage.lessonfile import lessons, names
from app.stage.lessonview import Answer, StepView
from tests.stage.lessonruns import S, lesson

STEPS = [
    pytest.param(one.name, number, id=f"{one.name}-{number}")
    for one in lessons()
    for number in range(1, len(one.steps) + 1)
]
ASKS = [
    pytest.param(one.name, number, id=f"{one.name}-{number}")
    for one in lessons()
    for number, step in enumerate(one.steps, 1)
    if step.ask is not None
]


def text(parts: object) -> str:
    assert isinstance(parts, tuple)
    return "".join(part if isinstance(part, str) else part.text for part in parts)


def views(taken: LessonInRuns, number: int) -> list[StepView]:
    """A step as it stands, and (if it asks) when it was answered by nothing."""
    step = taken.lesson.steps[number - 1]
    asked = [taken.view(number)]
    return asked + ([taken.view(number, Answer(show=True))] if step.ask else [])


def test_both_exercises_are_lessons_and_two_more() -> None:
    assert names()[:2] == ("relist-loop", "which-pleg")
    assert {"hint-lost", "legacy-trap"} <= set(names())


@pytest.mark.parametrize(("name", "number"), STEPS)
def test_each_step_is_found_in_the_runs(name: str, number: int) -> None:
    taken = lesson(name)
    for view in views(taken, number):
        shown = view.shown
        assert 0 <= shown.begin < shown.end
        assert shown.begin < shown.until <= taken._runs[shown.run].spec.duration_ns
        assert shown.uids, "the lanes of a step are those of pods that are there"
        assert "{" not in text(view.text)
        assert view.source
        if view.ask is not None and view.ask.outcome is not None:
            assert "{" not in text(view.ask.outcome.say)
        elif view.ask is not None:
            assert shown.until < shown.end, "what is asked for has room to happen"


@pytest.mark.parametrize(("name", "number"), STEPS)
def test_a_step_is_read_in_two_sentences(name: str, number: int) -> None:
    step = lesson(name).lesson.steps[number - 1]
    for told in (step.text, step.ask.say if step.ask else ""):
        words = " ".join(told.split())
        assert len(re.findall(r"[.!?](?=\s|$)", words)) <= 2, words
        assert len(words) < 420


@pytest.mark.parametrize(("name", "number"), STEPS)
def test_what_is_pointed_out_is_in_view(name: str, number: int) -> None:
    for view in views(lesson(name), number):
        for point in view.shown.points:
            assert view.shown.begin <= point.t <= view.shown.end, point.call
            assert point.t <= view.shown.until


@pytest.mark.parametrize(("name", "number"), ASKS)
def test_the_engine_makes_one_choice_right_and_it_is_the_declared_one(
    name: str, number: int
) -> None:
    taken = lesson(name)
    step = taken.lesson.steps[number - 1]
    assert step.ask is not None
    if step.ask.choice:
        assert [one.id for one in taken.right(step)] == [step.ask.right]
        assert len(step.ask.choice) > 1


@pytest.mark.parametrize(("name", "number"), ASKS)
def test_a_question_does_not_show_its_answer(name: str, number: int) -> None:
    taken = lesson(name)
    view = taken.view(number)
    ask = taken.lesson.steps[number - 1].ask
    assert ask is not None
    assert view.ask is not None
    assert view.ask.outcome is None
    assert not any(one.right for one in view.ask.choices)
    answered = taken.view(number, Answer(show=True))
    assert answered.shown.until > view.shown.until
    if ask.moment:
        assert answered.ask is not None
        assert answered.ask.outcome is not None
        engine = answered.ask.outcome.engine
        assert engine is not None
        assert view.shown.until < engine <= answered.shown.until
        assert view.ask.earliest < engine <= view.ask.latest, "the right moment can be chosen"


def test_an_answer_is_told_with_its_distance_to_the_engines_record() -> None:
    view = lesson("hint-lost").view(4)
    assert view.ask is not None
    at = view.ask.since + 860_000_000
    ask = lesson("hint-lost").view(4, Answer(choice="poll", at=at)).ask
    assert ask is not None
    assert ask.outcome is not None
    engine = ask.outcome.engine
    assert engine is not None
    told = [int(number) for number in re.findall(r"(\d+)\N{NO-BREAK SPACE}ms", ask.outcome.verdict)]
    assert told == [
        round((engine - ask.since) / 1e6),
        860,
        round((at - engine) / 1e6),
    ]
    assert ask.outcome.verdict.startswith("Right. It took ")
    assert ask.outcome.grade == "right"


def test_a_wrong_answer_is_told_what_is_right() -> None:
    ask = lesson("hint-lost").view(4, Answer(choice="never")).ask
    assert ask is not None
    assert ask.outcome is not None
    assert ask.outcome.grade == "wrong"
    assert ask.outcome.verdict.startswith("No: at the next global relist. It took ")
    assert [one.id for one in ask.choices if one.chosen] == ["never"]
    assert [one.id for one in ask.choices if one.right] == ["poll"]


def test_who_wants_to_be_shown_is_shown() -> None:
    ask = lesson("hint-lost").view(4, Answer(show=True)).ask
    assert ask is not None
    assert ask.outcome is not None
    assert ask.outcome.grade == "shown"
    assert ask.outcome.verdict.startswith("At the next global relist. It took ")
    assert ask.outcome.you is None


@pytest.mark.parametrize("name", names())
def test_a_lesson_predicts_goes_on_in_time_and_ends_with_its_law(name: str) -> None:
    taken = lesson(name)
    steps = taken.lesson.steps
    kinds = [step.kind for step in steps]
    assert kinds.count("predict") >= 3
    assert {"read", "predict", "see", "break"} <= set(kinds)
    assert steps[-1].law
    law = taken.view(len(steps)).law
    assert law is not None
    assert law.state == "holding"
    assert law.changes == law.seen > 3
    for (step, view), (later, next_view) in pairwise(
        (step, taken.view(number)) for number, step in enumerate(steps[:-1], 1)
    ):
        if step.run == later.run == "main" and name != "legacy-trap":
            assert view.shown.until <= next_view.shown.until, "one goes forward through the run"


# ------------------------------------------------- the questions of the two exercises, in numbers


def numbers(name: str, number: int, *, answered: bool = False) -> dict[str, float | str | bool]:
    view = lesson(name).view(number, Answer(show=True) if answered else None)
    told = view.numbers
    if answered:
        assert view.ask is not None
        assert view.ask.outcome is not None
        told = view.ask.outcome.numbers
    return {one.name: one.value for one in told}


def step_with(name: str, figure: str) -> int:
    for number, step in enumerate(lesson(name).lesson.steps, 1):
        if figure in (*step.numbers, *(step.ask.numbers if step.ask else ())):
            return number
    raise AssertionError(f"{name} shows no {figure}")


def test_period_threshold_and_their_ratio() -> None:
    told = numbers("relist-loop", 4)
    assert (told["period"], told["threshold"]) == (S, 180 * S)
    assert told["threshold-to-period"] == 180


def test_mean_duration_before_and_during_churn_and_the_ratios() -> None:
    told = numbers("relist-loop", step_with("relist-loop", "threshold-to-longest"))
    idle, busy, longest = told["idle"], told["busy"], told["longest"]
    assert isinstance(idle, float)
    assert isinstance(busy, float)
    assert isinstance(longest, int)
    assert 0 < idle < busy < longest < 100_000_000
    assert told["busy-to-idle"] == busy / idle
    assert told["threshold-to-idle"] == 180 * S / idle > 100
    assert told["threshold-to-longest"] == 180 * S / longest > 100


def test_a_container_that_changed_twice_is_one_event() -> None:
    number = step_with("relist-loop", "old-state")
    told = numbers("relist-loop", number, answered=True)
    assert (told["old-state"], told["new-state"]) == ("non-existent", "exited")
    assert told["told"] == "ContainerDied"
    assert told["events-of-blink"] == 1


def test_what_healthy_compares() -> None:
    told = numbers("relist-loop", step_with("relist-loop", "start-to-sick"), answered=True)
    start, frozen = told["start-to-sick"], told["frozen-to-sick"]
    assert isinstance(start, int)
    assert isinstance(frozen, int)
    assert 180 * S < start < 181 * S
    assert frozen < 180.5 * S
    assert told["starts-counted"] == 0
    told = numbers("relist-loop", step_with("relist-loop", "gave-up-after"))
    assert told["ended-while-frozen"] == 1
    gave_up = told["gave-up-after"]
    assert isinstance(gave_up, int)
    assert 119 * S < gave_up < 121 * S
    asked = step_with("relist-loop", "start-to-sick")
    said = text(lesson("relist-loop").view(asked, Answer(show=True)).ask.outcome.say)  # type: ignore[union-attr]
    assert "pleg was last seen active 3m0" in said
    assert "threshold is 3m0s" in said


def test_which_pleg_and_the_two_periods() -> None:
    told = numbers("which-pleg", 3, answered=True)
    assert told["source"] == "evented_pleg"
    told = numbers("which-pleg", 4, answered=True)
    assert (told["period"], told["old-period"], told["old-to-new"]) == (S, 300 * S, 300)


def test_the_stream_that_lies_by_omission() -> None:
    told = numbers("which-pleg", 6, answered=True)
    assert told["web-events"] == 0
    assert isinstance(told["poll-took"], int)
    assert told["poll-took"] < 1.1 * S
    told = numbers("which-pleg", 7, answered=True)
    assert isinstance(told["old-poll-took"], int)
    assert told["old-poll-took"] > 200 * S


def test_the_law_of_a_lesson_counts_what_was_seen_so_far() -> None:
    run = lesson("hint-lost")._runs["main"]
    states = [law_view(run, t * S) for t in range(30)]
    assert states[0].state == "untested"
    assert {one.state for one in states[6:]} == {"holding"}
    assert [one.seen for one in states] == sorted(one.seen for one in states)
