"""The sink behind /metrics: subscribed to the journal, rendered at each scrape."""

from collections.abc import Callable

from app.engine.records import Record
from app.engine.state import EngineState
from app.metrics.exposition import Exposition
from app.metrics.kubelet import KubeletMetrics
from app.metrics.own import Figures, OwnMetrics
from app.metrics.runtime import write_operations


class Metrics:
    """Counts records; ``render`` adds what only the present state tells.

    Args:
        state: the engine's state now.
        figures: everything else, now.
    """

    def __init__(self, state: Callable[[], EngineState], figures: Callable[[], Figures]) -> None:
        self._state = state
        self._figures = figures
        self._kubelet = KubeletMetrics()
        self._own = OwnMetrics()

    def apply(self, record: Record) -> None:
        """Take one record into account; to be subscribed to a ``Journal``."""
        self._kubelet.apply(record)
        self._own.apply(record)

    def render(self) -> str:
        """All metrics in text format 0.0.4."""
        out = Exposition()
        state = self._state()
        figures = self._figures()
        self._kubelet.write(out, state)
        write_operations(out, figures.runtime_calls)
        self._own.write(out, state, figures)
        return out.text()
