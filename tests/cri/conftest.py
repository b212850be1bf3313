"""Fixtures: a scripted runtime, a client on it, a place for sockets."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from app.clock import RealClock
from app.cri.client import CriClient
from tests.cri.fakes import FakeRuntime


@pytest.fixture
def socket_dir() -> Iterator[Path]:
    """A directory with a short path: a socket's path has at most 107 bytes."""
    directory = Path(tempfile.mkdtemp(prefix="ps-"))
    yield directory
    shutil.rmtree(directory)


@pytest.fixture
def clock() -> RealClock:
    return RealClock()


@pytest.fixture
async def runtime(socket_dir: Path) -> AsyncIterator[FakeRuntime]:
    """A scripted runtime that runs."""
    fake = FakeRuntime(socket_dir / "cri.sock")
    await fake.start()
    yield fake
    await fake.stop()


@pytest.fixture
async def client(runtime: FakeRuntime, clock: RealClock) -> AsyncIterator[CriClient]:
    async with CriClient(runtime.address, clock) as made:
        yield made
