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
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Final

import jinja2
import msgspec
from markupsafe import Markup

from app import __version__
from app.engine.hanging import Hanging, OldestCall
from app.engine.profiles import PROFILES
from app.engine.records import Gap, Note, Record, RuntimeSeen, Watching
from app.engine.state import EngineState
from app.export.bundle import bundle
from app.export.source import Kept, Source
from app.hub.encode import encode
from app.hub.runwire import Change, Played, differing
from app.hub.wire import Cost, SessionState
from app.journal.rebuild import StateBuilder
from app.journal.weight import weight
from app.recording.opening import Opening
from app.replaying.incidents import Incidents
from app.resources import static_dir, templates_dir
from app.terminal import plain
from app.web.filters import wall_time
from app.words import duration

MOST_RECORDS: Final = 150_000
MOST_WEIGHT: Final = 64 * 1024 * 1024
PART: Final = "Only a part of the recording was exported."

STYLES: Final = ("tokens", "page", "node", "run", "replay", "export")
ENTRY: Final = "export"

TIMES: Final = ("started", "stop_t", "poll_due_t", "retry_t", "from_t")
"""Fields of records, beside ``t``, that are monotonic times of the session."""

_DATA: Final = '<script type="text/plain" id="data">'


class Extent(msgspec.Struct):
    """What of a source fits: records to ``skip``, ``before`` of them because they are before what
    is wanted; times (ns) of the first and last one after. ``first_t`` is where the page's clock
    begins, ``kept_t`` when the first one is that is in it."""

    skip: int = 0
    before: int = 0
    first_t: int = 0
    first_wall: int = 0
    kept_t: int = 0
    last_t: int = 0
    profile: str = ""


def page(source: Source, since_t: int | None = None) -> Iterator[bytes]:
    """The file, piece by piece; records before ``since_t`` (ns) are only there to begin from."""
    extent = measured(source, since_t)
    yield from _around(_frame(source, extent), _told(source, extent))


def page_of_nodes(
    nodes: Sequence[tuple[str, Source]], zero: tuple[int, int], since_t: int | None = None
) -> Iterator[bytes]:
    """The same of several nodes, by their names, on one clock; each has its share of the room.

    ``zero``: the time (ns, and ns since 1970) at which the page's clock begins.
    """
    extents = [measured(source, since_t, len(nodes)) for _name, source in nodes]
    for extent in extents:
        if zero[0] <= extent.first_t:
            extent.first_t, extent.first_wall = zero
    title = ", ".join(name for name, _source in nodes)
    all_of_them = Kept((), title, simulated=all(source.simulated for _name, source in nodes))
    whole = msgspec.structs.replace(extents[0], last_t=max(one.last_t for one in extents))
    yield from _around(_frame(all_of_them, whole), _told_of_nodes(nodes, extents))


def _around(html: str, told: Iterator[bytes]) -> Iterator[bytes]:
    """The page with its data."""
    head, _mark, tail = html.partition(_DATA)
    yield f"{head}{_DATA}".encode()
    yield from _base64(_gzipped(told))
    yield tail.encode()


def _told_of_nodes(
    nodes: Sequence[tuple[str, Source]], extents: Sequence[Extent]
) -> Iterator[bytes]:
    yield b'{"nodes":['
    for place, ((name, source), extent) in enumerate(zip(nodes, extents, strict=True)):
        incidents = Incidents()
        yield (b"," if place else b"") + encode({"name": name})[:-1] + b","
        told = _told(source, extent, incidents)
        # Its own brace stands before the name.
        yield next(told)[1:]
        yield from told
    yield b"]}"


def measured(source: Source, since_t: int | None = None, share: int = 1) -> Extent:
    """Read the source once, to know what of it fits into a ``share``-th of a page, and is not
    before ``since_t``."""
    kept: deque[tuple[int, int, int]] = deque()
    weighs, most = 0, max(1, MOST_RECORDS // share)
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
        while len(kept) > most or (weighs > MOST_WEIGHT // share and len(kept) > 1):
            weighs -= kept.popleft()[2]
            extent.skip += 1
        extent.last_t = max(extent.last_t, record.t)
    if kept:
        extent.first_t, extent.first_wall = kept[0][:2]
        extent.kept_t = extent.first_t
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


def _told(source: Source, extent: Extent, incidents: Incidents | None = None) -> Iterator[bytes]:
    """``RunRecords`` as JSON; with ``incidents`` also how many there are."""
    count = 0
    teller = _Teller(extent)
    builder, hanging = StateBuilder(), Hanging()
    opening = Opening()
    records = source.records()
    for _ in range(extent.skip):
        record = teller.moved(next(records), numbered=False)
        builder.apply(record)
        hanging.apply(record)
        opening.apply(record)
    before, hangs = builder.state(0), hanging.call
    yield b'{"run":' + encode(_played(source, extent))
    yield b',"state":' + encode(_state(source, extent, before, hangs)) + b',"records":['
    first = True
    for record in _first_records(opening, extent):
        yield (b"" if first else b",") + encode(_numbered(teller, record))
        first = False
    changes = bytearray()
    for record in records:
        moved = teller.moved(record)
        yield (b"" if first else b",") + encode(moved)
        first = False
        count += incidents is not None and incidents.apply(moved) is not None
        builder.apply(moved)
        hanging.apply(moved)
        after = builder.state(moved.t)
        fields = differing(before, after)
        if hanging.call != hangs:
            fields["oldest_call"] = hangs = hanging.call
        if fields:
            changes += (b"," if changes else b"") + encode(Change(moved.seq, fields))
        before = after
    for sentence in source.missing:
        note = Note(t=extent.last_t, wall=0, level="warning", text=sentence)
        yield b"," + encode(teller.moved(note))
    yield b'],"changes":['
    yield bytes(changes)
    yield b"]}" if incidents is None else b'],"incidents":%d}' % count


def _numbered(teller: _Teller, record: Record) -> Record:
    """A record of before, which is already on the page's clock, at its beginning."""
    teller.count += 1
    # What is left out lies between it and the first that is there.
    t = record.t if isinstance(record, Gap) else 0
    return msgspec.structs.replace(record, t=t, seq=teller.count)


def _first_records(opening: Opening, extent: Extent) -> list[Record]:
    """What stands for the records that are left out."""
    if not extent.skip:
        return []
    gap = Gap(
        t=extent.kept_t - extent.first_t,
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


def _state(
    source: Source, extent: Extent, engine: EngineState, hangs: OldestCall | None = None
) -> SessionState:
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
        oldest_call=hangs,
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
