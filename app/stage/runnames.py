"""What tells compared runs from each other, in a few words each, and what they have in common."""

from collections.abc import Sequence

from app.stage.spec import Press, RunSpec, in_seconds
from app.words import duration, listed

MOST_NAMED = 2
"""Presses that a run's name tells one by one."""


def names(specs: Sequence[RunSpec]) -> tuple[str, ...]:
    """A name for each run, no two alike: the profile; in brackets what was pressed where that is
    not the same in all of them, and the runtime likewise; a number only when all that says nothing.
    """
    profiles = [spec.profile for spec in specs]
    presses = _differ([spec.presses for spec in specs]) or len(set(profiles)) < len(profiles)
    runtimes = _differ([spec.runtime for spec in specs])
    told = profiles
    for exact in (False, True):
        told = [
            _name(
                spec.profile,
                *([_pressed(spec, specs, exact=exact)] if presses else []),
                *([spec.runtime or "own runtime"] if runtimes else []),
            )
            for spec in specs
        ]
        if len(set(told)) == len(told):
            return tuple(told)
    return tuple(f"{name}, run {number}" for number, name in enumerate(told, 1))


def _name(profile: str, *more: str) -> str:
    return f"{profile} ({'; '.join(more)})" if more else profile


def premise(specs: Sequence[RunSpec]) -> str:
    """What is the same in all of them, and what is not: what the comparison rests on."""
    runtimes = _differ([spec.runtime for spec in specs])
    parts: dict[str, Sequence[object]] = {
        "profiles": [spec.profile for spec in specs],
        "presses": [spec.presses for spec in specs],
        "runtimes": [spec.runtime for spec in specs],
    }
    other = [what for what, each in parts.items() if _differ(each)]
    if other in ([], ["profiles"]):
        return "Same node, same faults"
    return f"Same {'scenario' if runtimes else 'node'}, other {listed(other)}"


def _differ(each: Sequence[object]) -> bool:
    return any(one != each[0] for one in each)


def _pressed(spec: RunSpec, specs: Sequence[RunSpec], *, exact: bool) -> str:
    """What was pressed in this run and not in all of them."""
    if not spec.presses:
        return "nothing pressed"
    own = [one for one in spec.presses if any(one not in each.presses for each in specs)]
    if not own:
        return "nothing more pressed"
    named = own if exact else own[:MOST_NAMED]
    more = f" and {len(own) - len(named)} more" if len(own) > len(named) else ""
    return ", ".join(_press(one, exact=exact) for one in named) + more


def _press(one: Press, *, exact: bool) -> str:
    target = f" {one.target}" if one.target else ""
    return f"{one.name}{target} at {in_seconds(one.t) if exact else duration(one.t)}"
