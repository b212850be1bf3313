"""Files that were made to hurt: refused with a sentence, or read, in little memory and time."""

from __future__ import annotations

import contextlib
import resource
import subprocess
import sys
import time
from pathlib import Path

import pytest

from app.errors import RecordingError
from app.recording.reading import Recording, Told, is_mcap
from app.recording.recover import recover
from tests.commands import environment
from tests.recording import hostile
from tests.recording.recorded import read

CORPUS = dict(hostile.corpus())
SOON_S = 10.0

READ_ALL = """
import sys
from pathlib import Path
from app.errors import RecordingError
from app.recording.reading import Recording
for path in sorted(Path(sys.argv[1]).iterdir()):
    try:
        with Recording(path) as recording:
            count = sum(1 for _ in recording.items())
        print(path.name, count, len(recording.damage), recording.unreadable)
    except RecordingError as error:
        print(path.name, error)
"""


@pytest.mark.parametrize("name", CORPUS)
def test_it_is_read_or_refused_soon_and_never_breaks_anything(name: str, tmp_path: Path) -> None:
    path = tmp_path / f"{name}.mcap"
    path.write_bytes(CORPUS[name])
    began = time.process_time()
    try:
        recording, items = read(path)
    except RecordingError as error:
        said = str(error)
        assert said.startswith(str(path))
        assert said.endswith(".")
        assert "plegscope" in said
    else:
        assert len(items) <= 70_000
        assert len(recording.damage) <= 100
    with contextlib.suppress(RecordingError):
        recover(path, tmp_path / "out.mcap")
    assert time.process_time() - began < SOON_S


def test_all_of_them_in_little_memory(tmp_path: Path) -> None:
    folder = tmp_path / "corpus"
    folder.mkdir()
    for name, raw in CORPUS.items():
        (folder / name).write_bytes(raw)

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (600 * hostile.MIB, 600 * hostile.MIB))

    done = subprocess.run(
        [sys.executable, "-c", READ_ALL, str(folder)],
        capture_output=True, text=True, env=environment(), preexec_fn=limit, timeout=200,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout.splitlines()) == len(CORPUS)


def readable(name: str, tmp_path: Path) -> tuple[Recording, list[str]]:
    path = tmp_path / "a.mcap"
    path.write_bytes(CORPUS[name])
    recording, items = read(path)
    return recording, [item.record.text for item in items if isinstance(item, Told)]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "name",
    [
        "huge-length", "says-it-unpacks-to-much", "channel-that-lies", "recursive-schema",
        "list-of-everything", "deep-1", "deep-2", "deep-3", "wrong-1", "wrong-2", "wrong-3",
        "not-text-1", "not-text-2", "not-text-3",
    ],
)  # fmt: skip
def test_what_is_well_beside_it_is_read(name: str, tmp_path: Path) -> None:
    recording, texts = readable(name, tmp_path)
    assert texts == ["here"]
    if name.partition("-")[0] in ("deep", "wrong", "not"):
        assert recording.unreadable == 1


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("theirs", r"is an MCAP file, but not one of plegscope's .* wrote it"),
        ("text", r"is no MCAP file\. Give a file that plegscope recorded"),
        ("no-mcap", "is no MCAP file"),
        ("lines", r"is no MCAP file\. JSON lines can be played, .* give a recording, such as"),
        ("empty", "is no MCAP file"),
        ("newer", r"written by plegscope '9\.0' in format 99; this one reads up to 1\. Update"),
    ],
)
def test_others_are_refused_with_a_sentence(name: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "a.mcap"
    path.write_bytes(b'{"kind": "note"}\n' if name == "lines" else CORPUS[name])
    with pytest.raises(RecordingError, match=said):
        read(path)


@pytest.mark.parametrize("name", ["bomb-with-size", "bomb-without-size", "huge-window"])
def test_a_bomb_is_damage_with_its_place(name: str, tmp_path: Path) -> None:
    recording, texts = readable(name, tmp_path)
    (damage,) = recording.damage
    assert texts == []
    assert damage.lost
    assert damage.offset == len(hostile.file())


def test_bombs_end_where_the_files_size_allows_no_more(tmp_path: Path) -> None:
    recording, _texts = readable("many-bombs", tmp_path)
    assert recording.damaged
    assert recording.damage[-1].lost


@pytest.mark.parametrize("path", ["/dev/zero", "/dev/null", ".", "none"])
def test_what_is_no_file_is_not_read(path: str, tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match="cannot be read"):
        Recording(tmp_path / path)


def test_whoever_may_not_read_what_root_recorded_is_told_how(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_given: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("app.recording.regular.os.open", refuse)
    with pytest.raises(RecordingError, match=r"\(Permission denied\)\. .* use sudo here too"):
        Recording(tmp_path / "node.mcap")


def test_a_recording_is_known_by_its_name_or_its_beginning(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(CORPUS["theirs"])
    (tmp_path / "b").write_bytes(b"{}")
    assert is_mcap(tmp_path / "a")
    assert is_mcap(tmp_path / "none.mcap")
    assert not is_mcap(tmp_path / "b")
    assert not is_mcap(tmp_path / "none")
