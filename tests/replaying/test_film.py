"""A recording made playable: its pieces tell what its journal told, at every moment."""

from __future__ import annotations

import gzip
import itertools
from pathlib import Path

import msgspec
import pytest

from app.engine.records import Lifecycle, Note, Record, RelistFinished, RuntimeHung
from app.errors import RecordingError
from app.hub.filmwire import Counted, Piece, Sought
from app.journal import levels as levels_module
from app.journal.cut import Cut
from app.journal.levels import WIDTHS, Levels
from app.journal.projection import PodTable
from app.journal.rebuild import StateBuilder
from app.recording import format as words
from app.recording import packer, scribe
from app.recording.clip import clip
from app.recording.packer import Packer
from app.recording.reading import Recording, Told
from app.recording.segment import Segment
from app.replaying import deep, plan
from app.replaying import film as films
from app.replaying.film import Film
from app.replaying.moments import moment
from app.replaying.past import Cutting, Past
from app.replaying.plan import PIECE
from app.replaying.shelf import SpoolShelf
from app.replaying.show import Show
from tests.recording.recorded import SECOND, record_scenario
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
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recording in many chunks and pieces, with places to begin at."""
    path = tmp_path_factory.mktemp("film") / "storm.mcap"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(packer, "CHUNK_MESSAGES", 200)
        patch.setattr(scribe, "OPENING_RECORDS", 400)
        patch.setattr(scribe, "OPENING_SHARE", 1)
        record_scenario(path, "storm", seconds=60)
    return path


@pytest.fixture(autouse=True)
def short_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of what is played by its index, and nobody to give way to."""
    monkeypatch.setattr(plan, "PIECE", 250)
    monkeypatch.setattr(deep, "GIVE_WAY_S", 0.0)


@pytest.fixture(scope="module")
def cut(indexed: Path) -> Path:
    """The same without its end, and so without an index there."""
    path = indexed.with_name("cut.mcap")
    path.write_bytes(indexed.read_bytes()[:-10])
    return path


@pytest.fixture(scope="module")
def lines(indexed: Path) -> Path:
    """The same journal as JSON lines."""
    path = indexed.with_name("lines.jsonl")
    with Recording(indexed) as recording:
        told = (one for one in recording.items() if isinstance(one, Told) and not one.opening)
        path.write_bytes(b"".join(msgspec.json.encode(one.record) + b"\n" for one in told))
    return path


@pytest.fixture(params=["indexed", "cut", "lines"])
def storm(request: pytest.FixtureRequest) -> Path:
    """Played by its index, chunk by chunk, and laid out."""
    path = request.getfixturevalue(request.param)
    assert isinstance(path, Path)
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
    assert all(len(part.records) <= PIECE for part in parts)
    assert [one for number in range(film.pieces) for one in film.records(number)] == records


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
    assert calls == [{"method": "ListPodSandbox", "since_t": -5, "hung": True}, None]


def test_a_simulated_hang_is_an_incident_and_is_over_with_its_relist(tmp_path: Path) -> None:
    path = tmp_path / "frozen.mcap"
    record_scenario(path, "frozen-runtime", seconds=60)
    show, film, records = read(path)
    (hung,) = [one for one in film.told(0, 0, show.nodes).incidents if one.kind == "hung"]
    begins, answers = (one for one in records if isinstance(one, RuntimeHung))
    over = next(r for r in records if isinstance(r, RelistFinished) and r.t > begins.t)
    assert (hung.seq, hung.text) == (begins.seq, "ListPodSandbox does not come back")
    changes = [change for part in pieces(film, show) for change in part.changes]
    found = {one.seq: one.fields["oldest_call"] for one in changes if "oldest_call" in one.fields}
    call = {"method": begins.method, "since_t": begins.t - begins.age_ns, "hung": True}
    assert found == {begins.seq: call, over.seq: None}
    assert over.t < answers.t


@pytest.mark.parametrize("back", [False, True])
def test_what_is_looked_for_is_the_nearest(storm: Path, back: bool) -> None:
    _show, film, records = read(storm)
    uid = next(record.uid for record in reversed(records) if getattr(record, "uid", None))  # type: ignore[attr-defined]
    kinds = {
        "relist": [r.seq for r in records if isinstance(r, RelistFinished)],
        "pod": [r.seq for r in records if getattr(r, "uid", None) == uid],
    }
    for what, wanted in kinds.items():
        for seq in (0, 1, wanted[0], wanted[-1], PIECE, len(records), len(records) + 9):
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


