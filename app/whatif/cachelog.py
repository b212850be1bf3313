"""What the pod cache said of each container, as the records tell it."""

from app.engine.records import PodCached, PodUncached, Record


class CacheLog:
    """When the pod cache began, and ceased, to say of a container that it runs.

    ``toggles``: by container, the times (ns) at which that changed, in order; at first it does not
    run. An entry with an error says nothing of any container.
    """

    def __init__(self) -> None:
        self._running: dict[str, set[str]] = {}
        self.toggles: dict[str, list[int]] = {}

    def apply(self, record: Record) -> None:
        """The next record."""
        if isinstance(record, PodCached):
            if not record.error:
                running = {one.id for one in record.containers if one.runtime_state == "running"}
                self._write(record.uid, running, record.t)
        elif isinstance(record, PodUncached):
            self._write(record.uid, set(), record.t)

    def _write(self, uid: str, running: set[str], t: int) -> None:
        before = self._running.get(uid, set())
        for one in before ^ running:
            self.toggles.setdefault(one, []).append(t)
        if running:
            self._running[uid] = running
        else:
            self._running.pop(uid, None)
