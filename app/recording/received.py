"""Finds in recordings what the runtime had said of a pod at a moment: the rows of its lists, the
statuses it was asked for, its last event, each as it was received.

A list is told as what has changed since a keyframe, which is a minute back at most
(``answers.py``). So a minute of the file is looked through, chunk by chunk by its index, and of
each chunk only the messages that are the runtime's. That goes for a file that is still being
written as well.
"""

import os
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec
from google.protobuf.json_format import MessageToDict
from google.protobuf.message import DecodeError, Message
from google.protobuf.unknown_fields import UnknownFieldSet

from app.cri.pb import cri_pb2 as pb
from app.errors import RecordingError
from app.hub.received import Asked, Received, Said
from app.recording.answers import KEYFRAME_NS, LISTS, Answer
from app.recording.clip import session_files
from app.recording.format import ANSWERS, ANSWERS_OF, EVENTS, LOSSES, TOPICS, Loss
from app.recording.mcapindex import Index, Unfit
from app.recording.protowire import Malformed, split_rows
from app.recording.reading import Heard, Recording, is_mcap
from app.recording.regular import open_regular

LOOKED_NS: Final = KEYFRAME_NS + 5_000_000_000
"""So far back it is looked: a keyframe, and the call that it answered, are within."""
CHANNELS: Final = frozenset({EVENTS, ANSWERS, LOSSES, *ANSWERS_OF.values()})
MOST_FILES: Final = 8
"""Of a session that is still recorded, its newest files that are looked at."""
MOST_SHOWN: Final = 32
"""Rows and statuses of one pod that are shown."""
MOST_TEXT: Final = 256 * 1024
"""Bytes of one that is shown."""
EVENT: Final = "GetContainerEvents"

NOTHING = (
    "The recording has nothing of what the runtime said here: it was made without it, or by a "
    "plegscope that did not record it. What plegscope made of it is in the records."
)
ONLY_LINES = (
    "This is told by JSON lines, which hold what plegscope made of the runtime's words and not the "
    "words themselves. A recording (MCAP) holds both: `plegscope record`, `watch` and `demo` write "
    "one."
)
LOST = "Some of the runtime's words are missing here: {}."
UNREADABLE = "{} has no index that can be read; `plegscope recover` writes a file that has one."

_ROWS: Final[dict[str, type[Message]]] = {
    "ListPodSandbox": pb.PodSandbox,
    "ListContainers": pb.Container,
    "PodSandboxStatus": pb.PodSandboxStatusResponse,
    "ContainerStatus": pb.ContainerStatusResponse,
    EVENT: pb.ContainerEventResponse,
}


class _At(NamedTuple):
    """Bytes that were received at a time (log time, ns); ``whole``: a list of all pods."""

    at: int
    raw: bytes
    whole: bool = False


class _Minute:
    """What the runtime said in the minute before a moment, as far as it may be about a pod."""

    def __init__(self, asked: Asked) -> None:
        self._uid = asked.uid.encode(errors="replace")
        self._id = asked.id.encode(errors="replace")
        self.lists: dict[str, _At] = {}
        self.statuses: OrderedDict[tuple[str, str], _At] = OrderedDict()
        self.event: _At | None = None
        self.losses: OrderedDict[str, None] = OrderedDict()
        self.any = False

    def take(self, item: object, at: int) -> None:
        """The next of what happened."""
        if isinstance(item, Answer):
            self.any = True
            self._answer(item, at)
        elif isinstance(item, Heard):
            self.any = True
            if (self._id or self._uid) in item.raw:
                self.event = _At(at, item.raw)
        elif isinstance(item, Loss) and (item.answers or item.events):
            self.losses[item.reason] = None

    def _answer(self, answer: Answer, at: int) -> None:
        if answer.method in LISTS:
            if not answer.asked_for or answer.asked_for.encode(errors="replace") == self._uid:
                self.lists[answer.method] = _At(at, answer.raw, not answer.asked_for)
        elif self._uid in answer.raw or answer.asked_for.encode(errors="replace") == self._id:
            key = (answer.method, answer.asked_for)
            self.statuses[key] = _At(at, answer.raw)
            self.statuses.move_to_end(key)
            if len(self.statuses) > MOST_SHOWN:
                self.statuses.popitem(last=False)


def received(paths: Sequence[Path], asked: Asked, origin: int | None = None) -> Received:
    """What the runtime had said by ``asked.t``.

    Args:
        asked: of what they are wanted.
        paths: files of one node, the oldest first; those of another time are not read.
        origin: wall time (ns) at which ``t`` is 0; None: as the files themselves have it, which are
            of one session.

    Raises:
        RecordingError: a file cannot be read.
    """
    minute = _Minute(asked)
    troubles: list[str] = []
    recordings = [path for path in paths if is_mcap(path)]
    for path in recordings:
        origin = _origin(path) if origin is None else origin
        try:
            with open_regular(path) as file:
                index = Index(file.fileno(), os.fstat(file.fileno()).st_size, growing=True)
                for item, when in _items(path, index, origin + asked.t):
                    minute.take(item, when)
        except Unfit:
            troubles.append(UNREADABLE.format(path.name))
        except OSError as error:
            raise RecordingError(
                f"{path} cannot be read ({error.strerror or error}). Is it still there?"
            ) from error
    at = (origin or 0) + asked.t
    said = tuple(_told(minute, asked, at))
    if minute.losses:
        troubles.append(LOST.format("; ".join(list(minute.losses)[:5])))
    if not minute.any and not troubles:
        troubles.append(NOTHING if recordings else ONLY_LINES)
    return Received(asked=asked, said=said, trouble=" ".join(troubles))


