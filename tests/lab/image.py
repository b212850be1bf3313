"""The one image of the lab: a static busybox, packed as an OCI image archive.

The same bytes come out for the same busybox, on every machine. The image serves as a pod's
pause container too: its default command sleeps for ever. Format: OCI image layout 1.0.
"""

from __future__ import annotations

import hashlib
import io
import json
import platform
import subprocess
import tarfile
from pathlib import Path
from typing import Any

IMAGE = "localhost/plegscope-lab:1"
TYPE = "application/vnd.oci.image.{}"
ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}


class _Tar:
    """A tar file in memory whose entries carry no time, owner or other trace of the machine."""

    def __init__(self) -> None:
        self._buffer = io.BytesIO()
        self._tar = tarfile.open(fileobj=self._buffer, mode="w", format=tarfile.USTAR_FORMAT)  # noqa: SIM115 - closed in done()

    def directory(self, name: str, mode: int = 0o755) -> None:
        entry = tarfile.TarInfo(name)
        entry.type, entry.mode = tarfile.DIRTYPE, mode
        self._tar.addfile(entry)

    def file(self, name: str, data: bytes, mode: int = 0o644) -> None:
        entry = tarfile.TarInfo(name)
        entry.size, entry.mode = len(data), mode
        self._tar.addfile(entry, io.BytesIO(data))

    def link(self, name: str, target: str) -> None:
        entry = tarfile.TarInfo(name)
        entry.type, entry.linkname, entry.mode = tarfile.SYMTYPE, target, 0o777
        self._tar.addfile(entry)

    def done(self) -> bytes:
        self._tar.close()
        return self._buffer.getvalue()


def root_filesystem(busybox: bytes, applets: list[str]) -> bytes:
    """The image's only layer, an uncompressed tar: busybox, and a link to it per applet."""
    tar = _Tar()
    for name in ("bin", "dev", "etc", "proc", "root", "sys"):
        tar.directory(name)
    tar.directory("tmp", 0o1777)
    tar.file("bin/busybox", busybox, 0o755)
    for applet in sorted(set(applets) - {"busybox"}):
        tar.link(f"bin/{applet}", "busybox")
    tar.file("etc/group", b"root:x:0:\n")
    tar.file("etc/passwd", b"root:x:0:0:root:/root:/bin/sh\n")
    return tar.done()


def image_archive(layer: bytes, name: str = IMAGE) -> bytes:
    """An OCI archive of one image with one layer, for ``ctr images import``."""
    machine = {
        "architecture": ARCHITECTURES.get(platform.machine(), platform.machine()),
        "os": "linux",
    }
    blobs: list[bytes] = []

    def blob(kind: str, data: bytes) -> dict[str, Any]:
        blobs.append(data)
        digest = f"sha256:{hashlib.sha256(data).hexdigest()}"
        return {"mediaType": TYPE.format(kind), "digest": digest, "size": len(data)}

    layer_entry = blob("layer.v1.tar", layer)
    config = {
        **machine,
        "config": {
            "Cmd": ["/bin/sleep", "2147483647"],
            "Env": ["PATH=/bin"],
            "WorkingDir": "/",
        },
        "rootfs": {"type": "layers", "diff_ids": [layer_entry["digest"]]},
    }
    manifest = {
        "schemaVersion": 2,
        "mediaType": TYPE.format("manifest.v1+json"),
        "config": blob("config.v1+json", _json(config)),
        "layers": [layer_entry],
    }
    entry = blob("manifest.v1+json", _json(manifest))
    entry |= {"platform": machine, "annotations": {"io.containerd.image.name": name}}
    tar = _Tar()
    tar.file("oci-layout", _json({"imageLayoutVersion": "1.0.0"}))
    tar.file("index.json", _json({"schemaVersion": 2, "manifests": [entry]}))
    for data in blobs:
        tar.file(f"blobs/sha256/{hashlib.sha256(data).hexdigest()}", data)
    return tar.done()


def build(busybox: Path) -> bytes:
    """The archive made of the busybox program at `busybox`, which is asked for its applets."""
    listed = subprocess.run(
        [str(busybox), "--list"], check=True, capture_output=True, text=True, timeout=30
    )
    return image_archive(root_filesystem(busybox.read_bytes(), listed.stdout.split()))


def _json(value: dict[str, Any]) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()
