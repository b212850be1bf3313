"""The reader that MCAP's authors keep for JavaScript opens our files and decodes all that is in
them, whatever became of them."""

from __future__ import annotations

import json
import os
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.export.names import Names
from app.export.redact import Redactor
from app.export.redactfile import redact_file
from app.recording import clip
from app.recording import format as words
from app.recording.reading import Recording
from app.recording.recover import recover
from tests.recording.captured import GOLDEN, Played
from tests.recording.recorded import SECOND, record_scenario

SCRIPT = Path(__file__).parent / "open.mjs"


def opened(*paths: Path) -> list[dict[str, Any]]:
    """What the reader says of each file."""
    done = subprocess.run(
        [os.environ["PLEGSCOPE_NODE"], SCRIPT, os.environ["PLEGSCOPE_MCAP_READER"], *paths],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return [json.loads(line) for line in done.stdout.splitlines()]


def ours(path: Path) -> dict[str, int]:
    """How many messages of each topic we read."""
    counts: Counter[str] = Counter()
    with Recording(path) as recording:
        for number, _message in recording.messages():
            counts[words.TOPICS[number]] += 1
    return dict(counts)


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A real runtime's restart, with all that it sent."""
    path = tmp_path_factory.mktemp("reader") / "node.mcap"
    Played("containerd-2.1.9", "lifecycle", path).play()
    assert {"/cri/sandboxes", "/cri/container_status", "/cri/events"} <= ours(path).keys()
    return path


def recorded(node: Path, _out: Path) -> Path:
    return node


def clipped(node: Path, out: Path) -> Path:
    out.write_bytes(clip.clip(node, 10 * SECOND, 3600))
    return out


def recovered(node: Path, out: Path) -> Path:
    raw = bytearray(node.read_bytes())
    raw[len(raw) // 2] ^= 1
    damaged = out.with_suffix(".damaged")
    damaged.write_bytes(raw[:-100])
    assert recover(damaged, out).damaged
    return out


def redacted(node: Path, out: Path) -> Path:
    redact_file(node, out, Redactor(Names(b"k" * 32, lasting=False)))
    return out


def simulated(_node: Path, out: Path) -> Path:
    record_scenario(out, "big-node", seconds=20)
    return out


def older(_node: Path, _out: Path) -> Path:
    return GOLDEN / "older" / "second-ended.mcap"


@pytest.mark.parametrize("made", [recorded, clipped, recovered, redacted, simulated, older])
def test_it_finds_what_we_find_and_decodes_it(
    made: Callable[[Path, Path], Path], node: Path, tmp_path: Path
) -> None:
    path = made(node, tmp_path / "a.mcap")
    (told,) = opened(path)
    indexed, streamed = told["indexed"], told["streamed"]
    right = ours(path)
    assert sum(right.values()) > 100
    assert indexed["counts"] == streamed["counts"] == right
    assert {topic: count for topic, count in indexed["statistics"].items() if count} == right
    assert (indexed["profile"], indexed["chunks"] > 0) == ("plegscope", True)
    assert (streamed["left"], streamed["ended"]) == (0, True)
    if made is not older:
        assert indexed["topics"].keys() == set(words.TOPICS.values())
    for topic, (encoding, schema, name) in indexed["topics"].items():
        assert name.startswith("runtime.v1." if topic.startswith("/cri/") else "plegscope.")
        assert (encoding, schema) in (("json", "jsonschema"), ("protobuf", "protobuf"))


def test_a_file_that_was_cut_off_is_read_up_to_there(node: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.mcap"
    raw = node.read_bytes()
    path.write_bytes(raw[: len(raw) // 2])
    first, killed = opened(path, GOLDEN / "older" / "second-killed.mcap")
    assert "indexed" not in first
    assert first["streamed"]["left"] > 0
    # What is in the midst of a chunk is nobody's.
    assert first["streamed"]["counts"] == ours(path)
    assert killed["streamed"]["counts"] == ours(GOLDEN / "older" / "second-killed.mcap")
