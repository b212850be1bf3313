"""Probes that fail some time after a container's start."""

from typing import Any

import pytest

from app.sim.agenda import Agenda, VirtualClock, play
from app.sim.flavour import SECOND
from app.sim.pods import Probe, ProbeKind
from app.sim.prober import Prober
from tests.sim.orders import runs_on


class Bench:
    def __init__(self) -> None:
        self.clock = VirtualClock()
        agenda = Agenda(self.clock)
        self.failed: list[tuple[str, str, str]] = []
        self.prober = Prober(agenda, 1, self._note)
        self._agenda = agenda

    def _note(self, uid: str, container_id: str, kind: ProbeKind) -> None:
        self.failed.append((uid, container_id, kind))

    def begin(self, kind: Any, **more: Any) -> None:
        probe = None if kind is None else Probe(kind, (2 * SECOND, 4 * SECOND))
        self.prober.begin("u", runs_on(probe=probe), "c1", **more)

    def run(self, until: int) -> None:
        play(self._agenda, self.clock, until)


@pytest.mark.parametrize("kind", ["liveness", "startup"])
def test_a_probe_fails_within_its_span_after_the_start(kind: str) -> None:
    bench = Bench()
    bench.begin(kind)
    bench.run(2 * SECOND - 1)
    assert bench.failed == []
    bench.run(4 * SECOND)
    assert bench.failed == [("u", "c1", kind)]


def test_a_container_without_such_a_probe_is_left_alone() -> None:
    bench = Bench()
    bench.begin(None)
    bench.run(60 * SECOND)
    assert bench.failed == []


def test_what_runs_since_long_ago_has_started_up_and_may_still_come_to_hang() -> None:
    bench = Bench()
    bench.begin("startup", old=True)
    bench.begin("liveness", old=True)
    bench.run(60 * SECOND)
    assert [kind for *_, kind in bench.failed] == ["liveness"]
