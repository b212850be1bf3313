"""What may stand in a scenario file, and what becomes of it."""

import pytest

from app.engine.settings import EngineSettings
from app.errors import ScenarioError
from app.sim.faults import EventsLost, EventsMisdated, RuntimeRestarts
from app.sim.flavours import FLAVOURS, FlavourName
from app.sim.library import parse
from app.sim.scenario import Scenario
from app.sim.units import Ns, Offset, seconds
from app.sim.workers import WorkerSettings

HEAD = 'title = "A title"\nshows = "Something."\n'


def read(text: str) -> Scenario:
    return parse(HEAD + text, "mine")


def test_a_title_and_what_it_shows_are_enough() -> None:
    assert read("") == Scenario(
        name="mine",
        title="A title",
        shows="Something.",
        seed=7,
        duration_ns=120 * 10**9,
        engine=EngineSettings(event_channel=1000),
    )


def test_the_head() -> None:
    text = 'title = "T"\nshows = """\nTwo\n  lines.\n"""\nseed = 3\nduration = "1m30s"\n'
    made = parse(text, "mine")
    assert (made.shows, made.seed, made.duration_ns) == ("Two lines.", 3, 90 * 10**9)
    assert type(made.duration_ns) is int


def test_faults() -> None:
    made = read(
        """
        [[fault]]
        kind = "events-lost"
        at = "10s"
        for = "5s"
        share = 1
        events = ["stopped"]
        pods = "shop/*"

        [[fault]]
        kind = "events-misdated"
        at = "0s"
        by = "-1h"

        [[fault]]
        kind = "runtime-restarts"
        at = "1m"
        """
    )
    assert made.faults == (
        EventsLost(at=seconds(10), lasts=seconds(5), events=("stopped",), pods="shop/*"),
        EventsMisdated(at=Ns(0), by=Offset(-3600 * 10**9)),
        RuntimeRestarts(at=seconds(60)),
    )


@pytest.mark.parametrize("name", list(FLAVOURS))
def test_the_nodes_runtime(name: FlavourName) -> None:
    assert read(f'[node]\nruntime = "{name}"').rules is FLAVOURS[name]


def test_a_runtime_that_cannot_be_simulated_is_told_with_those_that_can() -> None:
    with pytest.raises(
        ScenarioError, match=r"node, runtime: it is one of .*containerd-1\.7.*cri-o"
    ):
        read('[node]\nruntime = "docker"')


def test_numbers_of_the_engine_and_the_node() -> None:
    made = read(
        """
        [engine]
        period = "500ms"
        threshold = "10s"
        queue = 5
        event_channel = 9
        backoff_cap = "5s"
        healthy_after = "7s"

        [node]
        backoff_scale = 1.0
        prepare = ["1s", "2s"]
        """
    )
    assert made.engine == EngineSettings(
        period_ns=500 * 10**6,
        threshold_ns=10 * 10**9,
        queue_capacity=5,
        event_channel=9,
        backoff_cap_ns=5 * 10**9,
        healthy_after_ns=7 * 10**9,
    )
    assert type(made.engine.period_ns) is int
    assert made.workers.backoff_scale == 1
    assert made.workers.timings.prepare == (seconds(1), seconds(2))
    assert made.workers.timings.collect == WorkerSettings().timings.collect
