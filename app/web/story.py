"""A pod's story: what its containers came to, in sentences, and each lifecycle event with all that
belongs to it. Pure.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple
from urllib.parse import quote, urlencode

from app.engine.model import ContainerStatus
from app.engine.records import (
    AnyRecord,
    ContainerEventSeen,
    Lifecycle,
    RelistFinished,
    RequestMade,
)
from app.hub.encode import encode
from app.hub.wire import PodRow

MOST_TOLD = 50
"""Lifecycle events on a page, newest first."""


class Places(NamedTuple):
    """Where a pod's page leads.

    ``pod``: to itself. ``records``: its records as JSON. ``mark``: a record on the timeline.
    ``raw``: a record (by its number) as JSON, as far as there is such an address. ``received``:
    what the runtime had said by a time (t, ns) of a container or sandbox (its id, and which).
    """

    pod: str
    records: str
    mark: Callable[[AnyRecord], str]
    raw: Callable[[int], str | None]
    received: Callable[[int, str, str], str]


class Raw(NamedTuple):
    """A record as it is in the journal. ``text``: its JSON."""

    seq: int
    kind: str
    text: str


class Told(NamedTuple):
    """A lifecycle event, the stop event that told of it before, and the records of both and of
    what lies between, as far as the journal keeps them."""

    record: Lifecycle
    said: ContainerEventSeen | None
    raw: tuple[Raw, ...]


class Chapter(NamedTuple):
    """A container by its name: its newest attempt, and the earlier ones the runtime keeps.

    ``ends``: how many of its ends are among the lifecycle events.
    """

    name: str
    status: ContainerStatus
    earlier: tuple[ContainerStatus, ...]
    ends: int


def lifecycle(records: Sequence[AnyRecord]) -> list[Lifecycle]:
    """The lifecycle events that were told, newest first."""
    told = [one for one in records if isinstance(one, Lifecycle) and one.delivery != "filtered"]
    return told[::-1]


def tell(records: Sequence[AnyRecord], most: int = MOST_TOLD) -> list[Told]:
    """The newest lifecycle events of one pod's ``records`` (oldest first), newest first."""
    events: dict[int, ContainerEventSeen] = {}
    requests: dict[int, RequestMade] = {}
    relists: dict[int, RelistFinished] = {}
    for record in records:
        if isinstance(record, ContainerEventSeen):
            events[record.event] = record
        elif isinstance(record, RequestMade):
            requests[record.request] = record
        elif isinstance(record, RelistFinished):
            relists[record.relist] = record
    told = []
    for record in lifecycle(records)[:most]:
        said = None if record.event is None else events.get(record.event)
        asked = None if record.request is None else requests.get(record.request)
        chain = [
            one for one in (said, asked, relists.get(record.relist), record) if one is not None
        ]
        chain.sort(key=lambda one: one.seq)
        told.append(Told(record, said, tuple(_raw(one) for one in chain)))
    return told


def chapters(pod: PodRow, told: Sequence[Lifecycle]) -> list[Chapter]:
    """The pod's containers by name, as they were first told of."""
    named: dict[str, list[ContainerStatus]] = {}
    for status in pod.containers:
        named.setdefault(status.name, []).append(status)
    found = []
    for name, kept in named.items():
        newest, *earlier = sorted(kept, key=lambda one: (one.attempt, one.created_at), reverse=True)
        ends = {
            one.container_id
            for one in told
            if one.type == "ContainerDied" and one.container_name == name and not one.is_sandbox
        }
        found.append(Chapter(name, newest, tuple(earlier), len(ends)))
    return found


def live_places(uid: str) -> Places:
    """Of a pod on the node that is watched."""
    return Places(
        pod=f"/pods/{quote(uid, safe='')}",
        records=f"/api/v1/records?{urlencode({'pod': uid})}",
        mark=lambda record: f"/?select={record.seq}",
        raw=lambda seq: f"/api/v1/records?since={seq - 1}&limit=1",
        received=lambda t, about, what: _received("/received", uid, t, about, what),
    )


def end_places(uid: str) -> Places:
    """Of a pod at the end of what plegscope was started to play."""
    return live_places(uid)._replace(
        mark=lambda record: f"/replay?t={record.t}&sel={record.seq}",
        received=lambda t, about, what: _received("/replay/received", uid, t, about, what),
    )


def played_places(uid: str, t: int, query: str) -> Places:
    """Of a pod at ``t`` (ns) of a recording, which ``query`` names."""
    front = f"{query}&" if query else ""
    own = front + urlencode({"uid": uid, "t": t})
    return Places(
        pod=f"/replay/pod?{own}",
        records=f"/api/v1/recording/pod?{own}",
        mark=lambda record: f"/replay?{front}t={record.t}&sel={record.seq}",
        raw=lambda _seq: None,
        received=lambda then, about, what: _received(
            f"/replay/received?{query}".rstrip("?"), uid, then, about, what
        ),
    )


def _received(path: str, uid: str, t: int, about: str, what: str) -> str:
    asked = urlencode({"t": t, "uid": uid, "id": about, "what": what})
    return f"{path}{'&' if '?' in path else '?'}{asked}"


def _raw(record: AnyRecord) -> Raw:
    return Raw(record.seq, str(record.__struct_config__.tag), encode(record).decode())
