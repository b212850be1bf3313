"""No name is left anywhere, over all scenarios and what real runtimes sent; and it still plays."""

from __future__ import annotations

import base64
import gzip
import json
from pathlib import Path

import msgspec
import pytest

from app.engine.records import Record
from app.errors import RecordingError
from app.export.names import Names
from app.export.redact import Redacted, Redactor
from app.export.redactfile import KINDS, redact_file
from app.export.source import open_source
from app.recording.answers import Answer
from app.recording.format import EVENTS, MESSAGES, TOPICS
from app.recording.reading import Recording, Told
from app.recording.rerun import compare
from app.recording.scribe import Scribe
from app.recording.segment import Segment
from app.sim.library import names as scenarios
from tests.cri.captures import STREAMING, answers, events
from tests.export.leaks import content, leaked, messages, names_of
from tests.export.made import SECOND, scenario
from tests.recording.recorded import info, read, record_scenario


def redactor(
    key: bytes = b"k" * 32, *, lasting: bool = False, containers: bool = False
) -> Redactor:
    return Redactor(Names(key, lasting=lasting), containers=containers)


@pytest.mark.parametrize("name", scenarios())
def test_no_name_is_left_of_any_scenario(name: str, tmp_path: Path) -> None:
    path, out = tmp_path / "a.mcap", tmp_path / "b.mcap"
    record_scenario(path, name, seconds=10)
    names = names_of(path)
    assert len(names) > 5
    assert leaked(names, content(path))
    done = redact_file(path, out, redactor())
    assert done.left_out == 0
    assert leaked(names, content(out)) == []
    # Packed, three letters are somewhere by chance.
    assert leaked({one for one in names if len(one) > 8}, out.read_bytes()) == []


@pytest.mark.parametrize("runtime", STREAMING)
@pytest.mark.parametrize("play", ["lifecycle", "crashloop", "startfail", "restart", "subscribers"])
def test_no_name_is_left_of_what_a_runtime_sent(runtime: str, play: str, tmp_path: Path) -> None:
    path, out = tmp_path / "a.mcap", tmp_path / "b.mcap"
    scribe = Scribe(info(host="node-7", title="containerd on node-7"), lambda _part: Segment(path))
    for number, event in enumerate(events(runtime, play), 1):
        scribe.put_event(number, number, event.SerializeToString())
    for t, answer in enumerate(answers(runtime, play), 1000):
        scribe.put_answer(answer._replace(t=t, wall=t))
    scribe.turn()
    names = names_of(path)
    assert "node-7" in names
    done = redact_file(path, out, redactor(containers=True))
    assert done.messages > 1
    assert leaked(names - {"true", "false"}, content(out)) == []
    kept = [data for number, data in messages(out) if number == EVENTS]
    assert len(kept) == len(events(runtime, play))
    with Recording(out, answers=True) as recording:
        rebuilt = [one for one in recording.items() if isinstance(one, Answer)]
    assert len(rebuilt) == len(answers(runtime, play))


def test_every_channel_of_a_recording_is_redacted() -> None:
    assert set(KINDS) | set(MESSAGES) == set(TOPICS)


def test_two_mentions_stay_the_same_thing(tmp_path: Path) -> None:
    path, out = scenario(tmp_path), tmp_path / "b.mcap"
    redact_file(path, out, redactor())
    (_, before), (_, after) = read(path), read(out)
    assert len(before) == len(after)
    stands: dict[str, str] = {}
    for one, other in zip(before, after, strict=True):
        if isinstance(one, Told) and isinstance(other, Told):
            for field in ("uid", "container_id"):
                name = getattr(one.record, field, None)
                if name:
                    stand = getattr(other.record, field)
                    assert stands.setdefault(name, stand) == stand
    assert len(set(stands.values())) == len(stands) > 40


def test_a_redacted_recording_runs_again_and_gives_its_own_records(tmp_path: Path) -> None:
    out = tmp_path / "b.mcap"
    redact_file(scenario(tmp_path), out, redactor())
    done = compare([out])
    assert done.hole is None
    assert done.differs is None
    assert done.records > 400


