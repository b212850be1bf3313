"""The WebSocket with real clients: opening, batches, resume, lag, frozen viewers, the end."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Coroutine
from typing import Any

import msgspec
import pytest
import uvloop
from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed, InvalidStatus

from app.hub.limits import Limits
from app.web import live, server
from tests.build import HOSTILE, SESSION, pod_seen
from tests.hub.reader import Picture
from tests.patience import PATIENCE_S, Stopwatch
from tests.web.site import Site, read, read_until, serving

BULK = "x" * 2000
"""Makes a record large, so that a frozen viewer's buffers are soon full."""


async def closed(viewer: ClientConnection) -> ConnectionClosed:
    """How the server closed; whatever it sent before is read and dropped."""
    async with asyncio.timeout(PATIENCE_S):
        while True:
            try:
                await viewer.recv()
            except ConnectionClosed as end:
                return end


async def follow(viewer: ClientConnection, picture: Picture, until: int) -> None:
    while picture.position is None or picture.position < until:
        picture.show(await read(viewer))


# ---------------------------------------------------------------------------------- the opening


async def test_hello_snapshot_batches_and_states() -> None:
    async with serving() as site:
        site.journal.append(pod_seen("u1", name=HOSTILE))
        site.happen(2)
        async with site.watch() as viewer:
            hello = await read(viewer)
            assert hello["type"] == "hello"
            assert (hello["session"], hello["resumed"]) == (SESSION, False)
            snapshot = await read(viewer)
            assert snapshot["type"] == "snapshot"
            assert [record["seq"] for record in snapshot["records"]] == [1, 2, 3]
            assert snapshot["records"][0]["name"] == HOSTILE
            assert snapshot["pods"][0]["name"] == HOSTILE
            site.happen(3)
            batch = await read_until(viewer, "batch")
            assert [record["seq"] for record in batch["records"]] == [4, 5, 6]
            state = await read_until(viewer, "state")
            assert state["state"]["viewers"] == 1


async def test_resume_goes_on_without_a_hole() -> None:
    async with serving() as site:
        site.happen(5)
        picture = Picture()
        async with site.watch() as viewer:
            await follow(viewer, picture, until=5)
        site.happen(4)
        async with site.watch(f"?since={picture.position}&session={SESSION}") as viewer:
            assert (await read(viewer))["resumed"]
            site.happen(1)
            await follow(viewer, picture, until=10)
        assert picture.seqs == list(range(1, 11))
        assert picture.snapshots == 1
        assert site.hub.stats.resumed == 1


@pytest.mark.parametrize(
    "query",
    [
        "?since=3&session=another",
        "?since=3",
        "?since=-3&session=test-session",
        "?since=3.5&session=test-session",
        "?since=%D9%A3&session=test-session",
        "?since=99999999999999999999999999&session=test-session",
        "?since=&session=",
        "?x=y",
    ],
)
async def test_an_odd_resume_point_is_a_fresh_start(query: str) -> None:
    async with serving() as site:
        site.happen(5)
        async with site.watch(query) as viewer:
            assert not (await read(viewer))["resumed"]
            assert (await read(viewer))["type"] == "snapshot"


async def test_a_viewer_that_leaves_is_noticed_though_nothing_happens() -> None:
    idle = Limits(flush_interval=0.01, gather=0.002, state_interval=3600)
    async with serving(idle) as site:
        async with site.watch() as viewer:
            await read_until(viewer, "snapshot")
            assert site.viewers == 1
        async with asyncio.timeout(PATIENCE_S):
            await site.hub.emptied()


async def test_a_connection_that_just_breaks_is_noticed() -> None:
    async with serving(Limits(state_interval=3600)) as site, site.watch() as viewer:
        await read_until(viewer, "snapshot")
        viewer.transport.abort()
        async with asyncio.timeout(PATIENCE_S):
            await site.hub.emptied()


@pytest.mark.parametrize("talk", ["hello?", b"\x00"])
async def test_a_viewer_that_talks_is_told_and_closed(talk: str | bytes) -> None:
    async with serving() as site, site.watch() as viewer:
        await read_until(viewer, "snapshot")
        await viewer.send(talk)
        bye = await read_until(viewer, "bye")
        assert "expects nothing" in bye["reason"]
        end = await closed(viewer)
        assert end.rcvd is not None
        assert end.rcvd.code == 1008


async def test_one_that_sends_too_much_at_once_is_closed() -> None:
    async with serving() as site, site.watch() as viewer:
        await read_until(viewer, "snapshot")
        await viewer.send("x" * 100_000)
        end = await closed(viewer)
        assert end.rcvd is not None
        assert end.rcvd.code in (1008, 1009)


