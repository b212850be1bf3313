"""(a) What watching costs: CPU of ``watch`` against the bare loop, in the same seconds."""

from __future__ import annotations

import time
from contextlib import closing

from tests.bench.node import Node, say
from tests.bench.processes import python, shares
from tests.bench.report import Section, median
from tests.watching_page import WatchingPage

SIZES = (10, 110, 250)
WINDOWS = 4
WINDOW_S = 10.0
SETTLE_S = 4.0
"""The runtime and both pollers come to rest after pods were made."""

MAX_RATIO = 2.0
MAX_PERCENT = 2.0


def measure(node: Node) -> Section:
    """CPU at each number of pods, and how it grows."""
    section = Section("(a) CPU of watch against a bare loop")
    section.note = (
        f"Percent of one core, median of {WINDOWS} windows of {WINDOW_S:g} s. The bare loop makes "
        "the same two list calls each second and parses the answers; watch serves its dashboard "
        "to nobody."
    )
    costs: dict[int, tuple[float, float]] = {}
    with node.pods() as pods:
        for size in SIZES:
            say(f"(a) making pods: {size}")
            there = len(pods.listing().sandboxes)
            pods.run_many(size - there, f"bench-{size}", workers=4)
            bare, watch, ratio = compare(node.endpoint, size)
            costs[size] = bare, watch
            section.add(f"{size} pods: bare loop", f"{bare:.2f} %")
            if size == 110:
                section.at_most(f"{size} pods: watch", watch, MAX_PERCENT, "%")
            else:
                section.add(f"{size} pods: watch", f"{watch:.2f} %")
            section.at_most(f"{size} pods: watch to bare loop", ratio, MAX_RATIO, "x")
    small, large = SIZES[-2:]
    growth = [costs[large][which] / costs[small][which] for which in (0, 1)]
    section.add(f"growth from {small} to {large} pods: bare loop", f"{growth[0]:.2f} x")
    section.at_most(f"growth from {small} to {large} pods: watch", growth[1], large / small, "x")
    return section


def compare(endpoint: str, size: int) -> tuple[float, float, float]:
    """Percent of a core of the bare loop and of ``watch``, and the ratio: medians of windows."""
    with python("tests.bench.bare", endpoint) as bare, closing(Page(endpoint)) as page:
        assert bare.stdout is not None
        bare.stdout.readline()
        page.wait_ready("connected")
        time.sleep(SETTLE_S)
        windows = []
        for number in range(WINDOWS):
            say(f"(a) {size} pods: window {number + 1} of {WINDOWS}")
            windows.append(shares((bare.pid, page.pid), WINDOW_S))
    return (
        100 * median([window[0] for window in windows]),
        100 * median([window[1] for window in windows]),
        median([window[1] / window[0] for window in windows]),
    )


class Page(WatchingPage):
    """A dashboard that is ended by ``close``."""

    def close(self) -> None:
        """End it."""
        self.end()
