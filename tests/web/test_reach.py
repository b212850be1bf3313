"""The address that students get is one that answers."""

from __future__ import annotations

import asyncio

import pytest

from app.web import reach


async def test_an_address_counts_when_something_answers_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reach, "own_address", lambda: "127.0.0.1")

    async def met(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    server = await asyncio.start_server(met, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server:
        assert await reach.reachable_at(port) == "127.0.0.1"
    assert await reach.reachable_at(port) is None


async def test_a_machine_in_no_network_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reach, "own_address", lambda: None)
    assert await reach.reachable_at(80) is None


def test_a_machines_own_address_is_no_loopback() -> None:
    address = reach.own_address()
    assert address is None or not address.startswith("127.")
