"""The lessons' runs, played once for all tests."""

from __future__ import annotations

from functools import cache

from app.sim.library import load
from app.stage.lesson import LessonInRuns
from app.stage.lessonfile import find
from app.stage.run import Run, play
from app.stage.spec import Press, RunSpec

S = 1_000_000_000


@cache
def played(spec: RunSpec) -> Run:
    """The run of a spec."""
    return play(spec, load(spec.scenario))


@cache
def lesson(name: str) -> LessonInRuns:
    """A lesson in its runs."""
    found = find(name)
    assert found is not None
    return LessonInRuns(found, {run: played(spec) for run, spec in found.specs().items()})


def arena(profile: str, *presses: Press, seconds: int = 60) -> Run:
    """The node on which the lessons end, with these presses."""
    return played(
        RunSpec(
            scenario="lesson-arena",
            seed=7,
            profile=profile,
            duration_ns=seconds * S,
            presses=presses,
        )
    )
