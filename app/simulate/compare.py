"""``plegscope compare``: a scenario under two or three profiles, side by side, in virtual time."""

import sys
from textwrap import wrap

import msgspec

from app.errors import OutputError
from app.settings import Settings
from app.sim.library import load
from app.simulate.command import leave, may_tell_progress
from app.simulate.progress import Progress, silent
from app.simulate.table import WIDTH, plain
from app.stage.compare import KINDS, Found, Latency, Row, reference
from app.stage.comparereport import CompareReport, ReportRun, report
from app.stage.comparewords import Parts
from app.stage.run import play
from app.stage.spec import RunSpec
from app.terminal import aligned
from app.words import NBSP, count, duration

MOST_LINES = 20
"""Differences shown one by one."""


def compare(settings: Settings) -> int:
    """Play a scenario under each profile, and print what each made of it; returns the exit code.

    Raises:
        ScenarioError: there is no such scenario.
        SettingsError: there is no such runtime.
        StageError: a run has more records than can be kept.
        OutputError: standard output cannot be written.
    """
    scenario = load(settings.scenario, settings.runtime_like)
    duration_ns = int(settings.duration_ns or scenario.duration_ns)
    runs = []
    for profile in settings.profiles:
        progress = Progress(duration_ns) if may_tell_progress(lines=False) else silent
        spec = RunSpec(
            scenario=scenario.name,
            seed=scenario.seed if settings.seed is None else settings.seed,
            profile=profile,
            runtime=settings.runtime_like,
            duration_ns=duration_ns,
        )
        runs.append(play(spec, scenario, progress))
        if isinstance(progress, Progress):
            progress.clear()
    told = report(runs, reference(settings.profiles))
    out = sys.stdout.buffer
    try:
        if settings.output == "json":
            out.write(msgspec.json.format(msgspec.json.encode(told), indent=2) + b"\n")
        else:
            out.write(page(told).encode())
        out.flush()
    except OSError as error:
        leave(out)
        if isinstance(error, BrokenPipeError):
            return 0
        raise OutputError(
            f"Standard output cannot be written ({error.strerror}): the result is not complete. "
            "Make room, or write it elsewhere, and run it again."
        ) from error
    return 0


def page(told: CompareReport) -> str:
    """The comparison as a page of text."""
    against = told.runs[told.against].name
    what = (
        f"{told.premise}: scenario {plain(told.scenario)}, seed {told.seed}, "
        f"{duration(told.duration_ns)} each"
    )
    parts = [
        [plain(told.title), what],
        wrap(_flat(told.sentence), WIDTH),
        wrap(_flat((*told.meaning, *told.notes)), WIDTH),
        _figures(told),
        _sources("Ends that each noticed, from the true end", told, "ends"),
        _sources("Starts that each noticed, from the true start", told, "starts"),
        _counts(told, against),
        _differences(told),
    ]
    return "\n\n".join("\n".join(part) for part in parts if part).replace(NBSP, " ") + "\n"


def _flat(parts: Parts) -> str:
    # For a terminal every space is the same, and this one is not printable by Python's rules.
    return plain("".join(text for text, _ in parts).replace(NBSP, " "))


def _figures(told: CompareReport) -> list[str]:
    """Harm before speed, and speed only of what all of them had and noticed."""
    number = told.runs[0].figures.shared.count
    head = (
        "run",
        "missed",
        "unseen",
        ">1 min",
        "worst",
        "wrong",
        "wrong cache*",
        "median**",
        "95th**",
        "calls",
    )
    cache = (
        "*  container-time: how long the cache and the runtime disagreed on whether a container "
        "runs, summed over all containers, so that it can be longer than the run."
    )
    words = (
        "missed: never noticed, or nobody was told; unseen: not noticed when the run ended; "
        ">1 min: unseen for longer; wrong: how often something was believed that was not so."
    )
    notes = (
        words,
        cache,
        f"** of the {count(number, 'end')} that all of them had and noticed.",
    )
    lines = [line for note in notes for line in wrap(note, WIDTH - 2, subsequent_indent="   ")]
    return [*aligned([head, *map(_figure, told.runs)]), *(f"  {line}" for line in lines)]


def _figure(run: ReportRun) -> tuple[str, ...]:
    figures = run.figures
    ends, starts = figures.ends, figures.starts
    median, p95, _ = _latency(figures.shared)
    return (
        run.name,
        f"{ends.missed + starts.missed:,}",
        f"{ends.waiting + starts.waiting:,}",
        f"{ends.over_minute + starts.over_minute:,}",
        _latency(ends.all)[2],
        f"{figures.wrongs:,}",
        duration(figures.wrong_ns),
        median,
        p95,
        f"{figures.calls:,}",
    )


def _latency(one: Latency) -> tuple[str, str, str]:
    if not one.count:
        return ("-", "-", "-")
    worst = f"{'over ' if one.at_least else ''}{duration(one.worst)}"
    return (duration(one.median), duration(one.p95), worst)


def _sources(title: str, told: CompareReport, what: str) -> list[str]:
    rows = [
        (run.name, source, str(one.count), *_latency(one))
        for run in told.runs
        for source, one in _found(run, what).by_source.items()
    ]
    if not rows:
        return []
    head = ("run", "noticed by", "count", "median", "95th", "worst")
    return [title, *aligned([head, *rows], left=2)]


def _found(run: ReportRun, what: str) -> Found:
    return run.figures.ends if what == "ends" else run.figures.starts


def _counts(told: CompareReport, against: str) -> list[str]:
    head = ("run", *(_KIND[kind] for kind in KINDS))
    rows = [(run.name, *(str(run.figures.marks[kind]) for kind in KINDS)) for run in told.runs]
    return [f"Differences, held against {against}", *aligned([head, *rows])]


_KIND = {
    "sooner": "sooner",
    "later": "later",
    "never": "missed or unseen",
    "wrong": "wrong",
    "absent": "not in every run",
}


def _differences(told: CompareReport) -> list[str]:
    differing = [row for row in told.rows if row.marks]
    rows = [
        (_clock(row.first_t), plain(f"{row.who.namespace}/{row.who.pod}"), _what(row), words)
        for row in differing[:MOST_LINES]
        for words in ("; ".join(f"{told.runs[one.run].name}: {one.words}" for one in row.marks),)
    ]
    if not rows:
        return []
    more = len(differing) - len(rows)
    lines = aligned([("at", "pod", "what", "difference"), *rows], left=4)
    return [*lines, f"  and {count(more, 'more difference')}"] if more else lines


def _what(row: Row) -> str:
    who = f"{row.who.container} #{row.who.attempt}" if row.who.attempt else row.who.container
    if row.what in ("start", "end"):
        return plain(f"{row.what} of {who}")
    return plain(f"{'told' if row.what == 'told' else 'cached'}: {who} {row.says}")


def _clock(t: int) -> str:
    minutes, rest = divmod(t, 60 * 10**9)
    return f"{minutes}:{rest / 1e9:06.3f}"
