"""What a runtime had said of a pod, word for word, as JSON.

A row of a list, a status or an event is given as protobuf's own JSON has it, with upstream's names,
as ``crictl`` prints it. Times ``t`` are those of the records beside which it is shown (ns).
"""

from typing import Literal

import msgspec


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """Of what the runtime's words are wanted: those that were there by ``t``.

    ``uid``: of the pod. ``id``: of one of its containers or sandboxes (``what`` says which); empty:
    of all of them.
    """

    t: int
    uid: str
    id: str = ""
    what: Literal["container", "sandbox"] = "container"


class Said(msgspec.Struct, frozen=True, kw_only=True):
    """One thing the runtime said, the newest of its kind at the time.

    ``method``: the call it answered. ``id``: of the row, sandbox or container. ``rows``: of the
    list it is from, None if it is from none; ``whole``: that was the list of all pods. ``text``:
    the JSON; empty: the list had no such row, or ``trouble`` says why it cannot be shown.
    ``size``: bytes as received; ``unknown``: so many of its fields are none that plegscope looks
    at, or of a newer CRI, and are left out of ``text``.
    """

    method: str
    t: int
    ago_ns: int
    id: str
    rows: int | None = None
    whole: bool = False
    size: int = 0
    unknown: int = 0
    text: str = ""
    trouble: str = ""


class Received(msgspec.Struct, frozen=True, kw_only=True):
    """What the runtime had said. ``trouble``: why that is nothing, or not all; empty: it is."""

    asked: Asked
    said: tuple[Said, ...] = ()
    trouble: str = ""
