"""A real containerd as a node of the scenarios."""

from __future__ import annotations

import signal
from collections.abc import Callable

from tests.lab import proc
from tests.lab.containerd import Containerd
from tests.lab.pods import Pods
from tests.parity.families import FAMILIES
from tests.parity.node import DEADLINE_S


class RealNode:
    """A containerd of the lab, and pods on it; forgets the events of earlier tests first."""

    def __init__(self, containerd: Containerd, pods: Pods) -> None:
        self.family = FAMILIES[f"containerd-{containerd.version}"]
        self.pods = pods
        self._containerd = containerd
        containerd.restart()

    def kill(self, container_id: str) -> None:
        """See :class:`tests.parity.node.Node`."""
        assert self.pods.kill(container_id) == 1

    def killer(self, container_id: str) -> Callable[[], None]:
        """See :class:`tests.parity.node.Node`."""
        pid = self.pods.main_pid(container_id)

        def kill() -> None:
            with proc.Process(pid) as process:
                process.signal(signal.SIGKILL)
                assert process.ended(DEADLINE_S)

        return kill

    def wait_for_handler(self, container_id: str) -> None:
        """See :class:`tests.parity.node.Node`."""
        self.pods.wait_for_handler(container_id)

    def kill_pause(self, sandbox_id: str) -> None:
        """See :class:`tests.parity.node.Node`."""
        assert self.pods.kill_pause(sandbox_id) == 1

    def restart(self, meanwhile: str = "") -> None:
        """See :class:`tests.parity.node.Node`."""
        kill = self.killer(meanwhile) if meanwhile else None
        self._containerd.stop()
        if kill is not None:
            kill()
        self._containerd.start()

    def freeze(self) -> None:
        """See :class:`tests.parity.node.Node`."""
        self._containerd.freeze()

    def thaw(self) -> None:
        """See :class:`tests.parity.node.Node`."""
        self._containerd.thaw()
