"""Lessons in a real browser: two walked to the end by keyboard alone, with axe at each step in dark
and light; left and resumed, linked, gone back; a class of several browsers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Route, expect

from app.stage.lessonfile import find, lessons
from tests.browser.chromium import ARTIFACTS, fits, keep, until
from tests.browser.test_accessibility import faults
from tests.commands import Command, demo
from tests.commands import until as until_found

MOST_TABS = 60

#: Where the keyboard is.
FOCUSED = """() => {
  const one = document.activeElement;
  return [one?.id ?? "", one?.name ?? "", one?.value ?? "", one?.tagName ?? ""];
}"""


@pytest.fixture(scope="module")
def server() -> Iterator[Command]:
    with demo() as command:
        command.address()
        yield command


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    made = browser.new_context(
        viewport={"width": 1280, "height": 800}, color_scheme="light", reduced_motion="reduce"
    )
    yield made
    made.close()


@pytest.fixture
def page(context: BrowserContext) -> Iterator[Page]:
    """A page that has nothing to complain of at the end."""
    complaints: list[str] = []
    opened = context.new_page()
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    opened.on(
        "console",
        lambda message: complaints.append(message.text) if message.type == "error" else None,
    )
    yield opened
    assert complaints == []


def go(page: Page, server: Command, path: str) -> None:
    page.goto(server.address() + path)
    expect(page.locator("#lesson")).to_have_attribute("data-taken", "yes")
    ready(page)


def ready(page: Page) -> None:
    """The run is here, and stands where the step is."""
    expect(page.locator("#lesson-time")).to_have_text(
        page.evaluate(
            """async () => {
              const { runTime } = await import("/static/js/run-link.js");
              return runTime(lesson.facts.shown.until);
            }"""
        ),
    )


def at_step(page: Page, number: int) -> None:
    expect(page.locator(".lesson-kind")).to_contain_text(f"Step {number} of")
    expect(page.locator("#lesson")).to_have_attribute("data-taken", "yes")
    ready(page)


def taken(page: Page) -> None:
    """The page has taken what the server sent it: the next press is about that."""
    expect(page.locator("#lesson")).to_have_attribute("data-taken", "yes")
    ready(page)


def tab_to(page: Page, **wanted: str) -> None:
    """Press Tab until the keyboard is there."""
    names = ("id", "name", "value", "tag")
    for _ in range(MOST_TABS):
        page.keyboard.press("Tab")
        here = dict(zip(names, page.evaluate(FOCUSED), strict=True))
        if all(here[name] == value for name, value in wanted.items()):
            return
    raise AssertionError(f"the keyboard does not reach {wanted}")


def looked_over(page: Page, number: int) -> None:
    """axe finds nothing, in dark and in light."""
    schemes: tuple[Any, ...] = ("dark", "light")
    for scheme in schemes:
        page.emulate_media(color_scheme=scheme)
        assert (number, scheme, faults(page)) == (number, scheme, [])


def kept(page: Page, name: str) -> None:
    """A screenshot with the caret as it is: to hide it, styles are set that htmx would copy to the
    next step and the page's policy refuse."""
    ARTIFACTS.mkdir(exist_ok=True)
    page.screenshot(path=ARTIFACTS / f"{name}.png", caret="initial")


