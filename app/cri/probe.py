"""Who is this runtime, and may its event stream be joined? Decided by ``Version``, never by trying.

Even one short subscription takes an event away from a kubelet with EventedPLEG on where all
subscribers share one channel (containerd 1.x, CRI-O before 1.28): a subscriber that has gone is
noticed there only when an event sent to it is lost.
"""

import re
from typing import NamedTuple

import grpc
import msgspec

from app.clock import Clock
from app.cri.client import CriClient
from app.cri.words import CallFailed, shorten
from app.engine.inputs import RuntimeProbed, StreamPolicy
from app.errors import RuntimeSilent, RuntimeUnusable

Code = grpc.StatusCode

BROADCASTS_SINCE: dict[str, tuple[int, int]] = {"containerd": (2, 0), "cri-o": (1, 28)}
"""The first (major, minor) that gives every subscriber every event, by the runtime's own name
(containerd #9661, CRI-O #6838)."""

STREAM_SINCE = (1, 7)
"""containerd: the first (major, minor) that serves GetContainerEvents."""

OVERRIDE = "To subscribe nevertheless, start plegscope with --join-shared-stream."

_NUMBERS = re.compile(
    r"v?(\d{1,6})\.(\d{1,6})(?:\.(\d{1,6}))?(-(?:alpha|beta|rc|dev|pre))?", re.ASCII
)


class Parsed(NamedTuple):
    """The leading numbers of a version; ``pre``: a pre-release such as ``2.0.0-beta.1``.

    What packagers append (``-k3s1``, ``~ds1``, ``+unknown``) makes no pre-release.
    """

    major: int
    minor: int
    patch: int
    pre: bool


class Decision(msgspec.Struct, frozen=True):
    """Whether the stream is joined, why in a sentence, and whether its channel is shared."""

    policy: StreamPolicy
    reason: str
    shared: bool


class Probe(msgspec.Struct, frozen=True):
    """A runtime that answered: the input for the engine, and whether its channel is shared."""

    seen: RuntimeProbed
    shared: bool


def parse_version(text: str) -> Parsed | None:
    """The numbers a version begins with, whatever follows (``1.6.20~ds1``, ``2.1.9+unknown``)."""
    match = _NUMBERS.match(text)
    if match is None:
        return None
    major, minor, patch, pre = match.groups()
    return Parsed(int(major), int(minor), int(patch or 0), pre is not None)


def decide(name: str, version: str, *, join_shared_stream: bool = False) -> Decision:
    """Whether to join the stream of the runtime that calls itself ``name`` and ``version``."""
    shown = f"{shorten(name, 64)} {shorten(version, 64)}"
    since = BROADCASTS_SINCE.get(name)
    numbers = parse_version(version)
    if since is None or numbers is None:
        if join_shared_stream:
            return Decision(
                "join",
                f"It is not known whether {shown} gives every subscriber every event; joined "
                "because of --join-shared-stream.",
                shared=True,
            )
        return Decision(
            "relist_only",
            f"It is not known whether {shown} gives every subscriber every event, and plegscope "
            f"takes none away from the kubelet, so it only polls. {OVERRIDE}",
            shared=True,
        )
    # A pre-release of the very first version may be older than the change it is known for.
    early = numbers.pre and numbers[:3] == (*since, 0)
    if numbers[:2] >= since and not early:
        return Decision("join", f"{shown} gives every subscriber every event.", shared=False)
    if name == "containerd" and numbers[:2] < STREAM_SINCE and not join_shared_stream:
        return Decision(
            "relist_only",
            f"{shown} has no event stream (it came with 1.7), so plegscope only polls. {OVERRIDE}",
            shared=True,
        )
    if join_shared_stream:
        return Decision(
            "join",
            f"{shown} gives each event to only one of its subscribers; joined because of "
            "--join-shared-stream: a kubelet with EventedPLEG on loses what is seen here.",
            shared=True,
        )
    return Decision(
        "relist_only",
        f"{shown} gives each event to only one of its subscribers, so plegscope would take events "
        f"away from a kubelet with EventedPLEG on, and only polls. {OVERRIDE}",
        shared=True,
    )


async def probe(
    client: CriClient, endpoint: str, clock: Clock, *, join_shared_stream: bool = False
) -> Probe:
    """Ask ``Version`` and decide. ``endpoint`` is shown in sentences.

    Raises:
        RuntimeSilent: nothing was answered in time.
        RuntimeUnusable: what answered is no CRI v1 runtime; says which of it, and what to do.
    """
    try:
        answer = await client.version()
    except CallFailed as error:
        if error.meaning == "silent":
            raise RuntimeSilent(_silent(endpoint, client.deadlines.version)) from error
        raise RuntimeUnusable(_unusable(error, endpoint)) from error
    name = shorten(answer.runtime_name, 256)
    version = shorten(answer.runtime_version, 256)
    decision = decide(name, version, join_shared_stream=join_shared_stream)
    seen = RuntimeProbed(
        t=clock.mono(),
        wall=clock.wall(),
        name=name,
        version=version,
        api_version=shorten(answer.runtime_api_version, 64),
        endpoint=endpoint,
        policy=decision.policy,
        reason=decision.reason,
    )
    return Probe(seen, decision.shared)


def _silent(endpoint: str, timeout_s: float) -> str:
    return (
        f"Something accepts connections on {endpoint}, but did not answer within {timeout_s:g} s: "
        "the runtime hangs, or it is no container runtime. Look at its log, and try `crictl "
        "version`."
    )


def _unusable(error: CallFailed, endpoint: str) -> str:
    details = error.details
    match error.code:
        case Code.UNIMPLEMENTED:
            return (
                f"{endpoint} speaks gRPC, but not CRI v1 ({details}). Take the runtime's CRI "
                'socket; in containerd see that "cri" is not among disabled_plugins; a runtime '
                "that has only v1alpha2 is too old for plegscope."
            )
        case Code.UNAVAILABLE if "ermission denied" in details:
            return (
                f"This user may not connect to {endpoint}. Run plegscope with sudo, or as a user "
                "of the group that owns the socket."
            )
        case Code.UNAVAILABLE if "refused" in details or "No such file" in details:
            return (
                f"No runtime listens on {endpoint}. Start it, for instance with `systemctl start "
                "containerd`."
            )
        case Code.UNAVAILABLE:
            return (
                f"{endpoint} does not speak gRPC, or closes every connection ({details}). Take "
                "the runtime's CRI socket (Docker's own docker.sock is none)."
            )
        case _:
            return (
                f"{endpoint} did not answer Version as a CRI v1 runtime does ({error.code.name}: "
                f"{details}). Look whether it is the runtime's CRI socket."
            )
