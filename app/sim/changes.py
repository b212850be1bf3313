"""The calls that change the node, for a client that is not ours: a kubelet, crictl, a test.

The other side of ``syncpod.py``: what the simulated kubelet does in the world by itself, a real one
asks for over gRPC. Each call takes the time that was measured for it; what the containers run is
read from their commands (``programs.py``). Calls are idempotent as the CRI demands: stopping what
has stopped and removing what is not there is no error.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple, TypeVar

from google.protobuf.message import Message

from app.sim.agenda import Agenda, Signal
from app.sim.availability import DOWN, UnavailableError
from app.sim.chance import generator
from app.sim.events import EventHub
from app.sim.flavour import MS, SECOND
from app.sim.images import Images
from app.sim.objects import ContainerConfig, SandboxConfig
from app.sim.pb import cri_changes_pb2 as pb
from app.sim.pods import ContainerSpec
from app.sim.processes import Processes
from app.sim.programs import program
from app.sim.timings import Pace, Timings
from app.sim.world import NotFoundError, World, WorldError

MOST = 5000
"""Containers and sandboxes on the node beyond which no further one is made over gRPC."""

PULL = (300 * MS, 3 * SECOND)
"""How long the pull of an image takes."""

R = TypeVar("R", bound=Message)


class InvalidError(WorldError):
    """A request lacks what no pod can do without (gRPC INVALID_ARGUMENT)."""


class UnknownCallError(WorldError):
    """This runtime does not have such a call (gRPC UNIMPLEMENTED)."""


class Call(NamedTuple):
    """A call by its request's type, and what carries it out."""

    request: type[Message]
    answer: Callable[[Any], Awaitable[Message]]


def _soon(answer: Callable[[Any], Message]) -> Callable[[Any], Awaitable[Message]]:
    """An answer that takes no time."""

    async def call(request: Any) -> Message:
        return answer(request)

    return call