def test_without_an_index_it_can_be_played_as_far_as_it_has_been_read(lines: Path) -> None:
    show = Show([lines])
    film = show.films[0]
    assert film.told(0, 0, show.nodes).pieces == ()
    film.advance()
    told = film.told(0, 0, show.nodes)
    assert (len(told.pieces), told.records, told.whole) == (1, PIECE, False)
    with pytest.raises(IndexError):
        film.piece(1)
    film.advance()
    assert [one.first for one in film.told(1, 0, show.nodes).pieces] == [PIECE + 1]


@pytest.mark.parametrize("name", ["indexed", "cut"])
def test_with_an_index_it_can_be_played_anywhere_at_once(
    request: pytest.FixtureRequest, name: str, lines: Path
) -> None:
    show = Show([request.getfixturevalue(name)])
    film = show.films[0]
    told = film.told(0, 0, show.nodes)
    other, laid_out, records = read(lines)
    assert (told.records, told.end_t, told.whole) == (len(records), records[-1].t, False)
    count = len(told.pieces)
    assert count > 3
    order = [count - 1, 1, 2, 0, count - 2, 1]
    got = {number: film.piece(number) for number in order}
    whole = [record for part in pieces(laid_out, other) for record in part.records]
    assert [record for part in pieces(film, show) for record in part.records] == whole
    # As somebody who has read everything before it would tell it.
    past = Past()
    for number, span in enumerate(told.pieces):
        end = told.pieces[number + 1].first if number + 1 < count else len(whole) + 1
        cutting = Cutting(past, film._state)
        for record in whole[span.first - 1 : end - 1]:
            cutting.add(record)
        if number in got:
            assert gzip.decompress(got[number]) == cutting.told(number)


def test_what_has_not_been_read_is_found_nevertheless(indexed: Path) -> None:
    _show, whole, records = read(indexed)
    film = Show([indexed]).films[0]
    uid = next(record.uid for record in reversed(records) if getattr(record, "uid", None))  # type: ignore[attr-defined]
    middle = len(records) // 2
    for what in ("relist", "pod"):
        for seq, back in ((0, False), (len(records) + 1, True), (middle, False)):
            sought = Sought(what=what, seq=seq, back=back, uid=uid)
            found = film.find(sought)
            assert (found.seq, found.t) == (whole.find(sought).seq, whole.find(sought).t)
            assert found.seq is not None
    assert film.find(Sought(what="pod", seq=0, uid="nobody's")).seq is None


def bins(film: Film, records: list[Record], width: int = WIDTHS[1]) -> tuple[Counted, Cut]:
    """What a film has counted, and what these records come to."""
    uids = sorted({uid for one in records if (uid := getattr(one, "uid", None))})
    levels = Levels(lanes=len(uids) + 1)
    for record in records:
        levels.apply(record)
    end = 1 + max((one.t for one in records), default=0)
    counted = film.counted(width, 0, end, uids)
    return counted, levels.cut(width, 0, end, uids, staying=True)


