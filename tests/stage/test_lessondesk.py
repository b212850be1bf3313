"""Lessons in links' words: what cannot be is refused, what is pressed forks the run."""

from __future__ import annotations

import pytest

from app.errors import StageError, StageUnknown
from app.stage.lessonbreak import BreakView
from app.stage.lessondesk import LessonDesk
from app.stage.lessonfile import lessons
from app.stage.run import Run
from app.stage.spec import RunSpec
from app.stage.stage import Stage
from tests.stage.lessonruns import S, played


class Ready:
    """Runs that the tests share."""

    async def get(self, spec: RunSpec) -> Run:
        return played(spec)


@pytest.fixture
def desk() -> LessonDesk:
    return LessonDesk(Ready(), Stage().lookup)


def test_the_list(desk: LessonDesk) -> None:
    cards = desk.cards()
    assert [card.name for card in cards] == [lesson.name for lesson in lessons()]
    for card in cards:
        assert card.questions >= 3
        assert card.steps == len(desk.titles(card.name))
        assert "\n" not in card.know


async def test_a_step_and_its_answers(desk: LessonDesk) -> None:
    asked = await desk.step("hint-lost", 4)
    assert asked.ask is not None
    assert asked.ask.outcome is None
    told = await desk.step("hint-lost", 4, choice="poll")
    assert told.ask is not None
    assert told.ask.outcome is not None
    assert told.ask.outcome.grade == "right"


@pytest.mark.parametrize(
    ("step", "answer", "complaint"),
    [
        (1, {"choice": "poll"}, "asks for nothing"),
        (1, {"show": True}, "asks for nothing"),
        (4, {"choice": "sometimes"}, "no such answer"),
        (4, {"at": 10**14}, "`at`"),
        (6, {"at": 5}, "`at`"),
    ],
)
async def test_an_answer_that_is_none_is_refused(
    desk: LessonDesk, step: int, answer: dict[str, object], complaint: str
) -> None:
    with pytest.raises(StageError, match=complaint):
        await desk.step("hint-lost", step, **answer)  # type: ignore[arg-type]


async def test_what_is_not_there(desk: LessonDesk) -> None:
    with pytest.raises(StageUnknown, match="no such lesson"):
        await desk.step("nothing", 1)
    with pytest.raises(StageUnknown, match="no such lesson"):
        desk.titles("../relist-loop")
    with pytest.raises(StageUnknown, match="steps"):
        await desk.step("hint-lost", 99)
    with pytest.raises(StageUnknown, match="no such lesson"):
        await desk.broken("nothing", "kep", ())


# ------------------------------------------------------------------------------ break it yourself


def verdicts(view: BreakView) -> dict[str, str]:
    return {one.profile: one.law.state for one in view.verdicts}


async def test_nothing_pressed_yet(desk: LessonDesk) -> None:
    view = await desk.broken("hint-lost", "", ())
    assert verdicts(view) == {"kep": "holding", "legacy": "holding"}
    assert view.profile == "kep"
    assert view.presses == ()
    assert view.shown.points == ()
    assert view.shown.until == view.step.shown.until
    assert view.pods == ("shop/api-0", "shop/web-0")
    assert {button.name for button in view.offered} == {
        press.name for press in lessons()[2].file.press
    }


async def test_a_press_forks_both_designs_and_only_the_old_one_breaks(desk: LessonDesk) -> None:
    view = await desk.broken("hint-lost", "legacy", ("11s!lose-stops",))
    assert verdicts(view) == {"kep": "holding", "legacy": "broken"}
    assert view.shown.profile == "legacy"
    assert "press=11s!lose-stops" in view.shown.query
    assert "press" not in view.untouched
    assert view.shown.begin < 11 * S < view.shown.end
    assert [point.call for point in view.shown.points] == [
        "pressed: Lose stop events",
        "ends; the cache says that it runs",
    ]
    assert view.compare.count("run=") == 2
    (law,) = [one.law for one in view.verdicts if one.profile == "legacy"]
    assert "which was not so" in law.breach
    assert law.seen < law.changes


async def test_the_trap_lesson_begins_with_the_old_design(desk: LessonDesk) -> None:
    assert (await desk.broken("legacy-trap", "", ())).profile == "legacy"
    assert (await desk.broken("legacy-trap", "kep", ())).profile == "kep"


