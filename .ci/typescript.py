"""TypeScript, to check the browser's modules: one pinned package in ``.cache``, never shipped.

It is fetched as the build hook fetches what the browser gets: by the npm that comes with the build
and with the user's own npm settings, checked against the digest that is written down here before
anything of it is used, and never installed, so none of its scripts runs.
"""

from __future__ import annotations

import shutil
import sys
import tarfile
import tempfile
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parent.parent
CONFIG = ROOT / ".ci" / "tsconfig.json"

sys.path.insert(0, str(ROOT / "proto"))

from hatch_build import Asset, BuildError, check_integrity, npm_pack  # noqa: E402

PACKAGE = Asset(
    package="typescript",
    version="5.9.3",
    integrity=(
        "sha512-jl1vZzPDinLr9eUt3J/t7V6FgNEw9QjvBPdysz9KfQDD41fQrC2Y4vKQdiaUpFT4bXlb1RHhLpp8wtm6"
        "M5TgSw=="
    ),
    directory="typescript",
    files={},
)

COMPILER = "lib/tsc.js"


def compiler(cache: Path = ROOT / ".cache") -> Path:
    """The path of ``tsc.js``; fetched the first time.

    Args:
        cache: where it is kept.

    Raises:
        BuildError: it cannot be had; the text says why and what to do.
    """
    home = cache / f"typescript-{PACKAGE.version}"
    if not (home / COMPILER).is_file():
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="typescript-", dir=cache) as tmp:
            tarball = npm_pack(PACKAGE, Path(tmp))
            check_integrity(PACKAGE, tarball.read_bytes())
            made = Path(tmp) / "made"
            _unpack(tarball, made)
            shutil.rmtree(home, ignore_errors=True)
            # Whole or not at all: two runs may do this at the same time.
            made.rename(home)
    return home / COMPILER


def _unpack(tarball: Path, target: Path) -> None:
    """Write what it takes to check: the compiler, the descriptions of the language, the licence."""
    with tarfile.open(tarball, "r:gz") as tar:
        for member in tar:
            path = PurePosixPath(member.name)
            wanted = path.name in ("tsc.js", "_tsc.js", "package.json", "LICENSE.txt") or (
                path.name.startswith("lib.") and path.name.endswith(".d.ts")
            )
            shallow = path.parts[:-1] in (("package",), ("package", "lib"))
            if not (member.isreg() and wanted and shallow):
                continue
            source = tar.extractfile(member)
            assert source is not None
            out = target.joinpath(*path.parts[1:])
            out.parent.mkdir(parents=True, exist_ok=True)
            out.write_bytes(source.read())
    if not (target / COMPILER).is_file():
        raise BuildError(f"{PACKAGE.package} {PACKAGE.version} has no {COMPILER}; see {__file__}.")