class Changes:
    """Carries the calls out, in the world and by the agenda's time.

    A method raises :class:`~app.sim.world.WorldError` when the runtime refuses.
    """

    def __init__(
        self,
        agenda: Agenda,
        world: World,
        processes: Processes,
        hub: EventHub,
        *,
        seed: int,
        timings: Timings | None = None,
    ) -> None:
        self._agenda = agenda
        self._world = world
        self._processes = processes
        self._hub = hub
        self._timings = timings or Timings()
        self._pace = Pace(generator(seed, "calls from outside"))
        self._specs: dict[str, ContainerSpec] = {}
        """What the containers run that were made here and not started yet."""
        self._images = Images(world, self._pull)
        self._waiting: set[asyncio.Event] = set()
        self._life = 0
        """How often the runtime has gone away."""
        world.on_change.append(self._forget)

    @property
    def calls(self) -> Mapping[str, Call]:
        """All calls of the RuntimeService, by the CRI's names for them."""
        return {
            "RunPodSandbox": Call(pb.RunPodSandboxRequest, self.run_pod_sandbox),
            "StopPodSandbox": Call(pb.StopPodSandboxRequest, self.stop_pod_sandbox),
            "RemovePodSandbox": Call(pb.RemovePodSandboxRequest, self.remove_pod_sandbox),
            "CreateContainer": Call(pb.CreateContainerRequest, self.create_container),
            "StartContainer": Call(pb.StartContainerRequest, self.start_container),
            "StopContainer": Call(pb.StopContainerRequest, self.stop_container),
            "RemoveContainer": Call(pb.RemoveContainerRequest, self.remove_container),
            "UpdateContainerResources": Call(
                pb.UpdateContainerResourcesRequest, self.update_container_resources
            ),
            "RuntimeConfig": Call(pb.RuntimeConfigRequest, self.runtime_config),
        }

    @property
    def image_calls(self) -> Mapping[str, Call]:
        """All calls of the ImageService."""
        images = self._images
        return {
            "ListImages": Call(pb.ListImagesRequest, _soon(images.list_images)),
            "ImageStatus": Call(pb.ImageStatusRequest, _soon(images.image_status)),
            "PullImage": Call(pb.PullImageRequest, images.pull_image),
            "RemoveImage": Call(pb.RemoveImageRequest, _soon(images.remove_image)),
            "ImageFsInfo": Call(pb.ImageFsInfoRequest, _soon(images.image_fs_info)),
        }

    def abandon(self) -> None:
        """The runtime goes away: calls that wait are answered by nobody."""
        self._life += 1
        for over in self._waiting:
            over.set()

    async def run_pod_sandbox(self, request: pb.RunPodSandboxRequest) -> pb.RunPodSandboxResponse:
        """A sandbox, ready."""
        config = request.config
        if not config.metadata.name or not config.metadata.uid:
            raise InvalidError("a sandbox needs metadata with a name and a uid")
        self._check_room()
        network = config.linux.security_context.namespace_options.network
        await self._pause(self._pace.of(self._timings.run_sandbox))
        sandbox = self._world.run_sandbox(
            SandboxConfig(
                name=config.metadata.name,
                uid=config.metadata.uid,
                namespace=config.metadata.namespace,
                attempt=config.metadata.attempt,
                labels=dict(config.labels),
                annotations=dict(config.annotations),
                host_network=network == pb.NODE,
            ),
            self._now,
        )
        return await self._told(pb.RunPodSandboxResponse(pod_sandbox_id=sandbox.id))

    def _check_room(self) -> None:
        if self._world.size >= MOST:
            raise WorldError(
                f"the simulated node holds {MOST} containers and sandboxes and takes no more"
            )

    async def create_container(
        self, request: pb.CreateContainerRequest
    ) -> pb.CreateContainerResponse:
        """A container, not started."""
        config = request.config
        if not config.metadata.name:
            raise InvalidError("a container needs metadata with a name")
        self._check_room()
        runs = program(
            (*config.command, *config.args), config.linux.resources.memory_limit_in_bytes
        )
        image = config.image.user_specified_image or config.image.image
        await self._pause(self._pace.of(self._timings.create))
        container = self._world.create_container(
            request.pod_sandbox_id,
            ContainerConfig(
                name=config.metadata.name,
                image=image,
                attempt=config.metadata.attempt,
                labels=dict(config.labels),
                annotations=dict(config.annotations),
                log_path=config.log_path,
                cannot_start=runs.cannot_start,
            ),
            self._now,
        )
        self._specs[container.id] = runs.spec(config.metadata.name, image)
        return await self._told(pb.CreateContainerResponse(container_id=container.id))

    async def start_container(self, request: pb.StartContainerRequest) -> pb.StartContainerResponse:
        """Its program runs from now on."""
        found = self._world.container(request.container_id)
        await self._pause(self._pace.of(self._timings.start))
        started = self._world.start_container(found.id, self._now)
        pod = self._world.sandbox(started.sandbox_id).config
        spec = self._specs.pop(started.id, None)
        spec = spec or program(()).spec(started.config.name, started.config.image)
        self._processes.begin(started, spec, pod.uid)
        return await self._told(pb.StartContainerResponse())

    async def stop_container(self, request: pb.StopContainerRequest) -> pb.StopContainerResponse:
        """SIGTERM, and SIGKILL when the timeout is over; returns when the runtime has seen the end.

        At once for a container that has ended, or is not there.
        """
        try:
            found = self._world.container(request.container_id)
        except NotFoundError:
            return pb.StopContainerResponse()
        if found.state == "running":
            grace_ns = min(max(request.timeout, 0), 86_400 * 365) * SECOND
            await self._happened(self._processes.terminate(found.id, grace_ns))
        return pb.StopContainerResponse()

    async def remove_container(
        self, request: pb.RemoveContainerRequest
    ) -> pb.RemoveContainerResponse:
        """It is no more; one that runs is killed first."""
        try:
            found = self._world.container(request.container_id)
        except NotFoundError:
            return pb.RemoveContainerResponse()
        await self._kill(found.id)
        await self._pause(self._pace.of(self._timings.remove))
        self._world.remove_container(found.id, self._now)
        return await self._told(pb.RemoveContainerResponse())

    async def stop_pod_sandbox(
        self, request: pb.StopPodSandboxRequest
    ) -> pb.StopPodSandboxResponse:
        """All that runs in it is killed, then it is not ready any more."""
        try:
            found = self._world.sandbox(request.pod_sandbox_id)
        except NotFoundError:
            return pb.StopPodSandboxResponse()
        for container in self._world.inside(found.id):
            await self._kill(container.id)
        await self._pause(self._pace.of(self._timings.stop_sandbox))
        if self._world.look_up(found.id) is not None:
            self._world.stop_sandbox(found.id, self._now)
        return await self._told(pb.StopPodSandboxResponse())

    async def remove_pod_sandbox(
        self, request: pb.RemovePodSandboxRequest
    ) -> pb.RemovePodSandboxResponse:
        """It is no more, with all that is in it."""
        try:
            found = self._world.sandbox(request.pod_sandbox_id)
        except NotFoundError:
            return pb.RemovePodSandboxResponse()
        quiet = self._world.rules.quiet_removal
        for container in self._world.inside(found.id):
            if quiet:
                self._processes.vanish(container.id)
            else:
                await self._kill(container.id)
        await self._pause(self._pace.of(self._timings.remove))
        self._world.remove_sandbox(found.id, self._now)
        return await self._told(pb.RemovePodSandboxResponse())

    async def update_container_resources(
        self, request: pb.UpdateContainerResourcesRequest
    ) -> pb.UpdateContainerResourcesResponse:
        """Other limits for a container that is there; no event tells of it."""
        found = self._world.container(request.container_id)
        if found.state == "exited":
            raise WorldError(f"container {found.id} has exited")
        await self._pause(self._pace.of(self._timings.update))
        return pb.UpdateContainerResourcesResponse()

    async def runtime_config(self, _request: pb.RuntimeConfigRequest) -> pb.RuntimeConfigResponse:
        """How cgroups are made (containerd since 2.0, CRI-O).

        Raises:
            UnknownCallError: this runtime does not have the call.
        """
        if not self._world.rules.tells_config:
            raise UnknownCallError("method RuntimeConfig not implemented")
        return pb.RuntimeConfigResponse(
            linux=pb.LinuxRuntimeConfiguration(cgroup_driver=pb.SYSTEMD)
        )

    async def _pull(self, _name: str) -> None:
        await self._pause(self._pace.of(PULL))

    @property
    def _now(self) -> int:
        return self._agenda.clock.wall()

    async def _kill(self, container_id: str) -> None:
        """SIGKILL; returns when the runtime has seen it."""
        if self._world.is_running(container_id):
            await self._happened(self._processes.terminate(container_id, 0))

    async def _told(self, answer: R) -> R:
        """The answer of a call that has told an event, when that could be sent."""
        await self._hub.room()
        return answer

    async def _pause(self, delay_ns: int) -> None:
        await self._until(lambda over: self._agenda.after(delay_ns, over))

    async def _happened(self, signal: Signal) -> None:
        await self._until(signal.then)

    async def _until(self, ask: Callable[[Callable[[], None]], object]) -> None:
        over, life = asyncio.Event(), self._life
        self._waiting.add(over)
        try:
            ask(over.set)
            await over.wait()
        finally:
            self._waiting.discard(over)
        if life != self._life:
            raise UnavailableError(DOWN)

    def _forget(self, item_id: str) -> None:
        if item_id in self._specs and self._world.look_up(item_id) is None:
            del self._specs[item_id]
