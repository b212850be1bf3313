"""Whatever became of a recording, its pieces are those of reading it through, or it is said."""

from __future__ import annotations

import contextlib
import gzip
import random
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
import pytest

from app.engine.records import Record
from app.hub.filmwire import Piece
from app.recording import packer
from app.recording.mcapindex import FOOTER
from app.replaying import deep, plan
from app.replaying import film as film_module
from app.replaying.deep import Broken
from app.replaying.film import Film
from app.replaying.show import Show
from tests.recording.recorded import record_scenario
from tests.recording.test_mcapindex import sealed, summary

FILES = 20


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("deep") / "churn.mcap"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(packer, "CHUNK_MESSAGES", 60)
        record_scenario(path, "churn", seconds=70)
    return path.read_bytes()


@pytest.fixture(autouse=True)
def short_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan, "PIECE", 60)
    monkeypatch.setattr(deep, "GRACE_S", 0.0)
    monkeypatch.setattr(deep, "OPENING_S", 0.0)


def records_of(film: Film, show: Show) -> list[Record]:
    """The records of all pieces, as they are told."""
    count = len(film.told(0, 0, show.nodes).pieces)
    packed = [gzip.decompress(film.piece(number)) for number in range(count)]
    parts = [msgspec.json.decode(one, type=Piece) for one in packed]
    return [record for part in parts for record in part.records]


def check(path: Path) -> int:
    """Play a file; returns which table of pieces is told in the end."""
    show = Show([path])
    film = show.films[0]
    early: list[Record] = []
    # Where it is damaged, nothing is told of it.
    with contextlib.suppress(Broken):
        early = records_of(film, show)
    read: list[Record] = []
    while more := film.advance():
        read += more
    told = film.told(0, 0, show.nodes)
    assert told.records == len(read)
    assert records_of(film, show) == read
    if told.layout == 1 and early:
        assert early == read
    return told.layout


def test_whatever_was_changed_in_a_file(data: bytes, tmp_path: Path) -> None:
    chance = random.Random(11)
    path = tmp_path / "a.mcap"
    layouts: list[int] = []
    for _ in range(FILES):
        changed = bytearray(data)
        # Before the summary, as that is looked through by its checksum.
        for _ in range(chance.randrange(1, 4)):
            changed[chance.randrange(300, summary(changed)[0])] ^= 1 << chance.randrange(8)
        path.write_bytes(changed)
        layouts.append(check(path))
    assert set(layouts) == {1, 2}


def test_whatever_an_index_says(data: bytes, tmp_path: Path) -> None:
    chance = random.Random(12)
    path = tmp_path / "a.mcap"
    for _ in range(FILES):
        changed = bytearray(data)
        start = summary(changed)[0]
        for _ in range(chance.randrange(1, 3)):
            at = chance.randrange(start, len(data) - FOOTER)
            changed[at] = chance.randrange(256)
        path.write_bytes(sealed(changed))
        check(path)


def test_a_file_that_is_replaced_meanwhile_is_not_mixed(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "a.mcap"
    path.write_bytes(data)
    show = Show([path])
    film = show.films[0]
    first = film.piece(1)
    path.unlink()
    path.write_bytes(data[: len(data) // 2])
    count = len(film.told(0, 0, show.nodes).pieces)
    assert film.piece(1) == first
    assert film.piece(count - 1)


def test_pieces_that_many_ask_for_at_once_are_each_cut_once(
    data: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.mcap"
    path.write_bytes(data)
    one_by_one = Show([path]).films[0]
    film = Show([path]).films[0]
    cut: list[int] = []
    plain = deep.Deep._cut

    def counted(self: deep.Deep, number: int) -> bytes:
        cut.append(number)
        return plain(self, number)

    monkeypatch.setattr(deep.Deep, "_cut", counted)
    numbers = list(range(film.pieces))[::-1] * 2
    with ThreadPoolExecutor(len(numbers)) as pool:
        got = list(pool.map(film.piece, numbers))
    assert sorted(cut) == list(range(film.pieces))
    monkeypatch.undo()
    assert got == [one_by_one.piece(number) for number in numbers]


def test_whoever_reads_the_whole_lets_others_pass_in_the_midst_of_a_piece(
    data: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.mcap"
    path.write_bytes(data)
    film = Show([path]).films[0]
    one = deep.Deep(film._files[0], film.origin, film._state)
    one.give_way()
    told: list[str] = []

    def read_on() -> None:
        one.let_pass()
        told.append("read on")

    one._ask(0, 1)
    assert one.waited_for
    with ThreadPoolExecutor(1) as pool:
        reading = pool.submit(read_on)
        told.append("had it")
        one._ask(0, -1)
        reading.result(timeout=60)
    assert told == ["had it", "read on"]
    # Not for ever: who has waited for long in one piece reads on.
    monkeypatch.setattr(deep, "GIVE_WAY_S", 0.0)
    one.give_way()
    one._ask(0, 1)
    one.let_pass()
    assert one.waited_for

    passed: list[int] = []
    monkeypatch.setattr(film_module, "AT_ONCE", 10)
    monkeypatch.setattr(deep.Deep, "let_pass", lambda self: passed.append(len(self)))
    read = len(film.advance())
    assert len(passed) == read // 10 > 1
