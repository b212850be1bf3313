"""A dashboard's server on which things happen at a steady rate, in a process of its own.

    python -m tests.bench.serving CHAINS_PER_SECOND

Prints its address, then plays chains (a stop, its request, its relist, the death it found) on 110
pods, at moments that chance decides, until it is ended. Everything but the source of the records
is what ``plegscope watch`` serves with.
"""

from __future__ import annotations

import asyncio
import random
import sys
import time

import msgspec
import uvloop

from app.hub.limits import Limits
from tests.build import chain
from tests.web.site import serving

PODS = 110


async def main(rate: float) -> None:
    """Serve until cancelled."""
    chance = random.Random(1)
    number = 0
    async with serving(Limits(), token=None) as site:
        print(site.url, flush=True)
        while True:
            await asyncio.sleep(chance.expovariate(rate))
            number += 1
            t = time.monotonic_ns()
            for record in chain(number, t, f"pod-{number % PODS}"):
                site.journal.append(msgspec.structs.replace(record, wall=time.time_ns()))


if __name__ == "__main__":
    uvloop.run(main(float(sys.argv[1])))
