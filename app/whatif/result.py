"""What came of it: happening by happening, sooner or later than recorded, and how sure that is."""

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal

import msgspec

from app.engine.model import RelistSource
from app.engine.records import Lifecycle
from app.engine.settings import EngineSettings
from app.recording import rerun
from app.stage.compare import EQUAL_NS, Comparison, Side, Tally, compare
from app.stage.comparewords import Parts, sentence
from app.stage.truth import Moment, RunTruth, What, Who
from app.whatif.bounds import Bounds, Missed, Span
from app.whatif.evidence import Evidence
from app.whatif.options import Options
from app.whatif.play import Play, Played
from app.whatif.reading import gather
from app.whatif.timeline import Happening, Timeline
from app.whatif.words import knowledge, limits

Verdict = Literal["sooner", "not later", "alike", "not sooner", "later", "open"]
VERDICTS: tuple[Verdict, ...] = ("sooner", "not later", "alike", "not sooner", "later", "open")

RECORDED = "the recording"
MOST_ROWS = 20_000


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


class WhatIf(msgspec.Struct, frozen=True, kw_only=True):
    """The answer.

    ``same`` is there when nothing was to be otherwise, and all but it and the settings is then
    empty. ``counts``: rows by verdict. ``missed``: rows by whether they would have been missed.
    ``follows``: happenings about which nothing is said, as the recorded kubelet brought them about
    by what this run had not found yet. ``knows`` and ``cannot``: sentences. ``calls``: to the
    runtime by method, recorded and now. ``tallies``: in figures, recorded and now.
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
    knows: tuple[str, ...] = ()
    cannot: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def ask(paths: Sequence[Path], options: Options) -> WhatIf:
    """Run a recording again: one file, or the files of one session in order.

    Raises:
        RecordingError: it cannot be read, or there is nothing in it to be run again.
    """
    evidence = gather(paths)
    then = evidence.info.settings
    base = WhatIf(
        title=evidence.info.title,
        recorded_profile=then.profile,
        name=options.words(then),
        then=then,
        now=options.settings(then),
        options=options,
        duration_ns=evidence.until_t - evidence.begin_t,
        warnings=tuple(evidence.warnings),
    )
    if options.changes_nothing(then):
        again = rerun.compare(paths)
        well = again.differs is None
        same = Same(well, again.inputs, again.records, again.differs, again.hole)
        return msgspec.structs.replace(base, same=same)
    return played(base, evidence, options)


def played(base: WhatIf, evidence: Evidence, options: Options) -> WhatIf:
    """The answer for other settings."""
    timeline = Timeline(evidence)
    run = Play(evidence, timeline, options).run()
    bounds = Bounds(evidence, run, options)
    rows, follows = _rows(evidence, timeline, run, bounds)
    compared = _compared(evidence, run, rows, base)
    return msgspec.structs.replace(
        base,
        sentence=sentence((RECORDED, base.name), compared),
        rows=tuple(rows[:MOST_ROWS]),
        left_out=max(0, len(rows) - MOST_ROWS),
        counts={one: sum(row.verdict == one for row in rows) for one in VERDICTS},
        missed=dict(Counter(row.missed for row in rows)),
        follows=follows,
        calls=(dict(sorted(evidence.calls.items())), run.calls),
        tallies=compared.tallies,
        knows=tuple(knowledge(evidence, run)),
        cannot=tuple(limits(evidence, run, options, follows)),
    )


def _rows(
    evidence: Evidence, timeline: Timeline, run: Played, bounds: Bounds
) -> tuple[list[Row], int]:
    then, now = _by_key(evidence.found), _by_key(run.found)
    rows: list[Row] = []
    follows = 0
    for one in timeline.happenings():
        key = (one.life.item.first.id, one.what)
        before, after = _first(then.get(key), one), _first(now.get(key), one)
        if (before and before.baseline) or (after and after.baseline):
            continue
        if _follows(one, run):
            follows += 1
            continue
        rows.append(_row(one, before, after, bounds))
    return sorted(rows, key=lambda row: (row.t, row.who, row.what)), follows


def _row(one: Happening, before: Lifecycle | None, after: Lifecycle | None, bounds: Bounds) -> Row:
    span = bounds.span(one, after)
    missed: Missed = bounds.missed(one, after)
    shift = None if before is None or after is None else after.t - before.t
    assert one.life.who is not None
    return Row(
        what=one.what,
        who=one.life.who,
        container_id=one.life.item.first.id,
        from_t=one.phase.lo,
        t=one.phase.t,
        to_t=one.phase.hi,
        recorded=_found(before),
        now=_found(after),
        earliest=span.earliest,
        latest=span.latest,
        shift=shift,
        verdict=_verdict(before, span, missed),
        missed=missed,
    )


def _verdict(before: Lifecycle | None, span: Span, missed: Missed) -> Verdict:
    """What holds wherever in the span it lies; what was not found then can only be sooner."""
    if before is None:
        return "sooner" if span.latest is not None and missed == "no" else "open"
    if span.earliest - before.t >= EQUAL_NS:
        return "later"
    not_sooner = before.t - span.earliest < EQUAL_NS
    if span.latest is None or missed != "no":
        return "not sooner" if not_sooner else "open"
    if before.t - span.latest >= EQUAL_NS:
        return "sooner"
    not_later = span.latest - before.t < EQUAL_NS
    if not_sooner and not_later:
        return "alike"
    if not_sooner:
        return "not sooner"
    return "not later" if not_later else "open"


def _by_key(found: Iterable[Lifecycle]) -> dict[tuple[str, What], list[Lifecycle]]:
    table: dict[tuple[str, What], list[Lifecycle]] = {}
    for one in found:
        what: What = "start" if one.type == "ContainerStarted" else "end"
        table.setdefault((one.container_id, what), []).append(one)
    return table


def _first(found: list[Lifecycle] | None, one: Happening) -> Lifecycle | None:
    """What told of it first: what came before it can have been is about something else."""
    return next((record for record in found or () if record.t >= one.phase.lo), None)


def _found(record: Lifecycle | None) -> Found | None:
    if record is None:
        return None
    return Found(t=record.t, source=record.source, believed=record.relist == 0)


def _follows(one: Happening, run: Played) -> bool:
    spans = run.skipped.get(one.life.item.first.pod_uid, ())
    return one.what == "start" and any(began <= one.phase.t <= ended for began, ended in spans)


# Figures, in compare's words


def _compared(evidence: Evidence, run: Played, rows: list[Row], base: WhatIf) -> Comparison:
    sides = []
    for name, profile, calls, now in (
        (RECORDED, base.recorded_profile, dict(evidence.calls), False),
        (base.name, base.now.profile, run.calls, True),
    ):
        truth = RunTruth(
            until_t=evidence.until_t,
            moments=tuple(_moment(row, now=now) for row in rows),
            wrongs=(),
            pods=(),
            wrong_ns=0,
            calls=calls,
            relists=(),
            stream=(),
            lag_ns=0,
        )
        sides.append(Side(name, profile, "", truth))
    return compare(sides, 0)


def _moment(row: Row, *, now: bool) -> Moment:
    found = row.now if now else row.recorded
    never = now and row.missed == "yes"
    return Moment(
        what=row.what,
        who=row.who,
        container_id=row.container_id,
        t=min(row.t, row.t if found is None else found.t),
        known_t=row.t,
        fate="found" if found is not None else ("never" if never else "waiting"),
        found_t=None if found is None else found.t,
        source=None if found is None else found.source,
        believed=found is not None and found.believed,
    )
