"""What a measurement hands back, and how it is printed."""

from __future__ import annotations

import math
import os
import platform
import statistics
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path

WIDTHS = (54, 15, 19)
"""Columns: what was measured, the figure, its target."""


@dataclass(frozen=True)
class Row:
    """One line. ``met`` is None where there is no target."""

    what: str
    figure: str
    target: str = ""
    met: bool | None = None


@dataclass
class Section:
    """What one measurement found. ``note`` says how."""

    title: str
    rows: list[Row] = field(default_factory=list)
    note: str = ""

    def add(self, what: str, figure: str) -> None:
        """A line without a target."""
        self.rows.append(Row(what, figure))

    def at_most(self, what: str, value: float, limit: float, unit: str, digits: int = 2) -> None:
        """A line whose value must not be above ``limit``."""
        figure, target = f"{value:.{digits}f} {unit}", f"at most {limit:.3g} {unit}"
        self.rows.append(Row(what, figure, target, value <= limit))

    def at_least(self, what: str, value: float, limit: float, unit: str) -> None:
        """A line whose value must not be below ``limit``."""
        self.rows.append(
            Row(what, f"{value:.0f} {unit}", f"at least {limit:g} {unit}", value >= limit)
        )

    def text(self) -> str:
        """The section as it is printed."""
        lines = [self.title, "-" * len(self.title)]
        lines += [f"  {line}" for line in textwrap.wrap(self.note, sum(WIDTHS))]
        for row in self.rows:
            cells = (row.what, row.figure, row.target)
            line = "  ".join(cell.ljust(width) for cell, width in zip(cells, WIDTHS, strict=True))
            verdict = {True: "met", False: "MISSED", None: ""}[row.met]
            lines.append(f"  {line}  {verdict}".rstrip())
        return "\n".join(lines)


def verdict(sections: Sequence[Section]) -> str:
    """The closing line: how many targets were met, and which were not."""
    rows = [row for section in sections for row in section.rows if row.met is not None]
    missed = [row.what for row in rows if not row.met]
    line = f"{len(rows) - len(missed)} of {len(rows)} targets met"
    return f"{line}; missed: {'; '.join(missed)}" if missed else line


def percentile(values: Sequence[float], percent: float) -> float:
    """The smallest value that at least ``percent`` of all are not above."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(len(ordered) * percent / 100) - 1)]


def median(values: Sequence[float]) -> float:
    """The median."""
    return statistics.median(values)


def machine() -> str:
    """What this ran on, in a line or two: the figures mean nothing elsewhere."""
    model = "unknown processor"
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            model = line.partition(":")[2].strip()
            break
    parts = (
        f"{os.cpu_count()} x {model}",
        f"{platform.system()} {platform.release()}",
        f"Python {platform.python_version()}",
        *(f"{name} {version(name)}" for name in ("grpcio", "uvloop", "uvicorn")),
    )
    return ", ".join(parts)


def loads() -> str:
    """How busy the machine is and was: the mean number of runnable tasks."""
    return "load average " + " ".join(f"{load:.1f}" for load in os.getloadavg())
