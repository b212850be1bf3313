"""An exported page in a real browser, from disk: no server, no network, and it plays."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Dialog, Page, expect

from app.export.page import page as exported
from app.export.page import page_of_nodes
from app.export.source import Kept
from tests.browser.chromium import keep, until
from tests.browser.test_accessibility import faults
from tests.export.made import hostile, played

SIZES = {1280: 800, 390: 844}


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("export") / "incident.html", Kept(played()[1], "A node"))


def written(path: Path, source: Kept) -> Path:
    path.write_bytes(b"".join(exported(source)))
    return path


class Opened:
    """A page, and what it asked for and complained of."""

    def __init__(self, page: Page, address: str) -> None:
        self.page = page
        self.asked: list[str] = []
        self.complaints: list[str] = []
        page.on("request", lambda request: self.asked.append(request.url))
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.goto(address)
        expect(page.locator("#play-state")).not_to_have_text("Loading")


@pytest.fixture
def opened(browser: Browser, file: Path) -> Iterator[Opened]:
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    yield Opened(page, file.as_uri())
    page.close()


def test_it_opens_from_disk_and_asks_for_nothing(opened: Opened, file: Path) -> None:
    page = opened.page
    records = len(played()[1])
    expect(page.locator("#play-state")).to_have_text("At the end")
    expect(page.locator("#player-what")).to_contain_text(f"Record {records} of {records}")
    expect(page.locator("#labels li")).not_to_have_count(0)
    expect(page.locator("#counts")).to_contain_text("containers stopped")
    assert opened.asked == [file.as_uri()]
    assert opened.complaints == []


def test_the_player_plays_steps_and_jumps(opened: Opened) -> None:
    page = opened.page
    records = len(played()[1])
    page.locator("#step-back").click()
    expect(page.locator("#player-what")).to_contain_text(f"Record {records - 1} of {records}")
    page.locator("#to-start").click()
    expect(page.locator("#player-t")).to_have_text("0.000\u00a0s")
    page.locator("#play").click()
    expect(page.locator("#play-state")).to_have_text("Playing 1×")
    expect(page.locator("#player-t")).not_to_have_text("0.000\u00a0s")
    page.locator("#play").click()
    page.locator("#jump-to").fill("12.5")
    page.keyboard.press("Enter")
    expect(page.locator("#player-t")).to_have_text("12.500\u00a0s")
    page.locator("#relist-on").click()
    expect(page.locator("#player-what")).to_contain_text("elist")
    assert opened.complaints == []


def test_the_address_holds_the_place(opened: Opened, browser: Browser, file: Path) -> None:
    page = opened.page
    page.locator("#jump-to").fill("20")
    page.keyboard.press("Enter")
    page.locator("#filter").fill("web")
    # Names stay for a frame or two: whose fold is pressed is one that the filter leaves.
    expect(page.locator("#labels li.lane").filter(has_not_text="web")).to_have_count(0)
    expect(page.locator("#labels .part")).to_have_count(0)
    page.locator("#labels .fold").first.click()
    expect(page.locator("#labels .part")).not_to_have_count(0)
    pod = page.evaluate("plegscope.lineup.unfolded[0]")
    page.locator("#show-table").click()
    opens = f"open={quote(pod, safe='')}"
    expect(page).to_have_url(f"{file.as_uri()}#view=table&filter=web&{opens}&t=20000000000")
    other = Opened(browser.new_page(), page.url)
    expect(other.page.locator("#player-t")).to_have_text("20.000\u00a0s")
    expect(other.page.locator("#filter")).to_have_value("web")
    expect(other.page.locator("#table")).to_be_visible()
    other.page.keyboard.press("t")
    expect(other.page.locator("#labels .part")).not_to_have_count(0)
    assert other.complaints == []
    other.page.close()


def test_a_script_that_is_not_its_own_does_not_run(opened: Opened) -> None:
    opened.page.evaluate(
        """() => {
          const script = document.createElement("script");
          script.textContent = "window.intruder = true";
          document.body.append(script);
          const image = document.createElement("img");
          image.src = "https://example.invalid/x.png";
          document.body.append(image);
        }"""
    )
    expect(opened.page.locator("img")).to_have_count(1)
    assert opened.page.evaluate("window.intruder") is None
    assert any("Content Security Policy" in one for one in opened.complaints)


def test_hostile_names_are_only_text(browser: Browser, tmp_path: Path) -> None:
    path = written(tmp_path / "evil.html", Kept(hostile(), "</title><script>alert(1)</script>"))
    page = browser.new_page()
    alerts: list[str] = []

    def alerted(dialog: Dialog) -> None:
        alerts.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", alerted)
    opened = Opened(page, path.as_uri())
    expect(page.locator("#labels li")).not_to_have_count(0)
    page.locator("#show-table").click()
    expect(page.locator("#rows-body")).to_contain_text("</script>")
    assert alerts == []
    assert opened.complaints == []
    page.close()


def test_several_nodes_are_one_page_on_one_clock(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "nodes.html"
    records = played()[1]
    zero = (records[0].t, records[0].wall)
    nodes = [("node-a", Kept(records, "A")), ("<b>node-b", Kept(hostile(), "B"))]
    path.write_bytes(b"".join(page_of_nodes(nodes, zero)))
    opened = Opened(browser.new_page(viewport={"width": 1280, "height": 900}), path.as_uri())
    page = opened.page
    expect(page.locator(".pane-head h2")).to_have_text(["node-a", "<b>node-b"])
    count = len(records) + len(hostile())
    expect(page.locator("#player-what")).to_contain_text(f"Record {count} of {count}")
    page.evaluate("player.seek(1e9)")
    until(page, "player.t === 1e9")
    page.keyboard.press(">")
    # Of the other node there is no relist; a step is of whichever comes next.
    expect(page.locator("#player-what")).to_contain_text("node-a: ")
    page.evaluate("player.seek(2e9)")
    until(page, "player.t === 2e9")
    page.keyboard.press(",")
    expect(page.locator("#player-what")).to_contain_text("<b>node-b: ")
    # A page that stands alone leads nowhere.
    expect(page.locator(".pane-head").last).to_contain_text("No relist yet")
    expect(page.locator(".pane-head a")).to_have_count(0)
    assert faults(page) == []
    keep(page, "export-nodes-1280")
    # The other one as the large one, at the same moment.
    t = page.locator("#player-t").text_content()
    with page.expect_navigation():
        page.get_by_role("button", name="Show first").click()
    expect(page.locator(".pane-head h2")).to_have_text(["<b>node-b", "node-a"])
    expect(page.locator("#player-t")).to_have_text(str(t))
    expect(page.locator("#player-what")).to_contain_text("<b>node-b: ")
    assert opened.complaints == []
    assert {one.partition("#")[0] for one in opened.asked} == {path.as_uri()}
    page.close()


def test_a_file_that_was_damaged_says_so(browser: Browser, file: Path, tmp_path: Path) -> None:
    text = file.read_text()
    place = text.index('id="data">') + 2000
    (tmp_path / "bad.html").write_text(text[:place] + "AAAA" * 10 + text[place + 40 :])
    opened = Opened(browser.new_page(), (tmp_path / "bad.html").as_uri())
    expect(opened.page.locator("#player-what")).to_contain_text("This file is damaged")
    opened.page.close()


@pytest.mark.parametrize("scheme", ["dark", "light"])
@pytest.mark.parametrize("width", SIZES)
def test_nobody_is_shut_out(browser: Browser, file: Path, scheme: Any, width: int) -> None:
    page = browser.new_page(
        viewport={"width": width, "height": SIZES[width]},
        color_scheme=scheme,
        reduced_motion="reduce",
    )
    Opened(page, file.as_uri())
    assert faults(page) == []
    keep(page, f"export-{scheme}-{width}")
    page.close()
