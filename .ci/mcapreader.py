"""The MCAP reader that the format's authors keep for JavaScript, to open our files with: a second,
independent one, in ``.cache``, never shipped.

It is fetched as the build hook fetches what the browser gets: by the npm that comes with the build
and with the user's own npm settings, each package pinned and checked against the digest that is
written down here before anything of it is used, and never installed, so no script of theirs runs.
"""

from __future__ import annotations

import shutil
import sys
import tarfile
import tempfile
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parent.parent

sys.path.insert(0, str(ROOT / "proto"))

from hatch_build import Asset, BuildError, check_integrity, npm_pack  # noqa: E402

#: The reader, what it needs, and a protobuf that understands a schema that it is given.
PACKAGES = tuple(
    Asset(package, version, f"sha512-{digest}", package, {})
    for package, version, digest in (
        (
            "@mcap/core",
            "2.2.2",
            "W4NFiyqQlJsNjw8JxAAQ872u0xLWJy0GFC3YFm8bTLbNs+HdDWe8DwBqznr0MGYpWtw+AX8XzHWB5Y9rLEGJJg==",
        ),
        (
            "@foxglove/crc",
            "0.0.3",
            "DjIZsnL3CyP/yQ/vUYA9cjrD0a/8YXejI5ZmsaOiT16cLfZcTwaCxIN01/ys4jsy+dZCQ/9DnWFn7AEFbiMDaA==",
        ),
        (
            "heap-js",
            "2.7.1",
            "EQfezRg0NCZGNlhlDR3Evrw1FVL2G3LhU7EgPoxufQKruNBSYA8MiRPHeWbU+36o+Fhel0wMwM+sLEiBAlNLJA==",
        ),
        (
            "tslib",
            "2.9.1",
            "a4Ux9VKuIMHsOS7ENbEq6hK2ZGYIT27Rtl0E4eD9KqwxhKiQeMZE/9xb3IdYwWaSOyIBQLExhQgXDTYoiCxnWA==",
        ),
        (
            "@bufbuild/protobuf",
            "2.17.0",
            "hcPkSz6D7MiTU/5VBBhK+kxaYDoOdQ6yJRFJ3kS8Nydp+VZXfg1vrpABKPNod8bXMufsVCmiUJVIKFzCzta4uw==",
        ),
    )
)

#: What is written of a package: what runs, and its licence.
SUFFIXES = {".js", ".mjs", ".cjs", ".json"}


def reader(cache: Path = ROOT / ".cache") -> Path:
    """The directory whose ``node_modules`` has the reader; fetched the first time.

    Args:
        cache: where it is kept.

    Raises:
        BuildError: it cannot be had; the text says why and what to do.
    """
    home = cache / f"mcap-reader-{PACKAGES[0].version}"
    if not home.is_dir():
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="mcap-reader-", dir=cache) as tmp:
            made = Path(tmp) / "made"
            for asset in PACKAGES:
                with tempfile.TemporaryDirectory(dir=tmp) as folder:
                    tarball = npm_pack(asset, Path(folder))
                    check_integrity(asset, tarball.read_bytes())
                    _unpack(asset, tarball, made / "node_modules" / asset.directory)
            shutil.rmtree(home, ignore_errors=True)
            # Whole or not at all: two runs may do this at the same time.
            made.rename(home)
    return home


def _unpack(asset: Asset, tarball: Path, target: Path) -> None:
    """Write what runs, and the licence."""
    with tarfile.open(tarball, "r:gz") as tar:
        for member in tar:
            parts = PurePosixPath(member.name).parts
            wanted = PurePosixPath(member.name).suffix in SUFFIXES or "LICENSE" in parts[-1]
            if not (member.isreg() and wanted and parts[0] == "package" and ".." not in parts):
                continue
            source = tar.extractfile(member)
            assert source is not None
            out = target.joinpath(*parts[1:])
            out.parent.mkdir(parents=True, exist_ok=True)
            out.write_bytes(source.read())
    if not (target / "package.json").is_file():
        raise BuildError(f"{asset.package} {asset.version} has no package.json; see {__file__}.")
