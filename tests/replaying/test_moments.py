"""How it was at a moment is what a reader of all records up to it would say."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from app.engine.records import Record, RuntimeSeen
from app.errors import RecordingError
from app.journal.projection import PodTable
from app.journal.rebuild import StateBuilder
from app.replaying.film import Film
from app.replaying.moments import NOTHING, moment
from app.replaying.show import Show
from tests.recording.recorded import info, record_scenario
from tests.replaying.test_joined import file, relist

S = 1_000_000_000
RECENT = 20 * S


def read(paths: Sequence[Path]) -> tuple[Film, list[Record]]:
    film = Show(paths).films[0]
    records: list[Record] = []
    while more := film.advance():
        records += more
    return film, records


@pytest.fixture(scope="module")
def storm(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Record]]:
    path = tmp_path_factory.mktemp("moments") / "storm.mcap"
    return path, record_scenario(path, "storm", seconds=60)


@pytest.mark.parametrize("indexed", [True, False])
def test_it_is_what_all_records_until_then_say(
    storm: tuple[Path, list[Record]], tmp_path: Path, *, indexed: bool
) -> None:
    paths = [storm[0]]
    if not indexed:
        # Two files are laid out piece by piece.
        first, _ = read(paths)
        node = first._files[0].node
        one = info(session="f" * 16, origin=first.origin + 3600 * S, title=node)
        paths.append(file(tmp_path / "later.mcap", one, [relist(S, 1)]))
    film, records = read(paths)
    assert film.pieces > 2
    for t in (0, S // 2, 20 * S, 33 * S, 59 * S):
        told = moment(film, t, RECENT)
        until = [record for record in records if record.t <= t]
        table, builder = PodTable(), StateBuilder()
        for record in until:
            table.apply(record)
            builder.apply(record)
        assert {pod.uid: pod.containers for pod in told.pods} == {
            pod.uid: pod.containers for pod in table.rows()
        }
        assert {pod.uid: pod.running for pod in told.pods} == {
            pod.uid: pod.running for pod in table.rows()
        }
        assert msgspec.structs.replace(told.state.engine, t=0) == msgspec.structs.replace(
            builder.state(until[-1].t), t=0
        )
        assert told.state.wall == film.origin + t
        assert list(told.records) == [record for record in until if record.t >= t - RECENT]
        assert told.whole
        assert told.unknown == 0
        assert told.unrecorded is None
        seen = [record for record in until if isinstance(record, RuntimeSeen)]
        assert told.state.runtime == (seen[-1] if seen else None)


def test_it_is_told_before_the_recording_has_been_read_through(
    storm: tuple[Path, list[Record]],
) -> None:
    fresh = moment(Show([storm[0]]).films[0], 40 * S, RECENT)
    whole = moment(read([storm[0]])[0], 40 * S, RECENT)
    assert fresh == whole
    assert any(pod.containers for pod in fresh.pods)


def test_a_time_that_nobody_recorded_is_told(tmp_path: Path) -> None:
    one = info(session="a" * 16, origin=1000 * S, host="n", simulated=False)
    other = msgspec.structs.replace(one, session="b" * 16, origin=1060 * S)
    film, _ = read(
        [
            file(tmp_path / "a.mcap", one, [relist(S, 1)]),
            file(tmp_path / "b.mcap", other, [relist(S, 1)]),
        ]
    )
    assert moment(film, 30 * S, RECENT).unrecorded == (0, 60 * S)
    assert moment(film, 60 * S, RECENT).unrecorded is None


def test_before_anything_has_been_read_it_is_said_so(tmp_path: Path) -> None:
    one = info(session="a" * 16, origin=1000 * S, host="n", simulated=False)
    paths = [
        file(tmp_path / "a.mcap", one, [relist(S, 1)]),
        file(tmp_path / "b.mcap", msgspec.structs.replace(one, part=2), [relist(2 * S, 2)]),
    ]
    with pytest.raises(RecordingError, match=NOTHING):
        moment(Show(paths).films[0], 0, RECENT)
