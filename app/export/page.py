"""One HTML file: the timeline, the player and the records, to attach to a ticket.

It opens from disk without a server. Its policy allows the scripts and styles that are in it, by
their digests, and nothing else: no network, no other script. The records are gzipped and in Base64,
so that no name in them can ever be markup.

The newest ``MOST_RECORDS`` are in it, at most ``MOST_WEIGHT`` characters of text; what is older is
a gap. In memory: what each record changed in the header's state, some hundred bytes a record.
"""

import base64
import hashlib
import zlib
from collections import deque
from collections.abc import Iterator
from functools import cache
from typing import Final

import jinja2
import msgspec
from markupsafe import Markup

from app import __version__
from app.engine.profiles import PROFILES
from app.engine.records import Gap, Note, Record, RuntimeSeen, Watching
from app.engine.state import EngineState
from app.export.bundle import bundle
from app.export.source import Source
from app.hub.encode import encode
from app.hub.runwire import Change, Played, differing
from app.hub.wire import Cost, SessionState
from app.journal.rebuild import StateBuilder
from app.journal.weight import weight
from app.recording.opening import Opening
from app.resources import static_dir, templates_dir
from app.terminal import plain
from app.web.pages import duration, wall_time

MOST_RECORDS: Final = 150_000
MOST_WEIGHT: Final = 64 * 1024 * 1024
PART: Final = "Only a part of the recording was exported."

STYLES: Final = ("tokens", "page", "node", "run", "export")
ENTRY: Final = "export"

TIMES: Final = ("started", "stop_t", "poll_due_t", "retry_t", "from_t")
"""Fields of records, beside ``t``, that are monotonic times of the session."""

_DATA: Final = '<script type="text/plain" id="data">'


class Extent(msgspec.Struct):
    """What of a source fits: records to ``skip``, ``before`` of them because they are before what
    is wanted; times (ns) of the first and last one after."""

    skip: int = 0
    before: int = 0
    first_t: int = 0
    first_wall: int = 0
    last_t: int = 0
    profile: str = ""


def page(
    source: Source, since_t: int | None = None, zero: tuple[int, int] | None = None
) -> Iterator[bytes]:
    """The file, piece by piece; records before ``since_t`` (ns) are only there to begin from.
    ``zero``: the time (ns, and ns since 1970) at which the page's clock begins, if not with its
    first record."""
    extent = measured(source, since_t)
    if zero is not None and zero[0] <= extent.first_t:
        extent.first_t, extent.first_wall = zero
    html = _frame(source, extent)
    head, _mark, tail = html.partition(_DATA)
    yield f"{head}{_DATA}".encode()
    yield from _base64(_gzipped(_told(source, extent)))
    yield tail.encode()


def measured(source: Source, since_t: int | None = None) -> Extent:
    """Read the source once, to know what of it fits, and is not before ``since_t``."""
    kept: deque[tuple[int, int, int]] = deque()
    weighs = 0
    extent = Extent()
    for record in source.records():
        if isinstance(record, Watching):
            extent.profile = record.profile
        if since_t is not None and record.t < since_t and not kept:
            extent.skip += 1
            extent.before += 1
            continue
        heavy = weight(record)
        kept.append((record.t, record.wall, heavy))
        weighs += heavy
        while len(kept) > MOST_RECORDS or (weighs > MOST_WEIGHT and len(kept) > 1):
            weighs -= kept.popleft()[2]
            extent.skip += 1
        extent.last_t = max(extent.last_t, record.t)
    if kept:
        extent.first_t, extent.first_wall = kept[0][:2]
        extent.last_t = max(extent.last_t, extent.first_t)
    return extent


class _Teller:
    """The records as the page wants them: numbered from 1, from time 0 on."""

    def __init__(self, extent: Extent) -> None:
        self._by = extent.first_t
        self.count = 0
        self.t = 0

    def moved(self, record: Record, *, numbered: bool = True) -> Record:
        """The record on the page's clock."""
        changed: dict[str, int] = {"t": record.t - self._by}
        if numbered:
            self.count += 1
            # In order, whatever a file says: the player looks by halving.
            self.t = max(self.t, changed["t"])
            changed |= {"t": self.t, "seq": self.count}
        for name in TIMES:
            value = getattr(record, name, None)
            if value is not None:
                changed[name] = value - self._by
        return msgspec.structs.replace(record, **changed)


