"""The scenarios on simulated nodes, over gRPC, by a client that is not ours."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.sim.flavours import FLAVOURS
from tests.lab.cri import IMAGES
from tests.lab.image import IMAGE
from tests.parity.families import FAMILIES
from tests.parity.scenarios import SCENARIOS
from tests.parity.simulated import SimulatedNode, simulated


@pytest.fixture(params=list(FLAVOURS))
def node(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SimulatedNode]:
    with simulated(request.param, tmp_path / "cri.sock") as made:
        yield made


@pytest.mark.parametrize("scenario", list(SCENARIOS))
def test_as_the_real_one(node: SimulatedNode, scenario: str) -> None:
    SCENARIOS[scenario](node)


def test_a_client_finds_images_too(node: SimulatedNode) -> None:
    cri = node.pods.cri
    assert not cri.call("ImageStatus", service=IMAGES, image={"image": IMAGE}).image.id
    node.pods.run("web")
    assert cri.call("ImageStatus", service=IMAGES, image={"image": IMAGE}).image.id


def test_each_runtime_that_can_be_simulated_has_its_expectations() -> None:
    assert list(FAMILIES) == ["containerd-1.6", "containerd-1.7", "containerd-2", "cri-o"]
    assert set(FLAVOURS) == set(FAMILIES)
