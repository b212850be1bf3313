"""(i) Recordings of a hundred thousand, a million and ten million records, replayed."""

from __future__ import annotations

import gzip
import http.cookiejar
import json
import random
import tempfile
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Page

from tests.bench.bigmaking import SEED, repeated, simulated
from tests.bench.node import say
from tests.bench.processes import cpu_ns
from tests.bench.report import Section, median, percentile
from tests.browser.chromium import CHROMIUM, chromium, playwright, until
from tests.commands import Command, command

SMALL, BIG, HUGE = 100_000, 1_000_000, 10_000_000
S = 1_000_000_000
SEEKS = 100
ROUNDS = 5
WINDOW_NS = 60 * S
"""A moment takes what happened in the minute before it, as the page asks for it."""
PLAY_S = 20.0
RATE = 100

OPEN_MS = 1000.0
SEEK_MS = 100.0
MOST_MB = 250.0
GROWTH_MB = 30.0
KEEPS_UP = 97.0
READ_WITHIN_S = 3600.0
PATIENT_MS = 60_000

MIDDLE = "t=30000s"
"""Where the page is opened: so far in that nothing has been read up to there."""

SEEK = """async (times) => {
  const took = [];
  for (const t of times) {
    const before = performance.now();
    await new Promise((done) => {
      const look = () => { if (player.wanted === null && player.t === t) done(); };
      player.onCursor.push(look);
      player.seek(t);
      look();
    });
    player.onCursor.pop();
    plegscope.timeline.frame();
    took.push(performance.now() - before);
  }
  return took;
}"""
"""Milliseconds from asking for each time to the frame that shows it."""

PICTURE = (
    "typeof plegscope === 'object' && player.ready && plegscope.timeline.last !== null"
    " && plegscope.store.lanes.size > 0"
)


class Player:
    """Asks a ``plegscope replay`` what its page would."""

    def __init__(self, server: Command) -> None:
        address = urlsplit(server.address())
        self.home = f"{address.scheme}://{address.netloc}"
        self.pid = server.process.pid
        jar = http.cookiejar.CookieJar()
        self._opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(jar))
        self._opener.open(server.address()).read()

    def get(self, path: str) -> bytes:
        """The body of an answer, as it was packed."""
        asked = urllib.request.Request(self.home + path, headers={"Accept-Encoding": "gzip"})
        with self._opener.open(asked) as answer:
            body: bytes = answer.read()
            return body

    def told(self, since: int = 0) -> dict[str, Any]:
        """What is told of the recording."""
        told: dict[str, Any] = json.loads(_plain(self.get(f"/api/v1/recording?since={since}")))
        return told

    def seek(self, pieces: list[list[int]], t: int) -> tuple[float, int]:
        """Milliseconds until all that a moment takes is here, one piece after another; and how
        many pieces that were."""
        last = max((n for n, piece in enumerate(pieces) if piece[1] <= t), default=0)
        first = last
        while first > 0 and (first == last or pieces[first][1] > t - WINDOW_NS):
            first -= 1
        began = time.perf_counter()
        for number in range(first, last + 1):
            self.get(f"/api/v1/recording/piece?number={number}")
        return 1000 * (time.perf_counter() - began), last + 1 - first

    def seeks(self, told: dict[str, Any], seed: int) -> tuple[list[float], float]:
        """Milliseconds of seeking to random times, and the mean number of pieces."""
        chance = random.Random(seed)
        found = [self.seek(told["pieces"], chance.randrange(told["end_t"])) for _ in range(SEEKS)]
        return [ms for ms, _ in found], sum(count for _, count in found) / SEEKS

    def memory(self) -> tuple[float, float]:
        """MB of memory that its process has, and had at most."""
        text = Path(f"/proc/{self.pid}/status").read_text()
        told = dict(line.split(":", 1) for line in text.splitlines() if ":" in line)
        now, most = (int(told[name].split()[0]) / 1024 for name in ("VmRSS", "VmHWM"))
        return now, most

    def read_to_the_end(self) -> None:
        """Wait until it has been read through."""
        deadline = time.monotonic() + READ_WITHIN_S
        while not self.told(1 << 40)["whole"]:
            if time.monotonic() > deadline:
                raise AssertionError("the recording was never read to its end")
            time.sleep(0.5)


def _plain(body: bytes) -> bytes:
    return gzip.decompress(body) if body[:2] == b"\x1f\x8b" else body


