"""axe-core looks over every page and state, dark and light, and finds nobody shut out.

axe-core comes with a package of the test dependencies, pinned like the others. What it says it
cannot decide (text over the canvas, say) is no finding.
"""

from __future__ import annotations

import importlib.resources
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from app.resources import templates_dir
from app.web.pages import PageData, Pages
from tests.browser.chromium import fits, keep, resize, until
from tests.commands import Command, demo

AXE = (importlib.resources.files("axe_playwright_python") / "axe.min.js").read_text("utf-8")
DOCUMENTS = (
    *("pods", "about", "help", "faults", "scenarios", "lessons", "compare", "recordings"),
    "nothing-here",
)
#: How each is looked at: the window's width, the colours, and which rules (all by default).
LOOKS: tuple[tuple[int, dict[str, Any], tuple[str, ...]], ...] = (
    (1280, {"color_scheme": "dark"}, ()),
    (390, {"color_scheme": "light"}, ()),
    (
        1280,
        {"color_scheme": "dark", "forced_colors": "active"},
        ("color-contrast", "link-in-text-block"),
    ),
)
SIZES = {1280: 800, 390: 844}
SMALL = """() => [...document.querySelectorAll("button, .button, select, .brand, nav a, th a, "
  + "input:not([type=checkbox], [type=radio], [type=hidden], [type=file])")]
  .filter((one) => one.checkVisibility() && one.getBoundingClientRect().height < 43.5)
  .map((one) => one.outerHTML.slice(0, 80))"""
"""What a thumb would miss on a narrow screen."""

#: axe-core reads a page and measures it later; on one that goes on, what it read may be gone by
#: then. What is wrong is found each time.
LOOKS_TWICE = 2

#: Select the newest stop of a pod that has a lane: it gets one with the picture after its record.
NEWEST = "(plegscope.stepFinding(-1), plegscope.selected !== null)"

#: What it finds: the rule, and where.
LOOK = """async (only) => {
  const runOnly = only.length ? { runOnly: { type: "rule", values: only } } : {};
  const { violations } = await axe.run(document, { resultTypes: ["violations"], ...runOnly });
  return violations.map(({ id, help, nodes }) => [id, help, nodes.map((n) => n.target.join(" "))]);
}"""


@pytest.fixture(scope="module")
def server() -> Iterator[Command]:
    with demo() as command:
        command.address()
        yield command


@pytest.fixture(params=["dark", "light"])
def scheme(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=SIZES)
def page(request: pytest.FixtureRequest, browser: Browser, scheme: Any) -> Iterator[Page]:
    opened = browser.new_page(
        viewport={"width": request.param, "height": SIZES[request.param]},
        color_scheme=scheme,
        reduced_motion="reduce",
    )
    yield opened
    opened.close()


def faults(page: Page, *only: str) -> list[Any]:
    """What axe-core finds on the page as it is; ``only``: the rules to apply, all by default."""
    # What slides in is pale for a moment, and what lies under it is not to be seen.
    until(page, "document.getAnimations().every((one) => one.playState !== 'running')")
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE)
    found: list[Any] = []
    for _ in range(LOOKS_TWICE):
        found = page.evaluate(LOOK, list(only))
        if not found:
            break
    return found


def narrow(page: Page) -> bool:
    assert page.viewport_size is not None
    return page.viewport_size["width"] < 700


@pytest.mark.parametrize("page", [1280], indirect=True)
def test_it_does_find_what_is_wrong(page: Page, server: Command) -> None:
    page.goto(server.address() + "help")
    page.evaluate("document.querySelector('nav a').removeAttribute('href')")
    page.evaluate("document.querySelector('h1').style.color = 'gray'")
    page.evaluate("document.querySelector('h1').style.background = 'dimgray'")
    assert [rule for rule, *_ in faults(page)] == ["color-contrast"]


@pytest.mark.parametrize("path", DOCUMENTS)
def test_documents(browser: Browser, server: Command, path: str) -> None:
    page = browser.new_page()
    page.goto(server.address() + path)
    expect(page.locator("h1")).to_be_visible()
    for width, colours, rules in LOOKS:
        resize(page, width, SIZES[width])
        page.emulate_media(**colours)
        assert (width, colours, faults(page, *rules)) == (width, colours, [])
        keep(page, f"document-{path}-{'-'.join(colours.values())}-{width}", whole=not rules)
    # Text of twice the size, on the widest and the narrowest.
    page.evaluate("document.documentElement.style.fontSize = '200%'")
    for width, height in SIZES.items():
        resize(page, width, height)
        fits(page)
    page.evaluate("document.documentElement.style.fontSize = ''")
    assert page.evaluate(SMALL) == []
    page.close()


def test_a_pods_page(page: Page, server: Command, scheme: str) -> None:
    page.goto(server.address() + "pods")
    page.locator("tbody a").first.click()
    expect(page.locator("article.pod")).to_be_visible()
    assert faults(page) == []
    keep(page, f"document-pod-{scheme}-{'narrow' if narrow(page) else 'wide'}", whole=True)


def test_the_page_of_a_missing_token(page: Page, server: Command, scheme: str) -> None:
    def nothing(*_: object) -> Any:
        raise AssertionError("an error's page asks for no facts")

    refused = Pages(templates_dir(), PageData(nothing, nothing, nothing), version="test").error(401)
    page.route(
        "**/refused",
        lambda route: route.fulfill(
            status=401, content_type="text/html; charset=utf-8", body=bytes(refused.body)
        ),
    )
    page.goto(server.address() + "refused")
    expect(page.locator("h1")).to_have_text("This page needs the address with its token.")
    assert faults(page) == []
    keep(page, f"document-401-{scheme}-{'narrow' if narrow(page) else 'wide'}")


def test_the_node_page_and_what_opens_on_it(page: Page, server: Command, scheme: str) -> None:
    page.goto(server.address())
    expect(page.locator("#sentence")).to_contain_text("Healthy")
    until(page, "plegscope.store.finds.some((f) => f.rec.event && !f.rec.baseline)")
    assert faults(page) == []
    if narrow(page):
        for tab in ("now", "table", "more", "timeline"):
            page.locator(f".tabs [data-tab={tab}]").click()
            assert (tab, faults(page)) == (tab, [])
        until(page, NEWEST)
        expect(page.locator("#drawer")).to_be_visible()
        assert faults(page) == []
        return
    until(page, NEWEST)
    opened = {
        "drawer": ("null", "#drawer"),
        "table": ("plegscope.showView('table')", "#rows-body tr >> nth=0"),
        "marks": ("document.getElementById('legend-all').showPopover()", "#legend-all"),
        "keys": ("document.getElementById('keys').showModal()", "#keys"),
    }
    for name, (run, where) in opened.items():
        page.evaluate(run)
        expect(page.locator(where)).to_be_visible()
        assert (name, faults(page)) == (name, [])
        keep(page, f"node-{name}-{scheme}-1280")
        page.evaluate("document.getElementById('legend-all').hidePopover()")
        page.evaluate("document.getElementById('keys').close(); plegscope.select(null)")
        page.evaluate("plegscope.showView('timeline')")
    page.locator("#watched").click()
    expect(page.locator("#panel")).to_contain_text("Endpoint")
    assert faults(page) == []
    keep(page, f"node-panel-{scheme}-1280")
