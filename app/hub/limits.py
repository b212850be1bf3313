"""What the hub allows itself and its viewers, and what it has counted."""

import msgspec


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """All times in seconds, sizes in bytes. Tests use smaller ones."""

    flush_interval: float = 0.05
    """At most one batch in this time: the cost of fan-out follows viewers times batches."""
    gather: float = 0.01
    """How long a first record waits for company: an event, its request, its relist and what that
    found belong to one picture and are milliseconds apart."""
    state_interval: float = 0.5
    batch_records: int = 2000
    """A larger batch is sent as several."""
    queue_frames: int = 40
    """Frames that may wait for one viewer: two seconds at full rate."""
    queue_bytes: int = 2 * 1024 * 1024
    batch_weight: int = 512 * 1024
    """A batch with more characters of text is sent as several, and a record that has more alone."""
    snapshot_records: int = 4000
    snapshot_weight: int = 4 * 1024 * 1024
    """Characters of text in a snapshot's records, the newest of which are taken."""
    snapshot_ns: int = 10 * 60 * 1_000_000_000
    """Records older than this (by the newest one's time) are left out of a snapshot."""
    send_timeout: float = 5.0
    """A viewer that takes nothing for this long is let go ..."""
    send_rate: int = 64 * 1024
    """... plus the time that what was sent last takes at this many bytes per second."""
    farewell: float = 0.5
    """How long the end waits for the last words to be taken."""
    max_viewers: int = 100


class Stats:
    """Counters since the start; ``viewers`` is the present number."""

    def __init__(self) -> None:
        self.viewers = 0
        self.joined = 0
        self.resumed = 0
        self.refused = 0
        """Viewers that came when there were too many already."""
        self.batches = 0
        """Batches encoded; each goes to every viewer that follows."""
        self.records = 0
        """Records in those batches."""
        self.snapshots = 0
        """Snapshots encoded; viewers that come together share one."""
        self.frames = 0
        """Frames handed to the network, over all viewers, and their bytes."""
        self.bytes = 0
        self.lagging = 0
        """Times that a viewer's queue overflowed."""
        self.skipped = 0
        """Records that those viewers were not sent one by one."""
        self.lost = 0
        """Records that the snapshot did not bring back either."""
        self.dropped = 0
        """Viewers that took nothing any more and were let go."""
