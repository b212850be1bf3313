"""What waits to be recorded, what of it is lost, and what recording costs."""

from collections import deque
from datetime import UTC, datetime
from typing import Final, Literal, NamedTuple, get_args

from app.engine.inputs import Input
from app.engine.records import Record
from app.recording.answers import Answer
from app.recording.format import Loss
from app.words import count

Kind = Literal["input", "record", "made", "event", "answer", "loss"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)


class Item(NamedTuple):
    """One thing that waits: ``made`` is a record of the engine's making; ``heft`` is in bytes."""

    kind: Kind
    t: int
    wall: int
    what: Input | Record | bytes | Answer | Loss
    heft: int


def in_words(loss: Loss) -> str:
    """What was lost, and why, in a sentence."""
    ours = f"{count(loss.inputs, 'input')}, {count(loss.records, 'record')}"
    said = f"{count(loss.events, 'event')} and {count(loss.answers, 'answer')} of the runtime"
    lost = f"The recorder could not keep {ours}, {said}: {loss.reason}."
    return f"{lost} What comes now is recorded again."


def without_end(file: str, reason: str, saved: int, *, unsaved: bool, stuck: bool) -> str:
    """What is missing of a recording that could not be ended, in sentences.

    ``saved``: wall time (ns) up to which it is in the file. ``unsaved``: there was more. ``stuck``:
    the system still waits for the disk, and may keep the process for as long.
    """
    why = f"The end of the recording could not be written ({reason or 'no reason is known'})"
    if not unsaved:
        return f"{why}: only its index is missing, and all that happened is in {file}."
    after = (
        f"what happened after {datetime.fromtimestamp(saved // 10**9, UTC):%H:%M:%S} UTC is missing"
        if saved
        else "nothing of this session is in a file"
    )
    sentence = f"{why}: {after}" + (f" in {file}." if file and saved else ".")
    if stuck:
        sentence += (
            " If this process stays, the system keeps it until the disk answers; the node and the "
            "dashboard's port are let go."
        )
    return sentence


class Losing:
    """What is being lost."""

    def __init__(self) -> None:
        self.count = 0
        self._from_t = 0
        self._trouble = ""
        self._kinds = dict.fromkeys(KINDS, 0)

    def add(self, item: Item, trouble: str) -> None:
        """This as well; ``trouble``: why, if that is known."""
        self._trouble = trouble or self._trouble
        if not self.count:
            self._from_t = item.t
        self.count += 1
        self._kinds[item.kind] += 1

    def told(self, t: int, wall: int) -> Loss:
        """All of it, up to ``t``."""
        kinds = self._kinds
        return Loss(
            t=t,
            wall=wall,
            from_t=self._from_t,
            inputs=kinds["input"],
            records=kinds["record"] + kinds["made"],
            events=kinds["event"],
            answers=kinds["answer"],
            reason=self._trouble or "the disk was too slow",
        )


class Rates:
    """Bytes a second and share of a core, over some seconds."""

    def __init__(self) -> None:
        self._samples: deque[tuple[float, int, int]] = deque(maxlen=20)

    def at(self, now: float, size: int, cpu_ns: int) -> tuple[float, float]:
        """The rates, with the counters as they are now; ``now`` in seconds."""
        samples = self._samples
        if not samples or now - samples[-1][0] >= 0.5:
            samples.append((now, size, cpu_ns))
        first = samples[0]
        elapsed = now - first[0]
        if elapsed <= 0:
            return 0.0, 0.0
        return (size - first[1]) / elapsed, (cpu_ns - first[2]) / elapsed / 1e9