@pytest.mark.parametrize("name", ["hint-lost", "relist-loop"])
def test_a_lesson_is_walked_to_its_end_by_keyboard_alone(
    page: Page, server: Command, name: str
) -> None:
    lesson = find(name)
    assert lesson is not None
    page.goto(server.address() + "lessons")
    card = f"Begin: {lesson.file.title}"
    for _ in range(MOST_TABS):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.getAttribute('aria-label')") == card:
            break
    page.keyboard.press("Enter")
    for number, step in enumerate(lesson.steps, 1):
        at_step(page, number)
        expect(page.locator("#lesson-title")).to_have_text(step.title)
        if number > 1:
            assert page.evaluate(FOCUSED)[0] == "lesson-title", "the title has the focus"
            expect(page).to_have_url(re.compile(rf"step={number}\b"))
        looked_over(page, number)
        kept(page, f"lesson-{name}-{number}-light")
        if step.ask is not None:
            answer(page, step.ask.right, moment=bool(step.ask.moment))
            expect(page.locator("#lesson-outcome h2")).to_contain_text("Right")
            if step.ask.moment:
                expect(page.locator("#lesson-outcome h2")).to_contain_text("you said")
            expect(page.locator("#lesson-said")).to_contain_text("Right")
            ready(page)
            looked_over(page, number)
            kept(page, f"lesson-{name}-{number}-answered-light")
        if number < len(lesson.steps):
            tab_to(page, id="lesson-next")
            page.keyboard.press("Enter")
    broken(page)


def answer(page: Page, choice: str, *, moment: bool) -> None:
    """Choose with the arrow keys, move the slider, send it."""
    tab_to(page, name="choice")
    page.keyboard.press("Space")
    for _ in range(6):
        if page.evaluate("document.querySelector('input[name=choice]:checked')?.value") == choice:
            break
        page.keyboard.press("ArrowDown")
    if moment:
        tab_to(page, id="lesson-at")
        for _ in range(3):
            page.keyboard.press("ArrowRight")
        expect(page.locator("#lesson-at-says")).to_contain_text(" after: ")
        expect(page.locator(".lesson-flag.you")).to_be_visible()
    tab_to(page, id="lesson-answer")
    page.keyboard.press("Enter")
    expect(page.locator("#lesson-outcome")).to_be_visible()
    expect(page.locator("#lesson")).to_have_attribute("data-taken", "yes")


def broken(page: Page) -> None:
    """The last step: a press under each design."""
    law = page.locator("#lesson-law")
    expect(law).to_contain_text("Law, holding:")
    tab_to(page, name="name", value="lose-stops")
    page.keyboard.press("Enter")
    expect(page.locator(".lesson-pressed")).to_contain_text("Lose stop events")
    rows = page.locator(".lesson-verdicts tbody tr")
    expect(rows.nth(0)).to_contain_text("holds")
    expect(rows.nth(1)).to_contain_text("broken")
    expect(law).to_contain_text("Law, holding:")
    link = rows.nth(1).locator("a")
    link.focus()
    page.keyboard.press("Enter")
    expect(law).to_contain_text("Law, broken:")
    expect(law).to_contain_text("which was not so")
    ready(page)
    looked_over(page, 99)
    keep(page, "lesson-broken-light")


def test_a_click_on_the_timeline_is_an_answer_and_the_distance_is_drawn(
    page: Page, server: Command
) -> None:
    go(page, server, "lessons/hint-lost?step=4")
    box = page.locator("#plot").bounding_box()
    assert box is not None
    place = page.evaluate(
        """() => {
          const { timeline } = plegscope;
          timeline.invalidate();
          timeline.frame();
          return (lesson.facts.ask.since + 860e6 - timeline.last.from) * timeline.last.scale;
        }"""
    )
    page.mouse.click(box["x"] + place, box["y"] + 300)
    expect(page.locator("#lesson-at-says")).to_contain_text("ms after: web-0 ends")
    assert page.evaluate("plegscope.selected") is None, "no mark is selected meanwhile"
    page.locator("#lesson-answer").click()
    expect(page.locator("#lesson-outcome h2")).to_contain_text("Your moment is ")
    expect(page.locator(".lesson-flag.you")).to_contain_text("you: 8")
    expect(page.locator(".lesson-flag.engine")).to_contain_text("engine: ")
    expect(page.locator(".lesson-apart")).to_contain_text("ms apart")
    expect(page).to_have_url(re.compile(r"[?&]at=\d+"))
    chosen = int(parse_qs(urlsplit(page.url).query)["at"][0])
    engine = page.evaluate("lesson.facts.ask.engine")
    assert abs(chosen - page.evaluate("lesson.facts.ask.since") - 860e6) < 20e6
    assert chosen != engine


