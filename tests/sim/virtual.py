"""A virtual session without a script, for plays: constant latencies, and everything kept.

A call takes ``CALL_NS``, an event's way to the engine ``STREAM_NS``; both are made up, constant,
and small against everything that is tested.
"""

from typing import TypeVar

from app.engine.inputs import Input
from app.engine.records import Record
from app.engine.settings import EngineSettings
from app.sim.faults import StreamRefused
from app.sim.flavour import MS
from app.sim.latency import Latencies
from app.sim.milestones import Milestone
from app.sim.objects import RuntimeEvent
from app.sim.scenario import Scenario
from app.sim.script import Workload
from app.sim.units import Ns, seconds
from app.sim.virtual import VirtualSession
from app.sim.workers import WorkerSettings

R = TypeVar("R", bound=Record)

CALL_NS = MS
STREAM_NS = MS // 2

CONSTANT = Latencies(
    listing=(Ns(CALL_NS), Ns(CALL_NS)),
    row_ns=0,
    status=(Ns(CALL_NS), Ns(CALL_NS)),
    event=(Ns(STREAM_NS), Ns(STREAM_NS)),
    opening=(Ns(0), Ns(0)),
    grace=Ns(CALL_NS),
    in_flight=1,
)


class VirtualNode(VirtualSession):
    """A node, its workers and a shadow PLEG; ``run`` lets virtual time pass."""

    def __init__(
        self,
        seed: int = 1,
        *,
        stream: bool = True,
        workers: WorkerSettings | None = None,
        engine: EngineSettings | None = None,
        workloads: tuple[Workload, ...] = (),
    ) -> None:
        engine = engine or EngineSettings()
        self.events: list[RuntimeEvent] = []
        self.records: list[Record] = []
        self.inputs: list[Input] = []
        """What the workers have fed."""
        scenario = Scenario(
            name="play",
            title="A play",
            shows="What a test wants to see.",
            engine=engine,
            workers=workers or WorkerSettings(),
            latencies=CONSTANT,
            workloads=workloads,
        )
        super().__init__(scenario, seed=seed, profile=engine.profile, on_record=self.records.append)
        to_engine = self.workers.feed

        def feed(happened: Input) -> None:
            self.inputs.append(happened)
            to_engine(happened)

        self.workers.feed = feed
        self.milestones: list[Milestone] = []
        """What the kubelet has got done."""
        self.workers.on_milestone.append(self.milestones.append)
        if not stream:
            self.plan.begin(StreamRefused(at=Ns(0)))
        self.start()

    def run(self, time_s: float) -> None:
        """Let that much time pass."""
        self.run_until(self.clock.mono() + seconds(time_s))

    def of(self, kind: type[R], uid: str | None = None) -> list[R]:
        """The records of a kind so far, of one pod if given."""
        return [
            one
            for one in self.records
            if isinstance(one, kind) and uid in (None, getattr(one, "uid", None))
        ]

    def _publish(self, told: RuntimeEvent) -> None:
        self.events.append(told)
        super()._publish(told)
