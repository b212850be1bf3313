"""Where plegscope's own files are: browser assets, page templates, generated code.

In a wheel they lie inside the package (``app/static``, ``app/templates``); in a checkout,
which an editable install points at, beside it (``static``, ``templates``). The files that
the build hook makes (third-party assets, protobuf code) are in no checkout until it has
been built; their absence is said here, in a sentence, before something else trips over it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from app.errors import InstallationError

PACKAGE: Final = Path(__file__).resolve().parent

#: Files the build hook makes, relative to the static directory.
VENDOR_FILES: Final = ("vendor/htmx/htmx.min.js",)
#: Files the build hook makes, relative to the package.
GENERATED_FILES: Final = (
    "cri/pb/__init__.py",
    "cri/pb/cri_pb2.py",
    "sim/pb/__init__.py",
    "sim/pb/cri_changes_pb2.py",
    "export/pb/__init__.py",
    "export/pb/perfetto_pb2.py",
)


def static_dir(package: Path = PACKAGE) -> Path:
    """Return the directory served as static files.

    Args:
        package: the package's directory; another one only in tests.

    Raises:
        InstallationError: there is none, or the third-party assets are not in it.
    """
    directory = _data_dir("static", package)
    _require(directory, VENDOR_FILES, package)
    return directory


def templates_dir(package: Path = PACKAGE) -> Path:
    """Return the directory of the page templates.

    Args:
        package: the package's directory; another one only in tests.

    Raises:
        InstallationError: there is none.
    """
    return _data_dir("templates", package)


def check_generated(package: Path = PACKAGE) -> None:
    """Check that the protobuf code was made; to be called before ``app.cri`` is imported.

    Args:
        package: the package's directory; another one only in tests.

    Raises:
        InstallationError: it was not.
    """
    _require(package, GENERATED_FILES, package)


def _data_dir(name: str, package: Path) -> Path:
    """Inside the package if it is there, else beside it in a checkout."""
    inside = package / name
    if inside.is_dir():
        return inside
    beside = package.parent / name
    # The project file tells a checkout from site-packages, where a neighbour called
    # "static" would be somebody else's.
    if beside.is_dir() and (package.parent / "pyproject.toml").is_file():
        return beside
    raise InstallationError(
        f"plegscope's {name} files are missing: neither {inside} nor a source tree has them. "
        + _remedy(package)
    )


def _require(directory: Path, names: tuple[str, ...], package: Path) -> None:
    for name in names:
        if not (directory / name).is_file():
            raise InstallationError(
                f"{directory / name} is missing; it is made when plegscope is built or installed. "
                + _remedy(package)
            )


def _remedy(package: Path) -> str:
    root = package.parent
    if (root / "pyproject.toml").is_file():
        return f"Run `pip install -e {root}` (or `make demo` there)."
    return "Run `pip install --force-reinstall plegscope`."
