"""Answers are recorded as received, cheaply, and each is read again with all its rows."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from app.cri.pb import cri_pb2 as pb
from app.recording import answers as module
from app.recording.answers import (
    KEYFRAME_NS,
    MOST_BYTES,
    Answer,
    Answered,
    AnswerReader,
    AnswerWriter,
    Unknowable,
)
from app.recording.format import ANSWERS, ANSWERS_OF
from app.recording.protowire import as_row, split_fields, split_rows
from app.recording.reading import Recording
from app.recording.scribe import Scribe
from app.recording.segment import Segment
from tests.cri.captures import RUNTIMES, answers
from tests.recording.recorded import SECOND, info

PLAYS = ("lifecycle", "crashloop", "restart")


def row(number: int, state: int = 1, labels: int = 4) -> pb.Container:
    return pb.Container(
        id=f"{number:064x}",
        pod_sandbox_id=f"{number // 2:064x}",
        metadata=pb.ContainerMetadata(name=f"app-{number}", attempt=0),
        image=pb.ImageSpec(image="registry.example/app:1"),
        state=state,  # type: ignore[arg-type]
        created_at=1_700_000_000_000_000_000 + number,
        labels={f"label-{one}": f"value-{number}" for one in range(labels)},
    )


def a_list(*rows: pb.Container) -> bytes:
    return pb.ListContainersResponse(containers=rows).SerializeToString()


def shuffled(raw: bytes, rng: random.Random) -> bytes:
    """The same list as a runtime gives it the next time: rows and maps in another order."""
    rows = []
    for one in split_rows(raw).values():
        fields = split_fields(one)
        head, maps = fields[:-4], fields[-4:]
        rng.shuffle(maps)
        rows.append(as_row(b"".join((*head, *maps))))
    rng.shuffle(rows)
    return b"".join(rows)


def answer(t: int, raw: bytes, asked_for: str = "", method: str = "ListContainers") -> Answer:
    return Answer(t, t, method, asked_for, raw)


def contents(raw: bytes) -> dict[bytes, list[bytes]]:
    """What a list says, without order."""
    return {row_id: sorted(split_fields(one)) for row_id, one in split_rows(raw).items()}


def there_and_back(told: list[Answer]) -> Iterator[tuple[Answered, bytes | None, Answer]]:
    writer, reader = AnswerWriter(), AnswerReader()
    for number, one in enumerate(told, 1):
        line, raw = writer.write(one, number)
        yield line, raw, reader.read(line, raw)


@pytest.mark.parametrize("runtime", RUNTIMES)
@pytest.mark.parametrize("play", PLAYS)
def test_what_real_runtimes_answered_is_read_again(runtime: str, play: str) -> None:
    received = answers(runtime, play)
    assert received
    for one, (line, raw, again) in zip(received, there_and_back(received), strict=True):
        assert again[:4] == one[:4]
        assert line.size == len(one.raw)
        if line.form == "whole":
            assert raw == again.raw == one.raw
        else:
            assert contents(again.raw) == contents(one.raw)
            assert raw is None or len(raw) < len(one.raw)


def test_a_list_of_a_quiet_node_is_told_once_whatever_its_order() -> None:
    rng = random.Random(1)
    whole = a_list(*map(row, range(100)))
    received = [answer(t, shuffled(whole, rng)) for t in range(10)]
    told = list(there_and_back(received))
    assert [line.form for line, _raw, _again in told] == ["whole", *["same"] * 9]
    assert all(raw is None for _line, raw, _again in told[1:])
    assert all(line.rows == 100 for line, _raw, _again in told)
    assert all(contents(again.raw) == contents(whole) for _line, _raw, again in told)


def test_what_changed_what_is_new_and_what_is_gone() -> None:
    rows = [row(number) for number in range(20)]
    later = [*rows[:5], row(5, state=2), *rows[7:], row(30)]
    told = list(there_and_back([answer(1, a_list(*rows)), answer(2, a_list(*later))]))
    line, raw, again = told[1]
    assert (line.form, line.base, line.rows, line.told) == ("changes", 1, 20, 2)
    assert line.gone_ids == (rows[6].id,)
    # By itself it is an answer of its kind.
    assert raw is not None
    assert list(pb.ListContainersResponse.FromString(raw).containers) == [row(5, state=2), row(30)]
    assert contents(again.raw) == contents(a_list(*later))


def test_where_most_has_changed_it_is_a_keyframe_and_now_and_then_as_well() -> None:
    first, second = a_list(*map(row, range(20))), a_list(*(row(n, state=2) for n in range(20)))
    times = [0, 1, KEYFRAME_NS // 2, KEYFRAME_NS + 1, KEYFRAME_NS + 2]
    raws = [first, second, second, second, second]
    told = there_and_back([answer(t, raw) for t, raw in zip(times, raws, strict=True)])
    forms = [line.form for line, _raw, _again in told]
    assert forms == ["whole", "whole", "same", "whole", "same"]


def test_a_list_of_one_pod_and_a_status_stand_by_themselves() -> None:
    whole = a_list(*map(row, range(20)))
    told = list(
        there_and_back(
            [
                answer(1, whole),
                answer(2, a_list(row(3, state=2)), asked_for="uid-3"),
                answer(3, b"\x0a\x02\x0a\x00", "c3", "ContainerStatus"),
                answer(4, whole),
            ]
        )
    )
    assert [line.form for line, _raw, _again in told] == ["whole", "whole", "whole", "same"]
    assert told[1][2].asked_for == "uid-3"
    assert contents(told[3][2].raw) == contents(whole)


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"\x12\x00",
        b"\x0a\x05ab",
        b"\x0a\x00",
        a_list(row(1), row(1)),
        b"\x0a" + b"\xff" * 10,
        b"\x0a\x04\x10\x01\x18\x01",
        b"\x0a\x03\x0b\x0b\x0b",
    ],
)
def test_what_has_no_rows_that_can_be_told_apart_is_kept_as_it_is(raw: bytes) -> None:
    told = list(there_and_back([answer(1, a_list(row(1), row(2))), answer(2, raw)]))
    assert (told[1][0].form, told[1][2].raw) == ("whole", raw)


def test_a_field_that_nobody_knows_counts_in_a_row_and_makes_a_list_a_whole_one() -> None:
    rows = [row(number).SerializeToString() for number in range(20)]
    unknown = b"\xfa\x7f\x01"
    whole = b"".join(map(as_row, rows))
    later = b"".join(map(as_row, [rows[0] + unknown + b"a", *rows[1:]]))
    latest = b"".join(map(as_row, [rows[0] + unknown + b"b", *rows[1:]]))
    raws = [whole, later, later, latest, latest + unknown + b"c", latest]
    told = list(there_and_back([answer(t, raw) for t, raw in enumerate(raws)]))
    forms = [line.form for line, _raw, _again in told]
    assert forms == ["whole", "changes", "same", "changes", "whole", "whole"]
    assert [again.raw for _line, _raw, again in told] == raws


def test_a_row_that_says_two_ids_makes_a_list_a_whole_one() -> None:
    rows = [row(number).SerializeToString() for number in range(20)]
    twice = b"\x0a\x01x" + row(5, state=2).SerializeToString()
    whole = b"".join(map(as_row, rows))
    odd = b"".join(map(as_row, [*rows[:5], twice, *rows[6:]]))
    raws = [whole, odd, odd, whole]
    told = list(there_and_back([answer(t, raw) for t, raw in enumerate(raws)]))
    assert [line.form for line, _raw, _again in told] == ["whole"] * 4
    assert [again.raw for _line, _raw, again in told] == raws


def test_one_that_builds_on_what_is_lost_cannot_be_known() -> None:
    rows = a_list(*map(row, range(20)))
    writer, reader = AnswerWriter(), AnswerReader()
    lines = [writer.write(answer(t, rows), t) for t in (1, 2, 3)]
    with pytest.raises(Unknowable, match="lost"):
        reader.read(*lines[1])
    reader.read(*lines[0])
    with pytest.raises(Unknowable, match="lost"):
        reader.read(*lines[2])
    assert reader.read(*lines[1]).raw == rows


@pytest.mark.parametrize(
    ("changed", "raw"),
    [
        ({"told": 7}, b""),
        ({"base": 99}, b""),
        ({"told": 1}, b"\x0a\x09"),
        ({"told": 1}, b"\xff"),
    ],
)
def test_nonsense_is_refused(changed: dict[str, int], raw: bytes) -> None:
    reader = AnswerReader()
    writer = AnswerWriter()
    reader.read(*writer.write(answer(1, a_list(row(1), row(2))), 1))
    line = Answered(t=2, wall=2, number=2, method="ListContainers", size=1, form="changes", base=1)
    with pytest.raises(Unknowable):
        reader.read(msgspec.structs.replace(line, **changed), raw)


def test_what_a_reader_keeps_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_BYTES", 5000)
    reader = AnswerReader()
    line = Answered(t=1, wall=1, number=1, method="ListContainers", size=1)
    reader.read(line, a_list(*map(row, range(10))))
    more = msgspec.structs.replace(line, number=2, form="changes", base=1, told=30)
    with pytest.raises(Unknowable, match="larger"):
        reader.read(more, a_list(*map(row, range(100, 130))))
    with pytest.raises(Unknowable, match="lost"):
        reader.read(msgspec.structs.replace(line, number=3, form="same", base=2), None)


def test_a_file_has_them_in_their_place(tmp_path: Path) -> None:
    path = tmp_path / "a.mcap"
    scribe = Scribe(info(), lambda _part: Segment(path))
    received = [
        one._replace(t=t * SECOND) for t, one in enumerate(answers("containerd-2.1.9", "restart"))
    ]
    for one in received:
        scribe.put_answer(one)
        scribe.flush()
    scribe.turn()
    with Recording(path, answers=True) as recording:
        again = [item for item in recording.items() if isinstance(item, Answer)]
        assert (recording.damaged, recording.unreadable) == (0, 0)
    assert [one[:4] for one in again] == [one[:4] for one in received]
    with Recording(path) as recording:
        assert not any(isinstance(item, Answer) for item in recording.items())
        raw = {}
    with Recording(path) as recording:
        for number, message in recording.messages():
            if number in ANSWERS_OF.values():
                raw[message.sequence] = message.data
            elif number == ANSWERS:
                line = msgspec.json.decode(message.data, type=Answered)
                if line.form == "whole":
                    # As received, byte for byte.
                    assert raw[line.number] == received[line.number - 1].raw


def test_the_next_file_begins_with_whole_lists(tmp_path: Path) -> None:
    scribe = Scribe(info(), lambda part: Segment(tmp_path / f"{part}.mcap"))
    whole = a_list(*map(row, range(30)))
    for t in (1, 2):
        scribe.put_answer(answer(t, whole))
    scribe.turn()
    scribe.put_answer(answer(3, whole))
    scribe.turn()
    with Recording(tmp_path / "2.mcap", answers=True) as recording:
        (again,) = [item for item in recording.items() if isinstance(item, Answer)]
    assert again.raw == whole


def test_one_too_large_for_a_message_is_a_loss_and_the_next_stands_by_itself(
    tmp_path: Path,
) -> None:
    path = tmp_path / "a.mcap"
    scribe = Scribe(info(), lambda _part: Segment(path))
    whole = a_list(*map(row, range(30)))
    scribe.put_answer(answer(1, whole))
    scribe.put_answer(answer(2, bytes(9 * 1024 * 1024), "c", "ContainerStatus"))
    scribe.put_answer(answer(3, whole))
    scribe.turn()
    with Recording(path, answers=True) as recording:
        again = [item for item in recording.items() if isinstance(item, Answer)]
        assert [one.t for one in again] == [1, 3]
        assert [loss.answers for loss in recording.losses] == [1]
    assert scribe.too_large == 1


def test_a_list_larger_than_a_message_is_in_several_and_read_as_one(tmp_path: Path) -> None:
    """As large as a CRI client takes: a node with ten thousand containers, or long annotations."""
    path = tmp_path / "a.mcap"
    scribe = Scribe(info(), lambda _part: Segment(path))
    rng = random.Random(2)
    rows = [row(number) for number in range(600)]
    for one in rows:
        one.annotations["manifest"] = rng.randbytes(13_000).hex()
    large, later = a_list(*rows), a_list(*rows[:-1], row(700))
    assert 14 * 1024 * 1024 < len(large) < MOST_BYTES
    for t, raw in enumerate((large, later, large), 1):
        scribe.put_answer(answer(t, raw))
        scribe.flush()
    scribe.turn()
    assert scribe.too_large == 0
    with Recording(path, answers=True) as recording:
        again = [item for item in recording.items() if isinstance(item, Answer)]
        assert (recording.losses, recording.damaged, recording.unreadable) == ([], 0, 0)
    assert again[0].raw == large
    assert [contents(one.raw) for one in again[1:]] == [contents(later), contents(large)]
    with Recording(path) as recording:
        messages = list(recording.messages())
    parts = [one for number, one in messages if number == ANSWERS_OF["ListContainers"]]
    assert len([one for one in parts if one.sequence == 1]) > 3
    # Each is an answer of its kind for whoever knows nothing of us.
    some = [pb.ListContainersResponse.FromString(one.data).containers for one in parts]
    assert [one.id for each in some[:-2] for one in each] == [one.id for one in rows]
    # Without one of its parts it is not known, and nor is what builds on it.
    del messages[next(i for i, (_number, one) in enumerate(messages) if one is parts[1])]
    with Recording(path, answers=True) as recording:
        items = [recording._item(number, message) for number, message in messages]
    assert not any(isinstance(item, Answer) for item in items)
