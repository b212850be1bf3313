"""How fast virtual time is: a node on which one process ends each second, for benchmarks; and one
of five hundred pods on which everything happens at once."""

import time

from app.engine.settings import EngineSettings
from app.sim.pods import ERROR, OOM_KILLED, ContainerSpec, Lifetime, Probe, Resources
from app.sim.scenario import Scenario
from app.sim.script import Workload
from app.sim.units import Ns, seconds
from app.sim.virtual import VirtualSession
from app.sim.workloads import CronJob, InPlace, Mishap, Replicas, TrainingGroup
from tests.sim.orders import runs_on

WARM_UP = seconds(5)


def busy_session(
    pods: int, *, every: Ns | None = None, seed: int = 7, profile: str = "kep"
) -> VirtualSession:
    """A session with so many one-container pods, of which one ends each ``every`` (default: 1 s)
    and is restarted; started, and past its first relists."""
    pause = seconds(1) if every is None else every
    mishap = Mishap(every=(pause, pause), containers=("app",), ending=ERROR)
    workload = Replicas(
        namespace="bench", name="web", containers=(runs_on(),), count=pods, mishaps=(mishap,)
    )
    scenario = Scenario(
        name="busy", title="A busy node", shows="How fast it is.", workloads=(workload,)
    )
    session = VirtualSession(scenario, seed=seed, profile=profile)
    session.start()
    session.run_until(WARM_UP)
    return session


def elapsed(pods: int, time_s: float, *, seed: int = 7, profile: str = "kep") -> float:
    """Seconds of CPU that ``time_s`` seconds of such a node take; the making of it not counted."""
    session = busy_session(pods, seed=seed, profile=profile)
    began = time.process_time()
    session.run_until(session.clock.mono() + seconds(time_s))
    return time.process_time() - began


def crowd() -> tuple[Workload, ...]:
    """About five hundred pods: scaled, dying, looping, hanging, resized, replaced, done."""
    one = seconds(1)
    return (
        Replicas(
            namespace="crowd",
            name="web",
            containers=(runs_on(),),
            count=390,
            range=(340, 390),
            scale=(2 * one, 4 * one),
            mishaps=(
                Mishap(every=(one, one), containers=("app",), ending=ERROR),
                Mishap(every=(5 * one, 9 * one), containers=("app",), ending=OOM_KILLED),
            ),
        ),
        Replicas(
            namespace="crowd",
            name="loop",
            containers=(runs_on(lifetime=Lifetime((one, 4 * one), (ERROR,))),),
            count=20,
        ),
        Replicas(
            namespace="crowd",
            name="hangs",
            containers=(
                ContainerSpec(name="app", image="i", probe=Probe("liveness", (20 * one, 60 * one))),
            ),
            count=20,
            in_place=tuple(
                InPlace(at=at * 20 * one, resources=Resources(100 + at, 128)) for at in range(1, 30)
            ),
        ),
        TrainingGroup(
            namespace="crowd",
            name="resnet",
            image="i",
            every=(30 * one, 40 * one),
            size=49,
            launcher=True,
            failure="replace",
        ),
        CronJob(
            namespace="crowd",
            name="job",
            image="i",
            every=(3 * one, 5 * one),
            runs=(2 * one, 5 * one),
            failures=3,
        ),
    )


def crowded_session(seed: int = 7, profile: str = "kep") -> VirtualSession:
    """A session with that crowd, started, and past its first relists."""
    scenario = Scenario(
        name="crowd",
        title="A crowded node",
        shows="What it costs.",
        workloads=crowd(),
        engine=EngineSettings(event_channel=1000),
    )
    session = VirtualSession(scenario, seed=seed, profile=profile)
    session.start()
    session.run_until(WARM_UP)
    return session
