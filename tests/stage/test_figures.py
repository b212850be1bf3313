"""Numbers are counted from the records, up to the moment shown, and told in words."""

from __future__ import annotations

import msgspec
import pytest

from app.engine.records import RelistFinished, RelistStarted
from app.stage.figures import Figures, duration, times
from app.stage.lessonparts import MAIN, AnyFigure, Condition, Thing, special
from app.stage.select import Finder, Horizon, Missing
from tests.stage.lessonruns import S, lesson

RUN = lesson("hint-lost")._runs[MAIN]
ALL = Horizon(MAIN, 30 * S)
NB = "\N{NO-BREAK SPACE}"
RELISTS = 'group = { kind = "relist_finished", where = { scope = "global" }, to = "5s" }'


def figures(**texts: str) -> Figures:
    died = msgspec.toml.decode(
        'call = "died"\nkind = "lifecycle"\nwhere = { type = "ContainerDied" }',
        type=Thing,
        dec_hook=special,
    )
    read: dict[str, AnyFigure] = {
        name: msgspec.toml.decode(f'call = "it"\n{text}', type=AnyFigure, dec_hook=special)
        for name, text in texts.items()
    }
    return Figures(read, Finder({"died": died}, {MAIN: RUN}))


def value(text: str, until: Horizon = ALL) -> float | str | bool:
    return figures(it=text).value("it", until)


def relists() -> list[RelistFinished]:
    return [
        one
        for one in RUN.records
        if isinstance(one, RelistFinished) and one.scope == "global" and one.t <= 5 * S
    ]


def test_settings() -> None:
    assert value('is = "setting"\nwhat = "period"') == S
    assert value('is = "setting"\nwhat = "threshold"') == 180 * S
    assert figures(it='is = "setting"\nwhat = "queue"').told("it", ALL).text == "200"


def test_means_counts_and_the_longest() -> None:
    durations = [one.duration_ns for one in relists()]
    assert value(f'is = "mean"\nof = "duration_ns"\n{RELISTS}') == sum(durations) / len(durations)
    assert value(f'is = "longest"\nof = "duration_ns"\n{RELISTS}') == max(durations)
    assert value(f'is = "count"\n{RELISTS}') == len(durations)
    assert value(f'is = "count"\n{RELISTS}', Horizon(MAIN, 2 * S)) < len(durations)  # type: ignore[operator]


def test_from_start_to_start_and_from_end_to_start() -> None:
    starts = [
        one.t
        for one in RUN.records
        if isinstance(one, RelistStarted) and one.scope == "global" and one.t <= 5 * S
    ]
    mean = (starts[-1] - starts[0]) / (len(starts) - 1)
    assert value('is = "interval"\nto = "5s"') == round(mean)
    pause = value('is = "pause"\nto = "5s"')
    assert isinstance(pause, int)
    assert pause == S
    assert mean > pause


def test_last_seen_is_the_age_of_the_last_start() -> None:
    begun = max(one.started for one in relists())
    assert value('is = "last-seen"', Horizon(MAIN, 5 * S)) == 5 * S - begun
    with pytest.raises(Missing, match="no global relist has succeeded"):
        value('is = "last-seen"', Horizon(MAIN, 0))


def test_fields_and_ratios() -> None:
    assert value('is = "field"\nthing = "died"\nfield = "source"') == "evented_pleg"
    made = figures(
        period='is = "setting"\nwhat = "period"',
        threshold='is = "setting"\nwhat = "threshold"',
        ratio='is = "ratio"\nof = "threshold"\nto = "period"',
    )
    assert made.told("ratio", ALL).text == f"180{NB}times"


def test_what_a_record_does_not_say_is_missing() -> None:
    polled = msgspec.toml.decode(
        'call = "x"\nkind = "lifecycle"\nlacks = ["request"]', type=Thing, dec_hook=special
    )
    field = msgspec.toml.decode(
        'call = "x"\nis = "field"\nthing = "x"\nfield = "request"',
        type=AnyFigure,
        dec_hook=special,
    )
    with pytest.raises(Missing, match="does not tell its request"):
        Figures({"x": field}, Finder({"x": polled}, {MAIN: RUN})).value("x", ALL)


def test_conditions() -> None:
    made = figures(period='is = "setting"\nwhat = "period"', seen='is = "last-seen"')

    def holds(text: str, until: Horizon = ALL) -> bool:
        return made.holds(msgspec.toml.decode(text, type=Condition, dec_hook=special), until)

    assert holds('figure = "period"\nleast = "1s"\nmost = "1s"')
    assert not holds('figure = "period"\nmost = "999ms"')
    assert not holds('figure = "period"\nleast = 1000000001')
    assert not holds('figure = "seen"\nleast = 0', Horizon(MAIN, 0)), (
        "what cannot be told is not so"
    )
    assert holds('thing = "died"\nwhere = { source = "evented_pleg" }')
    assert not holds('thing = "died"\nwhere = { source = "global" }')
    assert holds('thing = "died"\nmissing = true', Horizon(MAIN, S))
    assert not holds('thing = "died"\nmissing = true')
    assert not holds('thing = "died"', Horizon(MAIN, S))


@pytest.mark.parametrize(
    ("ns", "words"),
    [
        (0, "0 ms"),
        (640, "0.64 µs"),
        (4_100_000, "4.1 ms"),
        (52_300_000, "52 ms"),
        (640_400_000, "640 ms"),
        (999_600_000, "1.0 s"),
        (1_002_400_000, "1.0 s"),
        (47_300_000_000, "47 s"),
        (59_960_000_000, "1 min"),
        (192_400_000_000, "3 min 12 s"),
    ],
)
def test_durations_in_words(ns: int, words: str) -> None:
    assert duration(ns).replace(NB, " ") == words


def test_durations_with_more_digits() -> None:
    assert duration(1_002_400_000, 5) == f"1.0024{NB}s"
    assert duration(12_345_678, 4) == f"12.35{NB}ms"


@pytest.mark.parametrize(
    ("ratio", "words"),
    [
        (0.5, "0.5"),
        (5.66, "5.7"),
        (180, "180"),
        (456.2, "456"),
        (86_123, "86,000"),
        (999.9, "1,000"),
    ],
)
def test_ratios_in_words(ratio: float, words: str) -> None:
    assert times(ratio) == f"{words}{NB}times"
