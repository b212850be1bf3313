"""A simulated node like a process of its own: in a thread, on a socket, twenty times as fast.

Nothing of the simulation is touched from outside but the processes and the runtime itself, which a
client cannot touch by the CRI either.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from app.clock import RealClock
from app.engine.inputs import Input
from app.sim.faults import RuntimeFreezes, RuntimeRestarts
from app.sim.flavours import rules_of
from app.sim.node import SimNode
from app.sim.pods import KILLED
from app.sim.scenario import Scenario
from app.sim.units import Ns
from tests.lab.pods import Pods
from tests.parity.families import FAMILIES
from tests.parity.node import DEADLINE_S, until

FASTER = 20
T = TypeVar("T")


def _unread(_happened: Input) -> None:
    """No PLEG is there."""


class SimulatedNode:
    """A node without workloads. ``name``: of the runtime it behaves like."""

    def __init__(self, name: str, socket: Path) -> None:
        self.family = FAMILIES[name]
        self._socket = socket
        scenario = Scenario(name="bare", title="A bare node", shows="It.", rules=rules_of(name))
        self._node = SimNode(scenario, RealClock(FASTER), lead_ns=0, endless=True)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop = asyncio.Event()
        self._up = threading.Event()
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._main)
        self._thread.start()
        assert self._up.wait(DEADLINE_S), "the simulated node did not come up"
        if self._failure is not None:
            raise self._failure
        self.pods = Pods(f"unix://{socket}")

    def close(self) -> None:
        """End it."""
        self.pods.close()
        self.do(self._stop.set)
        self._thread.join(DEADLINE_S)
        assert not self._thread.is_alive(), "the simulated node did not end"
        if self._failure is not None:
            raise self._failure

    def do(self, call: Callable[[], T]) -> T:
        """Make a call in the node's own thread."""
        made: Future[T] = Future()

        def carry_out() -> None:
            try:
                made.set_result(call())
            except Exception as error:
                made.set_exception(error)

        assert self._loop is not None
        self._loop.call_soon_threadsafe(carry_out)
        return made.result(DEADLINE_S)

    def kill(self, container_id: str) -> None:
        """See :class:`tests.parity.node.Node`."""
        assert self.do(lambda: self._node.workers.processes.end(container_id, KILLED))

    def killer(self, container_id: str) -> Callable[[], None]:
        """See :class:`tests.parity.node.Node`."""
        return lambda: self.kill(container_id)

    def wait_for_handler(self, container_id: str) -> None:
        """See :class:`tests.parity.node.Node`; a simulated one has it from its start."""
        assert self.pods.status(container_id).started_at

    def kill_pause(self, sandbox_id: str) -> None:
        """See :class:`tests.parity.node.Node`."""
        self.do(lambda: self._node.workers.processes.end_pause(sandbox_id))

    def restart(self, meanwhile: str = "") -> None:
        """See :class:`tests.parity.node.Node`."""
        fault = self.do(lambda: self._node.plan.begin(RuntimeRestarts(at=Ns(0), lasts=None)))
        until(lambda: not self._socket.exists(), "the runtime to be down")
        if meanwhile:
            self.kill(meanwhile)
        self.do(lambda: self._node.plan.end(fault))
        self.pods.cri.call("Version", wait_for_ready=True)

    def freeze(self) -> None:
        """See :class:`tests.parity.node.Node`."""
        self.do(lambda: self._node.plan.begin(RuntimeFreezes(at=Ns(0), lasts=None)))

    def thaw(self) -> None:
        """See :class:`tests.parity.node.Node`."""
        self.do(lambda: self._node.plan.heal("runtime"))

    def _main(self) -> None:
        try:
            asyncio.run(self._serve())
        except BaseException as error:
            self._failure = error
        finally:
            self._up.set()

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        ready = asyncio.Event()
        async with asyncio.TaskGroup() as tasks:
            serving = tasks.create_task(self._node.run(self._socket, _unread, ready))
            await ready.wait()
            self._up.set()
            await self._stop.wait()
            serving.cancel()


@contextmanager
def simulated(name: str, socket: Path) -> Iterator[SimulatedNode]:
    """A simulated node, for as long as the context lasts."""
    node = SimulatedNode(name, socket)
    try:
        yield node
    finally:
        node.close()
