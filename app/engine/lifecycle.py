"""The lifecycle event channel, and what is told of each event: who found it and how much later.

Source: kubelet pleg/generic.go (filtered ``ContainerChanged``, non-blocking send, discard).
"""

from collections.abc import Mapping

import msgspec

from app.engine.listing import Pod
from app.engine.model import ContainerStatus, EventType, Observation, PodStatus, RelistSource
from app.engine.outbox import Outbox
from app.engine.records import Delivery, Lifecycle
from app.engine.settings import EngineSettings
from app.engine.transitions import Change


class Finding(msgspec.Struct, frozen=True):
    """The relist that found something; ``poll_due_t``: when the next global one would begin;
    ``baseline``: it is the session's first, so what it found may be any age."""

    relist: int
    source: RelistSource
    request: int | None
    poll_due_t: int | None
    baseline: bool


class StopEvents:
    """Stop events whose container no relist has found dead yet, oldest forgotten first.

    They only serve to tell which event announced a death. By pod UID and container id: an event
    of one pod explains nothing about another.
    """

    def __init__(self, kept: int) -> None:
        self._kept = kept
        self._stops: dict[tuple[str, str], tuple[int, int, bool]] = {}

    def remember(self, uid: str, container_id: str, event: int, t: int, *, backlog: bool) -> None:
        """A stop event was received at ``t``; the first one of a container counts."""
        self._stops.setdefault((uid, container_id), (event, t, backlog))
        if len(self._stops) > self._kept:
            del self._stops[next(iter(self._stops))]

    def take(self, uid: str, container_id: str) -> tuple[int, int, bool] | None:
        """(event number, time of receipt, whether it was backlog) of this container's stop."""
        return self._stops.pop((uid, container_id), None)

    def listed(self, pods: dict[str, Pod], records: dict[str, Pod | None], since_t: int) -> None:
        """A listing of all pods that began at ``since_t`` may show that there is no such death.

        A container that runs did not die of a stop received before (or it runs again, and dies
        another time); one that is neither listed nor recorded can no longer be found dead.
        """
        for uid, container_id in [key for key, stop in self._stops.items() if stop[1] < since_t]:
            item = _find(pods, uid, container_id)
            lost = item is None and _find(records, uid, container_id) is None
            if lost or (item is not None and item.state == "running"):
                del self._stops[uid, container_id]


class LifecycleEvents:
    """Sends lifecycle events and counts them by relist source."""

    def __init__(self, outbox: Outbox, settings: EngineSettings, stops: StopEvents) -> None:
        self._out = outbox
        self._capacity = settings.event_channel
        self._waiting = 0
        self._stops = stops
        self.by_source: dict[str, int] = dict.fromkeys(
            ("post_sync", "post_allocation", "evented_pleg", "global"), 0
        )

    @property
    def full(self) -> int:
        """How many events wait in a channel that has no room left; 0 while it has some."""
        is_full = self._capacity is not None and self._waiting >= self._capacity
        return self._waiting if is_full else 0

    def taken(self, count: int) -> None:
        """The reader took events from the channel."""
        self._waiting = max(0, self._waiting - count)

    def send(self, change: Change, status: PodStatus | None, found: Finding) -> None:
        """All events of one change, in order."""
        out, item = self._out, change.item
        known = _status_of(status, item)
        for event_type in change.events:
            record = Lifecycle(
                t=out.t,
                wall=out.wall,
                type=event_type,
                uid=item.pod_uid,
                container_id=item.id,
                container_name=item.name,
                attempt=item.attempt,
                is_sandbox=item.kind == "sandbox",
                old_state=change.old_state,
                new_state=change.new_state,
                relist=found.relist,
                source=found.source,
                request=found.request,
                delivery=self._deliver(event_type, found.source),
                poll_due_t=found.poll_due_t,
                baseline=found.baseline,
            )
            out.show(self._died(record, known) if event_type == "ContainerDied" else record)

    def send_pod_sync(self, uid: str, found: Finding) -> None:
        """A reinspection succeeded and found no change."""
        self._out.show(
            Lifecycle(
                t=self._out.t,
                wall=self._out.wall,
                type="PodSync",
                uid=uid,
                container_id="",
                container_name="",
                is_sandbox=False,
                old_state="non-existent",
                new_state="non-existent",
                relist=found.relist,
                source=found.source,
                request=found.request,
                delivery=self._deliver("PodSync", found.source),
                poll_due_t=found.poll_due_t,
                baseline=found.baseline,
            )
        )

    def _died(self, record: Lifecycle, known: ContainerStatus | None) -> Lifecycle:
        """Adds how it ended, and which stop event had told of it how long ago."""
        stop = self._stops.take(record.uid, record.container_id)
        event, stop_t, backlog = stop if stop is not None else (None, None, False)
        finished_at = known.finished_at if known is not None else 0
        return msgspec.structs.replace(
            record,
            event=event,
            stop_t=stop_t,
            after_ns=None if stop_t is None or backlog else record.t - stop_t,
            since_finished_ns=None if known is None else _since_finished(record.wall, known),
            finished_at=finished_at,
            exit_code=known.exit_code if known is not None else None,
            reason=known.reason if known is not None else "",
        )

    def _deliver(self, event_type: EventType, source: RelistSource) -> Delivery:
        if event_type == "ContainerChanged":
            return "filtered"
        self.by_source[source] += 1
        if self._capacity is None:
            return "sent"
        if self._waiting >= self._capacity:
            return "discarded"
        self._waiting += 1
        return "sent"


def _since_finished(wall: int, known: ContainerStatus) -> int | None:
    """From the end to ``wall``. None for a time that no end has: none at all, before the container
    was made, or one that is still to come."""
    if not 0 < known.finished_at <= wall or known.finished_at < known.created_at:
        return None
    return wall - known.finished_at


def _find(pods: Mapping[str, Pod | None], uid: str, item_id: str) -> Observation | None:
    pod = pods.get(uid)
    return None if pod is None else pod.find(item_id)


def _status_of(status: PodStatus | None, item: Observation) -> ContainerStatus | None:
    if status is None or item.kind == "sandbox":
        return None
    return next((one for one in status.containers if one.id == item.id), None)
