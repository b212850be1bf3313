"""Who may come in: allowed hosts, same origin, and the token of this start.

Three attacks are meant. A page of another site may send requests to a loopback address: Host and
Origin tell. A name under somebody else's control may suddenly resolve to 127.0.0.1 (DNS
rebinding): its Host is not an allowed one. Another user of this machine may connect: he does not
know the token.
"""

import hashlib
import hmac
import ipaddress
import re
import secrets
from collections.abc import Iterable

import msgspec

from app.errors import SettingsError

LOOPBACK_NAMES = ("127.0.0.1", "localhost", "[::1]")
_HOST = re.compile(r"(?:\[[0-9a-f:.]{2,45}\]|[a-z0-9._-]{1,253})(?::[0-9]{1,5})?")

Headers = Iterable[tuple[bytes, bytes]]


def new_token() -> str:
    """A token for this start; 192 bits, safe in a URL."""
    return secrets.token_urlsafe(24)


class Access(msgspec.Struct, frozen=True):
    """The rules of one start.

    Args:
        port: the port that is listened on.
        hosts: values of the Host header that are served, in lower case.
        token: the token of this start; None when none is asked for.
        any_address: serve an IP address as Host too, with ``port``: for a server that listens on
            every address. A rebound name never is one.
    """

    port: int
    hosts: frozenset[str]
    token: str | None
    any_address: bool = False

    @property
    def cookie_name(self) -> str:
        """Names the port, because browsers share cookies between ports."""
        return f"plegscope_{self.port}"

    @property
    def cookie_value(self) -> str:
        """Derived from the token, which itself is kept nowhere in the browser."""
        token = (self.token or "").encode()
        return hmac.new(token, b"plegscope cookie", hashlib.sha256).hexdigest()

    def serves(self, host: str) -> bool:
        """Whether this Host (in lower case) is one of ours."""
        if host in self.hosts:
            return True
        name, _, port = host.rpartition(":")
        return self.any_address and port == str(self.port) and _is_address(name)

    def is_token(self, given: str) -> bool:
        """Compare in constant time."""
        return self.token is not None and _same(given, self.token)

    def has_bearer(self, headers: Headers) -> bool:
        """Whether the request carries ``Authorization: Bearer`` with the token."""
        for value in values(headers, b"authorization"):
            scheme, _, given = value.partition(" ")
            if scheme.lower() == "bearer" and self.is_token(given.strip()):
                return True
        return False

    def has_cookie(self, headers: Headers) -> bool:
        """Whether the request carries the cookie that the token was exchanged for."""
        if self.token is None:
            return False
        expected = self.cookie_value
        for value in values(headers, b"cookie"):
            for pair in value.split(";"):
                name, _, given = pair.strip().partition("=")
                if name == self.cookie_name and _same(given, expected):
                    return True
        return False

    def admits(self, headers: Headers) -> bool:
        """Whether the request is from somebody who knows the token, if there is one."""
        return self.token is None or self.has_bearer(headers) or self.has_cookie(headers)


def access(host: str, port: int, *, token: str | None, allow_hosts: Iterable[str] = ()) -> Access:
    """The rules for a server on this address.

    Args:
        host: the address that is listened on, as given by the user.
        port: the port that is really listened on.
        token: None is for loopback only.
        allow_hosts: further names, such as ``node-1.example`` (with the port, or with none as
            behind a proxy) or ``localhost:9000`` (exactly this port).

    Raises:
        SettingsError: a name that cannot be a Host, or no token on an address that others reach.
    """
    address = f"[{host}]" if ":" in host else host.lower()
    loopback = is_loopback(host)
    if token is None and not loopback:
        raise SettingsError(
            f"{host} can be reached from outside, so a token is needed there. "
            "Leave out --host to serve this machine only."
        )
    names = [*LOOPBACK_NAMES, *([address] if address not in LOOPBACK_NAMES else [])]
    hosts = {f"{name}:{port}" for name in names}
    if port == 80:
        hosts.update(names)
    for extra in allow_hosts:
        name = extra.lower()
        if not _HOST.fullmatch(name):
            raise SettingsError(
                f"{extra!r} is no host name: give --allow-host a name such as node-1.example, "
                "or name:port."
            )
        hosts.add(name)
        if not re.search(r":[0-9]+$", name):
            hosts.add(f"{name}:{port}")
    return Access(port, frozenset(hosts), token, any_address=is_unspecified(host))


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches the address. A name other than localhost counts as no."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def same_origin(origin: str, host: str) -> bool:
    """Whether a page of ``origin`` is one that was served under ``host`` (both lower case)."""
    return origin in (f"http://{host}", f"https://{host}")


def values(headers: Headers, name: bytes) -> list[str]:
    """All values of a header, name in lower case."""
    return [value.decode("latin-1") for key, value in headers if key == name]


def _same(given: str, expected: str) -> bool:
    return secrets.compare_digest(given.encode("utf-8", "replace"), expected.encode())


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name[1:-1] if name.startswith("[") and name.endswith("]") else name)
    except ValueError:
        return False
    # Without brackets an IPv6 address is no Host.
    return name.startswith("[") or ":" not in name


def is_unspecified(host: str) -> bool:
    """Whether it stands for every address of this machine: ``0.0.0.0``, ``::``."""
    try:
        return ipaddress.ip_address(host).is_unspecified
    except ValueError:
        return False