def _told(source: Source, extent: Extent) -> Iterator[bytes]:
    """``RunRecords`` as JSON."""
    teller = _Teller(extent)
    builder = StateBuilder()
    opening = Opening()
    records = source.records()
    for _ in range(extent.skip):
        record = teller.moved(next(records), numbered=False)
        builder.apply(record)
        opening.apply(record)
    before = builder.state(0)
    yield b'{"run":' + encode(_played(source, extent))
    yield b',"state":' + encode(_state(source, extent, before)) + b',"records":['
    first = True
    for record in _first_records(opening, extent):
        yield (b"" if first else b",") + encode(_numbered(teller, record))
        first = False
    changes = bytearray()
    for record in records:
        moved = teller.moved(record)
        yield (b"" if first else b",") + encode(moved)
        first = False
        builder.apply(moved)
        after = builder.state(moved.t)
        fields = differing(before, after)
        if fields:
            changes += (b"," if changes else b"") + encode(Change(moved.seq, fields))
        before = after
    for sentence in source.missing:
        note = Note(t=extent.last_t, wall=0, level="warning", text=sentence)
        yield b"," + encode(teller.moved(note))
    yield b'],"changes":['
    yield bytes(changes)
    yield b"]}"


def _numbered(teller: _Teller, record: Record) -> Record:
    """A record of before, which is already on the page's clock, at its beginning."""
    teller.count += 1
    return msgspec.structs.replace(record, t=0, seq=teller.count)


def _first_records(opening: Opening, extent: Extent) -> list[Record]:
    """What stands for the records that are left out."""
    if not extent.skip:
        return []
    gap = Gap(
        t=0,
        wall=extent.first_wall,
        hop="viewer",
        count=extent.skip,
        from_t=0,
        reason=PART
        if extent.skip == extent.before
        else f"Only the newest {MOST_RECORDS:,} records, at most, are in an exported page.",
    )
    return [*opening.records(), gap]


def _played(source: Source, extent: Extent) -> Played:
    return Played(
        query="",
        scenario="",
        title=source.title,
        shows="",
        seed=0,
        profile=extent.profile,
        runtime="",
        duration_ns=extent.last_t - extent.first_t,
        presses=(),
    )


def _state(source: Source, extent: Extent, engine: EngineState) -> SessionState:
    runtime: RuntimeSeen | None = None
    return SessionState(
        session="export",
        title=source.title,
        simulated=source.simulated,
        endpoint="",
        endpoint_reason="this is an exported recording",
        wall=extent.first_wall,
        engine=engine,
        cost=Cost(0.0, 0.0, 0.0, 0),
        runtime=runtime,
        oldest_call=None,
        viewers=0,
        first_seq=1,
        last_seq=0,
    )


def _gzipped(pieces: Iterator[bytes]) -> Iterator[bytes]:
    packer = zlib.compressobj(6, wbits=31)
    for piece in pieces:
        yield packer.compress(piece)
    yield packer.flush()


def _base64(pieces: Iterator[bytes]) -> Iterator[bytes]:
    left = b""
    for piece in pieces:
        data = left + piece
        whole = len(data) - len(data) % 3
        left = data[whole:]
        yield base64.b64encode(data[:whole])
    yield base64.b64encode(left)


class _Parts(msgspec.Struct, frozen=True):
    """What is the same in every page."""

    styles: tuple[str, ...]
    first: str
    script: str
    icon: str
    policy: str


@cache
def _parts() -> _Parts:
    static = static_dir()
    styles = tuple(_text(f"css/{name}.css") for name in STYLES)
    first, script = _text("js/first.js"), bundle(static / "js", ENTRY)
    scripts = " ".join(map(_digest, (first, script)))
    looks = " ".join(map(_digest, styles))
    icon = base64.b64encode((static / "img/plegscope.svg").read_bytes()).decode()
    return _Parts(
        styles=styles,
        first=first,
        script=script,
        icon=f"data:image/svg+xml;base64,{icon}",
        policy=(
            f"default-src 'none'; script-src {scripts}; style-src {looks}; img-src data:; "
            "base-uri 'none'; form-action 'none'"
        ),
    )


def _text(path: str) -> str:
    return (static_dir() / path).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    """As a Content Security Policy names it."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _frame(source: Source, extent: Extent) -> str:
    """The page around its data."""
    env = jinja2.Environment(
        loader=jinja2.FileSystemLoader(templates_dir()),
        autoescape=True,
        # What a served page may offer besides (a stage, a desk) is off here, by whatever name.
        undefined=jinja2.Undefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    env.filters.update(duration=duration)
    parts = _parts()
    played = _played(source, extent)
    return env.get_template("export.html").render(
        layout="export-layout.html",
        page="export.html",
        version=__version__,
        state=_state(source, extent, StateBuilder().state(0)),
        run=msgspec.structs.replace(played, title=plain(source.title)),
        title=plain(source.title),
        began=wall_time(extent.first_wall),
        profile=PROFILES.get(extent.profile),
        policy=parts.policy,
        icon=parts.icon,
        styles=[Markup(text) for text in parts.styles],  # noqa: S704  files of ours
        first=Markup(parts.first),  # noqa: S704
        script=Markup(parts.script),  # noqa: S704
    )
