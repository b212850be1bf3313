"""What the web knows of a simulated node: there is a desk where faults are pressed.

The web knows no simulation. Whoever puts the session together hands in the node's hand, which has
this shape.
"""

from collections.abc import Mapping, Sequence
from typing import Protocol


class ButtonLike(Protocol):
    """One thing that can be pressed. ``lasts`` in ns; None for what happens once."""

    @property
    def name(self) -> str:
        """What a press calls it."""
        ...

    @property
    def text(self) -> str:
        """What stands on it."""
        ...

    @property
    def group(self) -> str:
        """A key of ``Desk.groups``."""
        ...

    @property
    def does(self) -> str:
        """What happens, in a sentence."""
        ...

    @property
    def imitates(self) -> str:
        """What that is on a real node, in a sentence."""
        ...

    @property
    def lasts(self) -> int | None:
        """How long it is at work unless told otherwise (ns)."""
        ...

    @property
    def target(self) -> str:
        """``none``, ``any`` (a pod, or all) or ``pod``."""
        ...


class PressedLike(Protocol):
    """A press that was carried out, or a fault that is at work; times in monotonic ns."""

    @property
    def number(self) -> int | None:
        """What ``lift`` takes; None for what happened once."""
        ...

    @property
    def name(self) -> str:
        """Of the button; empty for a fault that the scenario brought."""
        ...

    @property
    def text(self) -> str:
        """What it is called."""
        ...

    @property
    def target(self) -> str:
        """The pod it is about, if it is about one."""
        ...

    @property
    def since_t(self) -> int:
        """When it began."""
        ...

    @property
    def until_t(self) -> int | None:
        """When it is over by itself."""
        ...

    @property
    def imitates(self) -> str:
        """What it is on a real node."""
        ...


class Desk(Protocol):
    """Where faults are pressed. A refusal is a ``ValueError`` with a sentence for people."""

    @property
    def palette(self) -> Sequence[ButtonLike]:
        """Everything that can be pressed, in order."""
        ...

    @property
    def groups(self) -> Mapping[str, str]:
        """Titles of the palette's groups, in order."""
        ...

    def targets(self) -> Sequence[str]:
        """The pods there are, as ``namespace/name``."""
        ...

    def at_work(self) -> Sequence[PressedLike]:
        """The faults that are at work."""
        ...

    def press(self, name: str, target: str = "", lasts: int | None = None) -> PressedLike:
        """Press now; see :class:`Desk` about refusals."""
        ...

    def lift(self, number: int) -> bool:
        """End one fault; whether it was at work."""
        ...

    def heal(self) -> int:
        """End all of them; how many there were."""
        ...
