"""The engine's numbers. Defaults are the kubelet's and the KEP's; all durations in ns."""

import msgspec

SECOND = 1_000_000_000


class EngineSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What one engine runs with.

    The first block is the kubelet's (pkg/kubelet/kubelet.go, pleg/generic.go), the second is
    KEP-3386's stream supervision, the third is the shadow's own politeness towards the node.
    """

    profile: str = "kep"
    period_ns: int = SECOND
    """Pause between the end of a global relist and the start of the next."""
    threshold_ns: int = 180 * SECOND
    queue_capacity: int = 200
    event_channel: int | None = None
    """Slots of the lifecycle event channel; None: somebody always takes events at once."""
    cache_tick_ns: int = 2 * SECOND
    """How often the pod cache's time moves without a relist (``legacy``; evented.go
    globalCacheUpdatePeriod): 2 s in its last releases, 5 s before, when kubernetes#124704 and
    #127865 were reported."""
    health_poll_ns: int = SECOND
    """How often health is asked for; the kubelet's sync loop does so every second or two."""

    backoff_base_ns: int = SECOND
    """The second reconnect's delay before jitter; the first reconnect is immediate."""
    backoff_cap_ns: int = 60 * SECOND
    healthy_after_ns: int = 60 * SECOND
    """A connection at least this old resets the backoff when it breaks."""

    listing_share: int = 5
    """Listing may take one part in this many of the time; slower runtimes are polled less often."""
    pace_cap_ns: int = 60 * SECOND
    """The longest pause that politeness may bring."""
    stops_kept: int = 4096
    """Stop events remembered until a relist finds the container dead."""
