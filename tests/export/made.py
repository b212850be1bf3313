"""Records and files to export."""

from __future__ import annotations

import functools
from pathlib import Path

import msgspec

from app.engine.records import Record
from app.export.source import Kept
from tests.build import HOSTILE, chain, died, note, pod_gone, pod_seen, request
from tests.recording.recorded import SECOND, record_scenario

__all__ = ["HOSTILE", "SECOND", "hostile", "kept", "numbered", "played", "scenario", "story"]


def numbered(*records: Record) -> tuple[Record, ...]:
    return tuple(msgspec.structs.replace(one, seq=n) for n, one in enumerate(records, 1))


def story() -> tuple[Record, ...]:
    """A pod, a stop that is found by a relist of its own, a note, and the pod's end."""
    *before, found, last = chain(1, 1 * SECOND)[:3], *chain(1, 1 * SECOND)[3:]
    linked = msgspec.structs.replace(last, relist=1, event=1, request=1, after_ns=4_000_000)
    return numbered(pod_seen(), *before[0], linked, found, note(2 * SECOND), pod_gone(t=3 * SECOND))


def hostile() -> tuple[Record, ...]:
    """The same by names that want to be more than names."""
    bad = f"</script>{HOSTILE}=cmd|' /C calc'!A0"
    return numbered(
        pod_seen(uid=bad, name=f"={bad}", namespace="@x"),
        request(1, uid=bad, t=SECOND),
        msgspec.structs.replace(died(uid=bad, t=2 * SECOND), reason="+1+1", container_name=bad),
        note(2 * SECOND, f"{bad} </ScRiPt> <!-- ]]>"),
    )


def kept(*records: Record) -> Kept:
    return Kept(records, "A test", simulated=True)


@functools.cache
def played(name: str = "lossy-stream", seconds: int = 40) -> tuple[bytes, tuple[Record, ...]]:
    """A scenario's recording, as bytes, and its records."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "one.mcap"
        told = record_scenario(path, name, seconds=seconds)
        return path.read_bytes(), tuple(told)


def scenario(folder: Path, name: str = "lossy-stream") -> Path:
    """A scenario's recording as a file."""
    path = folder / f"{name}.mcap"
    path.write_bytes(played(name)[0])
    return path
