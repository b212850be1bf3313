"""Runs made by hand, in milliseconds, so that a comparison's answer is known beforehand."""

from __future__ import annotations

from typing import Any

from app.stage.compare import Side
from app.stage.truth import Moment, RunTruth, What, Who, Wrong

MS = 1_000_000
PLAYED_MS = 600_000


def who(pod: str = "web-0", attempt: int = 0, container: str = "main") -> Who:
    """A container of the namespace shop."""
    return Who("shop", pod, f"uid-{pod}", container, attempt)


def moment(
    what: What,
    ms: float,
    found: float | None,
    *,
    whose: Who | None = None,
    source: Any = "global",
    **more: Any,
) -> Moment:
    """Something that happened at ``ms`` and was found ``found`` ms later, or not at all."""
    t = round(ms * MS)
    facts: dict[str, Any] = {"fate": "waiting"} if found is None else {}
    if found is not None:
        facts = {"fate": "found", "found_t": t + round(found * MS), "source": source, "seq": 1}
    return Moment(
        what=what,
        who=whose or who(),
        container_id="c",
        t=t,
        known_t=t + 50 * MS,
        **(facts | more),
    )


def overwritten(ms: float, until: float | None, *, whose: Who | None = None) -> Wrong:
    """The cache was made wrong at ``ms``, up to ``until``."""
    return Wrong(
        kind="overwritten",
        says="runs",
        who=whose or who(),
        t=round(ms * MS),
        until_t=None if until is None else round(until * MS),
        seq=9,
    )


def side(name: str, *moments: Moment, wrongs: tuple[Wrong, ...] = (), **more: Any) -> Side:
    """A run of ten minutes."""
    facts: dict[str, Any] = {
        "until_t": PLAYED_MS * MS,
        "pods": (),
        "wrong_ns": 0,
        "calls": {"ListContainers": 100},
        "relists": (),
        "stream": (),
        "lag_ns": 50 * MS,
    }
    truth = RunTruth(moments=moments, wrongs=wrongs, **(facts | more))
    return Side(name, name, f"profile={name}", truth)
