"""Every lesson against the runs it speaks of: what it points at is there, its numbers can be told,
and what it says is right is what the engine did."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest

from app.engine.profiles import PROFILES
from app.engine.records import PodGone, PodSeen, RelistFinished, RelistStarted
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
    late = round((at - engine) / 1e6)
    assert told == [late, round((engine - ask.since) / 1e6), 860]
    assert ask.outcome.verdict.startswith("Right choice; your moment is ")
    assert f"{late}\N{NO-BREAK SPACE}ms late" in ask.outcome.verdict
    assert ask.outcome.grade == "part"
    near = lesson("hint-lost").view(4, Answer(choice="poll", at=engine + 20_000_000)).ask
    assert near is not None
    assert near.outcome is not None
    assert near.outcome.grade == "right"
    assert near.outcome.verdict.startswith("Right. It took ")
    assert near.outcome.verdict.endswith("20\N{NO-BREAK SPACE}ms apart.")


def test_a_moment_beyond_what_another_answer_means_is_said_so() -> None:
    view = lesson("hint-lost").view(2)
    assert view.ask is not None
    at = view.ask.since + 506_000_000
    told = lesson("hint-lost").view(2, Answer(choice="hint", at=at)).ask
    assert told is not None
    assert told.outcome is not None
    assert told.outcome.grade == "part"
    assert "late, later than the moment “next global relist”." in told.outcome.verdict
    contradicting = lesson("hint-lost").view(2, Answer(choice="poll", at=view.ask.since)).ask
    assert contradicting is not None
    assert contradicting.outcome is not None
    assert contradicting.outcome.grade == "wrong"


@pytest.mark.parametrize(("name", "number"), ASKS)
def test_a_slider_that_nobody_touched_is_no_moment(name: str, number: int) -> None:
    taken = lesson(name)
    ask = taken.view(number).ask
    assert ask is not None
    if not ask.moment:
        return
    assert 0 < ask.unset < ask.earliest
    assert taken.view(number, Answer(at=ask.unset)).ask.outcome is None  # type: ignore[union-attr]
    for one in ask.choices:
        outcome = taken.view(number, Answer(choice=one.id, at=ask.unset)).ask.outcome  # type: ignore[union-attr]
        assert outcome is not None
        assert outcome.you is None
        assert outcome.grade in ("right", "wrong")
        assert "you said" not in outcome.verdict


@pytest.mark.parametrize(("name", "number"), ASKS)
def test_both_moments_are_in_view_wherever_the_other_one_is(name: str, number: int) -> None:
    taken = lesson(name)
    ask = taken.view(number).ask
    assert ask is not None
    if not ask.moment:
        return
    for at in (ask.earliest, (ask.earliest + ask.latest) // 2, ask.latest):
        view = taken.view(number, Answer(at=at))
        assert view.ask is not None
        outcome = view.ask.outcome
        assert outcome is not None
        assert outcome.you is not None
        assert outcome.engine is not None
        assert view.shown.begin < min(outcome.you, outcome.engine)
        assert view.shown.end > max(outcome.you, outcome.engine)
        assert view.shown.until >= max(outcome.you, outcome.engine)


@pytest.mark.parametrize(("name", "number"), ASKS)
def test_no_two_moments_that_answers_mean_look_alike(name: str, number: int) -> None:
    """Who is asked between two moments can tell them apart."""
    taken = lesson(name)
    ask = taken.lesson.steps[number - 1].ask
    assert ask is not None
    moments = [
        taken._finder.thing(one).t for one in (ask.moment, *(c.at for c in ask.choice)) if one
    ]
    view = taken.view(number).ask
    assert view is not None
    for one, other in pairwise(sorted(moments)):
        assert other == one or other - one > (view.latest - view.earliest) // 20
    if name == "relist-loop" and number == 3:
        told = numbers(name, number, answered=True)
        start, end = told["start-to-start"], told["end-to-start"]
        assert isinstance(start, int)
        assert isinstance(end, int)
        assert start - end > 500_000_000


@pytest.mark.parametrize(("name", "number"), STEPS)
def test_a_picture_has_the_pods_it_speaks_of(name: str, number: int) -> None:
    """The filter leaves a pod that is in the picture: seen by then, and not gone before it."""
    taken = lesson(name)
    for view in views(taken, number):
        run = taken._runs[view.shown.run]
        there: dict[str, str] = {}
        for record in run.records:
            if record.t > view.shown.until:
                break
            if isinstance(record, PodSeen):
                there[record.uid] = f"{record.namespace}/{record.name}"
            elif isinstance(record, PodGone) and record.t < view.shown.begin:
                there.pop(record.uid, None)
        shown = [uid for uid, pod in there.items() if pod.startswith(view.shown.filter)]
        assert shown, view.shown.filter
        assert {point.uid for point in view.shown.points if point.uid} <= set(shown)


@pytest.mark.parametrize(("name", "number"), STEPS)
def test_whom_the_law_accuses_is_in_the_picture(name: str, number: int) -> None:
    view = lesson(name).view(number)
    if view.law is not None and view.law.breached is not None:
        assert view.law.breached.pod.startswith(view.shown.filter)
        assert any(one.uid == view.law.breached.uid for one in view.shown.unseen)


@pytest.mark.parametrize(("name", "number"), ASKS)
def test_an_open_question_draws_nothing_of_what_is_not_seen(name: str, number: int) -> None:
    asked, told = views(lesson(name), number)
    assert asked.shown.unseen == ()
    assert all(one.begin < one.to <= told.shown.until for one in told.shown.unseen)


@pytest.mark.parametrize(("name", "number"), ASKS)
def test_no_targeted_relist_under_way_gives_the_answer_away(name: str, number: int) -> None:
    taken = lesson(name)
    shown = taken.view(number).shown
    under_way: set[int] = set()
    for record in taken._runs[shown.run].records:
        if record.t > shown.until:
            break
        if isinstance(record, RelistStarted) and record.scope == "pod":
            under_way.add(record.relist)
        elif isinstance(record, RelistFinished):
            under_way.discard(record.relist)
    assert not under_way


def test_a_lost_end_is_drawn_as_long_as_it_is_not_seen() -> None:
    view = lesson("legacy-trap").view(3, Answer(show=True))
    (one,) = [each for each in view.shown.unseen if each.to == view.shown.until]
    assert one.says == "runs"
    assert one.to - one.begin > 9 * S


def test_the_task_the_law_and_the_outcome_say_the_same_words() -> None:
    for one in lessons():
        last = one.steps[-1]
        assert "one period" in last.title + last.text
        assert "for good" not in last.title + last.text
    law = lesson("legacy-trap").view(4).law
    assert law is not None
    assert "within one period" in law.text
    assert "The period was over at" in law.breach


def test_the_design_before_the_revision_is_dated_once() -> None:
    (span,) = re.findall(r"1\.26 to 1\.\d+", PROFILES["legacy"].since)
    said = " ".join(
        f"{step.title} {step.text} {step.source}" for one in lessons() for step in one.steps
    )
    assert span in said
    assert set(re.findall(r"1\.26 to 1\.\d+", said)) == {span}


def test_a_wrong_answer_is_told_what_is_right() -> None:
    ask = lesson("hint-lost").view(4, Answer(choice="never")).ask
    assert ask is not None
    assert ask.outcome is not None
    assert ask.outcome.grade == "wrong"
    assert ask.outcome.verdict.startswith(
        "No. The right answer is “At the next global relist”. It took "
    )
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
            # A question stands a moment before what it asks for.
            assert view.shown.until <= next_view.shown.until + 1000, "one goes forward in the run"


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
    told = numbers("which-pleg", 2, answered=True)
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
