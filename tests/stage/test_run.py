"""Runs: determined by their spec, forked by a press, bounded."""

from urllib.parse import parse_qsl

import pytest

from app.engine.records import ContainerEventSeen, Lifecycle, Note, PodSeen, Record, StreamChanged
from app.errors import StageError
from app.sim.library import load
from app.stage import run as run_module
from app.stage.run import Cancelled, Run, play
from app.stage.spec import parse

S = 1_000_000_000


def played(query: str) -> Run:
    spec = parse(parse_qsl(query), load)
    return play(spec, load(spec.scenario))


def notes(run: Run) -> list[tuple[int, str]]:
    return [(one.t, one.text) for one in run.records if isinstance(one, Note)]


def test_a_run_is_its_records_numbered_and_what_they_come_to() -> None:
    run = played("scenario=storm&duration=45s")
    assert [one.seq for one in run.records] == list(range(1, len(run.records) + 1))
    times = [one.t for one in run.records]
    assert times == sorted(times)
    assert times[-1] < 45 * S
    assert run.title == load("storm").title
    assert run.summary.settled
    assert run.detections
    assert run.wrong_ns > 0


def test_the_same_spec_plays_the_same_run() -> None:
    query = "scenario=lossy-stream&duration=40s&seed=3&press=12s!break-stream"
    assert played(query) == played(query)


def test_another_seed_or_profile_plays_another() -> None:
    query = "scenario=lossy-stream&duration=40s"
    runs = [played(query + more).records for more in ("", "&seed=99", "&profile=legacy")]
    assert runs[0] != runs[1]
    assert runs[0] != runs[2]
    assert any(one.relist == 0 for one in runs[2] if isinstance(one, Lifecycle))


def test_a_press_forks_history_and_leaves_the_past_alone() -> None:
    at = 20 * S
    parent = played("scenario=storm&duration=60s")
    child = played("scenario=storm&duration=60s&press=20s!break-stream")
    before = [one for one in parent.records if one.t < at]
    assert list(child.records[: len(before)]) == before
    assert child.records != parent.records
    assert any("Break the stream" in text for t, text in notes(child) if t == at)
    down = [one.t for one in child.records if isinstance(one, StreamChanged) and one.t >= at]
    assert down


def test_all_that_was_shown_at_a_moment_stays_when_one_presses_just_after_it() -> None:
    parent = played("scenario=storm&duration=60s")
    shown = parent.records[len(parent.records) // 2]
    child = played(f"scenario=storm&duration=60s&press={(shown.t + 1) / S:.9f}s!storm")
    kept = [one for one in parent.records if one.t <= shown.t]
    assert list(child.records[: len(kept)]) == kept
    assert child.records != parent.records


def test_healing_ends_what_is_at_work() -> None:
    query = "scenario=storm&duration=30s&press=5s!silence-stream"
    events = [
        [one.t for one in played(q).records if isinstance(one, ContainerEventSeen)]
        for q in (query, query + "&press=6s!heal")
    ]
    assert not [t for t in events[0] if 6 * S < t < 25 * S]
    told = notes(played(query + "&press=6s!heal"))
    assert (6 * S, "Back to normal: faults ended, 1 in number.") in told


def test_a_pod_that_is_not_there_is_told_and_nothing_happens() -> None:
    parent = played("scenario=storm&duration=30s")
    child = played("scenario=storm&duration=30s&press=10s!kill-container!shop/nobody")
    told = [text for _, text in notes(child)]
    assert any(text.startswith("Nothing was pressed. There is no pod") for text in told)
    assert [_bare(one) for one in child.records if not isinstance(one, Note)] == [
        _bare(one) for one in parent.records if not isinstance(one, Note)
    ]


def _bare(record: Record) -> tuple[type[Record], int]:
    return type(record), record.t


def test_a_named_pod_is_hit() -> None:
    parent = played("scenario=storm&duration=30s")
    pod = next(one for one in parent.records if isinstance(one, PodSeen))
    name = f"{pod.namespace}/{pod.name}"
    child = played(f"scenario=storm&duration=30s&press=10s!kill-container!{name}")
    deaths = [one for one in child.records if isinstance(one, Lifecycle) and one.exit_code == 137]
    assert deaths
    assert min(one.t for one in deaths) >= 10 * S


def test_progress_is_told_and_nobody_who_left_is_played_for() -> None:
    spec = parse(parse_qsl("scenario=storm&duration=10s"), load)
    told: list[int] = []
    play(spec, load("storm"), told.append)
    assert told == [second * S for second in range(10)]
    with pytest.raises(Cancelled):
        play(spec, load("storm"), told.append, lambda: len(told) > 15)
    assert len(told) == 16


def test_a_run_with_too_many_records_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_module, "MOST_RECORDS", 100)
    with pytest.raises(StageError, match="shorter `duration`"):
        played("scenario=storm&duration=60s")
    monkeypatch.setattr(run_module, "MOST_RECORDS", 10**6)
    monkeypatch.setattr(run_module, "MOST_WEIGHT", 1000)
    with pytest.raises(StageError, match="shorter `duration`"):
        played("scenario=storm&duration=60s")
