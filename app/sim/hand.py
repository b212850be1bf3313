"""The hand on the node: presses what the palette has, at any moment.

The same hand presses in the live demo and in a run that is played ahead, where a press is an
appointment. The same presses at the same times of the same seed have the same effect, and one press
more shifts nothing in the others. All of it is to be called where the agenda runs.
"""

from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Literal

import msgspec

from app.sim.agenda import Agenda
from app.sim.button import GROUPS, Button, Scene
from app.sim.chance import generator
from app.sim.faultplan import AtWork, FaultPlan, PressError
from app.sim.pods import PodSpec
from app.sim.presses import BY_NAME, LONGEST, PALETTE
from app.sim.script import Action
from app.sim.units import Ns, shown

Tell = Callable[[Literal["info", "warning"], str], None]


class Pressed(msgspec.Struct, frozen=True, kw_only=True):
    """A press that was carried out, or a fault that is at work without one (``name`` empty).

    ``number``: of the fault, which ``lift`` takes; None for what happens once.
    ``until_t``: when it is over by itself (monotonic ns); None when it is not, or was at once.
    """

    name: str
    text: str
    target: str
    since_t: int
    until_t: int | None
    imitates: str
    number: int | None = None


class Hand:
    """Presses on one node.

    Args:
        agenda: the node's.
        plan: begins and ends faults.
        act: carries out one action of a script now.
        pods: those that the kubelet knows now.
        seed: the node's.
        tell: told of what happens once; of faults the plan tells.
    """

    palette = PALETTE
    groups = GROUPS

    def __init__(
        self,
        agenda: Agenda,
        plan: FaultPlan,
        act: Callable[[Action], None],
        pods: Callable[[], tuple[PodSpec, ...]],
        *,
        seed: int,
        tell: Tell,
    ) -> None:
        self._agenda = agenda
        self._plan = plan
        self._act = act
        self._pods = pods
        self._seed = seed
        self._tell = tell
        self._pressed: Counter[str] = Counter()
        self._by_number: dict[int, tuple[Button, str]] = {}

    def press(self, name: str, target: str = "", lasts: int | None = None) -> Pressed:
        """Press now.

        Args:
            name: of the button.
            target: ``namespace/name`` of a pod, where the button is about one.
            lasts: how long a fault is to be at work; without it as long as the button says.

        Raises:
            PressError: there is no such button or pod, a pod is missing or too many faults are at
                work; a sentence that ends with what to do.
        """
        button = BY_NAME.get(name)
        if button is None:
            raise PressError(
                f"There is nothing called {name[:80]!r} to press. The palette lists all."
            )
        if lasts is not None and not 0 < lasts <= LONGEST:
            raise PressError(f"A press may last up to {shown(LONGEST)}. Choose a shorter time.")
        scene = self._scene(button, target, None if lasts is None else Ns(lasts))
        made = button.make(scene)
        if made.fault is not None:
            began = self._plan.begin_now(made.fault)
            self._by_number[began.number] = (button, target)
            return self._told(began)
        about = f" ({target})" if target else ""
        self._tell("info", f"Pressed: {button.text}{about}. It imitates: {button.imitates}")
        for step in made.steps:
            self._agenda.after(step.t, partial(self._act, step.action))
        now = self._agenda.clock.mono()
        return Pressed(
            name=name,
            text=button.text,
            target=target,
            since_t=now,
            until_t=None,
            imitates=button.imitates,
        )

    def at_work(self) -> tuple[Pressed, ...]:
        """What is at work now, the scenario's own faults included, in order of beginning."""
        active = self._plan.active()
        numbers = {one.number for one in active}
        self._by_number = {key: one for key, one in self._by_number.items() if key in numbers}
        return tuple(map(self._told, active))

    def lift(self, number: int) -> bool:
        """End the fault with this number; whether it was at work."""
        return self._plan.lift(number)

    def heal(self) -> int:
        """Back to normal: end all faults that are at work; returns how many."""
        return self._plan.heal_all()

    def targets(self) -> tuple[str, ...]:
        """The pods that can be pressed on, as ``namespace/name``, in that order."""
        return tuple(sorted({f"{pod.namespace}/{pod.name}" for pod in self._pods()}))

    def _told(self, one: AtWork) -> Pressed:
        button, target = self._by_number.get(one.number, (None, one.about))
        return Pressed(
            name=button.name if button else "",
            text=one.text,
            target=target,
            since_t=one.since_t,
            until_t=one.until_t,
            imitates=one.imitates,
            number=one.number,
        )

    def _scene(self, button: Button, target: str, lasts: Ns | None) -> Scene:
        pods = self._pods()
        pod: PodSpec | None = None
        if target and button.target == "none":
            raise PressError(f"{button.text} is about no single pod. Leave the pod out.")
        if target:
            # Two may have the name: one that is going, and the newer one that takes its place.
            named = [one for one in pods if f"{one.namespace}/{one.name}" == target]
            if not named:
                raise PressError(f"There is no pod {target[:300]!r} now. Choose one that is there.")
            pod = named[-1]
        elif button.target == "pod":
            raise PressError(f"{button.text} is about one pod. Choose a pod.")
        self._pressed[button.name] += 1
        rng = generator(self._seed, "press", button.name, self._pressed[button.name])
        return Scene(lasts, pod, pods, rng)
