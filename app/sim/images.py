"""The simulated node's images: those that were pulled, and those of its containers.

The CRI's ImageService, as far as a kubelet or crictl needs it to run pods. An image's content is
made up from its name, so any name can be pulled.
"""

import hashlib
from collections.abc import Awaitable, Callable, Mapping

from app.sim.naming import digest
from app.sim.pb import cri_changes_pb2 as pb
from app.sim.world import World, WorldError

MOST = 1000
"""Images that are kept; a further one is not pulled."""

LONGEST_NAME = 512


class Images:
    """Answers the calls about images. ``pause`` returns when a pull of this name is over."""

    def __init__(self, world: World, pause: Callable[[str], Awaitable[None]]) -> None:
        self._world = world
        self._pause = pause
        self._pulled: dict[str, None] = {}

    def list_images(self, request: pb.ListImagesRequest) -> pb.ListImagesResponse:
        """All images, or the one of a name."""
        wanted = request.filter.image.image
        names = [name for name in self._there() if wanted in ("", name)]
        return pb.ListImagesResponse(images=map(_image, names))

    def image_status(self, request: pb.ImageStatusRequest) -> pb.ImageStatusResponse:
        """The image of a name or a digest; nothing when it is not there."""
        wanted = request.image.image
        for name in self._there():
            if wanted in (name, f"sha256:{digest(name)}"):
                return pb.ImageStatusResponse(image=_image(name))
        return pb.ImageStatusResponse()

    async def pull_image(self, request: pb.PullImageRequest) -> pb.PullImageResponse:
        """It is there afterwards.

        Raises:
            WorldError: it has no name, or there are too many.
        """
        name = request.image.image
        if not name or len(name) > LONGEST_NAME:
            raise WorldError(f"an image's name has 1 to {LONGEST_NAME} characters")
        if name not in self._there():
            if len(self._pulled) >= MOST:
                raise WorldError(f"the simulated node holds {MOST} images and takes no more")
            await self._pause(name)
        self._pulled[name] = None
        return pb.PullImageResponse(image_ref=f"sha256:{digest(name)}")

    def remove_image(self, request: pb.RemoveImageRequest) -> pb.RemoveImageResponse:
        """It is gone, unless a container needs it; one that is not there is no error."""
        self._pulled.pop(request.image.image, None)
        return pb.RemoveImageResponse()

    def image_fs_info(self, _request: pb.ImageFsInfoRequest) -> pb.ImageFsInfoResponse:
        """A client asks for this to see whether anybody answers; there is no file system."""
        return pb.ImageFsInfoResponse()

    def _there(self) -> Mapping[str, None]:
        return self._pulled | {one.config.image: None for one in self._world.everything()}


def _image(name: str) -> pb.Image:
    content = digest(name)
    base = name.rpartition(":")[0] if ":" in name.rpartition("/")[2] else name
    # Some megabytes, the same for the same name.
    size = 2**20 + int.from_bytes(hashlib.sha256(name.encode()).digest()[:3], "big") * 4
    return pb.Image(
        id=f"sha256:{content}",
        repo_tags=[name],
        repo_digests=[f"{base}@sha256:{content}"],
        size=size,
    )
