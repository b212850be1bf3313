"""(d) Whether pods come and go as fast with ``watch`` running as without."""

from __future__ import annotations

from contextlib import closing

from tests.bench.cost import Page
from tests.bench.node import Node, say
from tests.bench.processes import cpu_ns
from tests.bench.report import Section, median
from tests.churning import EXIT_SEEN, Churn

PAIRS = 8
PODS = 16
WORKERS = 4
LIMIT = 1.1
"""What counts as no longer: rounds of the same kind differ by more than this."""


def measure(node: Node) -> Section:
    """Rounds in pairs, with and without, in turning order."""
    containerd = node.containerd
    without: list[float] = []
    with_watch: list[float] = []
    own: list[float] = []
    slowest = [0.0, 0.0]
    with Churn(containerd.endpoint, cgroup_parent=containerd.cgroup, workers=WORKERS) as churn:

        def one(*, watched: bool) -> None:
            churn.waits.clear()
            (with_watch if watched else without).append(churn.round(PODS))
            calls = [wait.seconds for wait in churn.waits if wait.method != EXIT_SEEN]
            slowest[watched] = max(slowest[watched], *calls)

        churn.round(PODS)  # warms up
        for pair in range(PAIRS):
            say(f"(d) pair {pair + 1} of {PAIRS}")
            order = (False, True) if pair % 2 else (True, False)
            for watched in order:
                if not watched:
                    one(watched=False)
                    continue
                with closing(Page(node.endpoint)) as page:
                    page.wait_ready("connected")
                    used = cpu_ns(page.pid)
                    one(watched=True)
                    own.append((cpu_ns(page.pid) - used) / 1e9)
    section = Section("(d) rounds of pods with and without watch")
    section.note = (
        f"{PODS} pods made, killed and removed by {WORKERS} at a time; {PAIRS} pairs of rounds, in "
        "turning order; the ratio is the median over the pairs."
    )
    section.add("a round without watch: median", f"{median(without):.2f} s")
    section.add("a round with watch: median", f"{median(with_watch):.2f} s")
    ratios = [b / a for a, b in zip(without, with_watch, strict=True)]
    section.at_most("with to without", median(ratios), LIMIT, "x")
    section.add("lowest and highest ratio of a pair", f"{min(ratios):.2f}, {max(ratios):.2f}")
    section.add("CPU of watch in such a round, for each pod", f"{1e3 * median(own) / PODS:.1f} ms")
    section.add("slowest call without watch, with it", f"{slowest[0]:.2f} s, {slowest[1]:.2f} s")
    return section
