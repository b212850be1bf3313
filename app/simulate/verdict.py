"""Whether a session ended as it must: the shadow's records and cache equal the runtime's state."""

from shlex import quote

import msgspec

from app.engine.profiles import PROFILES
from app.sim.account import Summary
from app.sim.units import shown


class Verdict(msgspec.Struct, frozen=True):
    """``well``: as it must be, or as this profile is known to be; ``text`` in a sentence or two."""

    well: bool
    text: str


def verdict(summary: Summary, source: str) -> Verdict:
    """Judge a session by its last look; ``source``: the scenario as it was asked for."""
    played = summary.played
    profile = PROFILES[played.profile]
    if summary.settled and not summary.differences:
        return Verdict(
            True, "In the end the shadow's records and cache are what the runtime holds."
        )
    things = "1 thing" if summary.differences == 1 else f"{summary.differences} things"
    if profile.trusting_period_ns is not None:
        return Verdict(
            True,
            f"In the end the shadow has {things} otherwise than the runtime. {profile.name} is "
            f"known for that: it looks only every {shown(profile.trusting_period_ns)}.",
        )
    again = (
        f"plegscope simulate {quote(source)} --profile {played.profile} --seed {played.seed} "
        f"--runtime-like {played.runtime} --duration {played.duration_ns // 1_000_000}ms"
    )
    what = (
        f"has {things} otherwise than the runtime"
        if summary.differences
        else "did not get to look at the whole node"
    )
    return Verdict(
        False, f"In the end the shadow {what}, which must never be. Report it with: {again}"
    )
