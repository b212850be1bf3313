"""What a browser comes in by: the listening socket, who may pass, and the addresses to open.

It is made before anything else of a session, so that one that cannot be served leaves nothing
behind, a recording least of all.
"""

import socket
from typing import NamedTuple

from app.web.access import Access, access, is_loopback, is_unspecified, new_token
from app.web.reach import own_address
from app.web.server import listen


class Door(NamedTuple):
    """An open door. ``addresses``: what a browser is to open, with the token if there is one, the
    one that most can reach first; ``here``: the one to open on this machine."""

    listener: socket.socket
    access: Access
    addresses: tuple[str, ...]
    here: str


def open_door(
    host: str, port: int, *, allow_hosts: tuple[str, ...] = (), simulated: bool = False
) -> Door:
    """Listen on ``host`` and ``port`` (0: any free one) from now on.

    A simulated node on loopback shows nothing of anybody's, so it needs no token; everything else
    does.

    Raises:
        ListenError, SettingsError: the address, the port or a name cannot be used.
    """
    token = None if simulated and is_loopback(host) else new_token()
    listener = listen(host, port)
    try:
        bound: int = listener.getsockname()[1]
        rules = access(host, bound, token=token, allow_hosts=allow_hosts)
    except BaseException:
        listener.close()
        raise
    query = "" if token is None else f"?token={token}"
    hosts = _hosts(host)
    addresses = tuple(f"http://{one}:{bound}/{query}" for one in hosts)
    return Door(listener, rules, addresses, addresses[-1])


def _hosts(host: str) -> list[str]:
    """The names a browser can use. That of all addresses (``0.0.0.0``) is none: it is this
    machine's own in its network, if it has one, and loopback."""
    if not is_unspecified(host):
        return [_written(host)]
    wide = ":" in host
    own = own_address(socket.AF_INET6 if wide else socket.AF_INET)
    return [*([] if own is None else [_written(own)]), "[::1]" if wide else "127.0.0.1"]


def _written(host: str) -> str:
    return f"[{host}]" if ":" in host else host
