"""A summary as a page of text for people."""

from collections.abc import Sequence
from textwrap import wrap

from app.engine.profiles import PROFILES
from app.sim.account import KubeletTimes, Summary
from app.sim.difference import Difference
from app.sim.durations import Spread
from app.sim.ledger import Detection
from app.sim.units import shown
from app.terminal import aligned

WIDTH = 96
"""Characters of a line."""
MOST_LINES = 20
"""Differences shown one by one."""
LONGEST_STATE = 24
"""Characters of a state in a difference, of which there are two in a line."""

EVENT_TYPES = ("ContainerStarted", "ContainerDied", "ContainerRemoved", "PodSync")

Row = Sequence[str]


def table(summary: Summary, shows: str, judged: str) -> str:
    """The whole page; ``shows``: what the scenario is meant to show, ``judged``: the verdict."""
    played = summary.played
    profile = PROFILES[played.profile]
    what = (
        f"scenario {plain(played.scenario)}, profile {profile.name} ({profile.title}), "
        f"seed {played.seed}, {shown(played.duration_ns)} simulated on a runtime like "
        f"{played.runtime}, {summary.records} records"
    )
    parts: list[list[str]] = [
        [plain(played.title), *wrap(what, WIDTH)],
        wrap(plain(shows), WIDTH),
        _detection("Ends of processes, from the true end to the finding", summary.ends)
        + _lag(summary.runtime_lag),
        _detection("Starts of processes, from the true start to the finding", summary.starts),
        _lifecycle(summary),
        _facts(summary),
    ]
    if summary.faults:
        parts.append(_faults(summary))
    parts.append(wrap(plain(judged), WIDTH))
    if summary.difference:
        parts.append(_differences(summary.difference, summary.differences))
    return "\n\n".join("\n".join(part) for part in parts) + "\n"


def plain(text: str) -> str:
    """Text from a file, without anything that moves a terminal's cursor."""
    return "".join(one if one.isprintable() else "�" for one in text)


def _detection(title: str, found: Detection) -> list[str]:
    rows: list[Row] = [("found by", "count", "p50", "p90", "p99", "max")]
    spreads = [
        *found.by_source.items(),
        *([("all", found.all)] if len(found.by_source) > 1 else []),
    ]
    rows += [
        (source, str(spread.count), *map(shown, (spread.p50, spread.p90, spread.p99, spread.max)))
        for source, spread in spreads
    ]
    lines = [title, *aligned(rows)] if found.by_source else [title]
    odd = (
        (found.baseline, "came before the first look, so nobody was late"),
        (found.waiting, "unseen at the end"),
        (found.never, "missed, as the container was gone or had ended by the next look"),
    )
    told = [f"{number} {what}" for number, what in odd if number]
    total = f"{found.happened} in all"
    if told:
        total += ": " + "; ".join([f"{found.all.count} as above", *told])
    if found.twice:
        total += f"; told of again, and counted once: {found.twice}"
    if found.wrong:
        total += f"; told of though it had not happened, and not counted: {found.wrong}"
    return [*lines, *wrap(total, WIDTH, initial_indent="  ", subsequent_indent="  ")]


def _lag(lag: Spread) -> list[str]:
    if not lag.count:
        return []
    told = (
        f"The runtime itself took {shown(lag.p50)} to tell of an end (p50 of the {lag.count} it "
        f"told of; max {shown(lag.max)}); of no single end can a PLEG know sooner than it."
    )
    return wrap(told, WIDTH, initial_indent="  ", subsequent_indent="  ")


def _lifecycle(summary: Summary) -> list[str]:
    title = (
        "Lifecycle events by relist source, of containers and sandboxes, what ran before included"
    )
    rows: list[Row] = [("source", *EVENT_TYPES)]
    rows += [
        (source, *(str(types.get(one, 0)) for one in EVENT_TYPES))
        for source, types in summary.lifecycle.items()
    ]
    lost = summary.deliveries.get("discarded", 0)
    lines = [title, *aligned(rows)]
    return [*lines, f"  {lost} discarded: the event channel was full"] if lost else lines


