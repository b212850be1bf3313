"""Who wants a run gets it: played once, one after the other, given up when nobody waits."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from urllib.parse import parse_qsl

import pytest

from app.errors import StageBusy, StageError
from app.sim.library import load
from app.sim.scenario import Scenario
from app.stage import runs as runs_module
from app.stage.run import Cancelled, Run, play
from app.stage.runs import MOST_WAITING, Lane, Runs
from app.stage.spec import RunSpec, parse


def spec(query: str = "") -> RunSpec:
    return parse(parse_qsl(f"scenario=storm&duration=5s&{query}"), load)


class Player:
    """Plays in the place of ``play``; waits at its beginning until told to go on."""

    def __init__(self) -> None:
        self.played: list[int] = []
        self.given_up: list[int] = []
        self.begun = threading.Semaphore(0)
        self.go_on = threading.Event()
        self.threads: set[int] = set()
        self.at_once = 0

    def play(
        self,
        wanted: RunSpec,
        scenario: Scenario,
        progress: Callable[[int], None],
        cancelled: Callable[[], bool],
    ) -> Run:
        self.threads.add(threading.get_ident())
        self.at_once += 1
        assert self.at_once == 1
        progress(1_000_000_000)
        self.begun.release()
        try:
            while not cancelled() and not self.go_on.wait(0.005):
                pass
            if cancelled():
                self.given_up.append(wanted.seed)
                raise Cancelled
            self.played.append(wanted.seed)
            return play(wanted, scenario, progress, cancelled)
        finally:
            self.at_once -= 1

    async def has_begun(self) -> None:
        assert await asyncio.to_thread(self.begun.acquire, timeout=60)


@pytest.fixture
def player(monkeypatch: pytest.MonkeyPatch) -> Player:
    made = Player()
    monkeypatch.setattr(runs_module, "play", made.play)
    return made


@pytest.fixture
def runs() -> Iterator[Runs]:
    made = Runs(lambda wanted: load(wanted.scenario))
    yield made
    made.close()


async def test_a_run_is_played_once_and_then_kept(runs: Runs, player: Player) -> None:
    player.go_on.set()
    first = await runs.get(spec())
    assert await runs.get(spec()) is first
    assert player.played == [spec().seed]
    assert runs.progress(spec()).state == "ready"


async def test_several_who_want_the_same_wait_for_one_play(runs: Runs, player: Player) -> None:
    async with asyncio.TaskGroup() as group:
        waiting = [group.create_task(runs.get(spec())) for _ in range(3)]
        await player.has_begun()
        player.go_on.set()
    assert len(player.played) == 1
    assert waiting[0].result() is waiting[1].result() is waiting[2].result()


async def test_one_after_the_other_and_progress_is_told(runs: Runs, player: Player) -> None:
    async with asyncio.TaskGroup() as group:
        group.create_task(runs.get(spec("seed=1")))
        await player.has_begun()
        group.create_task(runs.get(spec("seed=2")))
        await asyncio.sleep(0)
        told = [runs.progress(spec(f"seed={seed}")) for seed in (1, 2, 3)]
        player.go_on.set()
    assert [(one.state, one.ahead) for one in told] == [
        ("playing", 0),
        ("waiting", 1),
        ("absent", 0),
    ]
    assert (told[0].t, told[0].duration_ns) == (10**9, 5 * 10**9)
    assert player.played == [1, 2]
    assert len(player.threads) == 1


async def test_what_nobody_waits_for_is_given_up(runs: Runs, player: Player) -> None:
    async with asyncio.TaskGroup() as group:
        playing = group.create_task(runs.get(spec("seed=1")))
        await player.has_begun()
        waiting = group.create_task(runs.get(spec("seed=2")))
        await asyncio.sleep(0)
        playing.cancel()
        waiting.cancel()
    assert runs.progress(spec("seed=1")).state == "absent"
    player.go_on.set()
    assert (await runs.get(spec("seed=3"))).spec.seed == 3
    # That of the second seed never began.
    assert (player.given_up, player.played) == ([1], [3])


async def test_as_long_as_one_waits_it_goes_on(runs: Runs, player: Player) -> None:
    async with asyncio.TaskGroup() as group:
        first = group.create_task(runs.get(spec()))
        second = group.create_task(runs.get(spec()))
        await player.has_begun()
        first.cancel()
        await asyncio.wait({first})
        player.go_on.set()
    assert second.result().spec == spec()
    assert not player.given_up


async def test_who_comes_back_after_giving_up_gets_it_anew(runs: Runs, player: Player) -> None:
    async with asyncio.TaskGroup() as group:
        first = group.create_task(runs.get(spec()))
        await player.has_begun()
        first.cancel()
    player.go_on.set()
    assert (await runs.get(spec())).spec == spec()


async def test_the_oldest_go_when_they_weigh_too_much(player: Player) -> None:
    runs = Runs(lambda wanted: load(wanted.scenario), most_weight=1)
    player.go_on.set()
    try:
        for seed in (1, 2, 1):
            await runs.get(spec(f"seed={seed}"))
        assert player.played == [1, 2, 1]
        assert runs.progress(spec("seed=1")).state == "ready"
        assert runs.progress(spec("seed=2")).state == "absent"
    finally:
        runs.close()


async def test_too_many_at_once_are_sent_away(runs: Runs, player: Player) -> None:
    async with asyncio.TaskGroup() as group:
        waiting = [group.create_task(runs.get(spec(f"seed={n}"))) for n in range(MOST_WAITING)]
        await player.has_begun()
        with pytest.raises(StageBusy, match="again in a few seconds"):
            await runs.get(spec("seed=99"))
        for task in waiting:
            task.cancel()


async def test_what_cannot_be_played_is_said_and_forgotten(runs: Runs) -> None:
    def refuse(_wanted: RunSpec) -> Scenario:
        raise StageError("There is no such thing.")

    refusing = Runs(refuse)
    with pytest.raises(StageError, match="no such thing"):
        await refusing.get(spec())
    assert refusing.progress(spec()).state == "absent"
    refusing.close()


async def test_a_play_that_breaks_breaks_for_those_who_wait_only(
    runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_given: object) -> Run:
        raise StageError("Too long.")

    with monkeypatch.context() as patch:
        patch.setattr(runs_module, "play", broken)
        with pytest.raises(StageError, match="Too long"):
            await runs.get(spec())
    assert (await runs.get(spec())).spec == spec()


async def test_closing_does_not_wait_for_the_end_of_a_play(player: Player) -> None:
    runs = Runs(lambda wanted: load(wanted.scenario))

    async def close() -> None:
        await player.has_begun()
        await asyncio.to_thread(runs.close)

    told, _ = await asyncio.gather(runs.get(spec()), close(), return_exceptions=True)
    assert isinstance(told, Cancelled)
    assert player.given_up == [spec().seed]


@pytest.fixture
def heavy(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Runs of seeds below 100 take until this is set."""
    go_on = threading.Event()

    def slow(
        wanted: RunSpec,
        scenario: Scenario,
        progress: Callable[[int], None],
        cancelled: Callable[[], bool],
    ) -> Run:
        while wanted.seed < 100 and not go_on.wait(0.005):
            if cancelled():
                raise Cancelled
        return play(wanted, scenario, progress, cancelled)

    monkeypatch.setattr(runs_module, "play", slow)
    return go_on


