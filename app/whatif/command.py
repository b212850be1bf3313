"""``plegscope whatif FILE``: the answer as a page of text, or as JSON."""

from pathlib import Path
from textwrap import wrap

import msgspec

from app.errors import SettingsError
from app.settings import Settings
from app.stage.compare import Found as Figures
from app.stage.compare import Latency
from app.stage.comparewords import Parts
from app.terminal import aligned, plain, printing, say
from app.whatif.answer import Row, Same, Verdict, WhatIf
from app.whatif.figures import RECORDED
from app.whatif.options import Options
from app.whatif.result import ask
from app.words import NBSP, count, duration

WIDTH = 96
MOST_LINES = 20
"""Differences shown one by one."""

_VERDICTS: dict[Verdict, str] = {
    "sooner": "sooner",
    "not later": "as soon, or sooner",
    "alike": "as soon",
    "not sooner": "as soon, or later",
    "later": "later",
    "open": "cannot be said",
}


def options_of(settings: Settings) -> Options:
    """What the command line asks for."""
    return Options(
        profile=settings.other_profile or None,
        period_ns=settings.period_ns or None,
        queue=settings.queue or None,
        hold_ns=settings.hold_ns,
        stream=settings.stream,
        loss=settings.stream_loss,
        delay_ns=settings.stream_delay_ns,
        seed=7 if settings.seed is None else settings.seed,
    )


def whatif(settings: Settings) -> int:
    """Run a recording again and print what it comes to; returns the exit code.

    1: run again with the settings it was recorded with, it told something else, which must never
    be (or it was recorded by another version).

    Raises:
        RecordingError: it cannot be read, or there is nothing in it to be run again.
        SettingsError: no file was given.
        OutputError: standard output cannot be written.
    """
    if not settings.recordings:
        raise SettingsError("FILE: give a recording, such as `plegscope whatif node.mcap`.")
    told = ask([Path(name) for name in settings.recordings], options_of(settings))
    text = page(told)
    if settings.output == "json":
        text = msgspec.json.format(msgspec.json.encode(told), indent=2).decode() + "\n"
    with printing():
        say(text)
    return 0 if told.same is None or told.same.well else 1


def page(told: WhatIf) -> str:
    """The answer as a page of text."""
    head = [
        plain(told.title),
        *wrap(
            f"recorded as {told.recorded_profile}, {duration(told.duration_ns)}; run again as "
            f"{told.name}",
            WIDTH,
        ),
    ]
    if told.same is not None:
        parts = [head, wrap(_same(told.same), WIDTH), _listed("Damage", told.warnings)]
    else:
        parts = [
            head,
            wrap(_flat(told.sentence), WIDTH),
            _figures(told),
            _sources(
                "Ends, from the most likely moment of the change to the finding", told, "ends"
            ),
            _sources("Starts, likewise", told, "starts"),
            _wrong(told),
            _verdicts(told),
            _differences(told),
            _calls(told),
            _listed("What this rests on", told.knows),
            _listed("What it cannot tell", told.cannot),
            _listed("Damage", told.warnings),
        ]
    return "\n\n".join("\n".join(part) for part in parts if part).replace(NBSP, " ") + "\n"


def _same(same: Same) -> str:
    alike = same.records if same.differs is None else max(0, same.records - 1)
    inputs, records = count(same.inputs, "input"), count(alike, "record")
    until = ""
    if same.hole is not None:
        until = f" The recording has a hole at input {same.hole:,}; what comes after it is not run."
    if same.differs is None:
        return f"The same, byte for byte: {inputs} bring {records} again.{until}"
    return (
        f"Not the same: record {same.differs:,} differs. {records} before it are the same. Another "
        f"version of plegscope may have recorded it; else this is a fault of plegscope: please "
        f"report it with the recording.{until}"
    )


def _flat(parts: Parts) -> str:
    return plain("".join(text for text, _ in parts).replace(NBSP, " "))


def _listed(title: str, sentences: tuple[str, ...]) -> list[str]:
    lines = [title] if sentences else []
    for one in sentences:
        text = plain(one.replace(NBSP, " "))
        lines += wrap(text, WIDTH, initial_indent="  ", subsequent_indent="  ")
    return lines


