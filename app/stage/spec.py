"""What a run is determined by, and how that stands in a link.

A link comes from anywhere: everything in it is checked and bounded before something is played.
Times are ns of the run's own time; in a link they are written as in scenario files (``12.5s``).
"""

import re
from collections.abc import Callable, Iterable
from urllib.parse import urlencode

import msgspec

from app.engine.profiles import PROFILES
from app.errors import SettingsError, StageError, StageUnknown
from app.sim.presses import BY_NAME
from app.sim.scenario import Scenario
from app.sim.units import parse_ns, seconds
from app.values import parse_seed

LONGEST = seconds(3600)
"""A run lasts an hour at most."""

MOST_PRESSES = 50

HEAL = "heal"
"""Pressed, it ends all faults that are at work then."""

KEYS = ("scenario", "seed", "profile", "runtime", "duration", "press")
"""What a link holds of a spec; ``press`` may stand in it several times."""

MOST_TARGET = 317
"""Characters of ``namespace/name``: Kubernetes allows 63 and 253."""

_TARGET = re.compile(r"[a-z0-9][a-z0-9.-]{0,62}/[a-z0-9][a-z0-9.-]{0,252}")
_SHOWN = 60
"""Characters of something wrong that a message repeats."""

Pairs = Iterable[tuple[str, str]]
Lookup = Callable[[str], Scenario | None]
"""The scenario of a name, None when there is none."""


class Press(msgspec.Struct, frozen=True):
    """A fault or a mishap at time ``t`` (ns): ``name`` as in :mod:`app.sim.presses`, or ``heal``.

    ``target``: the pod (``namespace/name``) it is about, where it is about one.
    """

    t: int
    name: str
    target: str = ""

    def text(self) -> str:
        """As it stands in a link: ``12.5s!break-stream`` or ``3s!kill-container!shop/web-1``."""
        parts = [in_seconds(self.t), self.name, *([self.target] if self.target else [])]
        return "!".join(parts)


class RunSpec(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that a run follows from.

    ``runtime``: which runtime the simulated one behaves as; empty for the scenario's own.
    ``presses`` are in order of time.
    """

    scenario: str
    seed: int
    profile: str = "kep"
    runtime: str = ""
    duration_ns: int
    presses: tuple[Press, ...] = ()

    def query(self) -> str:
        """As the query of a link; two specs are the same if and only if their queries are."""
        pairs = [("scenario", self.scenario), ("seed", str(self.seed)), ("profile", self.profile)]
        if self.runtime:
            pairs.append(("runtime", self.runtime))
        pairs.append(("duration", in_seconds(self.duration_ns)))
        pairs += [("press", press.text()) for press in self.presses]
        # These characters mean nothing in a query, and a link is read by people too.
        return urlencode(pairs, safe="!/")


def in_seconds(ns: int) -> str:
    """``12.5s``: exact, and read back by ``parse_ns``."""
    whole, rest = divmod(ns, 10**9)
    return f"{whole}.{rest:09d}".rstrip("0").rstrip(".") + "s"


def parse(pairs: Pairs, lookup: Lookup, runtimes: Iterable[str] = ()) -> RunSpec:
    """The spec that a link's parameters hold; what is left out is as the scenario has it.

    Parameters of other names are for others and left alone. An empty ``profile`` or ``runtime``, as
    forms send it, is one that was left out.

    Args:
        pairs: names and values, in the order of the link.
        lookup: the scenarios that may be played, by name. Never a path: links come from anywhere.
        runtimes: names that ``runtime`` may have.

    Raises:
        StageError: something in it cannot be played; a sentence for people.
    """
    given: dict[str, str] = {}
    presses: list[Press] = []
    for key, value in pairs:
        if key == "press":
            if len(presses) == MOST_PRESSES:
                raise StageError(f"A run takes {MOST_PRESSES} presses at most; leave some out.")
            presses.append(_press(value))
        elif key in KEYS:
            if key in given:
                raise StageError(f"`{key}` stands in this link twice; leave one out.")
            given[key] = value
    scenario = _scenario(given.get("scenario", ""), lookup)
    duration = (
        _duration(given["duration"])
        if "duration" in given
        else min(int(scenario.duration_ns), int(LONGEST))
    )
    for press in presses:
        if press.t > duration:
            raise StageError(
                f"`press`: {press.name} at {in_seconds(press.t)} is after the run's end at "
                f"{in_seconds(duration)}; press earlier, or give a longer `duration`."
            )
    return RunSpec(
        scenario=scenario.name,
        seed=_seed(given["seed"]) if "seed" in given else scenario.seed,
        profile=_one_of("profile", given.get("profile", ""), PROFILES) or next(iter(PROFILES)),
        runtime=_one_of("runtime", given.get("runtime", ""), runtimes),
        duration_ns=duration,
        presses=tuple(sorted(presses, key=lambda press: press.t)),
    )


def _scenario(name: str, lookup: Lookup) -> Scenario:
    if not name:
        raise StageError("This link names no scenario; choose one on the page /scenarios.")
    scenario = lookup(name) if len(name) <= _SHOWN else None
    if scenario is None:
        raise StageUnknown(
            f"There is no scenario {_cut(name)} here; choose one on the page /scenarios."
        )
    return scenario


def _seed(text: str) -> int:
    try:
        return parse_seed(text)
    except SettingsError as error:
        raise StageError(
            f"`seed`: {_cut(text)} is none; give a whole number, such as 7."
        ) from error


def _duration(text: str) -> int:
    duration = _time("duration", text)
    if not 0 < duration <= LONGEST:
        raise StageError("`duration`: a run lasts 1h at most, and longer than nothing; write 5m.")
    return duration


def _time(what: str, text: str) -> int:
    try:
        return int(parse_ns(text if len(text) <= _SHOWN else ""))
    except ValueError as error:
        raise StageError(
            f"`{what}`: {_cut(text)} is no time; write it like 12.5s or 1m."
        ) from error


def _one_of(what: str, text: str, known: Iterable[str]) -> str:
    """``text``, if it is known or empty."""
    names = list(known)
    if text and text not in names:
        there = f"choose one of {', '.join(names)}" if names else "leave it out"
        raise StageError(f"`{what}`: there is no {_cut(text)}; {there}.")
    return text


def _press(text: str) -> Press:
    when, _, rest = text.partition("!")
    name, _, target = rest.partition("!")
    button = BY_NAME.get(name)
    if button is None and name != HEAL:
        known = ", ".join((*BY_NAME, HEAL))
        raise StageError(f"`press`: there is no {_cut(name)} to press; choose one of {known}.")
    about = "none" if button is None else button.target
    t = _time("press", when)
    if about == "none" and target:
        raise StageError(
            f"`press`: {name} is about no single pod; leave out what follows its name."
        )
    if target and not _TARGET.fullmatch(target):
        raise StageError(
            f"`press`: {_cut(target)} is no pod; name it by namespace/name, such as shop/web-1."
        )
    if about == "pod" and not target:
        raise StageError(
            f"`press`: {name} needs a pod; write it like {in_seconds(t)}!{name}!namespace/name."
        )
    return Press(t, name, target)


def _cut(text: str) -> str:
    return repr(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…")
