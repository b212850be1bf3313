"""The answer: happening by happening, in figures, and what can be said of it."""

from typing import Literal

import msgspec

from app.engine.model import RelistSource
from app.engine.settings import EngineSettings
from app.stage.compare import Tally
from app.stage.comparewords import Parts
from app.stage.truth import What, Who
from app.whatif.options import Options
from app.whatif.spread import Spread

Verdict = Literal["sooner", "not later", "alike", "not sooner", "later", "open"]
VERDICTS: tuple[Verdict, ...] = ("sooner", "not later", "alike", "not sooner", "later", "open")
Missed = Literal["no", "maybe", "yes"]
Step = Literal["reading", "playing", "comparing"]
"""What is being done to get an answer."""


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """A finding: monotonic ns of the recorded session, and the relist source. ``believed``: no
    relist found it, an event was believed."""

    t: int
    source: RelistSource
    believed: bool = False


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One happening.

    ``from_t`` and ``to_t``: the runtime changed between them, most likely at ``t``. ``recorded``
    and ``now``: the findings then and with the other settings. ``earliest`` and ``latest``: between
    which the latter would have come (None: perhaps not before the recording's end).
    ``shift``: how much later than recorded (ns, negative: sooner), None where either is missing;
    ``verdict``: what can be said of it for sure (``open``: either is possible). ``missed``: whether
    it would never have been found.
    """

    what: What
    who: Who
    container_id: str
    from_t: int
    t: int
    to_t: int
    recorded: Found | None
    now: Found | None
    earliest: int
    latest: int | None
    shift: int | None
    verdict: Verdict
    missed: Missed


class Same(msgspec.Struct, frozen=True):
    """The inputs run again with the settings they were recorded with.

    ``well``: the same records, byte for byte, as far as ``inputs`` go. ``differs``: number of the
    first record that is not the same; ``hole``: of the first input that is missing.
    """

    well: bool
    inputs: int
    records: int
    differs: int | None
    hole: int | None


class Wrong(msgspec.Struct, frozen=True):
    """Container time of a wrong cache (ns): the best guess, at least and at most.

    ``most_ns`` None: no bound is known, as where an event that is believed may overwrite what is
    newer, and stand until the next poll.
    """

    ns: int = 0
    least_ns: int = 0
    most_ns: int | None = 0


class WhatIf(msgspec.Struct, frozen=True, kw_only=True):
    """The answer.

    ``same`` is there when nothing was to be otherwise, and all but it and the settings is then
    empty. ``counts``: rows by verdict. ``missed``: rows by whether they would have been missed.
    ``follows``: happenings about which nothing is said, as the recorded kubelet brought them about
    by what this run had not found yet. ``knows`` and ``cannot``: sentences. ``calls``: to the
    runtime by method, recorded and now. ``tallies``: in figures, recorded and now. ``spreads``:
    how latencies are spread over bins between ``edges`` (ns), recorded and now. ``wrong``: how long
    the pod cache was wrong, recorded and now, without ``wrong_without`` containers of which the two
    runs cannot be compared.
    """

    title: str
    recorded_profile: str
    name: str
    then: EngineSettings
    now: EngineSettings
    options: Options
    duration_ns: int
    same: Same | None = None
    sentence: Parts = ()
    rows: tuple[Row, ...] = ()
    left_out: int = 0
    counts: dict[str, int] = {}
    missed: dict[str, int] = {}
    follows: int = 0
    calls: tuple[dict[str, int], ...] = ()
    tallies: tuple[Tally, ...] = ()
    edges: tuple[int, ...] = ()
    spreads: tuple[Spread, ...] = ()
    wrong: tuple[Wrong, ...] = ()
    wrong_without: int = 0
    knows: tuple[str, ...] = ()
    cannot: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