def received_live(current: Path, asked: Asked) -> Received:
    """What the runtime had said by ``asked.t``, of the session whose recorder writes ``current``.

    Raises:
        RecordingError: a file cannot be read.
    """
    try:
        return received(session_files(current)[-MOST_FILES:], asked)
    except OSError as error:
        raise RecordingError(
            f"What was recorded beside {current} cannot be read ({error.strerror or error})."
        ) from error


def _origin(path: Path) -> int:
    """Wall time (ns) at which its session's time is 0."""
    with Recording(path) as recording:
        for _message in recording.messages():
            if recording.info is not None:
                return recording.info.origin
    return 0


def _items(path: Path, index: Index, at: int) -> Iterator[tuple[object, int]]:
    """What the runtime said in the minute up to ``at``, and when, in order."""
    with Recording(path, answers=True) as recording:
        for chunk in range(len(index)):
            if index.starts[chunk] > at or index.ends[chunk] < at - LOOKED_NS:
                continue
            for message in recording.messages_at(index, chunk, CHANNELS) or ():
                if message.log_time <= at:
                    yield recording.decoded(message), message.log_time


def _told(minute: _Minute, asked: Asked, at: int) -> Iterator[Said]:
    """The newest first of what is asked for: lists, statuses, the event."""

    def said(
        method: str, one: _At, item_id: str, raw: bytes | None, rows: int | None = None
    ) -> Said:
        told = Said(
            method=method,
            t=asked.t + one.at - at,
            ago_ns=at - one.at,
            id=item_id,
            rows=rows,
            whole=one.whole,
        )
        return told if raw is None else _shown(told, raw)

    sandboxes = _rows(minute.lists.get("ListPodSandbox"))
    containers = _rows(minute.lists.get("ListContainers"))
    boxes = [key for key, raw in sandboxes.items() if _uid(raw) == asked.uid]
    in_them = [key for key, raw in containers.items() if _box(raw) in boxes]
    for method, rows, ours in (
        ("ListPodSandbox", sandboxes, boxes),
        ("ListContainers", containers, in_them),
    ):
        one = minute.lists.get(method)
        if one is None or (asked.id and (method == "ListPodSandbox") != (asked.what == "sandbox")):
            continue
        wanted = [asked.id] if asked.id else ours[:MOST_SHOWN]
        for item_id in wanted or [""]:
            yield said(method, one, item_id, rows.get(item_id), len(rows))
    for (method, item_id), one in minute.statuses.items():
        if not asked.id or asked.id == item_id:
            yield said(method, one, item_id, one.raw)
    if minute.event is not None:
        yield said(EVENT, minute.event, asked.id, minute.event.raw)


def _rows(one: _At | None) -> dict[str, bytes]:
    if one is None:
        return {}
    try:
        return {key.decode(errors="replace"): raw for key, raw in split_rows(one.raw).items()}
    except Malformed:
        return {}


def _uid(raw: bytes) -> str:
    try:
        return pb.PodSandbox.FromString(raw).metadata.uid
    except DecodeError:
        return ""


def _box(raw: bytes) -> str:
    try:
        return pb.Container.FromString(raw).pod_sandbox_id
    except DecodeError:
        return ""


def _shown(told: Said, raw: bytes) -> Said:
    """With its text."""
    told = msgspec.structs.replace(told, size=len(raw))
    if len(raw) > MOST_TEXT:
        topic = TOPICS[ANSWERS_OF.get(told.method, EVENTS)]
        trouble = f"It is too large to be shown; the recording has it in its topic {topic}."
        return msgspec.structs.replace(told, trouble=trouble)
    try:
        message = _ROWS[told.method].FromString(raw)
    except DecodeError:
        return msgspec.structs.replace(told, trouble="It is no message of its kind.")
    text = msgspec.json.format(msgspec.json.encode(_in_order(MessageToDict(message))), indent=2)
    return msgspec.structs.replace(told, text=text.decode(), unknown=_unknown(message))


def _in_order(value: Any) -> Any:
    """Maps, which runtimes give in another order each time, by their keys; fields as they are."""
    if isinstance(value, list):
        return [_in_order(one) for one in value]
    if not isinstance(value, dict):
        return value
    return {
        key: dict(sorted(inner.items()))
        if key in ("labels", "annotations", "info") and isinstance(inner, dict)
        else _in_order(inner)
        for key, inner in value.items()
    }


def _unknown(message: Message) -> int:
    """Fields of a message, and of those in it, that are not in plegscope's part of the CRI."""
    count = len(UnknownFieldSet(message))
    for field, value in message.ListFields():
        if field.message_type is None or field.message_type.GetOptions().map_entry:
            continue
        count += sum(map(_unknown, value if field.is_repeated else [value]))
    return count