async def test_presses_are_in_order_and_told_in_words(desk: LessonDesk) -> None:
    view = await desk.broken("hint-lost", "kep", ("20s!heal", "11s!kill-container!shop/web-0"))
    assert [(one.t, one.text, one.target) for one in view.presses] == [
        (11 * S, "Kill a container", "shop/web-0"),
        (20 * S, "Back to normal", ""),
    ]


@pytest.mark.parametrize(
    ("profile", "press"),
    [
        ("generic", "11s!lose-stops"),
        ("kep", "11s!lose-all"),
        ("kep", "99s!lose-stops"),
        ("kep", "11s!kill-container"),
        ("kep", "11s!break-stream!shop/web-0"),
        ("kep", "!"),
    ],
)
async def test_what_cannot_be_pressed(desk: LessonDesk, profile: str, press: str) -> None:
    with pytest.raises(StageError):
        await desk.broken("hint-lost", profile, (press,))


async def test_the_law_goes_with_the_cursor(desk: LessonDesk) -> None:
    seen = [(await desk.law("hint-lost", 5, t * S)).seen for t in (0, 6, 13, 29)]
    assert seen == sorted(seen)
    assert seen[0] == 0 < seen[-1]
    assert (await desk.law("legacy-trap", 4, 14 * S)).state == "holding"
    assert (await desk.law("legacy-trap", 4, 20 * S)).state == "broken"
    fork = ("11s!lose-stops",)
    assert (await desk.law("hint-lost", 8, 60 * S, "legacy", fork)).state == "broken"
    assert (await desk.law("hint-lost", 8, 60 * S, "kep", fork)).state == "holding"
    assert (await desk.law("hint-lost", 8, 10 * S, "legacy", fork)).state == "holding"
    with pytest.raises(StageError, match="question"):
        await desk.law("hint-lost", 4, S)
    with pytest.raises(StageUnknown):
        await desk.law("hint-lost", 44, S)


def test_a_button_becomes_a_links_text(desk: LessonDesk) -> None:
    assert desk.press("hint-lost", 12_500_000_000, "lose-stops", "") == "12.5s!lose-stops"
    made = desk.press("hint-lost", 1, "kill-container", "shop/web-0")
    assert made == "0.000000001s!kill-container!shop/web-0"
    for at, button, target in (
        (60 * S, "lose-stops", ""),
        (-1, "lose-stops", ""),
        (1, "lose", ""),
        (1, "kill-container", "<script>"),
    ):
        with pytest.raises(StageError):
            desk.press("hint-lost", at, button, target)


async def test_a_lesson_is_played_once_whoever_asks() -> None:
    class Counting(Ready):
        asked = 0

        async def get(self, spec: RunSpec) -> Run:
            self.asked += 1
            return await super().get(spec)

    runs = Counting()
    desk = LessonDesk(runs, Stage().lookup)
    first = await desk.step("hint-lost", 4, choice="poll")
    asked = runs.asked
    assert await desk.step("hint-lost", 4, choice="poll") == first
    assert (await desk.step("hint-lost", 5)).law is not None
    assert runs.asked == asked == len(lessons()[2].specs())


async def test_both_designs_are_judged_up_to_the_moment_that_is_shown(desk: LessonDesk) -> None:
    for presses in ((), ("11s!lose-stops",)):
        view = await desk.broken("hint-lost", "legacy", presses)
        assert view.until == view.shown.until
        assert {one.law.until for one in view.verdicts} == {view.until}
        (shown,) = [one.law for one in view.verdicts if one.chosen]
        if not presses:
            assert view.step.law is not None
            before = await desk.law("hint-lost", 8, view.until, "legacy")
            assert (before.seen, before.changes) == (shown.seen, shown.changes)


async def test_what_is_not_seen_is_drawn_in_the_run_that_is_shown(desk: LessonDesk) -> None:
    view = await desk.broken("hint-lost", "legacy", ("11s!lose-stops",))
    lost = [one for one in view.shown.unseen if one.to == view.shown.until]
    assert {one.says for one in lost} == {"runs"}
    assert len({one.uid for one in lost}) == 2, "both pods end, and nobody sees it"
    kept = await desk.broken("hint-lost", "kep", ("11s!lose-stops",))
    assert not [one for one in kept.shown.unseen if one.to - one.begin > 1_100_000_000]
