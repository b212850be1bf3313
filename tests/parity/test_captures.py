"""What real runtimes were recorded to tell, and what the simulated ones tell of the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cri import captures
from tests.parity.families import FAMILIES
from tests.parity.recording import Recording
from tests.parity.replayed import compare
from tests.parity.simulated import simulated

FAMILY_OF = {
    "containerd-1.6.20": "containerd-1.6",
    "containerd-1.7.24": "containerd-1.7",
    "containerd-2.1.9": "containerd-2",
    "crio-1.37.0-dev": "cri-o",
}
LARGE = ("hang", "storm", "stormonepod")
"""Captures of what a runtime does under stress, which is no matter of what its family tells."""
RECORDINGS = [
    (path.parent.name, path.name.split(".")[0])
    for path in captures.paths()
    if path.parent.name in FAMILY_OF and path.name.split(".")[0] not in LARGE
]


@pytest.mark.parametrize(("runtime", "scenario"), RECORDINGS)
def test_the_simulated_runtime_tells_what_was_recorded(
    runtime: str, scenario: str, tmp_path: Path
) -> None:
    with simulated(FAMILY_OF[runtime], tmp_path / "cri.sock") as node:
        compare(node, runtime, scenario)


def test_all_families_were_recorded_and_all_recordings_tell_something() -> None:
    assert {FAMILY_OF[runtime] for runtime, _ in RECORDINGS} == set(FAMILIES)
    assert len(RECORDINGS) >= 21
    for runtime, scenario in RECORDINGS:
        recording = Recording(runtime, scenario)
        heard = [one for name in recording.subscribers for one in recording.heard(name)]
        assert bool(heard) is (runtime != "containerd-1.6.20")
        assert all(one[1] != "?" for one in heard)


@pytest.mark.parametrize(
    ("runtime", "scenario", "count"),
    [
        ("containerd-2.1.9", "lifecycle", 32),
        ("containerd-1.7.24", "lifecycle", 32),
        ("crio-1.37.0-dev", "lifecycle", 30),
        ("containerd-2.1.9", "crashloop", 20),
        ("crio-1.37.0-dev", "crashloop", 18),
    ],
)
def test_a_recording_is_read_whole(runtime: str, scenario: str, count: int) -> None:
    assert len(Recording(runtime, scenario).heard("a")) == count
