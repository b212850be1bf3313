"""(c) From a record to browsers: how late, and what each viewer costs the server."""

from __future__ import annotations

import json

from tests.bench.node import say
from tests.bench.processes import python, shares
from tests.bench.report import Section, median, percentile

COUNTS = (1, 20, 50)
WINDOW_S = 12.0
P95_MS = 150.0
CHAINS_PER_S = 20
RECORDS_PER_S = 5 * CHAINS_PER_S
FLAT = 1.25
"""Of one viewer's cost at 50 to that at 20: more would mean that viewers cost each other."""


def measure() -> Section:
    """A steady stream of records, to real WebSockets in another process."""
    section = Section("(c) from a record to browsers")
    with python("tests.bench.serving", str(CHAINS_PER_S)) as server:
        assert server.stdout is not None
        address = server.stdout.readline().strip()
        say("(c) nobody looks")
        (idle,) = shares((server.pid,), WINDOW_S)
        section.add("CPU without a viewer", f"{100 * idle:.2f} %")
        each: dict[int, float] = {}
        for count in COUNTS:
            say(f"(c) {count} viewers")
            share, late = view(server.pid, address, count)
            each[count] = (share - idle) / count
            section.at_most(
                f"{count} viewers: record to receipt, p95", percentile(late, 95), P95_MS, "ms", 1
            )
            section.add(f"{count} viewers: record to receipt, p50", f"{median(late):.1f} ms")
            section.add(f"{count} viewers: CPU", f"{100 * share:.2f} %")
            section.add(f"{count} viewers: CPU for each", f"{100 * each[count]:.3f} %")
    few, many = COUNTS[-2:]
    section.at_most(f"CPU of one viewer, {many} to {few}", each[many] / each[few], FLAT, "x")
    section.note = (
        f"{RECORDS_PER_S} records a second, from their wall time to their receipt by WebSockets in "
        f"another process; windows of {WINDOW_S:g} s. CPU in percent of one core. The first viewer "
        "pays for encoding, once for all."
    )
    return section


def view(server: int, address: str, count: int) -> tuple[float, list[float]]:
    """The server's share of a core with so many viewers, and how late records came (ms)."""
    with python("tests.bench.viewing", address, str(count)) as viewers:
        assert viewers.stdout is not None
        assert viewers.stdin is not None
        viewers.stdout.readline()
        (share,) = shares((server,), WINDOW_S)
        viewers.stdin.write("enough\n")
        viewers.stdin.flush()
        found = json.loads(viewers.stdout.readline())
    if found["lost"]:
        say(f"(c) {count} viewers: {found['lost']} records did not come")
    return share, found["late_ms"]
