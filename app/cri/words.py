"""What went wrong with a call, in words, and how an event stream ended, told apart by code."""

import grpc
import msgspec

from app.engine.inputs import EndCode, FailCode

Code = grpc.StatusCode

MAX_DETAILS = 1024
"""Characters kept of a runtime's own error text: it is shown, and it is anyone's guess."""


class CallFailed(Exception):
    """A runtime call failed; ``str()`` is one or two sentences for people.

    ``code`` is gRPC's, ``meaning`` what it says of the runtime; ``details`` the runtime's own text,
    bounded, hostile until shown as text.
    """

    def __init__(self, method: str, code: Code, details: str, timeout_s: float) -> None:
        self.method = method
        self.code = code
        self.details = brief(details)
        self.meaning = meaning(code, self.details)
        super().__init__(sentence(method, code, self.details, timeout_s))


class End(msgspec.Struct, frozen=True):
    """How an event stream ended (see ``EndCode``), with the runtime's own text or ours."""

    code: EndCode
    detail: str = ""


def shorten(text: str, limit: int = MAX_DETAILS) -> str:
    """At most ``limit`` characters of ``text``, the cut marked with an ellipsis."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def brief(details: str) -> str:
    """A status' text, bounded; of C-core's chain of connection errors only the last link."""
    return shorten(details.rpartition("last error: ")[2])


def meaning(code: Code, details: str) -> FailCode:
    """What a failed call says of the runtime."""
    match code:
        case Code.DEADLINE_EXCEEDED:
            return "silent"
        case Code.UNAVAILABLE:
            # The runtime's socket takes connections, and nobody behind it takes them on.
            return "silent" if "timed out" in details else "unreachable"
        case _:
            return "error"


def sentence(method: str, code: Code, details: str, timeout_s: float) -> str:
    """One or two sentences about a failed call, ending with where to look."""
    match code:
        case Code.UNAVAILABLE if meaning(code, details) == "silent":
            return (
                f"{method} did not reach the runtime: it accepts connections and says nothing. "
                "It hangs: look at its log and at the node's disks."
            )
        case Code.UNAVAILABLE:
            return (
                f"{method} did not reach the runtime ({details}). "
                "It is down or restarting: look at its service and its log."
            )
        case Code.DEADLINE_EXCEEDED:
            return (
                f"{method} was not answered within {timeout_s:g} s. "
                "The runtime hangs or is far too busy: look at its log and at the node's disks."
            )
        case Code.UNIMPLEMENTED:
            return (
                f"{method} is not there in this runtime ({details}). "
                "Look whether its CRI service is switched on and speaks CRI v1."
            )
        case Code.RESOURCE_EXHAUSTED:
            return (
                f"{method} hit a limit ({details}). The kubelet has the same limit of 16 MiB "
                "a message: look for pods with very many dead containers."
            )
        case Code.PERMISSION_DENIED | Code.UNAUTHENTICATED:
            return f"{method} was refused ({details}). Run plegscope as root or with sudo."
        case _:
            return (
                f"{method} failed: {code.name}, {details.rstrip('.') or 'without a reason'}. "
                "Look at the runtime's log."
            )


_ENDS: dict[Code, EndCode] = {
    Code.UNIMPLEMENTED: "unimplemented",
    Code.UNAVAILABLE: "unavailable",
    Code.DEADLINE_EXCEEDED: "deadline",
    Code.CANCELLED: "cancelled",
}


def stream_end(code: Code, details: str, *, at_once: bool) -> End:
    """How a stream ended, from its gRPC status.

    ``at_once``: within the grace time after it was opened and before any event. A clean end of
    that kind is what CRI-O sends when its events are switched off.
    """
    if code is Code.OK:
        return End("immediate_eof" if at_once else "eof")
    if code in _ENDS:
        return End(_ENDS[code], brief(details))
    return End("error", shorten(f"{code.name}: {brief(details)}"))
