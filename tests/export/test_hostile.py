"""Files that somebody made to hurt: numbers that cannot be, bytes that were changed, floods."""

from __future__ import annotations

import random
import tracemalloc
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import get_args

import msgspec
import pytest

from app.engine.records import AnyRecord, Record
from app.errors import RecordingError
from app.export import chrome, tracks
from app.export.formats import FORMATS, Make
from app.export.names import Names
from app.export.redact import Redacted, Redactor
from app.export.redactfile import redact_file
from app.export.source import Source, open_source
from tests.build import chain, pod_gone, pod_seen
from tests.export.made import SECOND, kept, numbered, scenario

MAKES = [(name, make) for name, form in FORMATS.items() for make in form.files.values()]


def extreme(value: int) -> tuple[Record, ...]:
    """One record of each kind with this number wherever one can be."""
    made = []
    for kind in get_args(AnyRecord):
        given: dict[str, object] = {"kind": kind.__struct_config__.tag}
        for field in msgspec.structs.fields(kind):
            candidates: tuple[object, ...] = (value, "x", True, [], {"running": value}, None)
            for candidate in candidates:
                try:
                    msgspec.convert(candidate, field.type)
                except msgspec.ValidationError:
                    continue
                given[field.name] = candidate
                break
            else:
                # A word of a fixed choice.
                given[field.name] = get_args(field.type)[0]
        made.append(msgspec.convert(given, kind))
    return tuple(made)


@pytest.mark.parametrize(("name", "make"), MAKES)
@pytest.mark.parametrize("value", [0, -1, 2**63, -(2**63), 2**64])
def test_numbers_that_cannot_be_are_no_fault_of_ours(name: str, make: Make, value: int) -> None:
    assert len(b"".join(make(kept(*extreme(value))))) > 100


@pytest.mark.parametrize("seed", range(40))
def test_a_changed_file_is_exported_or_refused(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    data = bytearray(scenario(tmp_path).read_bytes())
    for _ in range(chance.randint(1, 30)):
        data[chance.randrange(len(data))] = chance.randrange(256)
    del data[chance.randrange(len(data)) if seed % 3 == 0 else len(data) :]
    path = tmp_path / "changed.mcap"
    path.write_bytes(data)
    name, make = MAKES[seed % len(MAKES)]
    try:
        source = open_source(path)
        assert b"".join(make(source)), name
        redact_file(path, tmp_path / "out.mcap", Redactor(Names(b"k" * 32)))
    except RecordingError as error:
        assert str(error).endswith(".")  # noqa: PT017  either is right
    assert not list(tmp_path.glob("*.tmp"))


class Flood:
    """A node that goes on for ever: pods come, are restarted, and go."""

    def __init__(self, pods: int) -> None:
        self.title = "A flood"
        self.simulated = True
        self.files: Sequence[Path] = ()
        self.missing: list[str] = []
        self.pods = pods

    def records(self) -> Iterator[Record]:
        for number in range(self.pods):
            t, uid = number * SECOND, f"00000000-0000-4000-8000-{number % 50:012x}"
            yield pod_seen(uid, t, name=f"web-{number % 50}")
            yield from chain(number + 1, t + SECOND // 4, uid)
            yield pod_gone(uid, t + SECOND // 2)


def peak(make: Make, source: Source) -> int:
    tracemalloc.start()
    for _piece in make(source):
        pass
    used = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return used


@pytest.mark.parametrize(("name", "make"), [one for one in MAKES if one[0] != "html"])
def test_memory_does_not_grow_with_the_recording(
    name: str, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (tracks, chrome):
        monkeypatch.setattr(module, "MOST_REQUESTS", 100)
    peak(make, Flood(10))
    small, large = peak(make, Flood(300)), peak(make, Flood(3000))
    assert large < 1.3 * small + 100_000, name


def test_redacting_does_not_either() -> None:
    def make(source: Source) -> Iterator[bytes]:
        return FORMATS["jsonl"].files[""](Redacted(source, Redactor(Names(b"k" * 32))))

    peak(make, Flood(10))
    small, large = peak(make, Flood(100)), peak(make, Flood(1500))
    assert large < 1.3 * small + 100_000


def test_a_journal_of_one_kind_is_enough_for_each_format() -> None:
    for record in extreme(7):
        for _name, make in MAKES:
            assert b"".join(make(kept(*numbered(record))))
