"""By which address others reach this machine, where it can be told.

Somebody who holds a class has often opened the page as ``127.0.0.1``, which is of no use to those
who are to take part. When the server listens on every address (``--host 0.0.0.0``), one of them is
the machine's own in its network. Which one that is, the system says: it is where a packet to the
outside would leave from (none is sent). Whether the server is there is tried and not believed.
"""

import asyncio
import ipaddress
import socket

#: Addresses of nobody's (RFC 5737, RFC 3849), to ask for the way out.
_ELSEWHERE = {socket.AF_INET: ("192.0.2.1", 9), socket.AF_INET6: ("2001:db8::1", 9)}
PATIENCE_S = 0.3


def own_address(family: socket.AddressFamily = socket.AF_INET) -> str | None:
    """The address of a family by which this machine is known in its network; None when it is in
    none."""
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as asked:
            asked.connect(_ELSEWHERE[family])
            address = ipaddress.ip_address(asked.getsockname()[0])
    except (OSError, ValueError):
        return None
    nobodys = address.is_loopback or address.is_unspecified or address.is_link_local
    return None if nobodys else str(address)


async def reachable_at(port: int) -> str | None:
    """The address under which something on ``port`` answers to others; None when nothing does."""
    address = own_address()
    if address is None:
        return None
    try:
        async with asyncio.timeout(PATIENCE_S):
            _, writer = await asyncio.open_connection(address, port)
    except (OSError, TimeoutError):
        return None
    writer.close()
    return address
