"""A desk for tests: remembers what was pressed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from app.web.desk import ButtonLike, PressedLike

S = 1_000_000_000
HOSTILE = "<script>alert(1)</script>/\"'{{ 7 * 7 }}"


class Ns(int):
    """A duration, as the simulation has them."""


class Button(msgspec.Struct, frozen=True):
    """One of three."""

    name: str
    text: str
    group: str
    does: str
    imitates: str
    lasts: int | None
    target: str


class Pressed(msgspec.Struct, frozen=True):
    """What was pressed."""

    number: int | None
    name: str
    text: str
    target: str
    since_t: int
    until_t: int | None
    imitates: str


BREAK = Button(
    "break-stream", "Break it", "stream", "The stream breaks.", "A torn cable.", Ns(10 * S), "none"
)
LOSE = Button("lose-events", "Lose events", "stream", "None comes.", "A full channel.", S, "any")
KILL = Button("kill-container", "Kill", "pods", "It is killed.", "A crash.", None, "pod")


class TestDesk:
    """Keeps what was asked of it; ``error`` is what the next press is refused with."""

    __test__ = False

    def __init__(self) -> None:
        self.asked: list[tuple[object, ...]] = []
        self.working: list[Pressed] = []
        self.error = ""
        self.pods: tuple[str, ...] = ("shop/db", "shop/web")

    @property
    def palette(self) -> Sequence[ButtonLike]:
        return (BREAK, LOSE, KILL)

    @property
    def groups(self) -> Mapping[str, str]:
        return {"stream": "Event stream", "pods": "Pods"}

    def targets(self) -> Sequence[str]:
        return self.pods

    def at_work(self) -> Sequence[PressedLike]:
        return self.working

    def press(self, name: str, target: str = "", lasts: int | None = None) -> PressedLike:
        if self.error:
            raise ValueError(self.error)
        self.asked.append((name, target, lasts))
        button = {"break-stream": BREAK, "lose-events": LOSE, "kill-container": KILL}[name]
        number = None if button.lasts is None else len(self.working) + 1
        until = None if button.lasts is None else 90 * S + (lasts or button.lasts)
        one = Pressed(number, name, button.text, target, 90 * S, until, button.imitates)
        if number is not None:
            self.working.append(one)
        return one

    def lift(self, number: int) -> bool:
        self.asked.append(("lift", number))
        found = [one for one in self.working if one.number == number]
        self.working = [one for one in self.working if one.number != number]
        return bool(found)

    def heal(self) -> int:
        self.asked.append(("heal",))
        count, self.working = len(self.working), []
        return count