def _figures(told: WhatIf) -> list[str]:
    rows: list[tuple[str, ...]] = [
        ("ends", "median", "95th", "worst", "over 1 min", "missed", "calls")
    ]
    for name, tally in zip((RECORDED, told.name), told.tallies, strict=True):
        waiting = tally.ends.waiting + tally.starts.waiting
        missed = str(tally.ends.missed + tally.starts.missed)
        missed += f", {waiting} not yet" if waiting else ""
        late = str(tally.ends.over_minute)
        rows.append((name, *_latency(tally.ends.all), late, missed, f"{tally.calls:,}"))
    return aligned(rows)


def _latency(one: Latency) -> tuple[str, str, str]:
    if not one.count:
        return ("-", "-", "-")
    worst = f"{'over ' if one.at_least else ''}{duration(one.worst)}"
    return (duration(one.median), duration(one.p95), worst)


def _sources(title: str, told: WhatIf, what: str) -> list[str]:
    rows: list[tuple[str, ...]] = []
    for name, tally in zip((RECORDED, told.name), told.tallies, strict=True):
        found: Figures = tally.ends if what == "ends" else tally.starts
        rows += [
            (name, source, str(one.count), *_latency(one))
            for source, one in found.by_source.items()
        ]
    if not rows:
        return []
    head = ("run", "found by", "count", "median", "95th", "worst")
    return [title, *aligned([head, *rows], left=2)]


def _wrong(told: WhatIf) -> list[str]:
    rows: list[tuple[str, ...]] = [("run", "likely", "at least", "at most")]
    for name, one in zip((RECORDED, told.name), told.wrong, strict=True):
        rows.append((name, *map(_span, (one.ns, one.least_ns, one.most_ns))))
    return ["Time in which the pod cache was wrong, summed over containers", *aligned(rows)]


def _span(ns: int | None) -> str:
    if ns is None:
        return "not known"
    return duration(ns) if ns else "0"


def _verdicts(told: WhatIf) -> list[str]:
    rows = [(_VERDICTS[one], str(told.counts.get(one, 0))) for one in _VERDICTS]
    rows += [
        ("would be missed", str(told.missed.get("yes", 0))),
        ("might be missed", str(told.missed.get("maybe", 0))),
    ]
    return ["Starts and ends, sooner or later than recorded", *aligned(rows)]


def _differences(told: WhatIf) -> list[str]:
    differing = [row for row in told.rows if row.verdict != "alike" or row.missed != "no"]
    differing.sort(key=lambda row: (row.missed == "no", -abs(row.shift or 0), row.t))
    rows = [_line(row) for row in differing[:MOST_LINES]]
    if not rows:
        return []
    more = len(differing) - len(rows)
    head = ("at", "pod", "what", "recorded", "now", "by", "sooner or later", "within")
    lines = ["The largest differences", *aligned([head, *rows], left=3)]
    return [*lines, f"  and {count(more, 'smaller one')}"] if more else lines


def _line(row: Row) -> tuple[str, ...]:
    who = f"{row.who.container} #{row.who.attempt}" if row.who.attempt else row.who.container
    now, then = row.now, row.recorded
    by = "-" if now is None else ("believed" if now.believed else now.source)
    missed = {"yes": "missed", "maybe": "missed?"}.get(row.missed, "")
    shift = missed or ("-" if row.shift is None else _signed(row.shift))
    return (
        _clock(row.t),
        plain(f"{row.who.namespace}/{row.who.pod}"),
        plain(f"{row.what} of {who}"),
        "-" if then is None else duration(max(0, then.t - row.t)),
        "-" if now is None else duration(max(0, now.t - row.t)),
        by,
        shift,
        _within(row),
    )


def _within(row: Row) -> str:
    """From when to when it could have been, against what was recorded."""
    if row.recorded is None:
        return "-"
    early = _signed(row.earliest - row.recorded.t)
    late = "the end" if row.latest is None else _signed(row.latest - row.recorded.t)
    return f"{early} to {late}"


def _signed(ns: int) -> str:
    return f"{'-' if ns < 0 else '+'}{duration(abs(ns))}"


def _calls(told: WhatIf) -> list[str]:
    then, now = told.calls
    rows = [("calls", "recorded", "now", "more or less")]
    for method in sorted(then.keys() | now.keys()):
        before, after = then.get(method, 0), now.get(method, 0)
        rows.append((method, f"{before:,}", f"{after:,}", f"{after - before:+,}"))
    return aligned(rows)


def _clock(t: int) -> str:
    minutes, rest = divmod(t, 60 * 10**9)
    return f"{minutes}:{rest / 1e9:06.3f}"
