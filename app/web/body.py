"""Reads what is sent with a request: few bytes, in little time, and never more than that.

Whoever may send a body may also send the half of one and wait, or leave. The first is told so and
let go, the second is nobody's mistake.
"""

import asyncio

from starlette.requests import ClientDisconnect, Request

MOST_BYTES = 4096
"""What the fields of any form or JSON object of ours may amount to."""
PATIENCE_S = 5.0
"""How long they may take, in seconds."""

TOO_SLOW = "The rest of this request did not come. Send it again, whole."


class Refused(Exception):
    """A request that is not carried out: an HTTP status and a sentence."""

    def __init__(self, status: int, sentence: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(sentence)
        self.status = status
        self.sentence = sentence
        self.headers = headers or {}


async def read_body(request: Request, too_large: str) -> bytes:
    """The whole body of a request.

    Args:
        request: what came.
        too_large: the sentence for one of more than ``MOST_BYTES``.

    Raises:
        Refused: it is too large (413), or did not come in ``PATIENCE_S`` (408). The connection is
            not kept, so that nothing more of it is read.
    """
    body = bytearray()
    try:
        async with asyncio.timeout(PATIENCE_S):
            async for part in request.stream():
                body += part
                if len(body) > MOST_BYTES:
                    raise Refused(413, too_large, {"Connection": "close"})
    except (TimeoutError, ClientDisconnect):
        raise Refused(408, TOO_SLOW, {"Connection": "close"}) from None
    return bytes(body)
