"""The question: which settings the recording is to be run again with."""

import msgspec

from app.engine.settings import EngineSettings


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be otherwise; None, True and 0 stand for "as recorded".

    ``hold_ns``: how long each SyncPod holds its pod's relists up (None: as long as was recorded,
    0: not at all). ``stream`` False: nobody listens. ``loss``: share of the stream's events that
    never arrive, 1 for a stream that stays open and silent; which ones, ``seed`` says.
    ``delay_ns``: how much later each event arrives.
    """

    profile: str | None = None
    period_ns: int | None = None
    queue: int | None = None
    hold_ns: int | None = None
    stream: bool = True
    loss: float = 0.0
    delay_ns: int = 0
    seed: int = 7

    def settings(self, then: EngineSettings) -> EngineSettings:
        """The engine's settings, made of those that were recorded."""
        return msgspec.structs.replace(
            then,
            profile=self.profile or then.profile,
            period_ns=self.period_ns or then.period_ns,
            queue_capacity=self.queue or then.queue_capacity,
        )

    def changes_nothing(self, then: EngineSettings) -> bool:
        """Whether the answer is known: it was recorded with just these settings."""
        as_held = self.hold_ns is None
        same_world = as_held and self.stream and not self.loss and not self.delay_ns
        return same_world and self.settings(then) == then

    @property
    def silent(self) -> bool:
        """Whether the stream is open and brings nothing."""
        return self.loss >= 1

    def words(self, then: EngineSettings) -> str:
        """What the run is called beside the recorded one."""
        parts = [self.profile or then.profile]
        if self.period_ns and self.period_ns != then.period_ns:
            parts.append(f"every {self.period_ns / 1e9:g} s")
        if self.queue and self.queue != then.queue_capacity:
            parts.append(f"queue of {self.queue:,}")
        if self.hold_ns == 0:
            parts.append("not held")
        elif self.hold_ns:
            parts.append(f"held {self.hold_ns / 1e9:g} s by each SyncPod")
        if not self.stream:
            parts.append("no stream")
        if self.silent:
            parts.append("silent stream")
        elif self.loss:
            parts.append(f"{self.loss:.0%} of events lost")
        if self.delay_ns:
            parts.append(f"events {self.delay_ns / 1e9:g} s late")
        return ", ".join(parts)
