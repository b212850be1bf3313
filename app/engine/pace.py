"""How long the shadow pauses between two global relists: the period, or more on a slow runtime.

The kubelet has no such rule. The shadow looks at a node that the kubelet is polling already, so
when listing takes more than its share of the time it looks less often (DESIGN: promises).
"""

from collections import deque

from app.engine.outbox import Outbox
from app.engine.records import PaceChanged
from app.engine.settings import EngineSettings

_REMEMBERED = 3


class Pace:
    """The pause in force, from the quickest of the last few listings: one slow list is no trend."""

    def __init__(self, outbox: Outbox, settings: EngineSettings) -> None:
        self._out = outbox
        self._settings = settings
        self._recent: deque[int] = deque(maxlen=_REMEMBERED)
        self.period_ns = settings.period_ns
        self.pause_ns = settings.period_ns
        self._told_ns = settings.period_ns

    def begin(self) -> None:
        """A session starts at the kubelet's period, whatever one before it had measured."""
        self._recent.clear()
        self.retune(self.period_ns)

    def retune(self, period_ns: int) -> None:
        """The kubelet's period is another one from now on."""
        self.period_ns = self.pause_ns = self._told_ns = period_ns

    def listed(self, took_ns: int) -> None:
        """A global relist's two list calls took this long together."""
        self._recent.append(took_ns)
        if len(self._recent) < _REMEMBERED:
            return
        settings = self._settings
        fair = (settings.listing_share - 1) * min(self._recent)
        pause = max(self.period_ns, min(fair, settings.pace_cap_ns))
        self.pause_ns = pause
        # Small steps are not worth a record each, but many of them are: compared is what was told.
        told = self._told_ns
        changed_much = pause > 2 * told or told > 2 * pause
        if (pause > self.period_ns) == (told > self.period_ns) and not changed_much:
            return
        self._told_ns = pause
        if pause > self.period_ns:
            share = _PARTS.get(settings.listing_share, f"1/{settings.listing_share}")
            reason = (
                f"Listing takes {min(self._recent) / 1e6:.0f} ms; to keep it under {share} of the "
                "time plegscope polls less often than the kubelet does."
            )
        else:
            reason = "Listing is quick again; plegscope polls at the kubelet's period."
        self._out.show(
            PaceChanged(t=self._out.t, wall=self._out.wall, period_ns=pause, reason=reason)
        )


_PARTS = {2: "half", 3: "a third", 4: "a quarter", 5: "a fifth", 10: "a tenth"}
