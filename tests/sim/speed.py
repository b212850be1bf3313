"""How fast virtual time is: a node on which one process ends each second, for benchmarks."""

import time

from app.sim.pods import ERROR
from app.sim.scenario import Scenario
from app.sim.units import Ns, seconds
from app.sim.virtual import VirtualSession
from app.sim.workloads import Mishap, Replicas
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
