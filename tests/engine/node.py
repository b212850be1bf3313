"""A node that a test sets up by hand: pods, sandboxes, containers, and what listing them answers.

It is naive on purpose and shares nothing with the engine but the shape of rows and statuses.
Times are wall-clock nanoseconds. Rows are made anew for each listing, so an engine that relied on
object identity would be found out; with ``interned`` a row that did not change is the same object
again, as the CRI boundary hands them out, so that an engine's short cuts are taken.
"""

from dataclasses import dataclass

from app.engine.model import (
    ContainerStatus,
    ItemKind,
    Observation,
    RuntimeState,
    SandboxStatus,
)


@dataclass
class Item:
    """One container or sandbox of the node."""

    id: str
    kind: ItemKind
    uid: str
    state: RuntimeState
    created_at: int
    attempt: int = 0
    name: str = ""
    sandbox: str = ""
    ips: tuple[str, ...] = ()
    exit_code: int = 0
    reason: str = ""
    finished_at: int = 0


@dataclass(frozen=True)
class Sight:
    """What one look at the node showed, as the engine would be told."""

    sandboxes: tuple[Observation, ...]
    containers: tuple[Observation, ...]


@dataclass(frozen=True)
class Inspection:
    """What one look at a pod's sandboxes and containers showed."""

    sandboxes: tuple[SandboxStatus, ...]
    containers: tuple[ContainerStatus, ...]


class Node:
    """Items by (pod UID, id); the same container id may stand in two pods (behaviours A4)."""

    def __init__(self, wall: int) -> None:
        self.items: dict[tuple[str, str], Item] = {}
        self.broken_list = ""
        """While set, every listing fails with this error."""
        self.broken_pods: dict[str, str] = {}
        """Pods whose inspection fails, with the error."""
        self.interned = False
        self._rows: dict[tuple[str, str], Observation] = {}
        self._created = wall

    # What happens on the node

    def sandbox(
        self, uid: str, item_id: str, state: RuntimeState = "ready", *ips: str, **more: int
    ) -> Item:
        """A sandbox is there (or is replaced)."""
        return self._put(Item(item_id, "sandbox", uid, state, self._next(more), ips=ips))

    def container(
        self,
        uid: str,
        item_id: str,
        state: RuntimeState = "running",
        sandbox: str = "",
        **more: int,
    ) -> Item:
        """A container is there (or is replaced), named after its id."""
        item = Item(item_id, "container", uid, state, self._next(more), name=f"name-{item_id}")
        item.sandbox = sandbox
        return self._put(item)

    def exit(self, uid: str, item_id: str, code: int = 0, reason: str = "", at: int = 0) -> None:
        """A container ends by itself; a sandbox is no longer ready."""
        item = self.items[uid, item_id]
        item.state = "exited" if item.kind == "container" else "notready"
        item.exit_code, item.finished_at = code, at
        item.reason = reason or ("Completed" if code == 0 else "Error")

    def set(self, uid: str, item_id: str, state: RuntimeState) -> None:
        """An item is in this state now."""
        self.items[uid, item_id].state = state

    def remove(self, uid: str, item_id: str) -> None:
        """An item is gone."""
        del self.items[uid, item_id]

    def remove_pod(self, uid: str) -> None:
        """A pod is gone with all it had."""
        for key in [key for key in self.items if key[0] == uid]:
            del self.items[key]

    # What the node answers

    def pods(self) -> tuple[str, ...]:
        """UIDs, in order of appearance."""
        return tuple(dict.fromkeys(uid for uid, _ in self.items))

    def of(self, uid: str) -> list[Item]:
        """A pod's items."""
        return [item for item in self.items.values() if item.uid == uid]

    def list(self, uid: str | None = None) -> Sight:
        """All rows, or one pod's."""
        rows = [self._row(item) for item in self.items.values() if uid in (None, item.uid)]
        return Sight(
            tuple(row for row in rows if row.kind == "sandbox"),
            tuple(row for row in rows if row.kind == "container"),
        )

    def inspect(
        self, uid: str, sandbox_ids: tuple[str, ...], container_ids: tuple[str, ...]
    ) -> Inspection:
        """Statuses of what is still there of the ids asked for."""
        items = [self.items.get((uid, item_id)) for item_id in (*sandbox_ids, *container_ids)]
        there = [item for item in items if item is not None]
        return Inspection(
            tuple(_sandbox_status(item) for item in there if item.kind == "sandbox"),
            tuple(_container_status(item) for item in there if item.kind == "container"),
        )

    def _row(self, item: Item) -> Observation:
        row = _row(item)
        if not self.interned:
            return row
        if self._rows.get((item.uid, item.id)) != row:
            self._rows[item.uid, item.id] = row
        return self._rows[item.uid, item.id]

    def _put(self, item: Item) -> Item:
        self.items[item.uid, item.id] = item
        return item

    def _next(self, more: dict[str, int]) -> int:
        self._created += 1
        return more.get("created_at", self._created)


def _row(item: Item) -> Observation:
    return Observation(
        id=item.id,
        kind=item.kind,
        pod_uid=item.uid,
        pod_name=f"pod-{item.uid}",
        pod_namespace="demo",
        name=item.name,
        attempt=item.attempt,
        runtime_state=item.state,
        created_at=item.created_at,
        sandbox_id=item.sandbox,
    )


def _sandbox_status(item: Item) -> SandboxStatus:
    return SandboxStatus(item.id, item.attempt, item.state, item.created_at, item.ips)


def _container_status(item: Item) -> ContainerStatus:
    ended = item.state == "exited"
    return ContainerStatus(
        id=item.id,
        name=item.name,
        attempt=item.attempt,
        runtime_state=item.state,
        created_at=item.created_at,
        finished_at=item.finished_at if ended else 0,
        exit_code=item.exit_code if ended else None,
        reason=item.reason if ended else "",
    )
