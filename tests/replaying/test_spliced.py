"""Files of one session are played by their indexes, as one file would be."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from app.engine.records import Record
from app.hub.filmwire import FilmTold, Piece, Sought
from app.recording import packer
from app.recording.scribe import Scribe
from app.recording.segment import Segment
from app.recording.virtual import VirtualRecorder, describe
from app.replaying import deep, plan, show, spliced
from app.replaying import film as film_module
from app.replaying.film import Film
from app.replaying.show import Show
from app.sim.account import play_to_end
from app.sim.library import load
from app.sim.virtual import VirtualSession
from tests.recording.recorded import SECOND, info
from tests.replaying.test_joined import file, relist

EACH = 200


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """A session in four files or more, as the flight recorder cuts it."""
    folder = tmp_path_factory.mktemp("parts")
    session = VirtualSession(load("churn"))
    recorder = VirtualRecorder(session, folder / "none.mcap")
    scribe = Scribe(describe(session), lambda part: Segment(folder / f"part-{part}.mcap"))
    recorder._scribe = scribe

    def turned(record: Record) -> None:
        if not recorder._seq % EACH:
            scribe.turn()

    session.listeners.append(turned)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(packer, "CHUNK_MESSAGES", 60)
        play_to_end(session, 70 * SECOND)
        recorder.close()
    paths = sorted(folder.glob("part-*.mcap"))
    assert len(paths) >= 4
    return paths


@pytest.fixture(autouse=True)
def short_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan, "PIECE", 60)
    monkeypatch.setattr(deep, "GRACE_S", 0.0)
    monkeypatch.setattr(deep, "OPENING_S", 0.0)


def laid_out(paths: Sequence[Path], monkeypatch: pytest.MonkeyPatch) -> Film:
    """The same as it is where each is read from its beginning."""
    with monkeypatch.context() as patch:
        patch.setattr(show, "spliced", lambda files: files)
        film = Show(paths).films[0]
    assert film._deep is None
    return read(film)


def read(film: Film) -> Film:
    while film.advance():
        pass
    return film


def pieces(film: Film) -> list[Piece]:
    return [
        msgspec.json.decode(gzip.decompress(film.piece(number)), type=Piece)
        for number in range(film.pieces)
    ]


def records(film: Film) -> list[Record]:
    return [record for piece in pieces(film) for record in piece.records]


def test_its_end_is_in_reach_at_once_and_all_is_as_it_is_read(
    parts: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    film = Show(parts).films[0]
    plain = laid_out(parts, monkeypatch)
    assert film._deep is not None
    assert (film.end_t, film.known, film.whole) == (plain.end_t, True, False)
    # From its end, before anything was read.
    last = msgspec.json.decode(gzip.decompress(film.piece(film.pieces - 1)), type=Piece)
    assert last.records[-1] == records(plain)[-1]
    assert records(film) == records(plain)
    read(film)
    assert film.layout == 1
    assert film.warnings == plain.warnings == []
    told = [one.told(0, 0, ()) for one in (film, plain)]
    assert [facts(one) for one in told[:1]] == [facts(one) for one in told[1:]]
    for piece in pieces(film):
        at = piece.records[-1].t
        for what in ("relist", "incident"):
            sought = Sought(what=what, seq=piece.first)
            assert film.find(sought) == plain.find(sought), at
    # A part of the whole, without the first file, is one as well.
    assert records(read(Show(parts[1:]).films[0])) == records(laid_out(parts[1:], monkeypatch))


def facts(told: FilmTold) -> tuple[object, ...]:
    return (
        told.records, told.end_t, told.idle, told.incidents, told.incidents_total,
        sum(told.overview.records),
    )  # fmt: skip


def test_the_state_and_the_pods_before_a_piece_are_the_same(
    parts: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    # With a piece for each record there is one that begins where each of the others does.
    monkeypatch.setattr(film_module, "PIECE", 1)
    film, plain = Show(parts).films[0], laid_out(parts, monkeypatch)
    others = {one.first: one for one in pieces(plain)}
    told = pieces(film)
    assert len(told) > 10
    for one in told:
        other = others[one.first]
        assert one.pods == other.pods
        assert one.state.engine == other.state.engine


def test_an_index_that_proves_untrue_is_given_up(parts: list[Path], tmp_path: Path) -> None:
    given = [tmp_path / path.name for path in parts]
    for path, copy in zip(parts, given, strict=True):
        copy.write_bytes(path.read_bytes())
    film = Show(given).films[0]
    data = bytearray(given[2].read_bytes())
    middle = len(data) // 3
    data[middle : middle + 40] = bytes(40)
    given[2].write_bytes(data)
    read(film)
    assert film.layout == 2
    assert film.whole
    assert any("damaged" in one for one in film.warnings)


@pytest.mark.parametrize("why", ["a hole", "another session", "lines", "no index"])
def test_what_does_not_follow_is_laid_out(parts: list[Path], tmp_path: Path, why: str) -> None:
    given = list(parts)
    if why == "a hole":
        del given[1]
    elif why == "another session":
        given = [
            file(tmp_path / f"{n}.mcap", info(session=f"{n}" * 16), [relist(SECOND, 1)])
            for n in (1, 2)
        ]
    elif why == "no index":
        given[1] = tmp_path / "cut.mcap"
        given[1].write_bytes(parts[1].read_bytes()[: len(parts[1].read_bytes()) // 40])
    else:
        given[1] = tmp_path / "lines.jsonl"
        given[1].write_bytes(msgspec.json.encode(relist(SECOND, 1)) + b"\n")
    film = Show(given).films[0]
    assert film._deep is None
    assert read(film).whole


def test_so_many_that_it_would_take_too_long_are_laid_out(
    parts: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, most in (("MOST_CHUNKS", 10), ("MOST_FILES", 3)):
        with monkeypatch.context() as patch:
            patch.setattr(spliced, name, most)
            assert Show(parts).films[0]._deep is None
