"""Which socket to talk to, found the way crictl does.

The first of these that says something decides: the flag, ``CONTAINER_RUNTIME_ENDPOINT``, the key
``runtime-endpoint`` of crictl's configuration file (``CRI_CONFIG_FILE`` or ``/etc/crictl.yaml``),
then the first well-known socket that this user may use and on which somebody listens.
"""

import os
import re
import socket
import stat
from collections.abc import Callable, Mapping
from pathlib import Path
from urllib.parse import quote

import msgspec

from app.errors import EndpointError
from app.terminal import plain

CONFIG_FILE = Path("/etc/crictl.yaml")

WELL_KNOWN: tuple[tuple[str, Path], ...] = (
    ("containerd", Path("/run/containerd/containerd.sock")),
    ("CRI-O", Path("/run/crio/crio.sock")),
    ("k3s", Path("/run/k3s/containerd/containerd.sock")),
    ("cri-dockerd", Path("/run/cri-dockerd.sock")),
    # Where /var/run is no link to /run.
    ("containerd", Path("/var/run/containerd/containerd.sock")),
    ("CRI-O", Path("/var/run/crio/crio.sock")),
    ("cri-dockerd", Path("/var/run/cri-dockerd.sock")),
)

MAX_CONFIG = 64 * 1024
"""Bytes read of a configuration file; crictl's has a few lines."""

MAX_PATH = 107
"""Bytes a unix socket's path may have on Linux."""

_ENTRY = re.compile(r"""^runtime-endpoint\s*:\s*(?:"([^"]*)"|'([^']*)'|([^\s#]\S*)?)\s*(?:#.*)?$""")

USE_FLAG = "Give the socket with --runtime-endpoint unix:///path."
NO_PERMISSION = (
    "Run plegscope with sudo, or as a user of the group that owns the socket (`ls -l` shows it)."
)


class _NotAllowed(EndpointError):
    """The socket is there, but not for this user."""


class Endpoint(msgspec.Struct, frozen=True):
    """A socket to talk to: ``address`` is gRPC's (``unix:///…``), ``reason`` a clause."""

    address: str
    path: Path
    reason: str


def find_endpoint(
    flag: str = "",
    *,
    environment: Mapping[str, str] | None = None,
    config_file: Path = CONFIG_FILE,
    well_known: tuple[tuple[str, Path], ...] = WELL_KNOWN,
    may_use: Callable[[Path], bool] | None = None,
) -> Endpoint:
    """The endpoint to use and why. ``may_use`` says whether this user may connect to a socket.

    Raises:
        EndpointError: none was found, or the chosen one cannot be used; ends with what to do.
    """
    env = os.environ if environment is None else environment
    usable = may_use or _may_use
    if flag:
        return _checked(flag, "given by --runtime-endpoint", usable)
    if value := env.get("CONTAINER_RUNTIME_ENDPOINT", ""):
        return _checked(value, "given by CONTAINER_RUNTIME_ENDPOINT", usable)
    chosen = env.get("CRI_CONFIG_FILE", "")
    file = Path(chosen) if chosen else config_file
    if value := _configured(file, required=bool(chosen)):
        return _checked(value, f"runtime-endpoint in {file}", usable)
    return _first_well_known(well_known, usable)


def parse_endpoint(text: str) -> Path:
    """The socket's absolute path, from ``unix:///path`` or a plain path.

    Raises:
        EndpointError: anything else.
    """
    value = text.strip()
    scheme, colon, rest = value.partition("://")
    if colon and scheme != "unix":
        raise EndpointError(
            f"plegscope talks to a runtime on this machine only, by its unix socket, not by "
            f"{_shown(value)}. {USE_FLAG}"
        )
    raw = rest if colon else value.removeprefix("unix:")
    if not raw or "\0" in raw or (colon and not raw.startswith("/")):
        raise EndpointError(f"{_shown(value)} names no socket. {USE_FLAG}")
    try:
        path = Path(raw).absolute()
    except OSError as error:
        raise EndpointError(
            f"{_shown(raw)} cannot be found from here: the present directory is gone "
            f"({error.strerror}). Give the whole path, from / on."
        ) from None
    if len(os.fsencode(path)) > MAX_PATH:
        raise EndpointError(
            f"The path {_shown(raw)} is longer than the {MAX_PATH} bytes a socket's path may have. "
            "Make a shorter link to it and give that."
        )
    return path


