"""Classes: many browsers answer a lesson's question, and the teacher sees how. Pure: ``now`` is an
argument (monotonic seconds), codes come from whoever makes them.

A class has two secrets. Its **code** stands in the link that everybody gets: whoever has it sees
the question and may answer it, once for each step. Its **key** stands in the teacher's own address:
it moves the class from step to step and shows the answer. Nobody has a name, nothing is written
down, and all of it is gone when the class ends. Everything is bounded.
"""

from collections import Counter, deque
from collections.abc import Callable

import msgspec

from app.errors import StageBusy, StageError, StageUnknown

MOST_CLASSES = 16
MOST_STUDENTS = 500
"""Browsers that answer in one class."""
MOST_OVER = 64
"""Classes that ended, whose students are still told so."""
IDLE_S = 3 * 3600.0
"""A class that nobody has touched for so long is over."""
QUIET_S = 600.0
"""A class without any answer, whose teacher has done nothing for so long, gives way to another."""
LONGEST_S = 12 * 3600.0
"""No class lasts longer."""
BINS = 24
"""Columns of the histogram of moments."""

TOO_MANY = (
    f"{MOST_CLASSES} classes are held here at the moment, and there is no room for one more. End "
    "one of them, or start plegscope again."
)
FULL = f"{MOST_STUDENTS} browsers answer in this class, and no more can. Watch without answering."
OVER = "This class is over, or there never was one. Ask whoever teaches it for the link of today."


class Reply(msgspec.Struct, frozen=True):
    """One answer: a choice, a moment (ns of the run), or both."""

    choice: str = ""
    at: int | None = None


class Tally(msgspec.Struct, frozen=True):
    """How a class answered a question. ``choices``: how many chose each; ``bins``: how many chose a
    moment in each of ``BINS`` equal parts from ``earliest`` to ``latest``; ``present``: browsers
    that have answered in this class, at any step. Who only watches is not counted: whoever has the
    link could open it as often as he likes, and a class must not fill up by that."""

    present: int
    answered: int
    choices: dict[str, int]
    bins: tuple[int, ...]
    earliest: int
    latest: int

    @property
    def most(self) -> int:
        """Height of the highest column."""
        return max((*self.choices.values(), *self.bins, 1))


class Class:
    """One class. ``step`` counts from 1; ``shown``: the answer to this step is on the screen.
    ``version`` changes with everything that a student's page shows."""

    def __init__(self, lesson: str, code: str, key: str, now: float) -> None:
        self.lesson = lesson
        self.code = code
        self.key = key
        self.step = 1
        self.shown = False
        self.version = 0
        self.begun = now
        self.touched = now
        self.held = False
        """Its teacher has opened it."""
        self._replies: dict[int, dict[str, Reply]] = {}
        self._students: set[str] = set()

    def gives_way(self, now: float) -> bool:
        """Whether another class may take its place: nobody has answered, and its teacher has not
        come, or not for ``QUIET_S``."""
        return not self._students and (not self.held or now - self.touched > QUIET_S)

    def is_over(self, now: float) -> bool:
        """Whether its time is over."""
        return now - self.touched > IDLE_S or now - self.begun > LONGEST_S

    def go_to(self, step: int, *, shown: bool, now: float) -> None:
        """The teacher is at this step; ``shown``: with its answer on the screen."""
        self.touched = now
        self.held = True
        if (step, shown) != (self.step, self.shown):
            self.step, self.shown = step, shown
            self.version += 1

    def answer(self, student: str, step: int, reply: Reply, now: float) -> None:
        """Take an answer; the first one counts.

        Raises:
            StageError: the class is full or has gone on, or the answer is on the screen.
        """
        if step != self.step:
            raise StageError("The class has gone on. Load this page again.")
        if self.shown:
            raise StageError("The answer is on the screen already. Wait for the next question.")
        self._admit(student)
        self.touched = now
        self._replies.setdefault(step, {}).setdefault(student, reply)

    def reply(self, student: str, step: int | None = None) -> Reply | None:
        """What this browser answered, at this step unless another one is named."""
        return self._replies.get(self.step if step is None else step, {}).get(student)

    def tally(self, step: int, earliest: int, latest: int) -> Tally:
        """How a step's question was answered."""
        replies = self._replies.get(step, {})
        bins = [0] * BINS
        width = max(1, latest - earliest)
        for reply in replies.values():
            if reply.at is not None:
                place = (reply.at - earliest) * BINS // width
                bins[max(0, min(BINS - 1, place))] += 1
        return Tally(
            present=len(self._students),
            answered=len(replies),
            choices=dict(Counter(one.choice for one in replies.values() if one.choice)),
            bins=tuple(bins),
            earliest=earliest,
            latest=latest,
        )

    def _admit(self, student: str) -> None:
        if student not in self._students:
            if len(self._students) >= MOST_STUDENTS:
                raise StageBusy(FULL)
            self._students.add(student)


