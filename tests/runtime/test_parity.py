"""The parity scenarios on real containerds: the same assertions as on the simulated ones."""

from __future__ import annotations

import pytest

from tests.lab.containerd import Containerd
from tests.lab.pods import Pods
from tests.parity.real import RealNode
from tests.parity.replayed import compare
from tests.parity.scenarios import SCENARIOS

RECORDED = {"1.6": "containerd-1.6.20", "1.7": "containerd-1.7.24", "2": "containerd-2.1.9"}


@pytest.mark.parametrize("scenario", list(SCENARIOS))
def test_as_the_simulated_one(each_containerd: Containerd, each_pods: Pods, scenario: str) -> None:
    SCENARIOS[scenario](RealNode(each_containerd, each_pods))


@pytest.mark.parametrize("scenario", ["lifecycle", "crashloop", "startfail", "restart"])
def test_as_it_was_recorded(each_containerd: Containerd, each_pods: Pods, scenario: str) -> None:
    """What the simulated runtimes are compared with is still so."""
    runtime = RECORDED[each_containerd.version]
    compare(RealNode(each_containerd, each_pods), runtime, scenario)
