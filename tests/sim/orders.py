"""Pods that tests order."""

from typing import Any

from app.sim.flavour import MS, SECOND
from app.sim.pods import ERROR, ContainerSpec, Ending, Lifetime, PodSpec


def order(name: str = "web", *containers: ContainerSpec, **more: Any) -> PodSpec:
    """A pod of that name whose UID is ``uid-<name>``; one plain container unless told."""
    return PodSpec(
        uid=f"uid-{name}",
        name=name,
        namespace="shop",
        containers=containers or (runs_on(),),
        **more,
    )


def runs_on(name: str = "app", **more: Any) -> ContainerSpec:
    """A container whose process never ends by itself."""
    return ContainerSpec(name=name, image="registry.example/app:1", **more)


def ends(
    after_ns: int = 500 * MS, ending: Ending = ERROR, name: str = "app", **more: Any
) -> ContainerSpec:
    """A container whose process ends so after exactly that time."""
    life = Lifetime((after_ns, after_ns), (ending,))
    return runs_on(name, lifetime=life, **more)


def slow_to_stop(name: str = "app", ns: int = 2 * SECOND) -> ContainerSpec:
    """A container that takes exactly that long to heed SIGTERM."""
    return runs_on(name, term=(ns, ns))
