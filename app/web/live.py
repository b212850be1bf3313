"""The WebSocket: carries one viewer's mailbox to its browser.

Three things race, and the first to end ends the rest: sending, noticing that the browser has gone
(which a sender that has nothing to send would never see), and the end of plegscope's patience
after the farewell.
"""

import asyncio
import enum

from starlette.types import Message
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from app.hub.encode import frame
from app.hub.hub import Hub, HubClosed, HubFull
from app.hub.viewer import Viewer
from app.hub.wire import Bye

GOING_AWAY = 1001
POLICY = 1008
TRY_LATER = 1013

STALLED_S = 1.0
"""A connection that breaks while a frame has waited this long broke because nobody was reading."""

_EXPECTS_NOTHING = "plegscope expects nothing from the page. Load it again."
_ENDING = "plegscope is ending. Start it again, then load this page."


class _End(enum.Enum):
    """Why a connection is over."""

    SAID_GOODBYE = enum.auto()
    GONE = enum.auto()
    STUCK = enum.auto()
    TALKED = enum.auto()


async def serve_viewer(socket: WebSocket, hub: Hub) -> None:
    """Serve one viewer until it leaves, is let go, or plegscope ends."""
    await socket.accept()
    try:
        with hub.viewer(*_resume_point(socket)) as viewer:
            end = await _race(socket, hub, viewer)
    except HubFull as full:
        await _close(socket, TRY_LATER, str(full))
    except HubClosed:
        await _close(socket, GOING_AWAY, _ENDING)
    else:
        if end is _End.SAID_GOODBYE:
            await _close(socket, GOING_AWAY, None)
        elif end is _End.TALKED:
            await _close(socket, POLICY, _EXPECTS_NOTHING)
        elif end is _End.STUCK:
            hub.stats.dropped += 1


async def _race(socket: WebSocket, hub: Hub, viewer: Viewer) -> _End:
    async with asyncio.TaskGroup() as group:
        racers = [
            group.create_task(_send(socket, hub, viewer), name="viewer: send"),
            group.create_task(_receive(socket), name="viewer: receive"),
            group.create_task(_lose_patience(hub, viewer), name="viewer: farewell"),
        ]
        done, pending = await asyncio.wait(racers, return_when=asyncio.FIRST_COMPLETED)
        for task in pending:
            task.cancel()
    # Several may have ended in one turn of the loop: the order above decides.
    return next(task for task in racers if task in done).result()


async def _send(socket: WebSocket, hub: Hub, viewer: Viewer) -> _End:
    limits = hub.limits
    clock = asyncio.get_running_loop().time
    in_flight = 0
    while (message := await viewer.take()) is not None:
        patience = limits.send_timeout + (in_flight + message.size) / limits.send_rate
        began = clock()
        try:
            async with asyncio.timeout(patience):
                await socket.send_text(message.text)
        except TimeoutError:
            return _End.STUCK
        except (WebSocketDisconnect, OSError):
            # TCP_USER_TIMEOUT may have been the quicker one.
            return _End.STUCK if clock() - began > STALLED_S else _End.GONE
        in_flight = message.size
        hub.stats.frames += 1
        hub.stats.bytes += message.size
        # Sending does not wait while the buffer has room: let the others have their turn.
        await asyncio.sleep(0)
    return _End.SAID_GOODBYE


async def _receive(socket: WebSocket) -> _End:
    message: Message = await socket.receive()
    return _End.GONE if message["type"] == "websocket.disconnect" else _End.TALKED


async def _lose_patience(hub: Hub, viewer: Viewer) -> _End:
    await viewer.closing.wait()
    await asyncio.sleep(hub.limits.farewell)
    return _End.STUCK


async def _close(socket: WebSocket, code: int, reason: str | None) -> None:
    """Say why, if it was not said yet, and close; whoever does not listen any more is not told."""
    if socket.client_state is not WebSocketState.CONNECTED:
        return
    try:
        async with asyncio.timeout(1):
            if reason is not None:
                await socket.send_text(frame(Bye(reason)).text)
            await socket.close(code)
    except (TimeoutError, WebSocketDisconnect, OSError, RuntimeError):
        return


def _resume_point(socket: WebSocket) -> tuple[int | None, str | None]:
    """``since`` and ``session`` of the address; anything odd is as if it were not there."""
    since = socket.query_params.get("since", "")
    valid = since.isascii() and since.isdigit() and len(since) <= 18
    return int(since) if valid else None, socket.query_params.get("session")
