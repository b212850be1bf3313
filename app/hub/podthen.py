"""One pod at a moment of a recording, as JSON."""

import msgspec

from app.engine.records import AnyRecord
from app.hub.wire import PodRow


class PodThen(msgspec.Struct, frozen=True, kw_only=True):
    """A pod at ``t`` (monotonic ns of the recording; ``wall``: ns since 1970).

    ``pod`` None: it was not there yet, or gone for so long that nothing was kept of it.
    ``records``: what was told of it up to then, oldest first; ``whole``: that is all, else it is
    the newest.
    """

    t: int
    wall: int
    pod: PodRow | None
    records: tuple[AnyRecord, ...]
    whole: bool