async def test_too_many_viewers_are_refused_with_a_sentence() -> None:
    async with serving(Limits(max_viewers=1, gather=0.001)) as site, site.watch() as first:
        await read_until(first, "snapshot")
        async with site.watch() as second:
            bye = await read(second)
            assert bye["type"] == "bye"
            assert "which is the limit" in bye["reason"]
            end = await closed(second)
            assert end.rcvd is not None
            assert end.rcvd.code == 1013
        site.happen()
        await read_until(first, "batch")
        assert (site.hub.stats.refused, site.viewers) == (1, 1)


async def test_nothing_is_compressed() -> None:
    async with serving() as site, site.watch(compression="deflate") as viewer:
        assert viewer.request is not None
        assert "Sec-WebSocket-Extensions" in viewer.request.headers, "it was asked for"
        assert viewer.response is not None
        assert "Sec-WebSocket-Extensions" not in viewer.response.headers


# ------------------------------------------------------------------------------------- the guard


async def refused(site: Site, **options: Any) -> int:
    with pytest.raises(InvalidStatus) as refusal:
        async with site.watch(**options):
            pass
    assert refusal.value.response.body
    assert site.hub.stats.joined == 0
    return refusal.value.response.status_code


async def test_who_may_not_come_in_is_refused_before_anything_is_accepted() -> None:
    async with serving() as site:
        assert await refused(site, additional_headers={}) == 401
        assert await refused(site, additional_headers={"Authorization": "Bearer no"}) == 401
        assert await refused(site, origin="http://evil.example") == 403
        assert await refused(site, origin=None, additional_headers={}) == 403


async def test_a_rebound_name_is_refused() -> None:
    async with serving() as site:
        reader, writer = await asyncio.open_connection("127.0.0.1", site.port)
        writer.write(
            b"GET /ws HTTP/1.1\r\nHost: evil.example\r\nOrigin: http://evil.example\r\n"
            b"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
            b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        )
        async with asyncio.timeout(PATIENCE_S):
            status = await reader.readline()
        assert b" 403 " in status
        writer.close()
        await writer.wait_closed()
        assert site.hub.stats.joined == 0


async def test_a_script_comes_in_with_the_token_and_no_origin() -> None:
    async with serving() as site, site.watch(origin=None) as viewer:
        assert (await read(viewer))["type"] == "hello"


async def test_a_browser_comes_in_with_the_cookie() -> None:
    async with serving() as site, site.client(headers={}) as client:
        await client.get(f"/?token={site.token}")
        cookies = "; ".join(f"{c.name}={c.value}" for c in client.cookies.jar)
        async with site.watch(additional_headers={"Cookie": cookies}) as viewer:
            assert (await read(viewer))["type"] == "hello"


# ---------------------------------------------------------------------------------- slow viewers


async def test_a_slow_viewer_lags_is_told_so_and_starts_afresh() -> None:
    limits = Limits(
        flush_interval=0.005,
        gather=0.001,
        state_interval=3600,
        queue_frames=5,
        snapshot_records=50,
        send_timeout=PATIENCE_S,
    )
    async with serving(limits) as site:
        # A small window and no reading ahead: what the viewer does not read waits at the server.
        narrow = socket.socket()
        narrow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
        narrow.connect(("127.0.0.1", site.port))
        async with site.watch() as quick, site.watch(sock=narrow, max_queue=1) as slow:
            quick_sees, slow_sees = Picture(), Picture()
            await follow(quick, quick_sees, until=0)
            await follow(slow, slow_sees, until=0)
            while not site.hub.stats.lagging:
                site.happen(50, BULK)
                await follow(quick, quick_sees, until=site.journal.last_seq)
            while not slow_sees.skipped:
                slow_sees.show(await read(slow))
            await follow(slow, slow_sees, until=site.journal.last_seq)
            site.happen()
            last = site.journal.last_seq
            await follow(slow, slow_sees, until=last)
            await follow(quick, quick_sees, until=last)
        assert quick_sees.seqs == list(range(1, last + 1))
        assert quick_sees.skipped == 0
        assert slow_sees.lost > 0
        assert site.hub.stats.skipped == slow_sees.skipped
        assert site.hub.stats.lost == slow_sees.lost
        assert site.hub.stats.dropped == 0, "slow is not stuck"


FREEZING = Limits(
    flush_interval=0.005,
    gather=0.001,
    state_interval=0.05,
    queue_frames=10,
    snapshot_records=100,
    send_timeout=1.0,
    send_rate=10_000_000,
)


