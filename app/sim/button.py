"""One thing that can be pressed: its name, its words, and what it does when it is pressed.

A press is carried out at its moment (:mod:`app.sim.hand`): only then is it known which pods there
are. Whatever is drawn comes from a generator of that press alone.
"""

from collections.abc import Callable, Mapping
from random import Random
from typing import Literal

import msgspec

from app.sim.faults import Fault
from app.sim.pods import PodSpec
from app.sim.script import Step
from app.sim.units import Ns

Group = Literal["stream", "events", "lists", "runtime", "kubelet", "pods"]
"""Where in the palette it stands, in this order."""

GROUPS: Mapping[str, str] = {
    "stream": "Event stream",
    "events": "Single events",
    "lists": "Lists and inspections",
    "runtime": "Runtime",
    "kubelet": "Kubelet",
    "pods": "Pods",
}

Target = Literal["none", "any", "pod"]
"""Whether it is about one pod: never, if one is named (else about all), or always."""


class Scene(msgspec.Struct, frozen=True):
    """The moment of a press.

    ``lasts``: how long a fault shall be at work (None: as long as its button says). ``target``: the
    pod that was named, if any. ``pods``: those that the kubelet knows. ``rng``: of this press.
    """

    lasts: Ns | None
    target: PodSpec | None
    pods: tuple[PodSpec, ...]
    rng: Random

    @property
    def glob(self) -> str:
        """The pods that a fault is about."""
        return "*" if self.target is None else f"{self.target.namespace}/{self.target.name}"

    @property
    def pod(self) -> PodSpec:
        """The pod that was named; only for presses that need one."""
        assert self.target is not None, "whoever presses has checked the target"
        return self.target


class Made(msgspec.Struct, frozen=True):
    """What a press amounts to: a fault that begins now, or steps; their ``t`` counts from now."""

    fault: Fault | None = None
    steps: tuple[Step, ...] = ()


class Button(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that can be pressed.

    ``does``: what happens, in a few words. ``imitates``: what that is on a real node, in a
    sentence. ``lasts``: how long it is at work unless told otherwise; None for what happens once
    and cannot be lifted.
    """

    name: str
    text: str
    group: Group
    does: str
    imitates: str
    lasts: Ns | None
    target: Target = "none"
    make: Callable[[Scene], Made]
