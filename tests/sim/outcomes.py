"""What each scenario comes to under the profiles it is about: a table that anybody can check.

The table is ``outcomes.toml``; the lessons' is ``outcomes-lessons.toml``. Seeds make all of it
exact. It is compared roughly, so that a change of the simulated node's timing that changes nothing
that matters need not touch it; but what is said to be nothing must be nothing.
"""

import tomllib
from pathlib import Path
from typing import Any

import msgspec

from tests.sim.claims import Played

SHARE = 0.3
"""How far a number may be off."""
MANY = 10


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """One scenario under one profile.

    ``ends``, ``starts``: how many were found, by source. ``slowest``: the longest that an end
    waited for its finding (s). ``never``, ``waiting``, ``wrong``, ``twice``: of the ends (see
    ``ledger.Detection``); ``unseen``: starts that were never found. ``stream``: its state in the
    end, ``errors``: how often it ended or could not be opened. ``unhealthy``: for how long (s).
    ``dropped``: requests; ``discarded``: lifecycle events. ``differences``: whether shadow and
    runtime differ in the end.
    """

    ends: dict[str, int] = {}
    starts: dict[str, int] = {}
    slowest: float = 0.0
    never: int = 0
    waiting: int = 0
    wrong: int = 0
    twice: int = 0
    unseen: int = 0
    stream: str
    errors: int = 0
    unhealthy: float = 0.0
    dropped: int = 0
    discarded: int = 0
    differences: bool = False


def came_to(play: Played) -> Outcome:
    """What a play came to."""
    summary = play.summary
    ends, starts = summary.ends, summary.starts
    return Outcome(
        ends={source: one.count for source, one in ends.by_source.items()},
        starts={source: one.count for source, one in starts.by_source.items()},
        slowest=play.slowest / 1e9,
        never=ends.never,
        waiting=ends.waiting,
        wrong=ends.wrong,
        twice=ends.twice,
        unseen=starts.never,
        stream=summary.stream.state,
        errors=summary.stream.events.get("errors", 0),
        unhealthy=summary.unhealthy.ns / 1e9,
        dropped=summary.requests["dropped"],
        discarded=summary.deliveries.get("discarded", 0),
        differences=summary.differences > 0,
    )


def unlike(told: Outcome, found: Outcome) -> list[str]:
    """In what the two differ by more than they may, in words."""
    wrong = []
    for field in Outcome.__struct_fields__:
        said, is_ = getattr(told, field), getattr(found, field)
        if isinstance(said, dict):
            # Of many, a few may as well be found by another source.
            room = 2 if sum(said.values()) >= MANY else 0
            pairs = ((said.get(one, 0), is_.get(one, 0)) for one in {*said, *is_})
            if not all(_close(*pair, room) for pair in pairs):
                wrong.append(f"{field} are {is_}, not {said}")
        elif not _close(said, is_, 0 if not said else 2 if isinstance(said, int) else 0.3):
            wrong.append(f"{field} is {is_}, not {said}")
    return wrong


def _close(said: Any, found: Any, room: float) -> bool:
    if isinstance(said, bool | str):
        return bool(said == found)
    return bool(abs(said - found) <= max(room, SHARE * said))


def _read() -> dict[tuple[str, str], Outcome]:
    outcomes: dict[tuple[str, str], Outcome] = {}
    for path in sorted(Path(__file__).parent.glob("outcomes*.toml")):
        rows = tomllib.loads(path.read_text(encoding="utf-8"))
        read = msgspec.convert(rows, dict[str, dict[str, Outcome]])
        outcomes |= {
            (name, profile): row for name, of in read.items() for profile, row in of.items()
        }
    return outcomes


OUTCOMES = _read()
"""By scenario and profile."""
