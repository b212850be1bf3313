"""Images of the simulated node."""

import pytest

from app.sim.images import LONGEST_NAME, MOST, Images
from app.sim.objects import ContainerConfig, SandboxConfig
from app.sim.pb import cri_changes_pb2 as pb
from app.sim.world import World, WorldError

APP = "registry.example/team/app:1"


class Bench:
    """A world and its images; ``pulls``: those that took their time."""

    def __init__(self) -> None:
        self.world = World(1, lambda _told: None)
        self.pulls: list[str] = []
        self.images = Images(self.world, self._pause)

    async def _pause(self, name: str) -> None:
        self.pulls.append(name)

    async def pull(self, name: str) -> str:
        request = pb.PullImageRequest(image=pb.ImageSpec(image=name))
        return (await self.images.pull_image(request)).image_ref

    def names(self, wanted: str = "") -> list[str]:
        request = pb.ListImagesRequest(filter=pb.ImageFilter(image=pb.ImageSpec(image=wanted)))
        return [one.repo_tags[0] for one in self.images.list_images(request).images]

    def status(self, wanted: str) -> pb.ImageStatusResponse:
        return self.images.image_status(pb.ImageStatusRequest(image=pb.ImageSpec(image=wanted)))


async def test_what_was_pulled_is_there_by_name_and_by_digest() -> None:
    bench = Bench()
    assert not bench.status(APP).HasField("image")
    digest = await bench.pull(APP)
    assert bench.pulls == [APP]
    for wanted in (APP, digest):
        image = bench.status(wanted).image
        assert (image.id, list(image.repo_tags)) == (digest, [APP])
        assert list(image.repo_digests) == [f"registry.example/team/app@{digest}"]
        assert image.size > 2**20


async def test_a_second_pull_takes_no_time() -> None:
    bench = Bench()
    assert await bench.pull(APP) == await bench.pull(APP)
    assert bench.pulls == [APP]


async def test_the_images_of_containers_are_there_too() -> None:
    bench = Bench()
    box = bench.world.run_sandbox(SandboxConfig(name="p", uid="u", namespace="n"), 1)
    bench.world.create_container(box.id, ContainerConfig(name="c", image="busybox"), 1)
    await bench.pull(APP)
    assert sorted(bench.names()) == ["busybox", APP]
    assert bench.names(APP) == [APP]
    assert bench.names("other") == []
    (reference,) = bench.status("busybox").image.repo_digests
    assert reference.startswith("busybox@sha256:")


async def test_what_was_removed_is_gone_unless_a_container_needs_it() -> None:
    bench = Bench()
    await bench.pull(APP)
    for _ in range(2):
        bench.images.remove_image(pb.RemoveImageRequest(image=pb.ImageSpec(image=APP)))
    assert bench.names() == []


@pytest.mark.parametrize("name", ["", "x" * (LONGEST_NAME + 1)])
async def test_a_name_that_is_none_is_refused(name: str) -> None:
    with pytest.raises(WorldError, match="an image's name has 1 to"):
        await Bench().pull(name)


async def test_a_node_that_is_full_takes_no_more() -> None:
    bench = Bench()
    for number in range(MOST):
        await bench.pull(str(number))
    with pytest.raises(WorldError, match=f"holds {MOST} images"):
        await bench.pull("one more")
    await bench.pull("0")


def test_somebody_answers() -> None:
    assert Bench().images.image_fs_info(pb.ImageFsInfoRequest()) == pb.ImageFsInfoResponse()
