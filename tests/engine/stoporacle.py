"""A naive model of which stop event told of a death: the first one that is still believed.

A stop is believed from its receipt until a relist finds the container dead, a listing of all pods
that began later shows it running or gone for good, or too many others came after it.
"""

from collections.abc import Callable, Mapping

from app.engine.model import Observation
from app.engine.records import ContainerEventSeen, Lifecycle

RUNS = ("running", "ready")
Shown = Mapping[str, Mapping[str, Observation]]


class StopOracle:
    """Stop events that are believed, oldest first; at most ``kept``."""

    def __init__(self, kept: int, reach: Callable[[str], None]) -> None:
        self.kept = kept
        self.reach = reach
        self.stops: list[tuple[str, str, int, int, bool]] = []
        """(pod, container, event, received, backlog)."""

    def told(self, event: ContainerEventSeen, received: int) -> None:
        """A stop of something that is not known to be dead."""
        if any(stop[:2] == (event.uid, event.container_id) for stop in self.stops):
            self.reach("stop told twice")
            return
        stop = (event.uid, event.container_id, event.event, received, event.backlog)
        self.stops.append(stop)
        if len(self.stops) > self.kept:
            self.reach("stop forgotten for room")
            del self.stops[0]

    def listed(self, listing: Shown, published: Shown, began: int) -> None:
        """All pods were listed; ``published`` is what was known of them before."""
        for stop in tuple(self.stops):
            uid, item_id = stop[:2]
            if stop[3] >= began:
                continue
            row = listing.get(uid, {}).get(item_id)
            if row is not None and row.runtime_state in RUNS:
                self.reach("stop refuted")
            elif row is None and item_id not in published.get(uid, {}):
                self.reach("stop of nothing")
            else:
                continue
            self.stops.remove(stop)

    def died(self, record: Lifecycle) -> None:
        """A death names the stop that told of it, and how long ago it did if that is known."""
        for stop in self.stops:
            if stop[:2] == (record.uid, record.container_id):
                self.stops.remove(stop)
                assert (record.event, record.stop_t) == stop[2:4]
                assert record.after_ns == (None if stop[4] else record.t - stop[3])
                return
        assert (record.event, record.stop_t, record.after_ns) == (None, None, None)
