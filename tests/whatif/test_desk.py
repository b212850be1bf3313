"""Questions are answered in a process of their own, one after the other, while somebody waits."""

from __future__ import annotations

import asyncio
import gzip
import io
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import pytest

from app.errors import RecordingBusy, RecordingError, RecordingUnknown
from app.whatif import desk as desk_module
from app.whatif.answer import WhatIf
from app.whatif.desk import MOST_WAITING, WhatIfs
from app.whatif.options import Options
from app.whatif.place import find
from app.whatif.question import Question
from app.whatif.result import ask
from app.whatif.worker import Message, Order, serve
from tests.whatif.built import ORIGIN, one_life
from tests.whatif.played import play

GENERIC = Question(("a.mcap",), 0, Options(profile="generic"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    one_life(tmp_path / "a.mcap")
    (tmp_path / "bad.mcap").write_bytes(b"nothing")
    return tmp_path


@asynccontextmanager
async def working(folder: Path) -> AsyncIterator[WhatIfs]:
    """A desk at work."""

    async def paths(names: Sequence[str]) -> Sequence[Path]:
        if any(not (folder / name).exists() for name in names):
            raise RecordingUnknown("It is not in reach. Open /recordings.")
        return [folder / name for name in names]

    whatifs = WhatIfs(paths)
    async with asyncio.timeout(60), asyncio.TaskGroup() as group:
        task = group.create_task(whatifs.run(), name="what-if")
        yield whatifs
        task.cancel()


async def until(so: Callable[[], bool]) -> None:
    """Wait for a condition."""
    async with asyncio.timeout(60):
        while True:
            if so():
                return
            await asyncio.sleep(0.01)


async def test_the_answer_is_that_of_the_command_line_and_is_kept(folder: Path) -> None:
    async with working(folder) as whatifs:
        assert whatifs.progress(GENERIC).state == "absent"
        first, second = await asyncio.gather(whatifs.packed(GENERIC), whatifs.packed(GENERIC))
        assert first is second
        told = msgspec.json.decode(gzip.decompress(first), type=WhatIf)
        here = ask([folder / "a.mcap"], GENERIC.options)
        assert msgspec.json.encode(told) == msgspec.json.encode(here)
        assert whatifs.progress(GENERIC).state == "ready"
        kept = await whatifs.glance(GENERIC)
        assert kept is not None
        assert kept.packed is first
        shown, view = whatifs.shown(kept, [("show", "all")])
        assert (shown.name, view.total) == ("generic", len(told.rows))


async def test_a_glance_sets_to_work_and_is_told_what_is_wrong(folder: Path) -> None:
    async with working(folder) as whatifs:
        with pytest.raises(RecordingUnknown):
            await whatifs.glance(Question(("none.mcap",), 0, Options()))
        with pytest.raises(RecordingUnknown, match="no node 4"):
            await whatifs.glance(Question(("a.mcap",), 4, Options()))
        with pytest.raises(RecordingError, match="MCAP"):
            await whatifs.glance(Question(("bad.mcap",), 0, Options()))
        assert await whatifs.glance(GENERIC) is None
        assert whatifs.progress(GENERIC).state == "working"
        await until(lambda: whatifs.progress(GENERIC).state == "ready")
        assert await whatifs.glance(GENERIC) is not None


async def test_what_nobody_waits_for_is_given_up(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    processes: list[asyncio.subprocess.Process] = []
    started = desk_module._started

    async def watched() -> asyncio.subprocess.Process:
        processes.append(await started())
        return processes[-1]

    monkeypatch.setattr(desk_module, "_started", watched)
    monkeypatch.setattr(desk_module, "LOOK_S", 0.01)
    (folder / "large.mcap").write_bytes(play("crash-loop", "kep", 7, 60).recording)
    large = Question(("large.mcap",), 0, Options(profile="generic"))
    async with working(folder) as whatifs:
        assert await whatifs.glance(large) is None
        await until(lambda: bool(processes))
        whatifs.give_up(large)
        await until(lambda: processes[0].returncode is not None)
        assert processes[0].returncode == -9
        await until(lambda: whatifs.progress(large).state == "absent")
        # The next one is worked on all the same, and that one again if it is asked again.
        assert await whatifs.packed(GENERIC)
        assert await whatifs.packed(large)


HANGS = r"""
import os, signal
os.write(1, b'{"step": "comparing", "share": 0.5}\n{"packed": 9}\n12')
signal.pause()
"""


async def test_one_that_hangs_in_the_middle_of_its_answer_is_given_up_too(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    processes: list[asyncio.subprocess.Process] = []

    async def hanging() -> asyncio.subprocess.Process:
        pipe = asyncio.subprocess.PIPE
        processes.append(
            await asyncio.create_subprocess_exec(
                sys.executable, "-S", "-c", HANGS, stdin=pipe, stdout=pipe
            )
        )
        return processes[-1]

    monkeypatch.setattr(desk_module, "_started", hanging)
    monkeypatch.setattr(desk_module, "LOOK_S", 0.01)
    async with working(folder) as whatifs:
        assert await whatifs.glance(GENERIC) is None
        await until(lambda: whatifs.progress(GENERIC).share == 0.5)
        whatifs.give_up(GENERIC)
        await until(lambda: processes[0].returncode == -9)
        await until(lambda: whatifs.progress(GENERIC).state == "absent")


async def test_there_is_a_bound_to_how_many_wait(folder: Path) -> None:
    async with working(folder) as whatifs:
        questions = [
            Question(("a.mcap",), 0, Options(queue=number)) for number in range(1, MOST_WAITING + 1)
        ]
        for one in questions:
            assert await whatifs.glance(one) is None
        with pytest.raises(RecordingBusy, match="Load this page again"):
            await whatifs.glance(GENERIC)
        assert whatifs.progress(questions[2]).before == 2
        for one in questions[1:]:
            whatifs.give_up(one)
        # Those that nobody wants any more make room.
        assert await whatifs.glance(GENERIC) is None


async def test_a_process_that_ends_by_itself_is_told(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = desk_module._started

    async def killed() -> asyncio.subprocess.Process:
        process = await started()
        process.kill()
        return process

    monkeypatch.setattr(desk_module, "_started", killed)
    async with working(folder) as whatifs:
        with pytest.raises(RecordingError, match=r"without an answer \(exit code -9\)"):
            await whatifs.packed(GENERIC)


def served(order: Order) -> tuple[list[Message], bytes]:
    """What the process says: its lines, and the answer."""
    out = io.BytesIO()
    serve(io.BytesIO(msgspec.json.encode(order)), out)
    out.seek(0)
    messages: list[Message] = []
    while line := out.readline():
        messages.append(msgspec.json.decode(line, type=Message))
        if messages[-1].packed:
            return messages, out.read()
    return messages, b""


def test_the_process_tells_how_far_it_is(folder: Path) -> None:
    messages, packed = served(Order((str(folder / "a.mcap"),), Options(profile="generic")))
    assert [one.step for one in messages] == ["reading", "comparing", None]
    assert messages[-1].packed == len(packed)
    messages, packed = served(Order((str(folder / "bad.mcap"),), Options()))
    assert "MCAP" in messages[-1].refused
    assert packed == b""


def test_too_little_memory_is_told(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_given: object) -> WhatIf:
        raise MemoryError

    monkeypatch.setattr("app.whatif.worker.ask", full)
    messages, _ = served(Order((str(folder / "a.mcap"),), Options()))
    assert "MiB of memory" in messages[-1].refused


def test_a_place_has_the_players_clock(folder: Path) -> None:
    place = find([folder / "a.mcap"], 0)
    assert place.then is not None
    assert (place.then.profile, place.name) == ("kep", "a.mcap")
    # The player's time 0 is the first record, at 0.1 s of the session.
    assert place.shift_ns == ORIGIN - (ORIGIN + 100_000_000)
    assert place.signature[0][1] == (folder / "a.mcap").stat().st_size
    # A copy of it is the same recording.
    (folder / "copy.mcap").write_bytes((folder / "a.mcap").read_bytes())
    assert find([folder / "copy.mcap", folder / "a.mcap"], 0).paths == (folder / "copy.mcap",)