def test_the_future_is_not_in_the_page_while_a_question_is_open(
    page: Page, server: Command
) -> None:
    go(page, server, "lessons/hint-lost?step=4")
    asked = page.evaluate("lesson.facts.shown.until")
    assert page.evaluate("plegscope.store.records.at(-1).t") <= asked
    page.locator("#lesson-record-on").click()
    expect(page.locator("#lesson-record")).to_have_text("What comes next is the question.")
    assert page.evaluate("plegscope.store.records.at(-1).t") <= asked, "it cannot be stepped into"


def test_sending_nothing_says_what_is_missing(page: Page, server: Command) -> None:
    go(page, server, "lessons/hint-lost?step=4")
    page.locator("#lesson-answer").click()
    expect(page.locator("#lesson-said")).to_contain_text("Choose an answer, or a moment, first.")
    expect(page.locator("#lesson-outcome")).to_have_count(0)
    assert page.evaluate(FOCUSED)[1] == "choice"


LESSON = "**/lessons/hint-lost?*"


def test_left_and_resumed_and_gone_back(page: Page, server: Command) -> None:
    go(page, server, "lessons/hint-lost?step=4")
    page.locator("input[value=never]").check()
    page.locator("#lesson-answer").click()
    expect(page.locator("#lesson-outcome h2")).to_contain_text("No.")
    taken(page)
    page.locator("#lesson-next").click()
    at_step(page, 5)
    page.goto(server.address() + "lessons")
    item = page.locator("[data-lesson=hint-lost]")
    expect(item).to_contain_text("you are at step 5")
    item.get_by_text("Resume at step 5").click()
    at_step(page, 5)
    page.locator("#lesson-back").click()
    at_step(page, 4)
    show = page.locator("#lesson-show")
    expect(show).to_have_text("Show my answer of before")
    show.click()
    expect(page.locator(".lesson-choices .chosen")).to_contain_text("Never")
    # The address follows what is shown, a moment later.
    expect(page).to_have_url(re.compile("=never"))
    taken(page)
    # The way back may be long: what is written meanwhile leaves the history as it is.
    steps = page.evaluate("history.length")
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route(LESSON, hold)
    page.go_back()
    expect(page).not_to_have_url(re.compile("=never"))
    page.evaluate(
        "new Promise((done) => { plegscope.writeAddress(); setTimeout(() => done(null), 160); })"
    )
    until_found(lambda: page.evaluate("1") and held, "what the history leads to")
    held[0].continue_()
    page.unroute(LESSON)
    expect(page.locator("#lesson-outcome")).to_have_count(0)
    assert page.evaluate("history.length") == steps
    taken(page)
    page.go_back()
    at_step(page, 5)


def test_time_passes_to_the_next_step_and_can_be_cut_short(
    browser: Browser, server: Command
) -> None:
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    page = context.new_page()
    go(page, server, "lessons/hint-lost?step=4&show=1")
    # A thousand times as slowly, so that it passes still when it is cut short.
    page.evaluate("lesson.player.mono = () => performance.now() / 1000")
    before = page.evaluate("lesson.player.t")
    page.locator("#lesson-next").click()
    expect(page.locator(".lesson-kind")).to_contain_text("Step 5 of")
    until(page, f"lesson.player.playing && lesson.player.t > {before}")
    assert page.evaluate("lesson.player.t < lesson.facts.shown.until")
    page.locator("#lesson-title").press("Space")
    assert page.evaluate("lesson.player.playing") is False
    assert page.evaluate("lesson.player.t === lesson.facts.shown.until")
    context.close()


