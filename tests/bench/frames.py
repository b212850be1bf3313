"""(j) Frames of the timeline while it is moved, in a Chromium without a graphics card."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page

from tests.bench.node import Node, say
from tests.bench.processes import python
from tests.bench.report import Section
from tests.browser.chromium import CHROMIUM, chromium, playwright, until

CASES = (
    *((500, marks) for marks in (1_000, 10_000, 100_000, 1_000_000)),
    *((lanes, 100_000) for lanes in (5, 50, 250)),
    (2500, 1_000_000),
)
TARGET = (500, 100_000)
"""Of this case the 95th of 100 frames takes 33 ms at most; of the others it is told."""
P95_MS = 33.0
MOVE_MS = 4000
SIZE = {"width": 1440, "height": 900}
HOUR_NS = 3600 * 10**9
KEPT = 30_000
PATIENCE_MS = 120_000

#: Moves the window at each frame for so long (ms): milliseconds between frames and within them.
MOVE = """async ([ms, how]) => {
  const { view, clock, timeline, lineup } = plegscope;
  const middle = () => timeline.timeAt(timeline.width * 0.6);
  const between = [];
  const within = [];
  const run = timeline.frame.bind(timeline);
  timeline.frame = () => {
    const at = performance.now();
    const drew = run();
    within.push(performance.now() - at);
    return drew;
  };
  const begin = performance.now();
  let last = begin;
  await new Promise((done) => {
    const tick = (now) => {
      between.push(now - last);
      last = now;
      const turn = Math.sin(((now - begin) / 1000) * 2);
      if (how === "pan") view.pan(-turn * view.span * 0.012, clock.now());
      else if (how === "zoom") view.zoom(1 + turn * 0.02, clock.now(), middle());
      else timeline.scroller.scrollTop += turn > 0 ? 24 : -20;
      timeline.dirty = true;
      if (now - begin > ms) done();
      else requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  });
  delete timeline.frame;
  const told = (all) => {
    all.sort((a, b) => a - b);
    const at = (share) => all[Math.floor((all.length - 1) * share)];
    return { median: at(0.5), p95: at(0.95), max: at(1) };
  };
  const marks = timeline.list.lanes.reduce((sum, layer) => sum + layer.length, 0);
  return { frames: between.length, between: told(between.slice(1)), within: told(within), marks,
    records: plegscope.store.records.length, rows: lineup.rows.length };
}"""


def measure() -> Section:
    """Each case with a server and a page of its own."""
    section = Section("(j) frames while panning and zooming")
    section.note = (
        "The dashboard's own page over its own server, an hour in view, 1440 by 900, Chromium "
        "without a graphics card. Between: from one frame to the next, 16.7 ms at best. Script: "
        "laying out and drawing, median. CPU: a frame's mean, by the processes' own clocks, which "
        "do not count what else this machine does."
    )
    if not Path(CHROMIUM).exists():
        section.add("frames", "no Chromium")
        return section
    with playwright() as driver, chromium(driver) as browser:
        for lanes, marks in CASES:
            found = case(browser, lanes, marks)
            told(section, lanes, marks, found)
            late = ", ".join(f"{how} {one['between']['p95']:.0f} ms" for how, one in found.items())
            say(f"(j) {lanes} lanes, {marks} marks: 95 of 100 frames within: {late}")
    return section


def told(section: Section, lanes: int, marks: int, found: dict[str, Any]) -> None:
    """The lines of one case."""
    name = f"{lanes} lanes, {marks:,} marks"
    for how in ("pan", "zoom", "scroll"):
        frames, script = found[how]["between"], found[how]["within"]
        what = f"{name}, {how}: frame, 95 of 100"
        if (lanes, marks) == TARGET and how != "scroll":
            section.at_most(what, frames["p95"], P95_MS, "ms", 1)
        else:
            section.add(what, f"{frames['p95']:.1f} ms")
        section.add(
            f"{name}, {how}: script; CPU of page, of browser",
            "{:.1f}; {:.1f}, {:.1f} ms".format(script["median"], *found[how]["cpu"]),
        )


def case(browser: Browser, lanes: int, marks: int) -> dict[str, Any]:
    """What one page of so many lanes and marks takes, by what is done."""
    with python("tests.bench.marking", str(lanes), str(marks)) as server:
        assert server.stdout is not None
        assert server.stdin is not None
        address = server.stdout.readline().strip()
        page = browser.new_page(viewport=SIZE)  # type: ignore[arg-type]
        try:
            page.goto(address)
            until(page, "plegscope.store.state !== null", PATIENCE_MS)
            server.stdin.write("\n")
            server.stdin.flush()
            assert server.stdout.readline().strip() == "done"
            until(page, f"plegscope.store.records.length >= {min(KEPT, marks)}", PATIENCE_MS)
            return moved(page)
        finally:
            page.close()


def moved(page: Page) -> dict[str, Any]:
    """An hour in view, moved in each way."""
    page.evaluate(
        f"""() => {{
          plegscope.pause();
          plegscope.view.span = {HOUR_NS};
          plegscope.timeline.invalidate();
        }}"""
    )
    browser = page.context.browser
    assert browser is not None
    devtools = browser.new_browser_cdp_session()

    def cpu_ms() -> tuple[float, float]:
        """Of the page's process, and of all of the browser: other programs do not count."""
        processes = devtools.send("SystemInfo.getProcessInfo")["processInfo"]
        every = [(one["type"], one["cpuTime"] * 1e3) for one in processes]
        return sum(ms for kind, ms in every if kind == "renderer"), sum(ms for _, ms in every)

    found = {}
    for how in ("pan", "zoom", "scroll"):
        before = cpu_ms()
        found[how] = page.evaluate(MOVE, [MOVE_MS, how])
        frames = found[how]["frames"]
        found[how]["cpu"] = [(b - a) / frames for a, b in zip(before, cpu_ms(), strict=True)]
        time.sleep(0.2)
    return found


if __name__ == "__main__":
    with Node() as _node:
        print(measure().text())
