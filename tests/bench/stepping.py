"""(e) The engine alone: what one unchanged listing costs, against parsing the same listing."""

from __future__ import annotations

import random
import time
from collections.abc import Callable

from app.cri.convert import Interner
from app.cri.pb import cri_pb2
from app.engine.effects import Effect, InspectPod, ListPods, WakeAt
from app.engine.engine import Engine
from app.engine.inputs import Input, PodInspected, PodsListed, Start, TimerFired
from app.engine.model import ContainerStatus, SandboxStatus
from app.engine.settings import EngineSettings
from tests.bench.node import say
from tests.bench.report import Section, median

SIZES = (250, 500, 1000, 2000)
ROUNDS = 40
WALL = 1_790_000_000_000_000_000


class Listing:
    """A node's two lists, as the bytes a runtime sends: one container a pod."""

    def __init__(self, count: int) -> None:
        sandboxes = cri_pb2.ListPodSandboxResponse()
        containers = cri_pb2.ListContainersResponse()
        for number in range(count):
            uid = f"{number:08x}-0000-4000-8000-{number:012x}"
            name = f"web-{number % 50}-{number:x}"
            labels = {
                "io.kubernetes.pod.name": name,
                "io.kubernetes.pod.namespace": "shop",
                "io.kubernetes.pod.uid": uid,
            }
            sandboxes.items.add(
                id=f"{number:064x}",
                metadata=cri_pb2.PodSandboxMetadata(name=name, uid=uid, namespace="shop"),
                state=cri_pb2.SANDBOX_READY,
                created_at=WALL + number,
                labels=labels,
                annotations={"kubernetes.io/config.source": "api"},
            )
            containers.containers.add(
                id=f"{number + count:064x}",
                pod_sandbox_id=f"{number:064x}",
                metadata=cri_pb2.ContainerMetadata(name="app"),
                image=cri_pb2.ImageSpec(image="registry.example/shop/web:1.2"),
                image_ref=f"sha256:{number:064x}",
                state=cri_pb2.CONTAINER_RUNNING,
                created_at=WALL + number,
                labels={**labels, "io.kubernetes.container.name": "app"},
                annotations={
                    "io.kubernetes.container.restartCount": "0",
                    "io.kubernetes.container.terminationMessagePath": "/dev/termination-log",
                    "io.kubernetes.container.terminationMessagePolicy": "File",
                    "io.kubernetes.pod.terminationGracePeriod": "30",
                },
            )
        self.sandboxes = sandboxes.SerializeToString()
        self.containers = containers.SerializeToString()
        self._interner = Interner()

    def parse(self) -> tuple[cri_pb2.ListPodSandboxResponse, cri_pb2.ListContainersResponse]:
        """Bytes to messages."""
        return (
            cri_pb2.ListPodSandboxResponse.FromString(self.sandboxes),
            cri_pb2.ListContainersResponse.FromString(self.containers),
        )

    def rows(
        self, sandboxes: cri_pb2.ListPodSandboxResponse, containers: cri_pb2.ListContainersResponse
    ) -> Callable[[int], PodsListed]:
        """Messages to the engine's rows; returns what makes the answer to a call of them."""
        items = self._interner.sandboxes(sandboxes, full=True)
        inside = self._interner.containers(containers, full=True)
        return lambda call: PodsListed(
            t=0, wall=WALL, call=call, sandboxes=items, containers=inside
        )


class Shadow:
    """An engine on a node where nothing happens."""

    def __init__(self, listing: Listing) -> None:
        self._engine = Engine(EngineSettings(), random.Random(1))
        self._listing = listing
        self._wake: WakeAt | None = None
        self._call = 0
        self._feed(Start(t=0, wall=WALL))
        self._feed(listing.rows(*listing.parse())(self._call))

    def _feed(self, happened: Input) -> None:
        """One step, and answers to what it asks for, except lists."""
        waiting: list[Effect] = list(self._engine.step(happened).effects)
        while waiting:
            effect = waiting.pop()
            if isinstance(effect, ListPods):
                self._call = effect.call
            elif isinstance(effect, WakeAt) and effect.timer == "global":
                self._wake = effect
            elif isinstance(effect, InspectPod):
                waiting += self._engine.step(inspected(effect)).effects

    def unchanged(self) -> tuple[float, float, float]:
        """Seconds of CPU to parse one listing, to turn it into rows, and to step with it."""
        wake = self._wake
        assert wake is not None
        self._feed(TimerFired(t=wake.at, wall=WALL, timer="global", token=wake.token))
        began = time.thread_time()
        messages = self._listing.parse()
        parsed = time.thread_time()
        answer = self._listing.rows(*messages)(self._call)
        turned = time.thread_time()
        outputs = self._engine.step(answer)
        stepped = time.thread_time()
        self._wake = next(e for e in outputs.effects if isinstance(e, WakeAt))
        return parsed - began, turned - parsed, stepped - turned


def inspected(effect: InspectPod) -> PodInspected:
    """Everything runs."""
    return PodInspected(
        t=0,
        wall=WALL,
        call=effect.call,
        sandboxes=tuple(SandboxStatus(i, 0, "ready", WALL) for i in effect.sandbox_ids),
        containers=tuple(
            ContainerStatus(i, "app", 0, "running", WALL, WALL) for i in effect.container_ids
        ),
    )


def measure() -> Section:
    """Each size, its rounds taken in turns so that all see the same machine."""
    section = Section("(e) one unchanged listing: the engine's step against parsing")
    section.note = (
        f"One container a pod; microseconds of CPU, median of {ROUNDS} rounds taken in turns. A "
        "step groups the rows into pods and compares each with its record."
    )
    say(f"(e) {len(SIZES)} sizes")
    shadows = {size: Shadow(Listing(size)) for size in SIZES}
    times: dict[int, list[tuple[float, float, float]]] = {size: [] for size in SIZES}
    for _ in range(ROUNDS):
        for size, shadow in shadows.items():
            times[size].append(shadow.unchanged())
    medians = {
        size: [1e6 * median([one[part] for one in found]) for part in range(3)]
        for size, found in times.items()
    }
    for size, (parse, rows, step) in medians.items():
        section.add(
            f"{size} containers: parse, rows, step", f"{parse:.0f}, {rows:.0f}, {step:.0f} us"
        )
        section.at_most(f"{size} containers: step to parse", step / parse, 1, "x")
    small, large = SIZES[0], SIZES[-1]
    for part, name in ((0, "parse"), (2, "step")):
        growth = medians[large][part] / medians[small][part]
        if name == "parse":
            section.add(f"growth from {small} to {large}: parse", f"{growth:.1f} x")
        else:
            limit = 1.5 * large / small
            section.at_most(f"growth from {small} to {large}: step", growth, limit, "x", 1)
    return section
