"""Random plays over the ring between the stream's reader and the engine's feeder.

The model is one plain list in the order of putting: what is too much is struck out from its front
and leaves one mark that says how much is missing.
"""

from app.cri.ring import Lost, Notice, Received, Ring
from app.engine.inputs import StreamOpened
from app.sim.chance import generator
from tests.sweep.knobs import spread

ACTS = 200


class RingPlay:
    """One ring, its model, and what must be so after each act."""

    def __init__(self, seed: int) -> None:
        self._rng = rng = generator(seed, "ring")
        self.capacity = spread(rng, 1, 4096) if rng.random() < 0.3 else spread(rng, 1, 12)
        self.max_bytes = spread(rng, 8, 4000)
        self._puts = rng.uniform(0.2, 0.8)
        self.ring = Ring(self.capacity, self.max_bytes)
        self.model: list[Received | Notice | Lost] = []
        self.situations: set[str] = set()
        self._t = 0
        self.put = self.taken = self.lost = 0

    def play(self) -> None:
        """Put and take at random, then take all that is left."""
        for _ in range(ACTS):
            self._t += 1
            if self._rng.random() < self._puts:
                self._put()
            elif self._rng.random() < 0.2:
                self._tell()
            else:
                self._take()
            self._bounded()
        while self.model:
            self._take()
        assert self.ring.take() is None
        assert self.put == self.taken + self.lost, "each event is taken or counted as lost"

    def _events(self) -> list[Received]:
        return [one for one in self.model if isinstance(one, Received)]

    def _put(self) -> None:
        received = Received(self._t, self._t, bytes(self._rng.randrange(40)), 1)
        self.ring.put(received)
        self.put += 1
        self.model.append(received)
        while self._too_much():
            self._strike_out()

    def _too_much(self) -> bool:
        events = self._events()
        size = sum(len(one.raw) for one in events)
        if len(events) > self.capacity:
            self.situations.add("ring full by number")
            return True
        if size > self.max_bytes and len(events) > 1:
            self.situations.add("ring full by bytes")
            return True
        return False

    def _strike_out(self) -> None:
        oldest = self._events()[0]
        place = self.model.index(oldest)
        marks = [number for number, one in enumerate(self.model) if isinstance(one, Lost)]
        if marks:
            mark = self.model[marks[0]]
            assert isinstance(mark, Lost)
            self.model[marks[0]] = Lost(mark.number + 1, mark.from_t)
            del self.model[place]
        else:
            self.model[place] = Lost(1, oldest.t)

    def _tell(self) -> None:
        notice = StreamOpened(t=self._t, wall=self._t)
        self.ring.tell(notice)
        self.model.append(notice)

    def _take(self) -> None:
        got = self.ring.take()
        wanted = self.model.pop(0) if self.model else None
        assert got == wanted, f"took {got}, not {wanted}"
        if isinstance(got, Received):
            self.taken += 1
        elif isinstance(got, Lost):
            self.lost += got.number
            self.situations.add("ring told of a loss")
        elif got is not None:
            self.situations.add("notice kept in a full ring" if self.lost else "notice in order")

    def _bounded(self) -> None:
        events = self._events()
        assert len(self.ring) == len(events) <= self.capacity
        assert sum(len(one.raw) for one in events) <= self.max_bytes or len(events) == 1
