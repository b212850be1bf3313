"""What the scenarios are made of: the list they enter, and what families tell of usual steps."""

from __future__ import annotations

from collections.abc import Callable

import grpc
import pytest

from tests.lab.pods import ContainerInfo
from tests.parity.families import Family
from tests.parity.node import Node

Scenario = Callable[[Node], None]
SCENARIOS: dict[str, Scenario] = {}

ZERO_TIME = -6795364578871345152
"""Go's zero time in nanoseconds, overflowed."""

Told = list[tuple[str, str]]


def scenario(function: Scenario) -> Scenario:
    """Put a scenario into the suite."""
    SCENARIOS[function.__name__] = function
    return function


def of(family: Family, *expected: tuple[str, str]) -> Told:
    """What a family tells of all this: nothing without a stream."""
    return list(expected) if family.stream else []


def run_of(family: Family, box: str = "box") -> Told:
    """What it tells of RunPodSandbox."""
    return of(family, *((kind, box) for kind in family.box_run))


def started_of(family: Family, *containers: str) -> Told:
    """What it tells of a pod whose containers were created and then started."""
    created = [("CREATED", one) for one in containers]
    started = [("STARTED", one) for one in containers]
    return run_of(family) + of(family, *created, *started)


def removed_of(family: Family) -> Told:
    """What it tells of RemovePodSandbox of an empty sandbox that was stopped."""
    return of(family, *((kind, "box") for kind in family.box_removed))


def ended(node: Node, container_id: str) -> ContainerInfo:
    """The status of a container, as soon as it has exited."""
    node.pods.wait_exited([container_id])
    info = node.pods.status(container_id)
    assert info.state == "CONTAINER_EXITED"
    return info


def refusal(call: Callable[[], object]) -> str:
    """gRPC's code of a call that fails."""
    with pytest.raises(grpc.RpcError) as refused:
        call()
    return str(refused.value.code().name)
