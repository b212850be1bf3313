"""Generic PLEG's transition table: which pair of states is which lifecycle event.

Source: kubelet pleg/generic.go, ``generateEvents`` and ``computeEvents``.
"""

from collections.abc import Iterable

import msgspec

from app.engine.listing import Pod
from app.engine.model import EventType, Observation, State

_NEW: dict[State, dict[State, tuple[EventType, ...]]] = {
    "running": {
        "exited": ("ContainerStarted",),
        "unknown": ("ContainerStarted",),
        "non-existent": ("ContainerStarted",),
    },
    "exited": {
        "running": ("ContainerDied",),
        "unknown": ("ContainerDied",),
        "non-existent": ("ContainerDied",),
    },
    "unknown": {
        "running": ("ContainerChanged",),
        "exited": ("ContainerChanged",),
        "non-existent": ("ContainerChanged",),
    },
    "non-existent": {
        "running": ("ContainerDied", "ContainerRemoved"),
        "exited": ("ContainerRemoved",),
        "unknown": ("ContainerDied", "ContainerRemoved"),
    },
}


def events_for(old: State, new: State) -> tuple[EventType, ...]:
    """The lifecycle events of one container or sandbox going from ``old`` to ``new``.

    Empty when nothing changed. Died comes before Removed.
    """
    if old == new:
        return ()
    return _NEW[new][old]


class Change(msgspec.Struct, frozen=True):
    """One container or sandbox that differs between two listings.

    ``item`` is the newer observation where there is one, else the older.
    """

    item: Observation
    old_state: State
    new_state: State

    @property
    def events(self) -> tuple[EventType, ...]:
        """The lifecycle events of this change, in the order they are sent."""
        return events_for(self.old_state, self.new_state)


def _newest_first(items: Iterable[Observation]) -> list[Observation]:
    return sorted(items, key=lambda item: (-item.created_at, item.id))


def changes(old: Pod | None, new: Pod | None) -> list[Change]:
    """What differs between two sights of one pod, each id once.

    Order: old containers, old sandboxes, new containers, new sandboxes, each newest first
    (kubelet pleg/generic.go ``getContainersFromPods``; behaviours A20).
    """
    if old is not None and new is not None and old.same_items(new):
        return []
    found: list[Change] = []
    examined: set[str] = set()
    for pod in (old, new):
        if pod is None:
            continue
        for group in (pod.containers, pod.sandboxes):
            for item in _newest_first(group.values()):
                if item.id in examined:
                    continue
                examined.add(item.id)
                before = _state(old, item.id)
                after = _state(new, item.id)
                if before != after:
                    found.append(Change(_newer(new, item), before, after))
    return found


def _state(pod: Pod | None, item_id: str) -> State:
    item = pod.find(item_id) if pod is not None else None
    return "non-existent" if item is None else item.state


def _newer(new: Pod | None, item: Observation) -> Observation:
    listed = new.find(item.id) if new is not None else None
    return item if listed is None else listed
