"""The hub: one encoding for all, resume or fresh start, and a slow viewer's cost to the others."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from app.hub.encode import Frame
from app.hub.hub import Hub, HubClosed, HubFull
from app.hub.limits import Limits
from app.hub.viewer import Viewer
from app.hub.wire import SessionState
from app.journal.journal import Journal
from app.journal.projection import PodTable
from tests.build import HOSTILE, SECOND, SESSION, engine_state, note, pod_seen, session_state
from tests.hub.reader import Message, Picture, running, take, take_until
from tests.patience import PATIENCE_S

QUICK = Limits(flush_interval=0.005, gather=0.001, state_interval=0.02)
NO_STATES = Limits(flush_interval=0.005, gather=0.001, state_interval=3600)


class World:
    """A journal, its pods, a hub, and records on demand."""

    def __init__(self, limits: Limits = NO_STATES, capacity: int = 1000) -> None:
        self.journal = Journal(capacity)
        self.pods = PodTable()
        self.journal.subscribe(self.pods.apply)
        self.states = 0
        self.hub = Hub(
            self.journal, self.pods, self._state, session=SESSION, version="1.2.3", limits=limits
        )

    def _state(self) -> SessionState:
        self.states += 1
        return session_state(
            engine_state(self.states),
            viewers=self.hub.stats.viewers,
            last_seq=self.journal.last_seq,
        )

    def happen(self, count: int = 1, t: int = 0) -> None:
        for _ in range(count):
            self.journal.append(note(t))


def numbers(message: Message) -> list[int]:
    return [record["seq"] for record in message["records"]]


async def opening(viewer: Viewer) -> tuple[Message, Message]:
    hello, snapshot = await take(viewer), await take(viewer)
    assert hello is not None
    assert snapshot is not None
    return hello, snapshot


# ------------------------------------------------------------------------------- the beginning


async def test_a_new_viewer_gets_hello_and_a_snapshot() -> None:
    world = World()
    world.journal.append(pod_seen("u1", name=HOSTILE))
    world.happen(2)
    async with running(world.hub):
        with world.hub.viewer() as viewer:
            hello, snapshot = await opening(viewer)
    assert hello == {"type": "hello", "session": SESSION, "version": "1.2.3", "resumed": False}
    assert snapshot["type"] == "snapshot"
    assert numbers(snapshot) == [1, 2, 3]
    assert snapshot["seq"] == 3
    assert not snapshot["truncated"]
    assert snapshot["pods"][0]["name"] == HOSTILE
    assert snapshot["state"]["viewers"] == 1


async def test_a_snapshot_of_an_empty_journal() -> None:
    world = World()
    async with running(world.hub):
        with world.hub.viewer() as viewer:
            _, snapshot = await opening(viewer)
            assert (snapshot["records"], snapshot["seq"], snapshot["truncated"]) == ([], 0, False)
            world.happen()
            batch = await take_until(viewer, "batch")
    assert numbers(batch) == [1]


async def test_a_snapshot_holds_the_newest_records_and_says_that_there_are_older_ones() -> None:
    world = World(Limits(gather=0, snapshot_records=5))
    world.happen(12)
    async with running(world.hub):
        with world.hub.viewer() as viewer:
            _, snapshot = await opening(viewer)
    assert numbers(snapshot) == [8, 9, 10, 11, 12]
    assert snapshot["truncated"]


async def test_a_snapshot_of_heavy_records_holds_fewer_of_them() -> None:
    world = World(Limits(gather=0, snapshot_weight=1000))
    world.happen(5)
    for _ in range(7):
        world.journal.append(note(text="x" * 300))
    async with running(world.hub):
        with world.hub.viewer() as viewer:
            _, snapshot = await opening(viewer)
    assert numbers(snapshot) == [10, 11, 12]
    assert snapshot["truncated"]


async def test_a_record_that_is_too_heavy_comes_in_the_snapshot_alone() -> None:
    world = World(Limits(gather=0, snapshot_weight=1000))
    world.happen(5)
    world.journal.append(note(text="x" * 3000))
    async with running(world.hub):
        with world.hub.viewer() as viewer:
            _, snapshot = await opening(viewer)
    assert numbers(snapshot) == [6]


async def test_a_snapshot_leaves_out_what_is_long_ago() -> None:
    world = World(Limits(gather=0, snapshot_ns=10 * SECOND))
    world.happen(2, t=0)
    world.happen(2, t=8 * SECOND)
    world.happen(1, t=12 * SECOND)
    async with running(world.hub):
        with world.hub.viewer() as viewer:
            _, snapshot = await opening(viewer)
    assert numbers(snapshot) == [3, 4, 5]
    assert snapshot["truncated"]


async def test_what_the_journal_itself_has_dropped_does_not_count_as_more_to_ask_for() -> None:
    world = World(capacity=3)
    world.happen(10)
    async with running(world.hub):
        with world.hub.viewer() as viewer:
            _, snapshot = await opening(viewer)
    assert numbers(snapshot) == [8, 9, 10]
    assert not snapshot["truncated"]


async def test_viewers_that_come_together_share_one_snapshot() -> None:
    world = World()
    world.happen(3)
    async with running(world.hub):
        with world.hub.viewer() as first, world.hub.viewer() as second:
            frames: list[Frame | None] = []
            for viewer in (first, second):
                await take(viewer)  # hello; then each asks
            async with asyncio.timeout(PATIENCE_S), asyncio.TaskGroup() as group:
                tasks = [group.create_task(viewer.take()) for viewer in (first, second)]
            frames = [task.result() for task in tasks]
    assert frames[0] is frames[1]
    assert world.hub.stats.snapshots == 1


# ---------------------------------------------------------------------------------- batches


async def test_new_records_come_as_one_batch_encoded_once_for_all() -> None:
    world = World()
    async with running(world.hub):
        with world.hub.viewer() as first, world.hub.viewer() as second:
            for viewer in (first, second):
                await opening(viewer)
            world.happen(5)
            async with asyncio.timeout(PATIENCE_S):
                frames = [await viewer.take() for viewer in (first, second)]
    assert frames[0] is frames[1]
    assert world.hub.stats.batches == 1


async def test_batches_go_on_where_the_snapshot_ended() -> None:
    world = World()
    world.happen(3)
    picture = Picture()
    async with running(world.hub):
        with world.hub.viewer() as viewer:
            await take_into(picture, viewer, until=3)
            for _ in range(4):
                world.happen(2)
                await take_into(picture, viewer, until=world.journal.last_seq)
    assert picture.seqs == list(range(1, 12))
    assert picture.batches == 4
    assert picture.snapshots == 1


async def take_into(picture: Picture, viewer: Viewer, until: int) -> None:
    while picture.position is None or picture.position < until:
        message = await take(viewer)
        assert message is not None
        picture.show(message)


async def test_a_flood_is_split_into_several_batches_in_order() -> None:
    world = World(Limits(flush_interval=0.005, gather=0.001, batch_records=10))
    picture = Picture()
    async with running(world.hub):
        with world.hub.viewer() as viewer:
            await take_into(picture, viewer, until=0)
            world.happen(35)
            await take_into(picture, viewer, until=35)
    assert picture.batches == 4
    assert picture.seqs == list(range(1, 36))


async def test_heavy_records_are_split_into_several_batches_in_order() -> None:
    world = World(Limits(flush_interval=0.005, gather=0.001, batch_weight=1000))
    picture = Picture()
    async with running(world.hub):
        with world.hub.viewer() as viewer:
            await take_into(picture, viewer, until=0)
            for size in (300, 300, 300, 300, 5000, 300):
                world.journal.append(note(text="x" * size))
            await take_into(picture, viewer, until=6)
    assert picture.batches == 4
    assert picture.seqs == list(range(1, 7))


async def test_records_are_gathered_for_the_flush_interval() -> None:
    world = World(Limits(flush_interval=0.2, gather=0.0, state_interval=3600))
    clock = asyncio.get_running_loop().time
    async with running(world.hub):
        with world.hub.viewer() as viewer:
            await opening(viewer)
            times = []
            for _ in range(3):
                world.happen()
                await take_until(viewer, "batch")
                times.append(clock())
    assert times[2] - times[0] >= 0.38, "two batches lie at least two intervals apart"


async def test_nothing_is_encoded_while_nobody_watches() -> None:
    world = World(QUICK)
    async with running(world.hub):
        with world.hub.viewer() as viewer:
            await opening(viewer)
        states = world.states
        world.happen(50)
        world.hub.flush()
        assert world.hub.stats.batches == 0
        with world.hub.viewer() as viewer:
            _, snapshot = await opening(viewer)
            assert numbers(snapshot) == list(range(1, 51))
            assert world.states > states
    assert world.hub.stats.batches == 0


# ------------------------------------------------------------------------------------ states


async def test_states_come_by_themselves_one_encoding_for_all() -> None:
    world = World(QUICK)
    async with running(world.hub):
        with world.hub.viewer() as first, world.hub.viewer() as second:
            for viewer in (first, second):
                await opening(viewer)
            earlier = await take_until(first, "state")
            later = await take_until(first, "state")
            assert later["state"]["engine"]["t"] > earlier["state"]["engine"]["t"]
            await take_until(second, "state")
            before, states = world.states, 3
            for _ in range(states):
                await take_until(first, "state")
            assert world.states - before <= states + 1, "not one for each viewer"


async def test_no_state_comes_before_the_first_picture() -> None:
    world = World(Limits(flush_interval=0.05, gather=0.05, state_interval=0.001))
    async with running(world.hub):
        with world.hub.viewer() as viewer:
            types = []
            for _ in range(3):
                message = await take(viewer)
                assert message is not None
                types.append(message["type"])
    assert types == ["hello", "snapshot", "state"]


# ------------------------------------------------------------------------------------ resume


@pytest.mark.parametrize(("since", "missed"), [(5, []), (3, [4, 5]), (0, [1, 2, 3, 4, 5])])
async def test_resume_sends_what_was_missed_and_no_snapshot(since: int, missed: list[int]) -> None:
    world = World()
    world.happen(5)
    async with running(world.hub):
        with world.hub.viewer(since, SESSION) as viewer:
            hello = await take(viewer)
            assert hello is not None
            assert hello["resumed"]
            if missed:
                assert numbers(await take_until(viewer, "batch")) == missed
            assert (await take_until(viewer, "state"))["state"]["last_seq"] == 5
            world.happen()
            assert numbers(await take_until(viewer, "batch")) == [6]
    assert world.hub.stats.resumed == 1
    assert world.hub.stats.snapshots == 0


async def test_one_that_resumes_and_one_that_stayed_see_the_same() -> None:
    world = World(Limits(flush_interval=0.05, gather=0.05, state_interval=3600))
    stayed, resumed = Picture(), Picture()
    async with running(world.hub):
        with world.hub.viewer() as first:
            await take_into(stayed, first, until=0)
            world.happen(3)  # not flushed yet when the second one comes
            with world.hub.viewer(0, SESSION) as second:
                resumed.position = 0
                world.happen(2)
                await take_into(stayed, first, until=5)
                await take_into(resumed, second, until=5)
    assert stayed.seqs == resumed.seqs == [1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    ("since", "session", "why"),
    [
        (5, "another", "numbers of another session"),
        (5, None, "no session told"),
        (None, SESSION, "no number told"),
        (2, SESSION, "the journal has dropped what follows"),
        (11, SESSION, "a number from the future"),
    ],
)
async def test_otherwise_a_snapshot(since: int | None, session: str | None, why: str) -> None:
    world = World(capacity=7)
    world.happen(10)
    async with running(world.hub):
        with world.hub.viewer(since, session) as viewer:
            hello, snapshot = await opening(viewer)
    assert not hello["resumed"], why
    assert numbers(snapshot) == [4, 5, 6, 7, 8, 9, 10]


async def test_one_that_is_far_behind_gets_a_snapshot_rather_than_the_backlog() -> None:
    world = World(Limits(gather=0, snapshot_records=4))
    world.happen(10)
    async with running(world.hub):
        with world.hub.viewer(5, SESSION) as viewer:
            hello, snapshot = await opening(viewer)
        with world.hub.viewer(6, SESSION) as viewer:
            resumed = await take(viewer)
    assert not hello["resumed"]
    assert numbers(snapshot) == [7, 8, 9, 10]
    assert resumed is not None
    assert resumed["resumed"]


async def test_one_that_missed_too_heavy_records_gets_a_snapshot() -> None:
    world = World(Limits(gather=0, snapshot_weight=1000))
    world.happen(3)
    for _ in range(5):
        world.journal.append(note(text="x" * 300))
    async with running(world.hub):
        with world.hub.viewer(3, SESSION) as viewer:
            hello, snapshot = await opening(viewer)
        with world.hub.viewer(5, SESSION) as viewer:
            resumed = await take(viewer)
    assert not hello["resumed"]
    assert numbers(snapshot) == [6, 7, 8]
    assert resumed is not None
    assert resumed["resumed"]


# --------------------------------------------------------------------------------- slow viewers


async def test_a_slow_viewer_is_told_what_it_missed_and_gets_a_fresh_picture() -> None:
    limits = Limits(
        flush_interval=0.001, gather=0, state_interval=3600, queue_frames=2, snapshot_records=3
    )
    world = World(limits)
    slow, quick = Picture(), Picture()
    async with running(world.hub):
        with world.hub.viewer() as sleeper, world.hub.viewer() as reader:
            await take_into(slow, sleeper, until=0)
            await take_into(quick, reader, until=0)
            for count in range(1, 11):
                world.happen()
                await take_into(quick, reader, until=count)
            assert world.hub.stats.lagging == 1, "told once, however long it lasts"
            await take_into(slow, sleeper, until=10)
            world.happen()
            await take_into(slow, sleeper, until=11)
    assert quick.seqs == list(range(1, 11))
    assert quick.skipped == 0
    assert (slow.skipped, slow.lost) == (10, 7)
    assert slow.seqs == [8, 9, 10, 11]
    stats = world.hub.stats
    assert (stats.lagging, stats.skipped, stats.lost) == (1, 10, 7)


async def test_a_slow_viewer_whose_snapshot_covers_everything_has_lost_nothing() -> None:
    world = World(Limits(flush_interval=0.001, gather=0, state_interval=3600, queue_frames=1))
    slow, quick = Picture(), Picture()
    async with running(world.hub):
        with world.hub.viewer() as sleeper, world.hub.viewer() as reader:
            await take_into(slow, sleeper, until=0)
            await take_into(quick, reader, until=0)
            for count in range(1, 6):
                world.happen()
                await take_into(quick, reader, until=count)
            await take_into(slow, sleeper, until=5)
    assert (slow.skipped, slow.lost) == (5, 0)
    assert slow.seqs == [1, 2, 3, 4, 5]


async def test_records_that_the_journal_dropped_unseen_lead_to_a_fresh_start() -> None:
    world = World(Limits(flush_interval=0.001, gather=0, state_interval=3600), capacity=5)
    picture = Picture()
    async with running(world.hub):
        with world.hub.viewer() as viewer:
            await take_into(picture, viewer, until=0)
            world.happen(20)  # in one turn of the loop: more than the journal keeps
            await take_into(picture, viewer, until=20)
    assert picture.seqs == [16, 17, 18, 19, 20]
    assert (picture.skipped, picture.lost) == (20, 15)
    assert world.hub.stats.lagging == 1


async def test_a_viewer_that_never_comes_back_is_not_fed() -> None:
    world = World(Limits(queue_frames=2))
    with world.hub.viewer() as viewer:
        viewer.start([], position=0)
        for _ in range(50):
            world.happen()
            world.hub.flush()
        assert viewer.behind
        assert not viewer.asked
    assert world.hub.stats.snapshots == 0, "nothing is made for one that does not ask"


# ------------------------------------------------------------------------------ coming and going


async def test_viewers_are_counted() -> None:
    world = World()
    assert world.hub.stats.viewers == 0
    with world.hub.viewer():
        with world.hub.viewer():
            assert world.hub.stats.viewers == 2
        assert world.hub.stats.viewers == 1
    assert (world.hub.stats.viewers, world.hub.stats.joined) == (0, 2)


async def test_a_viewer_that_fails_is_no_longer_counted() -> None:
    world = World()
    with pytest.raises(RuntimeError), world.hub.viewer():
        raise RuntimeError
    assert world.hub.stats.viewers == 0


async def test_too_many_viewers_are_refused_in_a_sentence() -> None:
    world = World(Limits(max_viewers=2))
    with world.hub.viewer(), world.hub.viewer():
        with pytest.raises(HubFull, match=r"2 viewers .* Close one"), world.hub.viewer():
            pass
        assert world.hub.stats.refused == 1
    with world.hub.viewer():
        assert world.hub.stats.viewers == 1


async def test_at_the_end_everybody_hears_why_and_nobody_is_let_in() -> None:
    world = World()
    async with running(world.hub):
        with world.hub.viewer() as viewer:
            await opening(viewer)
            world.happen()
            world.hub.close("It is over.")
            world.hub.close("Again.")
            assert await take(viewer) == {"type": "bye", "reason": "It is over."}
            assert await take(viewer) is None
            with pytest.raises(HubClosed), world.hub.viewer():
                pass


async def test_emptied_waits_for_the_last_viewer() -> None:
    world = World()
    async with asyncio.timeout(PATIENCE_S):
        await world.hub.emptied()
        async with asyncio.TaskGroup() as group:
            with world.hub.viewer():
                waiting = group.create_task(world.hub.emptied())
                await asyncio.sleep(0)
                await asyncio.sleep(0)
                assert not waiting.done()
    assert waiting.done()


# ----------------------------------------------------------------------------------- always true

STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("happen"), st.integers(1, 8)),
        st.tuples(st.just("flush"), st.just(0)),
        st.tuples(st.just("take"), st.integers(1, 4)),
        st.tuples(st.just("other"), st.integers(1, 4)),
    ),
    max_size=40,
)


@settings(max_examples=120, deadline=None)
@given(STEPS, st.integers(1, 4), st.integers(3, 30), st.integers(1, 10))
# A second overflow dropped the word of the first, which had been counted already.
@example(
    [
        ("other", 2),
        ("flush", 0),
        ("happen", 1),
        ("flush", 0),
        ("happen", 1),
        ("other", 1),
        ("flush", 0),
        ("other", 1),
        ("flush", 0),
        ("happen", 4),
    ],
    1,
    3,
    1,
)
def test_at_whatever_pace_a_viewer_reads_its_picture_has_no_hole(
    steps: list[tuple[str, int]], frames: int, capacity: int, snapshot: int
) -> None:
    """Every record is sent once, or told as skipped; what is in no snapshot is told as lost."""
    limits = Limits(queue_frames=frames, snapshot_records=snapshot, batch_records=3)
    world = World(limits, capacity)

    async def play() -> None:
        pictures = Picture(), Picture()
        with world.hub.viewer() as one, world.hub.viewer() as other:
            for what, count in steps:
                if what == "happen":
                    world.happen(count)
                elif what == "flush":
                    world.hub.flush()
                else:
                    index = int(what == "other")
                    for _ in range(count):
                        await glance((one, other)[index], pictures[index])
            for viewer, picture in zip((one, other), pictures, strict=True):
                while picture.position != world.journal.last_seq:
                    await glance(viewer, picture)
                    world.hub.flush()
                assert picture.seqs[-1:] == [world.journal.last_seq][: len(picture.seqs)]
        stats = world.hub.stats
        assert stats.skipped == sum(picture.skipped for picture in pictures)
        assert stats.lost == sum(picture.lost for picture in pictures)

    asyncio.run(play())


async def glance(viewer: Viewer, picture: Picture) -> None:
    """Take a message if one is there; otherwise ask, as a sender that waits does."""
    async with asyncio.TaskGroup() as group:
        task = group.create_task(take(viewer))
        for _ in range(4):
            await asyncio.sleep(0)
        if not task.done():
            task.cancel()
    if not task.cancelled():
        message = task.result()
        assert message is not None
        picture.show(message)
