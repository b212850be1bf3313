"""What the web asks of the stage."""

import asyncio
import gzip
import time
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from app.errors import StageError, StageUnknown
from app.hub.runwire import RunRecords
from app.sim.library import load
from app.sim.scenario import claim
from app.sim.shelves import in_order
from app.stage.stage import MOST_READY, Stage

QUERY = [("scenario", "storm"), ("duration", "20s")]


@pytest.fixture
def stage() -> Iterator[Stage]:
    made = Stage()
    yield made
    made.close()


def unpack(packed: bytes) -> Any:
    return msgspec.json.decode(gzip.decompress(packed))


async def test_a_whole_run_comes_at_once_and_reads_back(stage: Stage) -> None:
    packed = await stage.records(QUERY)
    told = msgspec.json.decode(gzip.decompress(packed), type=RunRecords)
    assert told.run.scenario == "storm"
    assert told.run.duration_ns == 20 * 10**9
    assert [one.seq for one in told.records] == list(range(1, len(told.records) + 1))
    assert told.state.last_seq == 0
    assert await stage.records(QUERY) is packed


async def test_another_stage_answers_the_same_bytes(stage: Stage) -> None:
    other = Stage()
    try:
        link = [*QUERY, ("press", "3s!break-stream")]
        assert await stage.records(link) == await other.records(link)
    finally:
        other.close()


async def test_a_state_is_quick_once_the_run_is_there(stage: Stage) -> None:
    last = await stage.state(QUERY, None)
    began = time.process_time()
    some = await stage.state(QUERY, last.last_seq // 2)
    took = time.process_time() - began
    assert some.last_seq == last.last_seq // 2
    assert took < 0.1  # of a core; a tenth of it on a free machine
    with pytest.raises(StageError, match="give a number up to that"):
        await stage.state(QUERY, last.last_seq + 1)


async def test_at_hand_are_the_newest_only(stage: Stage) -> None:
    for seed in range(MOST_READY + 2):
        await stage.records([*QUERY, ("seed", str(seed))])
    assert len(stage._ready) == MOST_READY


async def test_progress_is_told_without_asking_for_the_run(stage: Stage) -> None:
    assert stage.progress(QUERY).state == "absent"
    await stage.records(QUERY)
    assert stage.progress(QUERY).state == "ready"


async def test_the_runtime_of_a_link_is_played(stage: Stage) -> None:
    link = [*QUERY, ("runtime", "containerd-1.7")]
    state = await stage.state(link, None)
    assert state.runtime is not None
    assert state.runtime.version.startswith("1.7")
    plain = await stage.state(QUERY, None)
    assert plain.runtime is not None
    assert plain.runtime.version.startswith("2.")


def test_all_scenarios_are_told_with_a_link_each(stage: Stage) -> None:
    told = stage.scenarios()
    assert [one.name for one in told] == list(in_order())
    assert len({one.shelf for one in told}) > 3
    for one in told:
        assert one.query.startswith(f"scenario={one.name}&")
        assert one.title
        assert one.shows == claim(load(one.name).shows)


def test_what_a_run_shows_is_said_of_its_profile(stage: Stage) -> None:
    asked = [("scenario", "lossy-stream")]
    assert stage.told(asked).shows.startswith("Under kep: What the stream tells of")
    legacy = stage.told([*asked, ("profile", "legacy")])
    assert legacy.shows.startswith("Under kep (this is legacy): What the stream tells of")


async def test_a_scenario_from_a_file_may_be_played_but_takes_no_name_away() -> None:
    own = msgspec.structs.replace(load("storm"), name="my-own", title="Mine")
    stolen = msgspec.structs.replace(load("storm"), name="churn", title="Not churn")
    stage = Stage([own, stolen])
    try:
        assert (stage.scenarios()[0].title, stage.scenarios()[0].shipped) == ("Mine", False)
        assert stage.told([("scenario", "churn")]).title == load("churn").title
        state = await stage.state([("scenario", "my-own"), ("duration", "5s")], None)
        assert "my-own" in state.title
    finally:
        stage.close()


def test_what_is_not_there_is_said(stage: Stage) -> None:
    with pytest.raises(StageUnknown, match="choose one"):
        stage.told([("scenario", "nothing")])
    with pytest.raises(StageError, match="`press`"):
        stage.told([*QUERY, ("press", "x")])


async def test_many_who_ask_for_a_run_share_what_is_made_of_it(stage: Stage) -> None:
    packed = await asyncio.gather(*(stage.records(QUERY) for _ in range(20)))
    assert len(set(map(id, packed))) == 1
    asked = stage.comparisons.asked([*QUERY, ("profile", "kep"), ("profile", "generic")])
    compared = await asyncio.gather(*(stage.comparisons.packed(asked) for _ in range(20)))
    assert len(set(map(id, compared))) == 1
    assert await stage.comparisons.packed(asked) is compared[0]


async def test_several_questions_of_one_run_are_answered_together(stage: Stage) -> None:
    states = await asyncio.gather(*(stage.state(QUERY, seq) for seq in (1, 5, 9)))
    assert [state.last_seq for state in states] == [1, 5, 9]
