"""A recording of a storm, and the pages that play it, read to its end."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.recording.recorded import record_scenario
from tests.web.test_recordings import Bench


@pytest.fixture(scope="session")
def storm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """45 seconds of it, in a folder of its own. Not to be changed."""
    path = tmp_path_factory.mktemp("storm") / "a.mcap"
    record_scenario(path, "storm", seconds=45)
    return path


@pytest.fixture
async def bench(storm: Path) -> AsyncIterator[Bench]:
    """A test that needs another one has its own of this name."""
    bench = Bench(storm.parent, [storm])
    async with bench.client:
        show = await bench.library.open_given()
        while show.films[0].advance():
            pass
        yield bench
