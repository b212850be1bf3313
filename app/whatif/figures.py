"""The answer in figures: latencies, calls, and for how long each cache was wrong."""

import msgspec

from app.stage.compare import Comparison, Side, compare
from app.stage.truth import Moment, RunTruth
from app.whatif.answer import Row, WhatIf, Wrong
from app.whatif.evidence import Evidence
from app.whatif.play import Played
from app.whatif.spread import Spread, binned
from app.whatif.timeline import Timeline
from app.whatif.wrongness import recorded, rerun_bounds

RECORDED = "the recording"


def wrong_caches(
    evidence: Evidence,
    timeline: Timeline,
    run: Played,
    rows: list[Row],
    without: set[str],
    *,
    believes: bool,
) -> tuple[Wrong, Wrong]:
    """How long each cache was wrong, from when both knew the pods; ``without``: containers that are
    left out, ``believes``: this run's events write the cache."""
    if evidence.whole_t is None or run.whole_t is None:
        return Wrong(), Wrong()
    begin, until = max(evidence.whole_t, run.whole_t), evidence.until_t
    lives = [
        life
        for item_id, life in timeline.lives.items()
        if life.item.first.kind == "container" and item_id not in without
    ]
    by_id: dict[str, list[Row]] = {}
    for row in rows:
        by_id.setdefault(row.container_id, []).append(row)
    then = recorded(lives, evidence.cache.toggles, begin, until)
    now = rerun_bounds(lives, run.cached, by_id, begin, until)
    if believes:
        now = msgspec.structs.replace(now, most_ns=None)
    return then, now


def spread(rows: list[Row], *, now: bool) -> Spread:
    """How the latencies of one of the runs are spread."""
    moments = [_moment(row, now=now) for row in rows]
    return Spread(
        *(
            binned(one.latency for one in moments if one.what == what and one.latency is not None)
            for what in ("end", "start")
        )
    )


def compared(
    evidence: Evidence, run: Played, rows: list[Row], wrong: tuple[Wrong, Wrong], base: WhatIf
) -> Comparison:
    """Both runs in ``compare``'s words, the recorded one as the reference."""
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
            wrong_ns=wrong[now].ns,
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
