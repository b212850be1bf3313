"""Reads the recordings of real runtimes in tests/captures (see the README there)."""

from __future__ import annotations

import base64
import gzip
import json
from pathlib import Path
from typing import Any

from app.cri.pb import cri_pb2
from app.recording.answers import Answer

DIRECTORY = Path(__file__).parents[1] / "captures"

RUNTIMES = ("containerd-1.6.20", "containerd-1.7.24", "containerd-2.1.9", "crio-1.37.0-dev")
STREAMING = RUNTIMES[1:]


def paths() -> list[Path]:
    """All recordings."""
    return sorted(DIRECTORY.glob("*/*.jsonl*"))


def records(runtime: str, scenario: str) -> list[dict[str, Any]]:
    """The lines of one recording."""
    (path,) = DIRECTORY.glob(f"{runtime}/{scenario}.jsonl*")
    return read(path)


def read(path: Path) -> list[dict[str, Any]]:
    """The lines of a file."""
    raw = path.read_bytes()
    text = (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode()
    return [json.loads(line) for line in text.splitlines()]


def events(runtime: str, scenario: str) -> list[cri_pb2.ContainerEventResponse]:
    """The events of one recording."""
    return [
        cri_pb2.ContainerEventResponse.FromString(base64.b64decode(record["b64"]))
        for record in records(runtime, scenario)
        if record["kind"] == "event"
    ]


def answers(runtime: str, scenario: str) -> list[Answer]:
    """The answers of one recording: lists, and statuses of containers."""
    found: list[Answer] = []
    for record in records(runtime, scenario):
        t = record["t"]
        if record["kind"] == "list":
            for method, key in (
                ("ListPodSandbox", "pods_b64"),
                ("ListContainers", "containers_b64"),
            ):
                found.append(Answer(t, t, method, "", base64.b64decode(record[key])))
        elif record["kind"] == "status":
            raw = base64.b64decode(record["b64"])
            asked_for = cri_pb2.ContainerStatusResponse.FromString(raw).status.id
            found.append(Answer(t, t, "ContainerStatus", asked_for, raw))
    return found


def listings(
    runtime: str, scenario: str
) -> list[tuple[cri_pb2.ListPodSandboxResponse, cri_pb2.ListContainersResponse]]:
    """The pairs of lists of one recording."""
    return [
        (
            cri_pb2.ListPodSandboxResponse.FromString(base64.b64decode(record["pods_b64"])),
            cri_pb2.ListContainersResponse.FromString(base64.b64decode(record["containers_b64"])),
        )
        for record in records(runtime, scenario)
        if record["kind"] == "list"
    ]