def test_everything_but_names_is_as_it_was(tmp_path: Path) -> None:
    path, out = scenario(tmp_path), tmp_path / "b.mcap"
    redact_file(path, out, redactor())

    def told(path: Path) -> list[tuple[object, ...]]:
        return [
            (type(one), one.seq, one.t, one.wall, getattr(one, "after_ns", None))
            for one in open_source(path).records()
        ]

    assert told(path) == told(out)


def test_a_key_that_is_kept_gives_the_same_in_every_file(tmp_path: Path) -> None:
    path = scenario(tmp_path)

    def made(name: str, key: bytes, *, lasting: bool) -> bytes:
        redact_file(path, tmp_path / name, redactor(key, lasting=lasting))
        return content(tmp_path / name)

    assert made("a", b"1" * 32, lasting=True) == made("b", b"1" * 32, lasting=True)
    assert made("c", b"1" * 32, lasting=False) != made("d", b"2" * 32, lasting=False)


def test_json_lines_are_redacted_too(tmp_path: Path) -> None:
    path, lines, out = scenario(tmp_path), tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    records: list[Record] = list(open_source(path).records())
    lines.write_bytes(b"".join(msgspec.json.encode(one) + b"\n" for one in records) + b"{bad\n")
    done = redact_file(lines, out, redactor())
    assert (done.messages, done.missing) == (len(records), ["1\xa0line could not be read."])
    assert leaked(names_of(path), out.read_bytes()) == []


def test_an_export_can_be_redacted(tmp_path: Path) -> None:
    from app.export.formats import FORMATS

    path = scenario(tmp_path)
    names = names_of(path)
    for name, format_ in FORMATS.items():
        source = Redacted(open_source(path), redactor())
        for make in format_.files.values():
            made = b"".join(make(source))
            # A page's style sheets have words of their own; its records are packed.
            assert leaked(names, unpacked(made) if name == "html" else made) == [], name


def unpacked(page: bytes) -> bytes:
    """An exported page's records, and its title."""
    data = page.partition(b'id="data">')[2].partition(b"</script>")[0]
    title = page.partition(b"<title>")[2].partition(b"</title>")[0]
    return gzip.decompress(base64.b64decode(data)) + title


def test_what_cannot_be_understood_is_left_out_and_counted(tmp_path: Path) -> None:
    path, out = tmp_path / "a.mcap", tmp_path / "b.mcap"
    scribe = Scribe(info(), lambda _part: Segment(path))
    scribe.put_event(1, 1, b"\xff\xff secret-thing")
    scribe.put_event(SECOND, SECOND, base64.b64decode("CgNhYmM="))
    scribe.turn()
    done = redact_file(path, out, redactor())
    assert done.left_out == 1
    assert b"secret-thing" not in content(out)


def test_a_file_that_is_there_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("mine")
    with pytest.raises(RecordingError, match="exists already"):
        redact_file(scenario(tmp_path), tmp_path / "out", redactor())
    assert (tmp_path / "out").read_text() == "mine"


def test_a_recording_in_which_nothing_can_be_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.mcap"
    path.write_bytes(scenario(tmp_path).read_bytes()[:40])
    with pytest.raises(RecordingError, match=r"\.$"):
        redact_file(path, tmp_path / "b.mcap", redactor())
    assert not (tmp_path / "b.mcap").exists()


def test_the_title_and_the_node_are_redacted(tmp_path: Path) -> None:
    path, out = tmp_path / "a.mcap", tmp_path / "b.mcap"
    told = info(host="worker-3.corp.example", title="containerd 2.1.9 on worker-3")
    scribe = Scribe(told, lambda _part: Segment(path))
    scribe.put_event(1, 1, b"")
    scribe.turn()
    redact_file(path, out, redactor())
    session = json.loads(next(data for _number, data in messages(out)))
    assert session["title"] == f"containerd 2.1.9 on {session['host']}"
    assert session["host"].startswith("node-")
