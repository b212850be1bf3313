"""What one step produces, collected by the parts of the engine that take part in it."""

import msgspec

from app.engine.effects import Effect
from app.engine.records import Record


class Outputs(msgspec.Struct, frozen=True):
    """The outcome of one step: records to show, then effects to carry out, each in order."""

    records: tuple[Record, ...]
    effects: tuple[Effect, ...]


class Outbox:
    """Collects a step's outputs; ``t`` and ``wall`` are the step's time."""

    def __init__(self) -> None:
        self.t = 0
        self.wall = 0
        self._records: list[Record] = []
        self._effects: list[Effect] = []

    def begin(self, t: int, wall: int) -> None:
        """A step at this time begins."""
        self.t = t
        self.wall = wall

    def show(self, record: Record) -> None:
        """Something worth showing happened."""
        self._records.append(record)

    def want(self, effect: Effect) -> None:
        """Something is to be done."""
        self._effects.append(effect)

    def take(self) -> Outputs:
        """Everything collected since the last call."""
        outputs = Outputs(tuple(self._records), tuple(self._effects))
        self._records.clear()
        self._effects.clear()
        return outputs