def _facts(summary: Summary) -> list[str]:
    relists, stream = summary.relists, summary.stream
    syncs, sick = summary.syncs, summary.unhealthy
    requests = [
        f"{number} {outcome}"
        for outcome, number in summary.requests.items()
        if outcome not in ("made", "queued") and number
    ]
    states = [f"{state} {shown(spent.ns)}" for state, spent in stream.states.items() if spent.ns]
    events = [
        f"{number} {what}"
        for what, number in stream.events.items()
        if number and what not in ("opened", "errors")
    ]
    made, took = summary.requests["made"], relists.targeted_took
    facts = {
        "Requests": f"{made} made: {_listed(requests)}" if made else "none made",
        "Relists": (
            f"{relists.globally} global, one each {shown(relists.interval.p50)} (p50; max "
            f"{shown(relists.interval.max)}), taking {shown(relists.took.mean)} on average (max "
            f"{shown(relists.took.max)}); {relists.targeted} of one pod"
            + (f", taking {shown(took.mean)} on average" if took.count else "")
            + f"; {relists.failed} failed"
        ),
        "Stream": (
            f"{stream.state} in the end; {_listed(states)}; "
            f"opened {_times(stream.events['opened'])}, ended {_times(stream.events['errors'])}; "
            f"events: {_listed(events)}"
        ),
        "SyncPods": (
            f"{syncs.count}, {syncs.did_work} of which did something and {syncs.failed} failed or "
            f"had to wait; {shown(syncs.took.p50)} each (p50; max {shown(syncs.took.max)})"
        ),
        "Kubelet": _kubelet(summary.kubelet),
        "Health": (
            f"unhealthy {_times(sick.entered)}, {shown(sick.ns)} in all"
            if sick.entered
            else "never unhealthy"
        ),
        "Calls": (
            _listed([f"{number} {method}" for method, number in summary.calls.items()])
            + f"; {summary.calls_failed} lists and inspections failed"
        ),
    }
    lines: list[str] = []
    for name, fact in facts.items():
        lines += wrap(fact, WIDTH, initial_indent=f"{name:10}", subsequent_indent=" " * 10)
    return lines


def _kubelet(times: KubeletTimes) -> str:
    """How long the kubelet took for what people asked of it, and how long its workers waited."""
    told = (
        (times.running, "new pods seen to run", "after"),
        (times.resized, "resizes seen to hold", "after"),
        (times.deleted, "deletions done", "after"),
        (times.waited, "waits of a pod worker for a fresh cache entry", "of"),
    )
    parts = [
        f"{spread.count} {what} {word} {shown(spread.p50)} (p50; max {shown(spread.max)})"
        for spread, what, word in told
        if spread.count
    ]
    parts += [f"{number} failed {probe} probes" for probe, number in times.probes_failed.items()]
    return "; ".join(parts) or "nothing was asked of it"


def _faults(summary: Summary) -> list[str]:
    rows: list[Row] = [("fault", "from", "to", "hits")]
    rows += [
        (
            one.kind,
            shown(one.began_t),
            "the end" if one.ended_t is None else shown(one.ended_t),
            str(one.hits),
        )
        for one in summary.faults
    ]
    return ["Faults", *aligned(rows)]


def _differences(difference: Sequence[Difference], number: int) -> list[str]:
    rows: list[Row] = [("in the", "pod", "container or sandbox", "runtime", "shadow")]
    rows += [
        (one.where, one.uid[:13], one.item[:13] or "-", _short(one.runtime), _short(one.shadow))
        for one in difference[:MOST_LINES]
    ]
    lines = aligned(rows, left=5)
    more = number - len(difference[:MOST_LINES])
    return [*lines, f"  and {more} more"] if more else lines


def _short(state: str) -> str:
    return state if len(state) <= LONGEST_STATE else f"{state[: LONGEST_STATE - 1]}…"


def _listed(words: Sequence[str]) -> str:
    return ", ".join(words) or "none"


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number} times"
