"""The parity scenarios on real containerds: the same assertions as on the simulated ones."""

from __future__ import annotations

import pytest

from tests.lab.containerd import Containerd
from tests.lab.pods import Pods
from tests.parity.real import RealNode
from tests.parity.scenarios import SCENARIOS


@pytest.mark.parametrize("scenario", list(SCENARIOS))
def test_as_the_simulated_one(each_containerd: Containerd, each_pods: Pods, scenario: str) -> None:
    SCENARIOS[scenario](RealNode(each_containerd, each_pods))
