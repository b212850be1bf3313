"""Every setting in one table. It feeds the command line and its help, and the README's check."""

import re
from collections.abc import Callable

import msgspec

from app.engine.profiles import PROFILES
from app.errors import SettingsError

SECOND = 1_000_000_000
SLOWEST, FASTEST = 0.1, 20.0
"""Limits of a simulated node's speed: beyond, gRPC's own milliseconds look like a slow runtime."""
EXPORTS = ("perfetto", "chrome", "csv", "jsonl", "html")
_UNITS = {"ms": SECOND // 1000, "s": SECOND, "m": 60 * SECOND, "h": 3600 * SECOND}
_DURATION = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)(ms|s|m|h)", re.ASCII)


def parse_duration(text: str) -> int:
    """``30s``, ``1.5m``, ``1h30m`` or ``500ms`` as nanoseconds; zero is refused.

    Raises:
        SettingsError: for anything else.
    """
    parts = _DURATION.findall(text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        raise SettingsError(f"{text!r} is no duration: write it like 30s, 5m or 1h30m.")
    total = sum(int(float(number) * _UNITS[unit]) for number, unit in parts)
    if total <= 0:
        raise SettingsError("A duration must be longer than nothing: write it like 30s.")
    return total


def parse_port(text: str) -> int:
    """A TCP port, 0 for any free one.

    Raises:
        SettingsError: not a number from 0 to 65535.
    """
    if not text.isascii() or not text.isdigit() or int(text) > 65535:
        raise SettingsError(f"{text!r} is no port: give a number from 0 (any free one) to 65535.")
    return int(text)


def parse_seed(text: str) -> int:
    """A seed: any whole number from 0.

    Raises:
        SettingsError: not such a number.
    """
    if not text.isascii() or not text.isdigit() or len(text) > 18:
        raise SettingsError(f"{text!r} is no seed: give a whole number, such as 7.")
    return int(text)


def parse_speed(text: str) -> float:
    """How many times as fast as real time: a number from 0.1 to 20, with or without an ``x``.

    Raises:
        SettingsError: not such a number.
    """
    number = text.removesuffix("x")
    plain = number.isascii() and number.replace(".", "", 1).isdigit() and len(number) <= 8
    if not plain or not SLOWEST <= float(number) <= FASTEST:
        raise SettingsError(
            f"{text!r} is no speed: give a number from {SLOWEST:g} (slower than life) to "
            f"{FASTEST:g}."
        )
    return float(number)


def parse_format(text: str) -> str:
    """``page`` or ``jsonl``.

    Raises:
        SettingsError: something else.
    """
    if text not in ("page", "jsonl"):
        raise SettingsError(f"{text!r} is no output format: choose page or jsonl.")
    return text


def parse_output(text: str) -> str:
    """``table``, ``json`` or ``jsonl``.

    Raises:
        SettingsError: something else.
    """
    if text not in ("table", "json", "jsonl"):
        raise SettingsError(f"{text!r} is no output format: choose table, json or jsonl.")
    return text


def parse_profile(text: str) -> str:
    """The name of a profile.

    Raises:
        SettingsError: there is no such profile.
    """
    if text not in PROFILES:
        raise SettingsError(f"{text!r} is no profile: choose one of {', '.join(PROFILES)}.")
    return text


def parse_export(text: str) -> str:
    """The name of an export's format.

    Raises:
        SettingsError: there is no such format.
    """
    if text not in EXPORTS:
        raise SettingsError(f"{text!r} is no export format: choose one of {', '.join(EXPORTS)}.")
    return text


def parse_report(text: str) -> str:
    """``table`` or ``json``.

    Raises:
        SettingsError: something else.
    """
    if text not in ("table", "json"):
        raise SettingsError(f"{text!r} is no output format: choose table or json.")
    return text


def parse_queue(text: str) -> int:
    """How many requests fit: a whole number from 1 to a million.

    Raises:
        SettingsError: not such a number.
    """
    if not text.isascii() or not text.isdigit() or not 1 <= int(text[:8]) <= 10**6:
        raise SettingsError(f"{text!r} is no queue size: give a whole number, such as 200.")
    return int(text[:8])


def parse_hold(text: str) -> int | None:
    """``off`` as 0, ``recorded`` as None, or a duration in nanoseconds.

    Raises:
        SettingsError: something else.
    """
    if text == "recorded":
        return None
    if text == "off":
        return 0
    try:
        return parse_duration(text)
    except SettingsError:
        raise SettingsError(
            f"{text!r} is no hold: choose off, recorded, or a duration such as 2s."
        ) from None


def parse_share(text: str) -> float:
    """A share above 0 and up to 1.

    Raises:
        SettingsError: not such a number.
    """
    plain = text.isascii() and text.replace(".", "", 1).isdigit() and len(text) <= 8
    if not plain or not 0 < float(text) <= 1:
        raise SettingsError(f"{text!r} is no share: give a number up to 1, such as 0.5 for half.")
    return float(text)


def parse_profiles(text: str) -> tuple[str, ...]:
    """Two or three names of profiles, with commas between them.

    Raises:
        SettingsError: another number, the same one twice, or no such profile.
    """
    found = tuple(parse_profile(name.strip()) for name in text.split(","))
    if not 2 <= len(found) <= 3 or len(set(found)) < len(found):
        raise SettingsError(f"{text!r} is not two or three profiles: write it like kep,generic.")
    return found


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """What one session runs with.

    ``duration_ns`` 0 means until it is stopped, or as long as the scenario says. ``seed`` None:
    the scenario's own. ``scenario`` empty: that of the demo. ``runtime_like`` empty: as the
    scenario says.
    """

    host: str = "127.0.0.1"
    port: int = 7780
    allow_hosts: tuple[str, ...] = ()
    browser: bool = True
    duration_ns: int = 0
    format: str = "page"
    runtime_endpoint: str = ""
    join_shared_stream: bool = False
    stream: bool = True
    call_timeout_ns: int = 120 * SECOND
    seed: int | None = None
    speed: float = 1.0
    profile: str = "kep"
    profiles: tuple[str, ...] = ("kep", "generic", "legacy")
    other_profile: str = ""
    period_ns: int = 0
    queue: int = 0
    hold_ns: int | None = None
    stream_loss: float = 0.0
    stream_delay_ns: int = 0
    scenario: str = ""
    runtime_like: str = ""
    output: str = "table"
    recording: str = ""
    recordings: tuple[str, ...] = ()
    record: bool = True
    record_to: str = ""
    export: str = ""
    redact: bool = False
    redact_containers: bool = False
    key_file: str = ""


class Setting(msgspec.Struct, frozen=True):
    """One row: the flag, where its value goes, and what ``--help`` says.

    A flag without dashes is the command's one argument, and must be given unless it is ``many``.
    ``parse`` None: a switch without a value that sets ``constant``. ``many``: may be repeated.
    """

    flag: str
    field: str
    help: str
    commands: tuple[str, ...]
    metavar: str = ""
    parse: Callable[[str], object] | None = None
    constant: object = True
    many: bool = False


BOTH = ("demo", "watch")
ALL = (*BOTH, "simulate")
SERVED = (*BOTH, "replay")

SETTINGS: tuple[Setting, ...] = (
    Setting(
        "SCENARIO",
        "scenario",
        "name of a scenario (`plegscope scenarios` lists them), or path of a scenario file",
        ("simulate", "compare"),
        "SCENARIO",
        str,
    ),
    Setting(
        "--scenario",
        "scenario",
        "what the node plays, with its faults: name of a scenario (`plegscope scenarios` lists "
        "them), or path of a scenario file (default: an ordinary node, without faults)",
        ("demo",),
        "NAME",
        str,
    ),
    Setting(
        "FILE",
        "recording",
        "a recording (MCAP); all but `recover` take a journal as JSON lines as well, which `watch` "
        "and `simulate` write when asked for jsonl",
        ("recover", "export", "redact"),
        "FILE",
        str,
    ),
    Setting(
        "FILE",
        "recordings",
        "a recording (MCAP), as `plegscope record` and the others write it; several files of one "
        "session, in order, are run as one",
        ("whatif",),
        "FILE",
        str,
        many=True,
    ),
    Setting(
        "FILE",
        "recordings",
        "recordings (MCAP), or journals as JSON lines, to be played on one clock, and those of one "
        "node as one (default: the list of what the flight recorder has)",
        ("replay",),
        "FILE",
        str,
        many=True,
    ),
    Setting(
        "-o",
        "record_to",
        "file to write, which must not exist yet; must be given",
        ("record", "recover", "export", "redact"),
        "OUT",
        str,
    ),
    Setting(
        "--record-to",
        "record_to",
        "record into this one file, which must not exist yet (default: `watch` and `demo` record "
        "into files of some minutes in $XDG_STATE_HOME/plegscope/flight, or "
        "~/.local/state/plegscope/flight: 512 MiB and two days of them at most)",
        ALL,
        "PATH",
        str,
    ),
    Setting(
        "--no-record",
        "record",
        "do not record what happens",
        BOTH,
        constant=False,
    ),
    Setting(
        "--runtime-endpoint",
        "runtime_endpoint",
        "socket of the container runtime, such as unix:///run/containerd/containerd.sock "
        "(default: found the way crictl does: CONTAINER_RUNTIME_ENDPOINT, then crictl's "
        "configuration file, then the well-known sockets)",
        ("watch", "record"),
        "ENDPOINT",
        str,
    ),
    Setting(
        "--join-shared-stream",
        "join_shared_stream",
        "subscribe to events even where all subscribers share one stream (containerd 1.x, CRI-O "
        "before 1.28) and plegscope would take events away from a kubelet with EventedPLEG on",
        ("watch", "record"),
    ),
    Setting(
        "--no-stream",
        "stream",
        "do not subscribe to events, only poll: to compare, or to be sure",
        ("watch", "record", "whatif"),
        constant=False,
    ),
    Setting(
        "--stream-loss",
        "stream_loss",
        "the share of the stream's events that never arrive, such as 0.5 for half (default: those "
        "that were recorded arrive)",
        ("whatif",),
        "SHARE",
        parse_share,
    ),
    Setting(
        "--stream-delay",
        "stream_delay_ns",
        "how much later than recorded each event of the stream arrives",
        ("whatif",),
        "DURATION",
        parse_duration,
    ),
    Setting(
        "--period",
        "period_ns",
        "the pause between two global relists (default: as recorded, which is the kubelet's 1s)",
        ("whatif",),
        "DURATION",
        parse_duration,
    ),
    Setting(
        "--queue",
        "queue",
        "how many relist requests may wait (default: as recorded, which is the kubelet's 200)",
        ("whatif",),
        "N",
        parse_queue,
    ),
    Setting(
        "--hold",
        "hold_ns",
        "how long each SyncPod holds its pod's relists up: a duration such as 2s, off for not at "
        "all, or recorded (default)",
        ("whatif",),
        "HOW",
        parse_hold,
    ),
    Setting(
        "--call-timeout",
        "call_timeout_ns",
        "deadline of each call to the runtime (default: 2m, the kubelet's)",
        ("watch", "record"),
        "DURATION",
        parse_duration,
    ),
    Setting(
        "--format",
        "format",
        "page: serve the dashboard (default); jsonl: no web server, one JSON record a line on "
        "standard output",
        ("watch",),
        "FORMAT",
        parse_format,
    ),
    Setting(
        "--format",
        "output",
        "table: a summary for people (default); json: the summary as one object; jsonl: every "
        "record a line, and the summary as the last one",
        ("simulate",),
        "FORMAT",
        parse_output,
    ),
    Setting(
        "--format",
        "output",
        "table: for people (default); json: everything, as one object",
        ("compare", "whatif"),
        "FORMAT",
        parse_report,
    ),
    Setting(
        "--format",
        "export",
        "perfetto: a trace for Perfetto's page; chrome: a JSON trace, also for chrome://tracing; "
        "csv: lifecycle events and their latencies, and beside it the relists; jsonl: the records "
        "as they are; html: one page that opens without a server",
        ("export",),
        "FORMAT",
        parse_export,
    ),
    Setting(
        "--redact",
        "redact",
        "replace the names of pods, namespaces and nodes, UIDs, addresses and images; two mentions "
        "of the same thing stay the same thing",
        ("export",),
    ),
    Setting(
        "--container-names",
        "redact_containers",
        "replace the names of containers as well",
        ("export", "redact"),
    ),
    Setting(
        "--key-file",
        "key_file",
        "a file with a secret, made if it is not there: with the same one, the same thing gets the "
        "same replacement in every file (default: a key that is forgotten)",
        ("export", "redact"),
        "PATH",
        str,
    ),
    Setting(
        "--profiles",
        "profiles",
        "which two or three PLEGs to put side by side, with commas between them (default: "
        "kep,generic,legacy); the others are polling and 1.37",
        ("compare",),
        "NAMES",
        parse_profiles,
    ),
    Setting(
        "--seed",
        "seed",
        "seed of the simulated node: the same seed plays the same workloads (default: the "
        "scenario's own, which is 7 unless it says otherwise)",
        ("demo", "simulate", "compare"),
        "N",
        parse_seed,
    ),
    Setting(
        "--runtime-like",
        "runtime_like",
        "which container runtime the simulated node behaves like: containerd-2, containerd-1.7 "
        "(subscribers compete for events), containerd-1.6 (no event stream) or cri-o (no event "
        "when a pod is removed); default: as the scenario says, which is containerd-2 unless it "
        "says otherwise",
        ("demo", "simulate", "compare"),
        "NAME",
        str,
    ),
    Setting(
        "--speed",
        "speed",
        "how many times as fast as real time the simulated node lives, from 0.1 to 20 (default: "
        "1); the PLEG's clock goes with it, so calls to the runtime look that many times as long",
        ("demo",),
        "X",
        parse_speed,
    ),
    Setting(
        "--profile",
        "profile",
        "which PLEG to be: kep (as KEP-3386 was revised; default), generic (1.36 and later, "
        "EventedPLEG off), polling (up to 1.35), 1.37 (the merged watcher), legacy (1.26 to 1.36, "
        "EventedPLEG on); the page explains each",
        (*ALL, "record"),
        "NAME",
        parse_profile,
    ),
    Setting(
        "--profile",
        "other_profile",
        "which PLEG to be: kep, generic, polling, 1.37 or legacy (default: the recorded one)",
        ("whatif",),
        "NAME",
        parse_profile,
    ),
    Setting(
        "--seed",
        "seed",
        "which events are lost with --stream-loss (default: 7)",
        ("whatif",),
        "N",
        parse_seed,
    ),
    Setting(
        "--port",
        "port",
        "port of the dashboard; 0 takes any free one (default: 7780)",
        SERVED,
        "N",
        parse_port,
    ),
    Setting(
        "--host",
        "host",
        "address to serve the dashboard on (default: 127.0.0.1, this machine only); any other "
        "address makes it reachable from outside, guarded by the token in the printed address",
        SERVED,
        "ADDRESS",
        str,
    ),
    Setting(
        "--allow-host",
        "allow_hosts",
        "a further host name by which browsers may reach the dashboard, such as the name of an "
        "SSH or kubectl forward (may be given several times)",
        SERVED,
        "NAME",
        str,
        many=True,
    ),
    Setting(
        "--no-browser",
        "browser",
        "do not open a browser",
        SERVED,
        constant=False,
    ),
    Setting(
        "--duration",
        "duration_ns",
        "end by itself after this time, with exit code 0 (30s, 5m, 1h30m); of a simulation: how "
        "long it plays in its own time (default: as the scenario says)",
        (*ALL, "replay", "record", "compare"),
        "DURATION",
        parse_duration,
    ),
)
