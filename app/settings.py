"""Every setting in one table. It feeds the command line and its help, and the README's check."""

from collections.abc import Callable

import msgspec

from app.values import (
    SECOND,
    parse_duration,
    parse_export,
    parse_format,
    parse_hold,
    parse_output,
    parse_port,
    parse_profile,
    parse_profiles,
    parse_queue,
    parse_report,
    parse_seed,
    parse_share,
    parse_speed,
)


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
    from_ns: int | None = None
    to_ns: int | None = None
    redact: bool = False
    redact_containers: bool = False
    key_file: str = ""


class Setting(msgspec.Struct, frozen=True):
    """One row: the flag, where its value goes, and what ``--help`` says.

    A flag without dashes is the command's one argument, and must be given unless it is ``many``.
    ``parse`` None: a switch without a value that sets ``constant``. ``many``: may be repeated.
    ``needed``: must be given, which the command itself checks.
    """

    flag: str
    field: str
    help: str
    commands: tuple[str, ...]
    metavar: str = ""
    parse: Callable[[str], object] | None = None
    constant: object = True
    many: bool = False
    needed: bool = False


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
        "a recording (MCAP), whatever became of it; a journal of JSON lines needs no recovering",
        ("recover",),
        "FILE",
        str,
    ),
    Setting(
        "FILE",
        "recording",
        "a recording (MCAP), or a journal as JSON lines, which `watch` and `simulate` write when "
        "asked for jsonl",
        ("redact",),
        "FILE",
        str,
    ),
    Setting(
        "FILE",
        "recordings",
        "recordings (MCAP), or journals as JSON lines; those of one node become one, several nodes "
        "are put on one clock",
        ("export",),
        "FILE",
        str,
        many=True,
        needed=True,
    ),
    Setting(
        "FILE",
        "recordings",
        "a recording (MCAP), as `plegscope record` and the flight recorder write it; several files "
        "of one session, in order, are run as one",
        ("whatif",),
        "FILE",
        str,
        many=True,
        needed=True,
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
        needed=True,
    ),
    Setting(
        "--record-to",
        "record_to",
        "record into this one file, which must not exist yet (default: `watch` and `demo` record "
        "into files of some minutes in $XDG_STATE_HOME/plegscope/flight, or "
        "~/.local/state/plegscope/flight: 512 MiB and two days of them at most)",
        BOTH,
        "PATH",
        str,
    ),
    Setting(
        "--record-to",
        "record_to",
        "record what is played into this file, which must not exist yet (default: nothing is "
        "recorded)",
        ("simulate",),
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
        ("watch", "record"),
        constant=False,
    ),
    Setting(
        "--no-stream",
        "stream",
        "as if nobody had listened to the event stream: only polling is left",
        ("whatif",),
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
        "deadline of each call to the runtime (default: 2m, the kubelet's); only Version, which "
        "tells who is there, is to be answered within 3s",
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
        "as they are; html: one page that opens without a server; must be given",
        ("export",),
        "FORMAT",
        parse_export,
        needed=True,
    ),
    Setting(
        "--from",
        "from_ns",
        "begin at this time of the recording, as the player counts it, such as 90s or 1m30s; what "
        "was known before is told (default: its beginning)",
        ("export",),
        "TIME",
        parse_duration,
    ),
    Setting(
        "--to",
        "to_ns",
        "end at this time of the recording (default: its end)",
        ("export",),
        "TIME",
        parse_duration,
    ),
    Setting(
        "--redact",
        "redact",
        "replace the names of pods, namespaces and nodes, UIDs, addresses and images, and names in "
        "texts; two mentions of the same thing stay the same thing",
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
        "EventedPLEG on); Help in the dashboard explains each",
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
        "end by itself after this time, with exit code 0 (30s, 5m, 1h30m)",
        (*SERVED, "record"),
        "DURATION",
        parse_duration,
    ),
    Setting(
        "--duration",
        "duration_ns",
        "how long it plays, in its own time (30s, 5m, 1h30m; default: as the scenario says)",
        ("simulate", "compare"),
        "DURATION",
        parse_duration,
    ),
)
