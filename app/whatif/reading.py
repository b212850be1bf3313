"""Reads recordings into evidence: what was listed, inspected, told, asked and found, in order.

Several files of one session are read as one. A file that is not the session's first begins with an
opening, from which comes what the inputs before it would have told: which runtime it is, whether
the stream was open, which pods were in a SyncPod.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

from app.engine.inputs import (
    EventsTaken,
    Input,
    PodInspected,
    PodInspectFailed,
    PodsListed,
    PodsListFailed,
    ReinspectRequested,
    RelistRequested,
    RuntimeProbed,
    StreamEnded,
    StreamEvent,
    StreamLive,
    StreamLost,
    StreamOpened,
    StreamRenewed,
    SyncEnded,
    SyncStarted,
)
from app.engine.model import CallCost
from app.engine.records import (
    Lifecycle,
    PodCached,
    PodUncached,
    Record,
    RelistFinished,
    RelistStarted,
    RuntimeSeen,
    StreamChanged,
    SyncBegan,
)
from app.errors import RecordingError
from app.recording.format import Loss
from app.recording.reading import Fed, Recording, Told
from app.recording.rerun import LONGEST_NS, checked
from app.whatif.evidence import Calls, Evidence, Failed, Hint, Opened, Replayed
from app.whatif.sights import MOST_ITEMS, Sights
from app.words import count

MOST_KEPT = 3_000_000
"""Inputs that are kept to be played again."""
MOST_WALL = 2**62
"""Wall time (ns) up to which there are times: the year 2116."""
MOST_TOLD = 5
"""Damages told one by one."""


TOLD_EVERY = 2048
"""Items between two calls of ``progress``."""


def gather(
    paths: Sequence[Path], progress: Callable[[float], None] = lambda _share: None
) -> Evidence:
    """Read the files of one session, in order; ``progress`` is told how far it is (0 to 1).

    Raises:
        RecordingError: one cannot be read, they are not of one session, or there is nothing in them
            to be run again.
    """
    reader: _Reader | None = None
    path = Path()
    for number, path in enumerate(paths):
        with Recording(path) as recording:
            for count, item in enumerate(recording.items()):
                if count % TOLD_EVERY == 0:
                    progress((number + recording.share) / len(paths))
                if reader is None:
                    if recording.info is None:
                        continue
                    checked(path, recording.info.settings)
                    reader = _Reader(Evidence(recording.info))
                elif recording.info is not None and recording.info.session != reader.session:
                    raise RecordingError(
                        f"{path} is of another session than the files before it. Give the files of "
                        "one session, in order."
                    )
                reader.take(item)
            if reader is not None:
                reader.warnings += _warnings(recording)
    if reader is None or not reader.any:
        raise RecordingError(
            f"{path} does not hold what the engine was fed, so nothing can be run again. "
            "Give a whole recording, as --record-to or the flight recorder write it."
        )
    evidence = reader.end()
    if evidence.first_look_t is None:
        raise RecordingError(
            f"{path} holds no listing of all pods that came back, so nothing is known of the "
            "runtime. Give a recording that goes on for longer."
        )
    return evidence


def _warnings(recording: Recording) -> list[str]:
    warnings = [one.sentence() for one in recording.damage[:MOST_TOLD]]
    if recording.damaged > MOST_TOLD:
        warnings.append(f"And {count(recording.damaged - MOST_TOLD, 'more place')}.")
    if not recording.finished and not recording.damaged:
        warnings.append("The recording was not ended: it is played as far as it goes.")
    if recording.unreadable:
        warnings.append(f"{count(recording.unreadable, 'message')} could not be read.")
    return warnings


def _is_time(t: int, wall: int) -> bool:
    """Whether something can have happened then: a file may say anything."""
    return abs(t) <= LONGEST_NS and abs(wall) <= MOST_WALL


class _Reader:
    """Takes the recording's items in order."""

    def __init__(self, evidence: Evidence) -> None:
        self._evidence = evidence
        self.session = evidence.info.session
        self.warnings = evidence.warnings
        self.any = False
        self._whole = False
        """A global relist has come to its good end."""
        self._number: int | None = None
        self._relist: RelistStarted | None = None
        self._step_t = 0
        """Time of the answer that the relist in progress got last."""
        self._sights = Sights(evidence)
        self._open: int | None = None
        self._syncing: dict[str, int] = {}
        self._last: tuple[int, int] = (0, 0)

    def take(self, item: object) -> None:
        """One of a recording's items."""
        if isinstance(item, Fed):
            self._fed(item)
        elif isinstance(item, Told):
            if not _is_time(item.record.t, item.record.wall):
                return
            if not item.opening:
                self._told(item.record)
            elif not self.any:
                self._opening(item.record)
        elif isinstance(item, Loss):
            self._evidence.holes.append((item.from_t, item.t))

    def end(self) -> Evidence:
        """Nothing more comes."""
        known = self._evidence
        known.until_t = self._last[0]
        if self._open is not None:
            known.streams.append(Opened(self._open, known.until_t + 1, None))
        for uid, began in self._syncing.items():
            known.syncs.setdefault(uid, []).append((began, known.until_t))
        return known

    # Inputs

    def _fed(self, fed: Fed) -> None:
        happened, known = fed.happened, self._evidence
        if happened is not None and not _is_time(happened.t, happened.wall):
            happened = None
        skipped = self._number is not None and fed.number != self._number + 1
        self._number = fed.number
        if happened is None or skipped:
            t = self._last[0] if happened is None else happened.t
            if not known.holes or known.holes[-1][1] < self._last[0]:
                known.holes.append((self._last[0], t))
            # Whose list the next answer is, is not known.
            self._relist = None
        if happened is None:
            return
        t = max(happened.t, self._last[0])
        if not self.any:
            self.any = True
            known.begin_t = t
        self._last = (t, happened.wall - happened.t)
        self._sights.offset = self._last[1]
        self._input(happened)

    def _input(self, happened: Input) -> None:
        known = self._evidence
        match happened:
            case PodsListed():
                self._listed(happened)
            case PodsListFailed():
                self._list_failed(happened)
            case PodInspected():
                self._inspected(happened)
            case PodInspectFailed():
                self._count(happened.calls)
                self._step_t = happened.t
            case StreamEvent():
                self._listens(known.begin_t)
                self._event(happened)
            case StreamLive() | StreamRenewed():
                self._listens(known.begin_t)
            case StreamOpened():
                self._open = happened.t
            case StreamEnded():
                known.ends.append(happened)
                if self._open is not None and self._open < happened.t:
                    known.streams.append(Opened(self._open, happened.t, happened))
                self._open = None
            case SyncStarted():
                self._syncing.setdefault(happened.uid, happened.t)
                self._keep(happened)
            case SyncEnded():
                began = self._syncing.pop(happened.uid, None)
                if began is not None:
                    known.syncs.setdefault(happened.uid, []).append((began, happened.t))
                self._keep(happened)
            case RuntimeProbed() | StreamLost() | RelistRequested() | ReinspectRequested():
                self._keep(happened)
            case EventsTaken():
                self._keep(happened)
            case _:
                pass

    def _opening(self, record: Record) -> None:
        """What was so before the first input that is there."""
        match record:
            case RuntimeSeen():
                self._keep(
                    RuntimeProbed(
                        t=record.t,
                        wall=record.wall,
                        name=record.name,
                        version=record.version,
                        api_version=record.api_version,
                        endpoint=record.endpoint,
                        policy=record.policy,
                        reason=record.reason,
                    )
                )
            case StreamChanged(state="connected"):
                self._open = record.t
            case SyncBegan():
                self._syncing[record.uid] = record.t
                self._keep(SyncStarted(t=record.t, wall=record.wall, uid=record.uid))
            case PodCached():
                self._evidence.cache.apply(record)
            case _:
                pass

    def _listens(self, since_t: int) -> None:
        if self._open is None and not self._evidence.streams and not self._evidence.ends:
            self._open = since_t

    def _keep(self, happened: Replayed) -> None:
        if len(self._evidence.script) >= MOST_KEPT:
            raise RecordingError(
                f"The recording has more than {MOST_KEPT:,} inputs to be played again. Give a "
                "shorter one."
            )
        self._evidence.script.append(happened)

    def _count(self, costs: tuple[CallCost, ...]) -> None:
        self._evidence.calls.update(cost.method for cost in costs)

    def _list_failed(self, answer: PodsListFailed) -> None:
        known, relist = self._evidence, self._relist
        self._count(answer.calls)
        if relist is None:
            return
        began = relist.t
        failed = Failed(answer.error or "the list failed", answer.code)
        for cost in answer.calls:
            calls = (
                known.sandbox_lists if cost.method == "ListPodSandbox" else known.container_lists
            )
            calls.add(began, cost.duration_ns, failed if cost is answer.calls[-1] else None)
            began += cost.duration_ns
        if not answer.calls:
            known.sandbox_lists.add(began, max(0, answer.t - began), failed)
        self._step_t = answer.t

    def _listed(self, answer: PodsListed) -> None:
        known, relist = self._evidence, self._relist
        self._count(answer.calls)
        self._step_t = answer.t
        if relist is None:
            return
        began = relist.t
        took = [cost.duration_ns for cost in answer.calls]
        middle = min(began + took[0], answer.t) if took else began
        known.sandbox_lists.add(began, middle - began)
        known.container_lists.add(middle, max(0, answer.t - middle))
        known.listings += 1
        rows = {row.id: row for row in (*answer.sandboxes, *answer.containers)}
        if relist.scope == "global":
            self._sights.all(rows, began, answer.t)
        else:
            self._sights.pod(relist.uid or "", rows, began, answer.t)

    def _inspected(self, answer: PodInspected) -> None:
        self._count(answer.calls)
        began, self._step_t = min(self._step_t, answer.t), answer.t
        self._evidence.inspections.add(began, answer.t - began)
        self._sights.inspected([*answer.sandboxes, *answer.containers], began, answer.t)

    def _event(self, happened: StreamEvent) -> None:
        known, event = self._evidence, happened.event
        known.events += 1
        self._keep(happened)
        hint = Hint(event.created_at - self._last[1], happened.t, event)
        if event.sandbox is not None and hint.made_t <= happened.t:
            self._sights.payload(event, hint)
        item = known.items.get(event.container_id)
        if item is not None:
            item.hints.setdefault(event.type, hint)
        elif event.container_id in known.unlisted or len(known.unlisted) < MOST_ITEMS:
            known.unlisted.setdefault(event.container_id, {}).setdefault(event.type, hint)

    # Records

    def _told(self, record: Record) -> None:
        known = self._evidence
        match record:
            case RelistStarted():
                self._relist = record
                self._step_t = record.t
            case RelistFinished():
                known.relists.append((record.started, record.t))
                if record.scope == "global" and record.ok and not self._whole:
                    self._whole = True
                    known.whole_t = record.t
                    if known.info.part > 1:
                        # The run that begins here inspects everything at first; this one did not.
                        known.calls.clear()
            case Lifecycle(type="ContainerStarted" | "ContainerDied", is_sandbox=False):
                known.found.append(record)
            case PodCached():
                failed = Failed(record.error) if record.error else None
                known.per_pod.setdefault(record.uid, Calls()).add(record.t, 0, failed)
                known.cache.apply(record)
            case PodUncached():
                known.cache.apply(record)
            case StreamChanged(state="connecting"):
                known.calls["GetContainerEvents"] += 1
            case _:
                pass
