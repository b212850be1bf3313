"""What the kubelet has got done with a pod, and when that was asked for.

The times that people wait for, as #137362 and #124704 of kubernetes measured them: not when the
runtime had done it, but when the kubelet knew and told the API server.
"""

from typing import Literal

import msgspec

What = Literal["running", "resized", "deleted", "waited"]
"""``running``: a SyncPod saw all containers of a new pod run. ``resized``: a SyncPod saw a resize
in place hold. ``deleted``: SyncTerminatedPod of a deleted pod returned, so it may go from the API
server. ``waited``: a pod worker got the fresh cache entry that it had been waiting for."""


class Milestone(msgspec.Struct, frozen=True):
    """Reached at ``t`` (monotonic ns), asked for at ``since_t``."""

    what: What
    uid: str
    since_t: int
    t: int

    @property
    def took_ns(self) -> int:
        """From the asking to the reaching."""
        return self.t - self.since_t
