"""What the program of a container does, told from its command line.

The containers that a real client makes on the simulated node run nothing; what they would do is
read from their command: those of a small shell and of busybox's tools that people and tests use to
make containers end in a certain way. Whatever is not understood runs until it is stopped and heeds
SIGTERM. A path outside the usual directories leads nowhere: that program cannot be started.

As under a real kernel, the first process of a container ignores SIGTERM unless it has a handler,
and a shell that waits for a program runs its handler only afterwards.
"""

import re
import shlex
from collections.abc import Sequence

import msgspec

from app.sim.flavour import MS, SECOND
from app.sim.pods import OOM_KILLED, ContainerSpec, Ending, Lifetime

Span = tuple[int, int]

LONGEST = 4096
"""Characters of a script that are looked at."""

PLACES = re.compile(
    r"(/usr(/local)?(/s?bin|/lib(exec)?/.+)?|/s?bin|/opt/.+|/app(/.+)?|/home/.+|)/[^/]+"
)
"""Where programs may be."""

HEEDS: Span = (60 * MS, 900 * MS)
"""From SIGTERM to the end of a program that cleans up after itself."""

AT_ONCE: Span = (MS // 2, 2 * MS)
"""A program that does next to nothing."""

_TIME = re.compile(r"(\d{1,12}(?:\.\d{1,9})?)([smhd]?)", re.ASCII)
_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}
_SIZE = re.compile(r"bs=(\d{1,12})([kKMG]?)", re.ASCII)
_SIZES = {"": 1, "k": 2**10, "K": 2**10, "M": 2**20, "G": 2**30}
FOR_EVER = 100 * 365 * 86400 * SECOND


class Program(msgspec.Struct, frozen=True, kw_only=True):
    """How it ends: after ``lasts`` (None: never by itself) with ``ending``.

    ``term``: how long it takes to end after SIGTERM; None: it ignores it. ``cannot_start``: why it
    cannot be started; empty when it can.
    """

    lasts: Span | None = None
    ending: Ending = Ending(0, "Completed")
    term: Span | None = HEEDS
    cannot_start: str = ""

    def spec(self, name: str, image: str) -> ContainerSpec:
        """The container's process, for ``Processes``."""
        life = None if self.lasts is None else Lifetime(self.lasts, (self.ending,))
        return ContainerSpec(name=name, image=image, lifetime=life, term=self.term)


def program(command: Sequence[str], memory_limit: int = 0) -> Program:
    """What this command line does; ``memory_limit`` in bytes (0: none)."""
    if not command or not command[0]:
        return Program()
    first = command[0]
    if "/" in first and not PLACES.fullmatch(first):
        return Program(
            cannot_start=(
                "runc create failed: unable to start container process: "
                f'exec: "{first}": stat {first}: no such file or directory'
            )
        )
    name, words = first.rsplit("/", 1)[-1], command[1:]
    if name in ("sh", "ash", "bash") and len(words) >= 2 and words[0] == "-c":
        return _Script(memory_limit).run(words[1][:LONGEST])
    return _tool(name, words, memory_limit) or Program()


def _tool(name: str, words: Sequence[str], memory_limit: int) -> Program | None:
    """One of the tools that are known, as the first process; None: it is not known."""
    if name in ("true", ":", "echo"):
        return Program(lasts=AT_ONCE, term=None)
    if name == "false":
        return Program(lasts=AT_ONCE, ending=_ending(1), term=None)
    if name == "sleep":
        return _sleep(words[0] if words else "")
    if name == "dd":
        sizes = [found for word in words if (found := _SIZE.fullmatch(word))]
        size = int(sizes[0][1]) * _SIZES[sizes[0][2]] if sizes else 512
        if memory_limit and size > memory_limit:
            return Program(lasts=(20 * MS, 60 * MS), ending=OOM_KILLED, term=None)
        return Program(lasts=AT_ONCE, term=None)
    return None


def _ending(code: int) -> Ending:
    return Ending(code, "Error" if code else "Completed")


def _sleep(text: str) -> Program:
    found = _TIME.fullmatch(text)
    if found is None:
        known = text == "infinity"
        return Program(
            lasts=None if known else AT_ONCE, ending=_ending(0 if known else 1), term=None
        )
    time = round(float(found[1]) * _UNITS[found[2]] * SECOND)
    return Program(lasts=(time, time) if time < FOR_EVER else None, term=None)


class _Script:
    """A shell's script, run in its own time from its first to its last statement."""

    def __init__(self, memory_limit: int) -> None:
        self._memory_limit = memory_limit
        self._t: Span = AT_ONCE
        self._code = 0
        self._behind: Span | None = (0, 0)
        """When the last program in the background ends; None: never."""
        self._trap = False

    def run(self, script: str) -> Program:
        """The whole script; one that is not understood runs until it is stopped."""
        for words, behind in _statements(script):
            done = self._step(words, behind)
            if done is not None:
                return done
        return self._end(_ending(self._code))

    def _step(self, words: list[str], behind: bool) -> Program | None:
        """One statement; the program's whole life once that is clear."""
        match words:
            case ["trap", handler, *signals] if handler.split()[:1] == ["exit"]:
                self._trap = bool({"TERM", "SIGTERM", "15"} & set(signals))
                return None
            case ["exit"]:
                return self._end(_ending(self._code))
            case ["exit", code] if code.isascii() and code.isdigit():
                return self._end(_ending(int(code) % 256))
            case ["wait"]:
                if self._behind is None or self._behind[1] > self._t[1] + SECOND:
                    # Here a handler runs at once.
                    return Program(lasts=self._behind, term=AT_ONCE if self._trap else None)
                return None
            case ["exec", *rest] if rest:
                return self._after(program(rest, self._memory_limit))
        known = program(words, self._memory_limit)
        if known.cannot_start:
            self._code = 127
            return None
        if behind:
            self._behind = None if known.lasts is None else _sum(self._t, known.lasts)
            return None
        if known.lasts is None or known.ending.reason == "OOMKilled":
            # A shell that is killed for memory goes along with its child.
            return self._after(known)
        self._t, self._code = _sum(self._t, known.lasts), known.ending.exit_code
        return None

    def _after(self, rest: Program) -> Program:
        lasts = None if rest.lasts is None else _sum(self._t, rest.lasts)
        return msgspec.structs.replace(rest, lasts=lasts)

    def _end(self, ending: Ending) -> Program:
        return Program(lasts=self._t, ending=ending, term=None)


def _sum(one: Span, other: Span) -> Span:
    return one[0] + other[0], one[1] + other[1]


def _statements(script: str) -> list[tuple[list[str], bool]]:
    """The words of each statement, and whether it runs in the background."""
    lexer = shlex.shlex(script.replace("\n", ";"), posix=True, punctuation_chars=";&|")
    lexer.whitespace_split = True
    found: list[tuple[list[str], bool]] = []
    words: list[str] = []
    try:
        for piece in lexer:
            if piece and not piece.strip(";&|"):
                if words:
                    found.append((words, piece == "&"))
                words = []
            else:
                words.append(piece)
    except ValueError:
        # A quotation without an end: a shell would refuse it.
        return [(["exit", "2"], False)]
    return [*found, (words, False)] if words else found
