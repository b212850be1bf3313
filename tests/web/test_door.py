"""The door of a start: what is printed can be opened, and a failure leaves nothing open."""

from __future__ import annotations

import socket

import pytest

from app.errors import SettingsError
from app.web import door
from app.web.door import open_door


@pytest.fixture
def own(monkeypatch: pytest.MonkeyPatch) -> dict[int, str | None]:
    """This machine's address by family."""
    known: dict[int, str | None] = {socket.AF_INET: "10.1.2.3", socket.AF_INET6: None}
    monkeypatch.setattr(door, "own_address", known.get)
    return known


def test_loopback_of_a_simulated_node_needs_no_token() -> None:
    opened = open_door("127.0.0.1", 0, simulated=True)
    with opened.listener as listener:
        assert opened.addresses == (f"http://127.0.0.1:{listener.getsockname()[1]}/",)
        assert opened.here == opened.addresses[0]
    real = open_door("127.0.0.1", 0)
    with real.listener:
        assert real.addresses[0].endswith(f"/?token={real.access.token}")


def test_every_address_is_printed_as_ones_that_can_be_opened(
    own: dict[int, str | None],
) -> None:
    opened = open_door("0.0.0.0", 0, simulated=True)
    with opened.listener as listener:
        end = f":{listener.getsockname()[1]}/?token={opened.access.token}"
        assert opened.addresses == (f"http://10.1.2.3{end}", f"http://127.0.0.1{end}")
        assert opened.here == f"http://127.0.0.1{end}"
        assert opened.access.serves(f"10.1.2.3:{listener.getsockname()[1]}")
    own[socket.AF_INET] = None
    alone = open_door("0.0.0.0", 0, simulated=True)
    with alone.listener:
        assert len(alone.addresses) == 1


def test_a_name_that_is_none_leaves_nothing_listening() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(SettingsError, match="no host name"):
        open_door("127.0.0.1", port, allow_hosts=("a b",))
    with socket.socket() as again:
        again.bind(("127.0.0.1", port))
