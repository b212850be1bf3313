"""Links that ask for comparisons, and what they get."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable
from urllib.parse import parse_qsl, urlencode

import msgspec
import pytest

from app.errors import StageError
from app.sim.library import load
from app.sim.scenario import Scenario
from app.stage.comparereport import CompareReport, report
from app.stage.comparison import MOST_QUERY, Asked, Comparisons
from app.stage.run import play
from app.stage.runs import Runs
from app.stage.spec import RunSpec, parse

SHORT = "scenario=crash-loop&seed=3&duration=20s"


def spec_of(pairs: Iterable[tuple[str, str]]) -> RunSpec:
    return parse(pairs, load)


def scenario_of(spec: RunSpec) -> Scenario:
    return load(spec.scenario)


def asked(query: str) -> Asked:
    return Comparisons(Runs(scenario_of), spec_of).asked(parse_qsl(query, keep_blank_values=True))


def runs(*queries: str) -> str:
    return urlencode([("run", query) for query in queries])


def test_the_forms_fields_make_a_run_for_each_profile() -> None:
    told = asked(f"{SHORT}&profile=kep&profile=generic&runtime=&profile=")
    assert [spec.profile for spec in told.specs] == ["kep", "generic"]
    assert {(spec.scenario, spec.seed, spec.duration_ns) for spec in told.specs} == {
        ("crash-loop", 3, 20_000_000_000)
    }
    assert told.against == 1


def test_a_run_each_by_its_own_query() -> None:
    fork = f"{SHORT}&press=5s!break-stream"
    told = asked(runs(SHORT, fork))
    assert [len(spec.presses) for spec in told.specs] == [0, 1]
    assert told.premise == "Same node, other presses"
    assert told.against == 0


def test_what_was_asked_for_can_be_asked_for_again_by_the_runs_own_queries() -> None:
    told = asked(f"{SHORT}&profile=kep&profile=legacy&press=5s!break-stream")
    assert asked(runs(*(spec.query() for spec in told.specs))) == told


@pytest.mark.parametrize(
    ("against", "number"), [("legacy", 1), ("1", 0), ("2", 1), ("kep", 0), ("", 0)]
)
def test_the_reference_by_name_or_number(against: str, number: int) -> None:
    assert asked(f"{SHORT}&profile=kep&profile=legacy&against={against}").against == number


@pytest.mark.parametrize(
    ("query", "words"),
    [
        (SHORT, "and no profiles are chosen: choose 2 or 3."),
        (f"{SHORT}&profile=kep", "and 1 profile is chosen: choose 2 or 3."),
        (f"{SHORT}{'&profile=kep' * 5}", "and 5 profiles are chosen: choose 2 or 3."),
        (runs(SHORT), "Two or three runs can be compared, and 1 run is chosen"),
        (runs(*[SHORT] * 4), "and 4 runs are chosen: choose 2 or 3."),
        (f"{SHORT}&profile=kep&profile=kep", "The same run stands in this link twice"),
        (runs(SHORT, f"{SHORT}&profile=kep"), "The same run stands in this link twice"),
        (runs(SHORT, f"{SHORT}9"), "not of the same node"),
        (
            runs(SHORT, "scenario=crash-loop&seed=4&duration=20s&profile=legacy"),
            "not of the same node",
        ),
        (runs(SHORT, "scenario=storm&seed=3&duration=20s&profile=legacy"), "not of the same node"),
        (f"{SHORT}&profile=kep&profile=nope", "there is no 'nope'"),
        (f"{SHORT}&profile=kep&profile=legacy&against=generic", "`against`: choose one of kep"),
        (f"{SHORT}&profile=kep&profile=legacy&against=3", "or a number from 1 to 2"),
        (runs(SHORT, "x" * (MOST_QUERY + 1)), "takes 8192 characters at most"),
        (runs(SHORT, "&".join(["a=1"] * 200)), "too many parameters"),
        (runs(SHORT, ""), "names no scenario"),
    ],
)
def test_what_cannot_be_compared_is_refused_in_words(query: str, words: str) -> None:
    if "9" in query and "twice" not in words and query.endswith("20s9"):
        words = "is no time"
    with pytest.raises(StageError, match=words.replace("(", r"\(")) as refused:
        asked(query)
    assert str(refused.value).endswith(".")


def test_a_report_is_played_and_kept() -> None:
    async def ask() -> tuple[CompareReport, bool, bool]:
        kept = Runs(scenario_of)
        comparisons = Comparisons(kept, spec_of)
        wanted = comparisons.asked(parse_qsl(f"{SHORT}&profile=kep&profile=generic"))
        before = comparisons.ready(wanted)
        try:
            told = await comparisons.report(wanted)
            assert [one.state for one in comparisons.progress(wanted).runs] == ["ready"] * 2
            return told, before, comparisons.ready(wanted)
        finally:
            kept.close()

    told, before, after = asyncio.run(ask())
    assert (before, after) == (False, True)
    assert [run.name for run in told.runs] == ["kep", "generic"]
    assert (told.scenario, told.seed, told.duration_ns) == ("crash-loop", 3, 20_000_000_000)
    assert told.rows
    assert told.premise == "Same node, same faults"
    assert told.sentence[0] == ("With kep", True)
    for run in told.runs:
        assert spec_of(parse_qsl(run.query)).profile == run.profile
        assert run.drawn.pods
        assert run.drawn.relists


def test_ten_minutes_under_three_profiles_are_there_in_seconds() -> None:
    """Less than one on a core of its own; here a machine may be busy with other things."""
    ten = "scenario=demo&duration=10m"
    began = time.process_time()
    played = [
        play(spec_of(parse_qsl(f"{ten}&profile={name}")), load("demo"))
        for name in ("kep", "generic", "legacy")
    ]
    told = msgspec.json.encode(report(played, 1))
    assert time.process_time() - began < 5
    assert len(told) < 1_000_000


def test_a_report_is_the_same_each_time_byte_for_byte() -> None:
    def made() -> bytes:
        specs = [spec_of(parse_qsl(f"{SHORT}&profile={name}")) for name in ("kep", "legacy")]
        played = [play(spec, load(spec.scenario)) for spec in specs]
        return msgspec.json.encode(report(played, 0))

    assert made() == made()