def test_a_link_to_a_fork_opens_the_fork(page: Page, server: Command) -> None:
    go(page, server, "lessons/legacy-trap?step=9&profile=legacy&press=11s!misdate-events")
    expect(page.locator("#lesson-law")).to_contain_text("Law, broken:")
    assert "press=11s!misdate-events" in page.evaluate("lesson.player.run.query")
    expect(page.get_by_text("pressed: ", exact=False).last).to_be_visible()


def test_what_is_not_seen_is_seen_to_be_so(page: Page, server: Command) -> None:
    go(page, server, "lessons/hint-lost?step=8&profile=legacy&press=11s!lose-stops")
    expect(page.locator("#labels .lesson-blind")).to_have_text(["ended, not seen"] * 2)
    expect(page.locator("i.lesson-unseen")).to_have_count(2)
    for last in page.locator("#labels .last").all():
        expect(last).to_be_hidden()
    for gone in ("#cost", ".foot-keys"):
        expect(page.locator(gone)).to_be_hidden()


@pytest.mark.parametrize(
    "path", ["hint-lost?step=3", "hint-lost?step=4&show=1", "legacy-trap?step=6"]
)
def test_words_stand_in_the_lane_of_their_pod(page: Page, server: Command, path: str) -> None:
    go(page, server, f"lessons/{path}")
    expect(page.locator(".lesson-word").first).to_be_visible()
    stray = """(() => {
          const section = document.getElementById("timeline").getBoundingClientRect();
          const { timeline, lineup } = plegscope;
          const words = [...document.querySelectorAll(".lesson-word")];
          return lesson.facts.shown.points.filter((point) => point.uid).filter(({ uid, call }) => {
            const row = lineup.rows.find((each) => each.lane?.uid === uid);
            const box = words.find((one) => one.textContent === call).getBoundingClientRect();
            const top = section.top + timeline.top + row.y;
            return box.top < top || box.bottom > top + row.h;
          }).map(({ call }) => call);
        })()"""
    # How high a lane is follows from how many there are, which is known after a picture only.
    until(page, f"{stray}.length === 0")
    # No part of the picture is left empty.
    until(
        page,
        "plegscope.timeline.top + plegscope.lineup.height + lesson.layer.foot"
        " > plegscope.timeline.height - 20",
    )


def test_on_a_telephone_picture_and_outcome_are_seen_together(
    browser: Browser, server: Command
) -> None:
    context = browser.new_context(
        viewport={"width": 390, "height": 844}, color_scheme="light", reduced_motion="reduce"
    )
    page = context.new_page()
    go(page, server, "lessons/hint-lost?step=2")
    page.locator("input[value=hint]").check()
    page.locator("#lesson-at").press("End")
    expect(page.locator(".lesson-flag.you")).to_be_in_viewport()
    expect(page.locator("#lesson-at")).to_be_in_viewport()
    page.locator("#lesson-answer").click()
    expect(page.locator("#lesson-outcome h2")).to_be_in_viewport(ratio=1)
    for flag in (".lesson-flag.you", ".lesson-flag.engine"):
        expect(page.locator(flag)).to_be_in_viewport(ratio=0.9)
    assert faults(page) == []
    keep(page, "lesson-answered-light-390")
    context.close()


def test_on_a_telephone(browser: Browser, server: Command) -> None:
    context = browser.new_context(
        viewport={"width": 390, "height": 844}, color_scheme="dark", reduced_motion="reduce"
    )
    page = context.new_page()
    go(page, server, "lessons/hint-lost?step=4&choice=poll")
    assert faults(page) == []
    fits(page)
    keep(page, "lesson-dark-390")
    context.close()


@pytest.mark.parametrize("width", [1280, 390])
def test_the_list_of_lessons(browser: Browser, server: Command, width: int) -> None:
    context = browser.new_context(viewport={"width": width, "height": 844})
    page = context.new_page()
    page.goto(server.address() + "lessons")
    expect(page.locator(".lesson-list > li")).to_have_count(len(lessons()))
    looked_over(page, 0)
    fits(page)
    keep(page, f"lessons-light-{width}", whole=True)
    context.close()