def _checked(text: str, reason: str, usable: Callable[[Path], bool]) -> Endpoint:
    path = parse_endpoint(text)
    where = f"{_shown(str(path))} ({reason})"
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        raise EndpointError(
            f"There is no socket {where}. Start the runtime, or correct the path."
        ) from None
    except PermissionError:
        raise _NotAllowed(f"This user may not look at {where}. {NO_PERMISSION}") from None
    except OSError as error:
        raise EndpointError(
            f"The socket {where} cannot be used: {error.strerror}. {USE_FLAG}"
        ) from None
    if not stat.S_ISSOCK(mode):
        raise EndpointError(f"{where} is not a socket. {USE_FLAG}")
    if not usable(path):
        raise _NotAllowed(f"This user may not connect to {where}. {NO_PERMISSION}")
    return Endpoint(_address(path), path, reason)


def _first_well_known(
    well_known: tuple[tuple[str, Path], ...], usable: Callable[[Path], bool]
) -> Endpoint:
    forbidden: Path | None = None
    silent: Path | None = None
    for name, path in well_known:
        reason = f"the well-known socket of {name}"
        try:
            found = _checked(str(path), reason, usable)
        except _NotAllowed:
            forbidden = forbidden or path
            continue
        except EndpointError:
            continue
        if _listens(path):
            return found
        silent = silent or path
    if forbidden:
        raise EndpointError(
            f"There is a runtime's socket {forbidden}, but this user may not use it. "
            f"{NO_PERMISSION}"
        )
    if silent:
        raise EndpointError(
            f"The socket {silent} is there, but no runtime listens on it. Start the runtime, for "
            "instance with `systemctl start containerd`."
        )
    names = ", ".join(dict.fromkeys(name for name, _ in well_known))
    raise EndpointError(
        f"No container runtime was found: none of the well-known sockets ({names}) is there. "
        f"{USE_FLAG} To see plegscope without a runtime, run `plegscope demo`."
    )


def _configured(file: Path, *, required: bool) -> str:
    """The file's ``runtime-endpoint``, or nothing when the file, if not required, has none."""
    try:
        with file.open("rb") as opened:
            text = opened.read(MAX_CONFIG).decode(errors="replace")
    except (OSError, ValueError) as error:
        if not required:
            return ""
        reason = error.strerror if isinstance(error, OSError) else "no such path"
        raise EndpointError(
            f"The file {_shown(str(file))}, named by CRI_CONFIG_FILE, cannot be read ({reason}). "
            "Correct the variable or unset it."
        ) from None
    for line in text.splitlines():
        if match := _ENTRY.match(line):
            return next((value for value in match.groups() if value), "")
    return ""


def _address(path: Path) -> str:
    # gRPC reads the target as a URI and undoes percent-encoding.
    return f"unix://{quote(os.fsencode(path))}"


def _may_use(path: Path) -> bool:
    return os.access(path, os.R_OK | os.W_OK)


def _listens(path: Path) -> bool:
    """Whether somebody accepts connections: a socket file outlives its runtime."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK) as probe:
        try:
            probe.connect(os.fsencode(path))
        except BlockingIOError:
            # The queue of waiting connections is full: busy, but there.
            return True
        except OSError:
            return False
    return True


def _shown(text: str) -> str:
    """Somebody's text on one line of a terminal: unprintable characters escaped, bounded."""
    safe = plain(text[:300])
    return safe if len(text) <= 300 else f"{safe}…"