@pytest.mark.parametrize("lane", ["lesson", "fork"])
async def test_links_shut_nobody_out_of_lessons(
    runs: Runs, heavy: threading.Event, lane: Lane
) -> None:
    async with asyncio.timeout(60), asyncio.TaskGroup() as group:
        links = [group.create_task(runs.get(spec(f"seed={n}"))) for n in range(MOST_WAITING)]
        await asyncio.sleep(0)
        with pytest.raises(StageBusy):
            await runs.get(spec("seed=99"))
        assert (await runs.lane(lane).get(spec("seed=100"))).spec.seed == 100
        assert not any(one.done() for one in links)
        heavy.set()


async def test_a_lesson_overtakes_the_link_that_waits_for_the_same(
    runs: Runs, heavy: threading.Event
) -> None:
    async with asyncio.timeout(60), asyncio.TaskGroup() as group:
        group.create_task(runs.get(spec("seed=1")))
        link = group.create_task(runs.get(spec("seed=100")))
        await asyncio.sleep(0)
        taken = await runs.lane("lesson").get(spec("seed=100"))
        assert not link.done()
        heavy.set()
    assert link.result().spec == taken.spec
    assert await runs.get(spec("seed=100")) is taken


async def test_so_many_forks_and_always_room_for_a_lesson(
    runs: Runs, heavy: threading.Event
) -> None:
    forks, lessons = runs.lane("fork"), runs.lane("lesson")
    async with asyncio.timeout(60), asyncio.TaskGroup() as group:
        for n in range(MOST_WAITING):
            group.create_task(forks.get(spec(f"seed={n}")))
        await asyncio.sleep(0)
        with pytest.raises(StageBusy):
            await forks.get(spec("seed=99"))
        lesson = group.create_task(lessons.get(spec("seed=100")))
        await asyncio.sleep(0)
        assert not lesson.done()
        heavy.set()
    assert lesson.result().spec.seed == 100
