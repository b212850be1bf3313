"""What a session says on the terminal as it begins, and of its recording as it ends."""

import os
import platform
import shlex
from collections.abc import Sequence
from urllib.parse import urlsplit

from app.engine.inputs import RuntimeProbed
from app.recording.target import Bounds, state_folder
from app.session import Subject
from app.settings import Settings
from app.terminal import has_screen, plain

SILENT = (
    "The runtime takes connections and has not said who it is: it hangs, or is far too busy (or it "
    "is none: try `crictl version`). plegscope asks for its lists all the same, and again who it "
    "is once they come."
)


def greeting(
    subject: Subject, seen: RuntimeProbed | None, where: str, addresses: Sequence[str] = ()
) -> str:
    """What is watched and how, ``where`` it is recorded, and the addresses to open. ``seen``: what
    the runtime said of itself (None: nothing in time)."""
    joined = "joined" if seen is not None and seen.policy == "join" else "not joined"
    open_this = "".join(f"    {one}\n" for one in addresses)
    # What a runtime calls itself, and paths: anything may be in them.
    title, reason = plain(subject.title), plain(SILENT if seen is None else seen.reason)
    endpoint, endpoint_reason = plain(subject.endpoint), plain(subject.endpoint_reason)
    opening = f"\n{open_this}\n" if open_this else ""
    return (
        f"plegscope watches {title}.\n{opening}"
        f"  endpoint      {endpoint} ({endpoint_reason})\n"
        f"  event stream  {joined}. {reason}\n"
        f"  recording     {plain(where)}\n"
        f"{elsewhere(addresses)}"
        "  It only reads: what it finds is what a kubelet would find. Ctrl-C ends it.\n"
    )


def elsewhere(addresses: Sequence[str]) -> str:
    """A line on how a browser of another machine gets here; none if it can, or one of this can."""
    if has_screen() or len(addresses) != 1:
        return ""
    there = urlsplit(addresses[0])
    if there.hostname not in ("127.0.0.1", "::1", "localhost"):
        return ""
    forward = f"ssh -L {there.port}:{there.netloc} {plain(platform.node())}"
    return f"  elsewhere     {forward}, then the same address there\n"


def recorded_where(settings: Settings, *, well: bool) -> str:
    """Where a session is recorded, in words; ``well``: there is a recorder."""
    if not well:
        return "none" if settings.record else "none (--no-record)"
    if settings.record_to:
        return settings.record_to
    kept = Bounds()
    return (
        f"{state_folder(os.environ)} (the flight recorder: at most "
        f"{kept.total_bytes >> 20} MiB and {kept.age_s / 3600:.0f} h)"
    )


def recorded(path: str, size: int) -> str:
    """What became of a recording in a file of its own, of ``size`` bytes, and how it is played."""
    return (
        f"{plain(path)}: {size:,} bytes. `plegscope replay {plain(shlex.quote(path))}` plays it.\n"
    )
