"""Other subscribers, while their faults are at work."""

from app.sim.agenda import Agenda, VirtualClock, play
from app.sim.availability import Availability
from app.sim.channel import Listener
from app.sim.faultplan import FaultPlan
from app.sim.faults import OtherSubscriber, RuntimeRestarts
from app.sim.others import OtherSubscribers
from app.sim.units import Ns, seconds

NOW = Ns(0)


class Bench:
    """A plan, and who is subscribed by it."""

    def __init__(self) -> None:
        self.clock = VirtualClock()
        self.agenda = Agenda(self.clock)
        self.plan = FaultPlan(self.agenda, Availability(self.agenda), 1)
        self.there: list[Listener] = []
        OtherSubscribers(self.plan, 2, join=self.there.append, leave=self.there.remove)

    def run(self, time_s: float) -> None:
        play(self.agenda, self.clock, self.clock.mono() + seconds(time_s))


def test_one_is_there_while_its_fault_is() -> None:
    bench = Bench()
    bench.plan.begin(OtherSubscriber(at=NOW, lasts=seconds(5)))
    bench.plan.begin(OtherSubscriber(at=NOW, lasts=seconds(9)))
    assert len(bench.there) == 2
    bench.run(6)
    assert len(bench.there) == 1
    bench.run(6)
    assert bench.there == []


def test_what_it_takes_is_counted() -> None:
    bench = Bench()
    bench.plan.begin(OtherSubscriber(at=NOW))
    for _ in range(3):
        bench.there[0].take()
    assert bench.plan.tallies()[0].hits == 3


def test_whether_it_reads() -> None:
    bench = Bench()
    bench.plan.begin(OtherSubscriber(at=NOW))
    bench.plan.begin(OtherSubscriber(at=NOW, reads=False))
    for _ in range(1000):
        for one in bench.there:
            one.take()
    assert [one.has_room for one in bench.there] == [True, False]


def test_a_restart_ends_its_stream_and_it_comes_back_with_the_runtime() -> None:
    bench = Bench()
    bench.plan.begin(OtherSubscriber(at=NOW, lasts=seconds(60)))
    (before,) = bench.there
    bench.plan.begin(RuntimeRestarts(at=NOW, lasts=seconds(2)))
    bench.run(3)
    assert len(bench.there) == 2
    assert bench.there[1] is not before
    bench.run(60)
    # The runtime itself has forgotten the first one.
    assert bench.there == [before]


def test_one_that_comes_or_goes_while_the_runtime_is_down() -> None:
    bench = Bench()
    bench.plan.begin(RuntimeRestarts(at=NOW, lasts=seconds(5)))
    bench.plan.begin(OtherSubscriber(at=NOW, lasts=seconds(2)))
    bench.plan.begin(OtherSubscriber(at=NOW, lasts=seconds(9)))
    assert bench.there == []
    bench.run(4)
    assert bench.there == []
    bench.run(2)
    assert len(bench.there) == 1
    bench.run(9)
    assert bench.there == []