async def one_freezes() -> None:
    """One viewer stops reading: it is soon gone, the other sees everything, the end is quick."""
    async with serving(FREEZING) as site:
        frozen = site.freeze()
        try:
            async with site.watch() as healthy:
                picture = Picture()
                await follow(healthy, picture, until=0)
                await site.freeze_in(frozen)
                while (await read_until(healthy, "state"))["state"]["viewers"] < 2:
                    pass
                watch = Stopwatch()
                while site.viewers == 2:
                    site.happen(50, BULK)
                    await follow(healthy, picture, until=site.journal.last_seq)
                assert watch.seconds() < 5
                assert site.hub.stats.dropped == 1
                site.happen()
                await follow(healthy, picture, until=site.journal.last_seq)
                assert picture.seqs == list(range(1, site.journal.last_seq + 1))
            await gone(frozen)
        finally:
            frozen.close()
    assert site.ended_after_s < 2


async def the_kernel_notices() -> int:
    """The same with all patience in the world on our side; returns how many were dropped."""
    patient = msgspec.structs.replace(FREEZING, send_timeout=3600)
    async with serving(patient) as site, site.watch() as healthy:
        frozen = site.freeze()
        picture = Picture()
        await follow(healthy, picture, until=0)
        await site.freeze_in(frozen)
        while site.viewers < 2:
            await read_until(healthy, "state")
        while site.viewers == 2:
            site.happen(20, BULK)
            await read_until(healthy, "state")
        frozen.close()
        return site.hub.stats.dropped


@pytest.mark.parametrize("run", [asyncio.run, uvloop.run])
def test_the_kernel_lets_go_of_one_that_freezes_as_well(
    run: Callable[[Coroutine[Any, Any, int]], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "UNREAD_MS", 400)
    monkeypatch.setattr(live, "STALLED_S", 0.1)
    assert run(the_kernel_notices()) == 1


async def gone(frozen: socket.socket) -> None:
    """The peer's connection is really over: after what was buffered comes the end."""
    loop = asyncio.get_running_loop()
    async with asyncio.timeout(PATIENCE_S):
        try:
            while await loop.sock_recv(frozen, 65536):
                pass
        except ConnectionResetError:
            return


async def test_one_freezes_and_the_other_goes_on() -> None:
    await one_freezes()


def test_one_freezes_and_the_other_goes_on_with_uvloop() -> None:
    uvloop.run(one_freezes())


async def frozen_at_the_end() -> float:
    """Shut down while a viewer does not read; returns the seconds that took."""
    patient = Limits(flush_interval=0.005, gather=0.001, send_timeout=3600, farewell=0.2)
    async with serving(patient) as site:
        sleeper = site.freeze()
        await site.freeze_in(sleeper)
        async with site.watch() as healthy:
            picture = Picture()
            await follow(healthy, picture, until=0)
            while not site.hub.stats.lagging:
                site.happen(50, BULK)
                await follow(healthy, picture, until=site.journal.last_seq)
            site.shutdown.set()
            bye = await read_until(healthy, "bye")
            assert "stopped" in bye["reason"]
            end = await closed(healthy)
            assert end.rcvd is not None
            assert end.rcvd.code == 1001
    sleeper.close()
    return site.ended_after_s


async def test_a_frozen_viewer_does_not_delay_the_end() -> None:
    assert await frozen_at_the_end() < 2


def test_a_frozen_viewer_does_not_delay_the_end_with_uvloop() -> None:
    assert uvloop.run(frozen_at_the_end()) < 2


# --------------------------------------------------------------------------------------- the end


async def test_at_the_end_viewers_hear_why() -> None:
    async with serving() as site, site.watch() as viewer:
        await read_until(viewer, "snapshot")
        site.shutdown.set()
        assert "Start it again" in (await read_until(viewer, "bye"))["reason"]
        end = await closed(viewer)
        assert end.rcvd is not None
        assert end.rcvd.code == 1001


async def test_who_comes_while_plegscope_ends_is_told_so() -> None:
    async with serving() as site:
        site.hub.close("It is over.")
        async with site.watch() as viewer:
            assert "is ending" in (await read(viewer))["reason"]
            end = await closed(viewer)
            assert end.rcvd is not None
            assert end.rcvd.code == 1001


# ------------------------------------------------------------------------------- many at a time


async def test_twenty_viewers_see_the_same_from_one_encoding() -> None:
    async with serving() as site:
        arrived = asyncio.Semaphore(0)

        async def see(picture: Picture) -> None:
            async with site.watch() as viewer:
                await follow(viewer, picture, until=0)
                arrived.release()
                await follow(viewer, picture, until=300)

        pictures = [Picture() for _ in range(20)]
        async with asyncio.timeout(PATIENCE_S), asyncio.TaskGroup() as group:
            for picture in pictures:
                group.create_task(see(picture))
            for _ in pictures:
                await arrived.acquire()
            for _ in range(30):
                site.happen(10)
                await asyncio.sleep(0)
        assert all(picture.seqs == list(range(1, 301)) for picture in pictures)
        assert site.hub.stats.batches == pictures[0].batches, "not one for each viewer"