def test_back_and_on_by_record_and_back_to_the_step(page: Page, server: Command) -> None:
    go(page, server, "lessons/hint-lost?step=3")
    said = page.locator("#lesson-record")
    before = page.evaluate("lesson.player.seq")
    page.locator("#lesson-record-back").click()
    expect(said).to_contain_text(f"Record {before - 1}: ")
    page.keyboard.press("Escape")
    page.keyboard.press(",")
    expect(said).to_contain_text(f"Record {before - 2}: ")
    page.keyboard.press(".")
    expect(said).to_contain_text(f"Record {before - 1}: ")
    page.locator("#lesson-return").click()
    expect(said).to_have_text("As the step shows it.")
    link = page.locator(".lesson-points a").last
    seq = int(link.get_attribute("data-seq") or 0)
    link.click()
    expect(page.locator("#drawer")).to_be_visible()
    assert page.evaluate("plegscope.selected") == seq, "the engine's own record"


def test_the_law_goes_with_the_cursor(page: Page, server: Command) -> None:
    go(page, server, "lessons/legacy-trap?step=4")
    law = page.locator("#lesson-law")
    expect(law).to_contain_text("Law, broken:")
    page.evaluate("lesson.player.seek(14e9)")
    expect(law).to_contain_text("Law, holding:")
    page.evaluate("lesson.player.seek(16e9)")
    expect(law).to_contain_text("Law, broken:")
    page.locator("#lesson-return").click()
    expect(law).to_contain_text("was right again only after")


def test_without_scripts_a_lesson_is_links_and_forms(browser: Browser, server: Command) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(server.address() + "lessons/hint-lost?step=3")
    page.get_by_text("Next", exact=True).click()
    page.locator("input[value=poll]").check()
    page.locator("#lesson-answer").click()
    expect(page.locator("#lesson-outcome h2")).to_contain_text("Right. It took")
    page.get_by_text("Next", exact=True).click()
    expect(page.locator("#lesson-law")).to_contain_text("Law, holding:")
    context.close()


def test_a_class_answers_and_the_teacher_shows(
    page: Page, browser: Browser, server: Command
) -> None:
    go(page, server, "lessons/hint-lost?step=4&class=new")
    assert "class=" in page.url
    assert "class=new" not in page.url
    link = page.locator(".lesson-link").get_attribute("href")
    assert link is not None
    looked_over(page, 4)
    students = []
    for choice, at in (("poll", 0.3), ("poll", 0.4), ("at-once", 0.01)):
        context = browser.new_context(viewport={"width": 390, "height": 844}, color_scheme="dark")
        student = context.new_page()
        student.goto(server.address().rstrip("/") + link)
        assert faults(student) == []
        student.locator(f"input[value={choice}]").check()
        slider = student.locator("#lesson-at")
        low, high = (int(slider.get_attribute(name) or 0) for name in ("min", "max"))
        slider.fill(str(low + int((high - low) * at) // 5_000_000 * 5_000_000))
        expect(student.locator("#lesson-at-says")).not_to_have_text("750 ms")
        student.get_by_text("That is my answer").click()
        expect(student.locator(".class-given")).to_be_visible()
        students.append(student)
    tally = page.locator("#lesson-tally")
    expect(tally).to_contain_text("3 answered")
    expect(page.locator(".lesson-column")).to_have_count(3)
    kept(page, "class-teacher-light")
    keep(students[0], "class-student-dark-390")
    assert faults(students[0]) == []
    page.locator("#lesson-show").click()
    expect(page.locator("#lesson-outcome")).to_be_visible()
    for student in students:
        expect(student.locator(".lesson-outcome h2")).to_contain_text("It took")
    assert faults(students[2]) == []
    expect(students[2].locator(".lesson-outcome h2")).to_contain_text("No.")
    page.locator("#lesson-next").click()
    expect(students[0].locator("h1")).to_contain_text("Losing the stream")
    for student in students:
        student.context.close()
