"""What a source is: it feeds inputs and carries out effects."""

from collections.abc import Callable
from typing import Protocol

from app.engine.effects import Effect
from app.engine.inputs import Input

Feed = Callable[[Input], None]
"""Hands an input to the engine. Called on the event loop; never from within ``perform``."""


class Tap(Protocol):
    """Who wants to know what the engine is fed, and which records that brings."""

    def took(self, happened: Input) -> None:
        """The engine is about to take this in: records from here to ``made`` are its doing."""
        ...

    def made(self) -> None:
        """All records that it brought have been told."""
        ...


class Source(Protocol):
    """Feeds inputs and carries out effects (DESIGN: the way of the data).

    ``perform`` returns at once and never calls ``feed`` itself: answers come later, from a task of
    the source. Timers (``WakeAt``, ``CancelWake``) are the driver's and never reach a source.
    """

    async def run(self, feed: Feed) -> None:
        """Work until cancelled; every task the source needs lives inside this call."""
        ...

    def perform(self, effect: Effect) -> None:
        """Begin to carry out an effect."""
        ...
