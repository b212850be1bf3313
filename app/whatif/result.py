"""What came of it: happening by happening, sooner or later than recorded, and how sure that is."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import msgspec

from app.engine.profiles import PROFILES
from app.engine.records import Lifecycle, Record
from app.errors import RecordingError
from app.recording import rerun
from app.stage.compare import EQUAL_NS
from app.stage.comparewords import sentence
from app.stage.truth import What
from app.whatif.answer import VERDICTS, Found, Missed, Row, Same, Step, Verdict, WhatIf
from app.whatif.bounds import Bounds, Span
from app.whatif.evidence import Evidence
from app.whatif.figures import RECORDED, compared, spread, wrong_caches
from app.whatif.options import Options
from app.whatif.play import Play, Played
from app.whatif.reading import gather
from app.whatif.spread import EDGES
from app.whatif.timeline import Happening, Timeline
from app.whatif.words import knowledge, limits

MOST_ROWS = 20_000

MOST_ROUNDS = 1_000_000
"""Global relists, and other things that are done again and again, in one play."""

Progress = Callable[[Step, float], None]
"""Called now and then with what is done, and how far it is (0 to 1)."""
EVERY = 5_000
"""Records between two calls."""


def untold(_step: Step, _share: float) -> None:
    """Nobody wants to know how far it is."""


def ask(paths: Sequence[Path], options: Options, progress: Progress = untold) -> WhatIf:
    """Run a recording again: one file, or the files of one session in order.

    Raises:
        RecordingError: it cannot be read, or there is nothing in it to be run again.
    """
    evidence = gather(paths, lambda share: progress("reading", share))
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
        progress("comparing", 0.0)
        again = rerun.compare(paths)
        well = again.differs is None
        same = Same(well, again.inputs, again.records, again.differs, again.hole)
        return msgspec.structs.replace(base, same=same)
    return played(base, evidence, options, progress)


def played(
    base: WhatIf, evidence: Evidence, options: Options, progress: Progress = untold
) -> WhatIf:
    """The answer for other settings.

    Raises:
        RecordingError: playing it would go on for ever.
    """
    _bounded(base)
    timeline = Timeline(evidence)
    run = Play(evidence, timeline, options, _counting(evidence, progress)).run()
    progress("comparing", 0.0)
    bounds = Bounds(evidence, run, options)
    rows, follows = _rows(evidence, timeline, run, bounds)
    without = {one.life.item.first.id for one in follows}
    believes = PROFILES[base.now.profile].hints == "write"
    wrong = wrong_caches(evidence, timeline, run, rows, without, believes=believes)
    told = compared(evidence, run, rows, wrong, base)
    return msgspec.structs.replace(
        base,
        sentence=sentence((RECORDED, base.name), told),
        rows=tuple(rows[:MOST_ROWS]),
        left_out=max(0, len(rows) - MOST_ROWS),
        counts={one: sum(row.verdict == one for row in rows) for one in VERDICTS},
        missed=dict(Counter(row.missed for row in rows)),
        follows=len(follows),
        calls=(dict(sorted(evidence.calls.items())), run.calls),
        tallies=told.tallies,
        edges=EDGES,
        spreads=(spread(rows, now=False), spread(rows, now=True)),
        wrong=wrong,
        wrong_without=len(without),
        knows=tuple(knowledge(evidence, run, options)),
        cannot=tuple(limits(evidence, run, options, len(follows))),
    )


def _bounded(base: WhatIf) -> None:
    """Raises RecordingError if there is too much to be played."""
    now = base.now
    each = min(now.period_ns, now.health_poll_ns)
    if PROFILES[now.profile].hints == "write":
        each = min(each, now.cache_tick_ns)
    if base.duration_ns // each > MOST_ROUNDS:
        raise RecordingError(
            f"Over {base.duration_ns / 3600e9:,.1f} hours that would be more than {MOST_ROUNDS:,} "
            "relists. Give a longer period, or fewer of its files."
        )


def _counting(evidence: Evidence, progress: Progress) -> Callable[[Record], None]:
    """Tells how far a play is by its records."""
    until = max(1, evidence.until_t - evidence.begin_t)
    seen = 0

    def on_record(record: Record) -> None:
        nonlocal seen
        seen += 1
        if seen % EVERY == 0:
            progress("playing", (record.t - evidence.begin_t) / until)

    return on_record


def _rows(
    evidence: Evidence, timeline: Timeline, run: Played, bounds: Bounds
) -> tuple[list[Row], list[Happening]]:
    """The rows in order of time, and the happenings about which nothing is said."""
    then, now = _by_key(evidence.found), _by_key(run.found)
    rows: list[Row] = []
    follows: list[Happening] = []
    for one in timeline.happenings():
        key = (one.life.item.first.id, one.what)
        before, after = _first(then.get(key), one), _first(now.get(key), one)
        if (before and before.baseline) or (after and after.baseline):
            continue
        if _follows(one, run):
            follows.append(one)
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
