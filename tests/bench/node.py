"""The containerd that is measured: started on first need, purged at the end."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from types import TracebackType
from typing import Self

from tests.lab.containerd import Containerd, check_machine, sweep
from tests.lab.pods import Pods


def say(text: str) -> None:
    """Progress, on standard error."""
    print(f"bench: {text}", file=sys.stderr, flush=True)


class Node:
    """One containerd 2.x for all measurements. Use in ``with``."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._containerd: Containerd | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.__exit__(kind, error, trace)

    @property
    def containerd(self) -> Containerd:
        """Running.

        Raises:
            LabUnavailable: not on this machine; says why and what to do.
        """
        if self._containerd is None:
            check_machine()
            sweep()
            say("starting containerd 2.x")
            self._containerd = self._stack.enter_context(Containerd("2"))
        return self._containerd

    @property
    def endpoint(self) -> str:
        """Its CRI endpoint."""
        return self.containerd.endpoint

    @contextmanager
    def pods(self) -> Iterator[Pods]:
        """A maker of pods that removes them at the end."""
        containerd = self.containerd
        with Pods(containerd.endpoint, cgroup_parent=containerd.cgroup) as pods:
            yield pods
