"""Claims about scenarios: what is tested of which, and scenarios played once for all tests.

A test of a scenario is marked with ``@claim("name", ...)``. ``test_scenarios.py`` fails for a
scenario that nothing is claimed of, and for a claim about one that does not exist.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar

import msgspec

from app.engine.records import Lifecycle, Record, StreamChanged
from app.sim.account import Summary, play_to_end
from app.sim.durations import Spread
from app.sim.flavour import SECOND
from app.sim.library import load
from app.sim.objects import Container
from app.sim.virtual import VirtualSession

T = TypeVar("T", bound=Callable[..., Any])
R = TypeVar("R", bound=Record)

CLAIMED: dict[str, list[str]] = {}
"""Names of the tests, by scenario."""


def claim(*scenarios: str) -> Callable[[T], T]:
    """This test is about these scenarios."""

    def note(test: T) -> T:
        for name in scenarios:
            CLAIMED.setdefault(name, []).append(test.__name__)
        return test

    return note


class Played(msgspec.Struct, frozen=True):
    """A scenario under one profile: all records, the summary, and what only the world knows.

    ``beside``: how many processes of one container of one pod ran at the same time, at most.
    """

    records: tuple[Record, ...]
    summary: Summary
    beside: int

    def of(self, kind: type[R]) -> list[R]:
        """The records of a kind."""
        return [one for one in self.records if isinstance(one, kind)]

    def ends(self, source: str) -> Spread:
        """How long it took to find the ends that a source has found."""
        return self.summary.ends.by_source.get(source, Spread())

    def starts(self, source: str) -> Spread:
        """How long it took to find the starts that a source has found."""
        return self.summary.starts.by_source.get(source, Spread())

    def died(self, container: str = "") -> list[Lifecycle]:
        """What was told of containers' ends, of those of that name if given."""
        return [
            one
            for one in self.of(Lifecycle)
            if one.type == "ContainerDied"
            and not one.is_sandbox
            and container in ("", one.container_name)
        ]

    def found_between(self, begin: float, end: float) -> set[str]:
        """By which sources ends were found that were told in this time (s)."""
        return {one.source for one in self.died() if begin * SECOND <= one.t < end * SECOND}

    def entered(self, state: str) -> list[float]:
        """When the stream came into this state (s)."""
        return [one.t / SECOND for one in self.of(StreamChanged)[:-1] if one.state == state]

    @property
    def slowest(self) -> int:
        """The longest that any end waited for its finding (ns)."""
        return max((one.max for one in self.summary.ends.by_source.values()), default=0)


@cache
def played(name: str, profile: str = "kep", seed: int | None = None) -> Played:
    """A scenario, with its own seed unless told; played once for all tests of a process."""
    records: list[Record] = []
    scenario = load(name)
    session = VirtualSession(scenario, seed=seed, profile=profile, on_record=records.append)
    beside = 1

    def look(item_id: str) -> None:
        nonlocal beside
        one = session.world.look_up(item_id)
        if isinstance(one, Container) and one.state == "running":
            pod = session.world.sandbox(one.sandbox_id).config.uid
            same = [
                other
                for other in session.world.pod_containers(pod)
                if other.state == "running" and other.config.name == one.config.name
            ]
            beside = max(beside, len(same))

    session.world.on_change.append(look)
    summary = play_to_end(session, scenario.duration_ns)
    return Played(tuple(records), summary, beside)
