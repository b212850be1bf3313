"""A dashboard's server with an hour behind it, in a process of its own.

    python -m tests.bench.marking LANES MARKS

Prints its address once the hour has happened, all but the newest records; those come over the
WebSocket when it is sent a line (a browser is connected by then and keeps them), and it says
``done``. Then it lives on: a global relist each second and a few chains. Everything but the source
of the records is what ``plegscope watch`` serves with.
"""

from __future__ import annotations

import asyncio
import random
import sys
import time
from collections.abc import Iterator

import msgspec
import uvloop

from app.engine.records import Lifecycle, Record, RelistStarted
from app.hub.limits import Limits
from app.hub.wire import SessionState
from app.journal.projection import PodRow
from app.resources import static_dir, templates_dir
from app.web.pages import PageData, Pages
from tests.build import (
    SECOND,
    chain,
    died,
    pod_seen,
    relist_finished,
    relist_started,
    request,
    stop_event,
)
from tests.web.site import Site, serving

HOUR = 3600 * SECOND
MARKS_OF_A_CHAIN = 4
"""Of a stop event that is followed up: the event, the wait, the relist, what was found."""
FOLLOWED = 45_000
"""Records that the page is sent one by one: more than it keeps."""
CHAIN = 5_000_000
"""So long (ns) a stop and what follows from it take, at most."""
LOST = 0.02
"""Of so many stops the request finds the queue full, and a global relist finds the death."""
RELIST_EVERY = SECOND
CHUNK = 1000
PAUSE_S = 0.05


def history(lanes: int, marks: int, span: int = HOUR, seed: int = 1) -> Iterator[Record]:
    """What happened in ``span`` ns on ``lanes`` pods, in order of time; about ``marks`` marks."""
    chance = random.Random(seed)
    for number in range(lanes):
        yield pod_seen(f"pod-{number}", number, f"web-{number}", f"shop-{number % 7}")
    chains = max(1, marks // MARKS_OF_A_CHAIN)
    number = relist = 0
    next_relist = t = SECOND // 2
    while True:
        t += int(chance.expovariate(chains / span))
        while next_relist < min(t + CHAIN, span):
            relist += 1
            yield relist_started(10_000_000 + relist, next_relist)
            yield relist_finished(10_000_000 + relist, next_relist, 3_000_000)
            next_relist += RELIST_EVERY
        t = max(t, next_relist - RELIST_EVERY + 4_000_000)
        if t >= span:
            return
        number += 1
        uid = f"pod-{chance.randrange(lanes)}"
        if chance.random() < LOST:
            yield stop_event(number, uid, t)
            yield request(number, uid, t, "dropped")
            yield msgspec.structs.replace(died(uid, t + 4_000_000), source="global", stop_t=t)
        else:
            yield from followed(number, t, uid)
        t += 4_000_000


def followed(number: int, t: int, uid: str) -> Iterator[Record]:
    """A stop whose request became a relist that found the death."""
    for record in chain(number, t, uid):
        if isinstance(record, RelistStarted):
            yield msgspec.structs.replace(record, request=number)
        elif isinstance(record, Lifecycle):
            yield msgspec.structs.replace(record, request=number, event=number, stop_t=t)
        else:
            yield record


async def live(site: Site, began: int, number: int, lanes: int) -> None:
    """A few things each second, until cancelled."""
    while True:
        number += 1
        t = HOUR + time.monotonic_ns() - began
        site.journal.append(relist_started(number, t))
        site.journal.append(relist_finished(number, t, 3_000_000))
        for record in followed(number, t + 4_000_000, f"pod-{number % lanes}"):
            site.journal.append(record)
        await asyncio.sleep(1)


async def tick(site: Site, began: int) -> None:
    """The header's clock, until cancelled."""
    while True:
        site.engine["t"] = HOUR + time.monotonic_ns() - began
        await asyncio.sleep(PAUSE_S)


async def main(lanes: int, marks: int) -> None:
    """Serve until cancelled."""
    sites: list[Site] = []

    def state() -> SessionState:
        return sites[0].state()

    def rows() -> tuple[PodRow, ...]:
        return sites[0].pods.rows()

    pages = Pages(
        templates_dir(),
        PageData(state, rows, lambda _uid: ()),
        version="bench",
    )
    async with serving(Limits(), token=None, capacity=65_536, pages=pages, static=static_dir()) as (
        site
    ):
        sites.append(site)
        site.engine["t"] = HOUR
        records = list(history(lanes, marks))
        before = max(lanes, len(records) - FOLLOWED)
        for record in records[:before]:
            site.journal.append(record)
        print(site.url, flush=True)
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline)
        for at in range(before, len(records), CHUNK):
            for record in records[at : at + CHUNK]:
                site.journal.append(record)
            await asyncio.sleep(PAUSE_S)
        began = time.monotonic_ns()
        print("done", flush=True)
        async with asyncio.TaskGroup() as group:
            group.create_task(tick(site, began))
            group.create_task(live(site, began, 20_000_000, lanes))


if __name__ == "__main__":
    uvloop.run(main(int(sys.argv[1]), int(sys.argv[2])))