class Classroom:
    """All classes of this start.

    Args:
        secret: makes a text that nobody guesses, safe in a link.
        clock: monotonic seconds.
    """

    def __init__(self, secret: Callable[[], str], clock: Callable[[], float]) -> None:
        self._secret = secret
        self._clock = clock
        self._by_code: dict[str, Class] = {}
        self._by_key: dict[str, Class] = {}
        self._over: deque[str] = deque(maxlen=MOST_OVER)
        """Codes of the last classes that ended."""
        self._ended: deque[str] = deque(maxlen=MOST_OVER)
        """Their keys."""

    @property
    def now(self) -> float:
        """Monotonic seconds."""
        return self._clock()

    def open(self, lesson: str) -> Class:
        """A new class for this lesson.

        Raises:
            StageError: there are too many.
        """
        self._forget()
        if len(self._by_code) >= MOST_CLASSES:
            self._make_room()
        made = Class(lesson, self._secret(), self._secret(), self._clock())
        self._by_code[made.code] = made
        self._by_key[made.key] = made
        return made

    def with_code(self, code: str) -> Class:
        """The class that students reach by this code.

        Raises:
            StageError: there is none.
        """
        return self._find(self._by_code, code)

    def with_key(self, key: str) -> Class:
        """The class that its teacher reaches by this key.

        Raises:
            StageError: there is none.
        """
        return self._find(self._by_key, key)

    def take(self, code: str, student: str, step: int, choice: str, at: int | None) -> None:
        """A browser answers the question of a step.

        Raises:
            StageError: there is no such class, it has gone on, or it is full.
        """
        self.with_code(code).answer(student, step, Reply(choice, at), self._clock())

    def end(self, key: str) -> None:
        """The class is over.

        Raises:
            StageError: there is none.
        """
        self._remove(self.with_key(key))

    def has_ended(self, key: str) -> bool:
        """Whether a class with this key was held and is over."""
        held = self._by_key.get(key)
        return key in self._ended if held is None else held.is_over(self._clock())

    def is_door(self, path: str) -> bool:
        """Whether this address carries the code of a class: then it needs no token.

        That of a class which is over counts for a while, so that those who still wait are told.
        """
        parts = path.split("/", 3)
        if len(parts) < 3 or parts[:2] != ["", "class"]:
            return False
        return parts[2] in self._by_code or parts[2] in self._over

    def _find(self, where: dict[str, Class], secret: str) -> Class:
        held = where.get(secret)
        if held is None or held.is_over(self._clock()):
            raise StageUnknown(OVER)
        return held

    def _forget(self) -> None:
        now = self._clock()
        for held in [one for one in self._by_code.values() if one.is_over(now)]:
            self._remove(held)

    def _make_room(self) -> None:
        now = self._clock()
        idle = [one for one in self._by_code.values() if one.gives_way(now)]
        if not idle:
            raise StageBusy(TOO_MANY)
        self._remove(min(idle, key=lambda one: (one.held, one.touched)))

    def _remove(self, held: Class) -> None:
        self._by_code.pop(held.code, None)
        self._by_key.pop(held.key, None)
        self._over.append(held.code)
        self._ended.append(held.key)
