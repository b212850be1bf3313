"""A recording made playable: its pieces tell what its journal told, at every moment."""

from __future__ import annotations

import gzip
import itertools
from pathlib import Path

import msgspec
import pytest

from app.engine.records import Note, Record, RelistFinished, RuntimeHung
from app.hub.filmwire import Piece, Sought
from app.journal.projection import PodTable
from app.journal.rebuild import StateBuilder
from app.replaying import film as films
from app.replaying.film import Film
from app.replaying.show import Show
from tests.recording.recorded import record_scenario
from tests.replaying.test_sources import written


def read(path: Path) -> tuple[Show, Film, list[Record]]:
    show = Show([path])
    film = show.films[0]
    records: list[Record] = []
    while more := film.advance():
        records += more
    return show, film, records


def pieces(film: Film, show: Show) -> list[Piece]:
    count = len(film.told(0, 0, show.nodes).pieces)
    return [
        msgspec.json.decode(gzip.decompress(film.piece(number)), type=Piece)
        for number in range(count)
    ]


@pytest.fixture(scope="module")
def storm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("film") / "storm.mcap"
    record_scenario(path, "storm", seconds=60)
    return path


def test_pieces_are_the_journal_without_a_hole(storm: Path) -> None:
    show, film, records = read(storm)
    told = film.told(0, 0, show.nodes)
    parts = pieces(film, show)
    assert [record for part in parts for record in part.records] == records
    assert [record.seq for record in records] == list(range(1, len(records) + 1))
    assert [(one.first, one.t) for one in told.pieces] == [
        (part.first, part.records[0].t) for part in parts
    ]
    assert (told.records, told.end_t, told.whole) == (len(records), records[-1].t, True)
    assert all(len(part.records) <= films.PIECE for part in parts)


def test_each_piece_begins_with_what_its_past_comes_to(storm: Path) -> None:
    show, film, records = read(storm)
    builder, table = StateBuilder(), PodTable()
    seq = 0
    for part in pieces(film, show):
        for record in records[seq : part.first - 1]:
            builder.apply(record)
            table.apply(record)
        seq = part.first - 1
        t = records[seq - 1].t if seq else 0
        assert part.state.engine == builder.state(t)
        assert [(pod.uid, pod.running, pod.gone_t) for pod in part.pods] == [
            (pod.uid, pod.running, pod.gone_t) for pod in table.rows()
        ]


def test_changes_lead_from_one_piece_to_the_next(storm: Path) -> None:
    show, film, _records = read(storm)
    parts = pieces(film, show)
    for part, following in itertools.pairwise(parts):
        engine = msgspec.to_builtins(part.state.engine)
        for change in part.changes:
            for name, value in change.fields.items():
                field, _, key = name.partition(".")
                if key:
                    engine[field][key] = value
                elif field in engine:
                    engine[field] = value
        expected = msgspec.to_builtins(following.state.engine)
        del engine["t"], expected["t"]
        assert engine == expected


def test_a_call_that_hangs_is_told_while_it_does(tmp_path: Path) -> None:
    records: list[Record] = [
        RuntimeHung(t=1, wall=1, hung=True, method="ListPodSandbox", age_ns=5),
        RuntimeHung(t=2, wall=2, hung=False, method="ListPodSandbox", age_ns=9),
    ]
    show, film, _records = read(written(tmp_path / "a.jsonl", records))
    (part,) = pieces(film, show)
    calls = [change.fields["oldest_call"] for change in part.changes]
    assert calls == [{"method": "ListPodSandbox", "age_ns": 5, "hung": True}, None]


@pytest.mark.parametrize("back", [False, True])
def test_what_is_looked_for_is_the_nearest(storm: Path, back: bool) -> None:
    _show, film, records = read(storm)
    uid = next(record.uid for record in reversed(records) if getattr(record, "uid", None))  # type: ignore[attr-defined]
    kinds = {
        "relist": [r.seq for r in records if isinstance(r, RelistFinished)],
        "pod": [r.seq for r in records if getattr(r, "uid", None) == uid],
    }
    for what, wanted in kinds.items():
        for seq in (0, 1, wanted[0], wanted[-1], films.PIECE, len(records), len(records) + 9):
            expected = (
                max((one for one in wanted if one < seq), default=None)
                if back
                else min((one for one in wanted if one > seq), default=None)
            )
            found = film.find(Sought(what=what, seq=seq, back=back, uid=uid))
            assert found.seq == expected, (what, seq)


def test_incidents_are_found_in_both_directions(storm: Path) -> None:
    show, film, records = read(storm)
    incidents = film.told(0, 0, show.nodes).incidents
    assert incidents
    first = film.find(Sought(what="incident", seq=0))
    assert (first.seq, first.t) == (incidents[0].seq, incidents[0].t)
    last = film.find(Sought(what="incident", seq=len(records) + 1, back=True))
    assert last.seq == incidents[-1].seq
    assert film.find(Sought(what="incident", seq=len(records) + 1)).seq is None


def test_heavy_records_make_short_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(films, "PIECE_WEIGHT", 1000)
    heavy: list[Record] = [
        Note(seq=n, t=n, wall=n, level="info", text="x" * 400) for n in range(1, 10)
    ]
    show, film, records = read(written(tmp_path / "a.jsonl", heavy))
    assert [len(part.records) for part in pieces(film, show)] == [3, 3, 3]
    assert len(records) == 9


def test_it_can_be_played_as_far_as_it_has_been_read(storm: Path) -> None:
    show = Show([storm])
    film = show.films[0]
    assert film.told(0, 0, show.nodes).pieces == ()
    film.advance()
    told = film.told(0, 0, show.nodes)
    assert (len(told.pieces), told.records, told.whole) == (1, films.PIECE, False)
    with pytest.raises(IndexError):
        film.piece(1)
    film.advance()
    assert [one.first for one in film.told(1, 0, show.nodes).pieces] == [films.PIECE + 1]
