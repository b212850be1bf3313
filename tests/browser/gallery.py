"""Pictures of every page and state, dark and light, on a telephone, a laptop and a large screen.

    python -m tests.browser.gallery [FOLDER]

For people to look at: nothing is compared. Three pages of its own start (a demo, a replay of what
``plegscope simulate`` recorded, a played node for the states), all on loopback; the pictures go to
``artifacts/gallery`` with an ``index.html`` that shows them side by side.
"""

from __future__ import annotations

import html
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import Browser, Page

from tests.browser.chromium import ARTIFACTS, chromium, playwright, until
from tests.browser.stage import Stage
from tests.browser.test_states import STATES, furnished
from tests.commands import command

WIDTHS = {1280: 800, 1920: 1080, 390: 844}
SCHEMES = ("dark", "light")
DOCUMENTS = {
    "pods": "pods",
    "about": "about",
    "help": "help",
    "now": "now",
    "faults": "faults",
    "scenarios": "scenarios",
    "lessons": "lessons",
    "lesson": "lessons/relist-loop",
    "compare": "compare?scenario=storm&seed=7&profile=kep&profile=polling",
    "run": "run?scenario=storm&seed=7&t=33000000000",
    "run-table": "run?scenario=storm&seed=7&t=33000000000&view=table",
    "recordings": "recordings",
    "not-found": "nothing-here",
}
REPLAYS = {
    "replay": "?t=33s",
    "replay-end": "?t=36000s",
    "replay-namespaces": "?t=33s&group=namespace&span=30",
    "replay-now": "now?t=33s",
    "recordings-listed": "recordings",
    "export": "recordings/export?file=storm.mcap",
    "whatif": "recordings/whatif?file=storm.mcap",
}
READY = "document.readyState === 'complete'"
DRAWN = (
    f"{READY} && (!document.getElementById('plot') || (typeof plegscope === 'object'"
    " && !(plegscope.store?.lanes.size === 0)))"
)
"""A page with a timeline has lanes; what a lesson calls by that name has no store."""


class Gallery:
    """Takes pictures in every look and remembers them."""

    def __init__(self, browser: Browser, folder: Path) -> None:
        self._browser = browser
        self._folder = folder
        self.taken: dict[str, list[str]] = {}

    def each(self) -> Iterator[tuple[Page, Callable[[str], None]]]:
        """A page for each look, and what takes a picture of it by a name."""
        for width, height in WIDTHS.items():
            for scheme in SCHEMES:
                with self._page(width, height, scheme) as page:
                    yield page, partial(self._take, page, f"{width}-{scheme}")

    def addresses(self, address: str, paths: dict[str, str]) -> None:
        """Pictures of pages of a server."""
        for page, take in self.each():
            for name, path in paths.items():
                page.goto(f"{address}{path}")
                until(page, DRAWN)
                take(name)

    @contextmanager
    def _page(self, width: int, height: int, scheme: str) -> Iterator[Page]:
        context = self._browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if scheme == "dark" else "light",
            reduced_motion="reduce",
        )
        try:
            yield context.new_page()
        finally:
            context.close()

    def _take(self, page: Page, look: str, name: str) -> None:
        # A frame more: what is measured after layout is drawn with the next.
        page.evaluate(
            "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
        )
        file = f"{name}-{look}.png"
        page.screenshot(path=self._folder / file)
        self.taken.setdefault(name, []).append(file)


def classroom(gallery: Gallery, address: str) -> None:
    """A class that is held, and what its members see."""
    for page, take in gallery.each():
        page.goto(f"{address}lessons/hint-lost?step=4&class=new")
        until(page, DRAWN)
        link = page.locator(".lesson-link").get_attribute("href")
        take("class")
        page.goto(f"{address.rstrip('/')}{link}")
        take("class-member")


def states(gallery: Gallery, address: str) -> None:
    """Every state of a node, played."""
    for page, take in gallery.each():
        stage = Stage(page)
        furnished(stage)
        page.goto(address)
        until(page, DRAWN)
        for name, (facts, *_) in STATES.items():
            stage.facts = facts
            # Anew: a relist that ran in the state before would run on.
            stage.send(stage.snapshot())
            # The header is written five times a second.
            page.wait_for_timeout(400)
            take(f"state-{name}")


def index(taken: dict[str, list[str]]) -> str:
    """All of them on a page."""
    rows = [
        f"<h2>{html.escape(name)}</h2><p>"
        + " ".join(f'<a href="{file}"><img src="{file}" loading="lazy"></a>' for file in files)
        + "</p>"
        for name, files in taken.items()
    ]
    style = "<style>img{height:22rem;border:1px solid gray}</style>"
    return f"<!doctype html><title>plegscope</title>{style}{''.join(rows)}"


def main(folder: Path) -> None:
    """Take all of them."""
    folder.mkdir(parents=True, exist_ok=True)
    with (
        TemporaryDirectory() as place,
        command("demo", "--no-browser", "--no-record", "--port", "0") as node,
        playwright() as driver,
        chromium(driver) as browser,
    ):
        recording = Path(place) / "storm.mcap"
        subprocess.run(
            [sys.executable, "-m", "app", "simulate", "storm", "--record-to", str(recording)],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        gallery = Gallery(browser, folder)
        address = node.address().split("?")[0]
        gallery.addresses(address, {"node": "", "node-table": "?view=table"} | DOCUMENTS)
        with command("replay", str(recording), "--no-browser", "--port", "0") as film:
            gallery.addresses(film.address().split("?")[0], REPLAYS)
        classroom(gallery, address)
        states(gallery, address)
    (folder / "index.html").write_text(index(gallery.taken), encoding="utf-8")
    print(f"{sum(map(len, gallery.taken.values()))} pictures: {folder / 'index.html'}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ARTIFACTS / "gallery")