def test_it_is_counted_as_far_as_it_has_been_read(
    storm: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And all of it at the end, however narrow the bins: blocks are laid aside, none is lost."""
    monkeypatch.setattr(levels_module, "BLOCK", 64)
    film = Show([storm]).films[0]
    assert film.counted(WIDTHS[0], 0, 1, ()).t < 0
    records: list[Record] = []
    for _ in range(3):
        records += film.advance()
    counted, expected = bins(film, records)
    assert counted.reading
    assert counted.t == records[-1].t - 1
    assert (counted.all, counted.pods) == (expected.all, expected.pods)
    while more := film.advance():
        records += more
    for width in WIDTHS:
        counted, expected = bins(film, records, width)
        assert (counted.reading, counted.t, counted.layout) == (False, records[-1].t, film.layout)
        told = msgspec.structs.asdict(expected)
        assert {name: getattr(counted, name) for name in told} == told
        assert dict(counted.known).keys() == set(WIDTHS)


def test_where_counts_have_no_room_it_plays_on_and_says_up_to_where_it_knows(
    storm: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(films, "SpoolShelf", lambda: SpoolShelf(500))
    monkeypatch.setattr(levels_module, "BLOCK", 64)
    _show, film, records = read(storm)
    assert film.whole
    counted, _expected = bins(film, records)
    assert not counted.reading
    assert counted.t < records[-1].t


@pytest.mark.parametrize("asked", [True, False])
def test_an_index_that_is_not_true_is_given_up(indexed: Path, tmp_path: Path, asked: bool) -> None:
    path = tmp_path / "flipped.mcap"
    data = bytearray(indexed.read_bytes())
    with Recording(indexed) as recording:
        index = recording.index()
        assert index is not None
        data[index.offsets[len(index) // 2] + 300] ^= 1
    path.write_bytes(data)
    show = Show([path])
    film = show.films[0]
    assert len(film.told(0, 0, show.nodes).pieces) > 3
    if asked:
        with pytest.raises(RecordingError, match="Load this page again"):
            pieces(film, show)
    records: list[Record] = []
    while more := film.advance():
        records += more
    told = film.told(2, 0, show.nodes)
    assert told.pieces[0].first == 1
    assert (told.layout, told.whole, told.records) == (2, True, len(records))
    assert [record.seq for record in records] == list(range(1, len(records) + 1))
    assert [record for part in pieces(film, show) for record in part.records] == records
    assert any("damaged" in one for one in told.warnings)
    assert sum(told.overview.records) == len(records)
    counted, expected = bins(film, records)
    assert (counted.layout, counted.all) == (2, expected.all)


@pytest.mark.parametrize("back", [False, True])
def test_of_a_file_that_was_emptied_meanwhile_nothing_is_found(
    indexed: Path, tmp_path: Path, back: bool
) -> None:
    path = tmp_path / "emptied.mcap"
    path.write_bytes(indexed.read_bytes())
    _show, film, records = read(path)
    path.write_bytes(b"")
    with pytest.raises(RecordingError, match="Load this page again"):
        film.piece(0)
    assert film.advance() == []
    assert (film.whole, film.pieces) == (True, 0)
    uid = next(record.uid for record in records if isinstance(record, Lifecycle))
    for what in ("pod", "relist"):
        sought = Sought(what=what, seq=100, back=back, uid=uid)
        assert film.find(sought).seq is None
    with pytest.raises(RecordingError, match="Put it back"):
        moment(film, 0, SECOND)


def test_states_that_cannot_be_understood_are_done_without_also_after_the_end(
    indexed: Path, tmp_path: Path
) -> None:
    """Such as another version wrote; reading it through does not need them."""
    path = tmp_path / "other.mcap"
    segment, packed = Segment(path), Packer()
    packed.prepend(words.schema_records() + words.channel_records())
    with Recording(indexed) as recording:
        for number, message in recording.messages():
            data = b'{"t":"?"}' if number == words.STATES else message.data
            if packed.put(number, *message[1:4], data):
                segment.append(packed.take())
    segment.append(packed.take())
    segment.finish()
    show = Show([path])
    film = show.films[0]
    while film.advance():
        pass
    assert film.told(0, 0, show.nodes).whole
    with pytest.raises(RecordingError, match="Load this page again"):
        film.piece(film.pieces - 1)
    assert not film.whole
    # Nothing is told twice.
    assert film.advance() == []
    told = film.told(0, 0, show.nodes)
    assert (told.layout, told.whole) == (2, True)
    assert sum(len(part.records) for part in pieces(film, show)) == told.records


def test_a_later_part_knows_what_was_counted_before_it(tmp_path: Path) -> None:
    whole = tmp_path / "whole.mcap"
    journal = record_scenario(whole, "storm", seconds=40)
    clipped = tmp_path / "clip.mcap"
    clipped.write_bytes(clip(whole, 20 * SECOND, 60))
    film = Show([clipped]).films[0]
    part = msgspec.json.decode(gzip.decompress(film.piece(0)), type=Piece)
    engine = msgspec.to_builtins(part.state.engine)
    first = next(one for one in part.records if one.t >= 0)
    for change in part.changes:
        if change.seq < first.seq:
            for name, value in change.fields.items():
                field, _, key = name.partition(".")
                if key:
                    engine[field][key] = value
    builder = StateBuilder()
    for record in journal:
        if record.t < 20 * SECOND:
            builder.apply(record)
    assert engine["events"] == builder.state(0).events
    assert sum(engine["events"].values()) > 0