def measure() -> Section:
    """All three sizes, the million in a browser too."""
    section = Section("(i) large recordings, replayed")
    section.note = (
        "A node of 110 pods on which a process ends each second, recorded in virtual time from one "
        f"seed; {HUGE:,} are the {BIG:,} gone over ten times by the recorder's own writer with "
        "times and numbers moved, and few of the inputs. Each is opened by a plegscope replay of "
        "its own. A seek: to one of a hundred random times; from the server, until the minute "
        "before it is here, one piece after another; in the browser, until its frame is drawn, in "
        "a Chromium without a graphics card. At once: while the recording is still read through."
    )
    with tempfile.TemporaryDirectory(prefix="plegscope-bench-") as folder:
        small, big, huge = (Path(folder) / f"{name}.mcap" for name in ("small", "big", "huge"))
        memory: dict[int, float] = {}
        path: Path
        size: int
        make: Callable[[], int]
        for path, size, make in (
            (small, SMALL, lambda: simulated(small, SMALL)),
            (big, BIG, lambda: simulated(big, BIG)),
            (huge, HUGE, lambda: repeated(huge, big, HUGE // BIG)),
        ):
            say(f"(i) making {size:,} records")
            records = make()
            section.add(f"{size:,}: bytes a record", f"{path.stat().st_size / records:.0f} B")
            say(f"(i) replaying {size:,} records")
            memory[size] = replayed(section, path, size)
        section.at_most(
            "more memory for ten times the records", memory[HUGE] - memory[BIG], GROWTH_MB, "MB", 0
        )
    return section


def replayed(section: Section, path: Path, size: int) -> float:
    """Open one recording; returns the memory that its server has at the end, MB."""
    name = f"{size:,}"
    began = time.perf_counter()
    with command("replay", str(path), "--port", "0", "--no-browser") as server:
        server.address()
        section.add(f"{name}: from nothing to an address", f"{time.perf_counter() - began:.2f} s")
        player = Player(server)
        began = time.perf_counter()
        told = player.told()
        player.get("/api/v1/recording/piece?number=0")
        section.at_most(
            f"{name}: open to first records", 1000 * (time.perf_counter() - began), OPEN_MS, "ms", 0
        )
        seeks(section, f"{name}: seek at once", lambda: player.seeks(told, SEED))
        if size == BIG and Path(CHROMIUM).exists():
            in_browser(section, name, server, told["end_t"])
        cpu, start = cpu_ns(player.pid), time.monotonic()
        player.read_to_the_end()
        spent, waited = (cpu_ns(player.pid) - cpu) / 1e9, time.monotonic() - start
        section.add(f"{name}: read through, more CPU", f"{spent:.1f} s in {waited:.1f} s")
        cpu = cpu_ns(player.pid)
        seeks(section, f"{name}: seek", lambda: player.seeks(told, SEED + 1))
        spent = (cpu_ns(player.pid) - cpu) / 1e6 / SEEKS
        section.add(f"{name}: the server's CPU of a seek", f"{spent:.1f} ms")
        now, most = player.memory()
        section.at_most(f"{name}: memory at most", most, MOST_MB, "MB", 0)
        section.add(f"{name}: memory at the end", f"{now:.0f} MB")
        return now


def seeks(section: Section, what: str, ask: Callable[[], tuple[list[float], float]]) -> None:
    """Three lines of one kind of seek."""
    took, pieces = ask()
    asked = f", {pieces:.1f} pieces" if pieces else ""
    section.add(f"{what}, median of {SEEKS}", f"{median(took):.1f} ms{asked}")
    section.at_most(f"{what}, 95 of 100", percentile(took, 95), SEEK_MS, "ms", 1)
    section.add(f"{what}, longest", f"{max(took):.1f} ms")


def in_browser(section: Section, name: str, server: Command, end_t: int) -> None:
    """The player itself: first picture, seeks, and playing fast."""
    with playwright() as driver, chromium(driver) as browser:
        pictures: list[float] = []
        for _ in range(ROUNDS):
            page = browser.new_context(viewport={"width": 1280, "height": 800}).new_page()
            began = time.perf_counter()
            page.goto(f"{server.address()}?{MIDDLE}", wait_until="commit")
            until(page, PICTURE, PATIENT_MS)
            pictures.append(1000 * (time.perf_counter() - began))
            page.context.close()
        section.at_most(f"{name}: open to first picture", median(pictures), OPEN_MS, "ms", 0)
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.goto(f"{server.address()}?{MIDDLE}")
        until(page, PICTURE, PATIENT_MS)
        chance = random.Random(SEED)
        times = [chance.randrange(end_t) for _ in range(SEEKS)]
        seeks(section, f"{name}: seek in a browser", lambda: (page.evaluate(SEEK, times), 0.0))
        section.at_least(f"{name}: played at {RATE}x, of {RATE}x", played(page), KEEPS_UP, "%")
        heap = page.evaluate("performance.memory?.usedJSHeapSize ?? 0") / 1e6
        section.add(f"{name}: the page's heap", f"{heap:.0f} MB")


def played(page: Page) -> float:
    """Percent of the time that should have gone by in the recording."""
    page.evaluate("player.seek(3600e9)")
    until(page, "player.wanted === null && player.t === 3600e9", PATIENT_MS)
    page.evaluate(f"player.play({{ rate: {RATE} }})")
    until(page, "player.t > 3602e9", PATIENT_MS)
    before, t = page.evaluate("[performance.now(), player.t]")
    page.wait_for_timeout(1000 * PLAY_S)
    after, reached = page.evaluate("[performance.now(), player.t]")
    return float(100 * (reached - t) / 1e6 / (after - before) / RATE)
