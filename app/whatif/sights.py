"""Looks at the runtime, one after another: what each saw, and what had changed since the last."""

import msgspec

from app.engine.model import ContainerEvent, ItemKind, Observation
from app.errors import RecordingError
from app.whatif.evidence import Evidence, Hint, Item, Sighting, Status

MOST_ITEMS = 200_000
"""Containers and sandboxes that are followed."""


class Sights:
    """Writes sightings into evidence. All times in monotonic ns of the session.

    ``offset``: wall time minus monotonic time, as the newest input has it.
    """

    def __init__(self, evidence: Evidence) -> None:
        self._evidence = evidence
        self._rows: dict[str, Observation] = {}
        """The newest listing of everything."""
        self._window = 0
        self.offset = 0

    def all(self, rows: dict[str, Observation], began: int, ended: int) -> None:
        """A listing of everything, looked at between the two times."""
        known = self._evidence
        before = self._rows
        first = known.first_look_t is None
        if first:
            known.first_look_t = ended
        for item_id, row in rows.items():
            if before.get(item_id) is not row:
                self._see(row, self._window, began, ended, baseline=first)
        for item_id in before.keys() - rows.keys():
            self._miss(known.items.get(item_id), self._window, ended)
        self._rows, self._window = rows, began

    def pod(self, uid: str, rows: dict[str, Observation], began: int, ended: int) -> None:
        """A listing of one pod."""
        known = self._evidence
        for row in rows.values():
            self._see(row, self._window, began, ended, baseline=False)
        for item_id, item in tuple(known.pods.get(uid, {}).items()):
            if item_id not in rows:
                self._miss(item, self._window, ended)
                self._rows.pop(item_id, None)

    def inspected(self, statuses: list[Status], began: int, ended: int) -> None:
        """An inspection answered this; it may be newer than the listing before it."""
        known = self._evidence
        for status in statuses:
            item = known.items.get(status.id)
            if item is None:
                continue
            item.statuses[status.runtime_state] = status
            present = item.present
            if present is None:
                continue
            if present.runtime_state != status.runtime_state:
                changed = msgspec.structs.replace(present, runtime_state=status.runtime_state)
                lo = max(self._window, item.seen_t)
                item.sightings.append(Sighting(min(lo, ended), ended, changed))
                item.present = changed
                self._rows[status.id] = changed
            item.seen_t = max(item.seen_t, began)

    def payload(self, event: ContainerEvent, hint: Hint) -> None:
        """An event that carries its pod is a look at it, as old as the event."""
        rows: list[Observation] = []
        if event.sandbox is not None:
            rows.append(_row(event, "sandbox", "", event.sandbox, ""))
        rows += [
            _row(event, "container", one.name, one, event.sandbox_id) for one in event.containers
        ]
        for row in rows:
            item = self._evidence.items.get(row.id)
            if item is not None and hint.made_t <= item.seen_t:
                continue  # What it says is older than what is known.
            if event.type == "deleted" and row.id == event.container_id:
                self._miss(item, self._window, hint.t)
                self._rows.pop(row.id, None)
                continue
            self._see(row, self._window, hint.made_t, hint.t, baseline=False)
            self._rows[row.id] = row
        for status in event.containers:
            item = self._evidence.items.get(status.id)
            if item is not None:
                item.statuses.setdefault(status.runtime_state, status)

    def _see(
        self, row: Observation, looked: int, began: int, ended: int, *, baseline: bool
    ) -> None:
        known = self._evidence
        item = known.items.get(row.id)
        if item is None:
            if len(known.items) >= MOST_ITEMS:
                raise RecordingError(
                    f"The recording lists more than {MOST_ITEMS:,} containers and sandboxes. "
                    "Give a shorter one."
                )
            item = known.items[row.id] = Item(row, baseline=baseline)
            item.hints = known.unlisted.pop(row.id, {})
            known.pods.setdefault(row.pod_uid, {})[row.id] = item
        if item.present != row:
            lo = known.begin_t if baseline else max(looked, item.seen_t, known.begin_t)
            item.sightings.append(Sighting(min(lo, ended), lo if baseline else ended, row))
            item.present = row
        item.seen_t = max(item.seen_t, began)
        item.offset = self.offset

    def _miss(self, item: Item | None, looked: int, ended: int) -> None:
        if item is not None and item.present is not None:
            item.sightings.append(Sighting(min(max(looked, item.seen_t), ended), ended, None))
            item.present = None


def _row(
    event: ContainerEvent, kind: ItemKind, name: str, status: Status, sandbox_id: str
) -> Observation:
    return Observation(
        id=status.id,
        kind=kind,
        pod_uid=event.pod_uid,
        pod_name=event.pod_name,
        pod_namespace=event.pod_namespace,
        name=name,
        attempt=status.attempt,
        runtime_state=status.runtime_state,
        created_at=status.created_at,
        sandbox_id=sandbox_id,
    )
