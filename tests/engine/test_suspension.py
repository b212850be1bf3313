"""Suspension: while SyncPod runs a pod's relists wait, and nothing of it is published."""

import itertools

import pytest

from app.engine.records import (
    Lifecycle,
    PodCached,
    PodGone,
    PodSeen,
    PodUncached,
    Record,
    RelistFinished,
    RelistStarted,
    RequestMade,
    RequestMoved,
    SyncBegan,
    SyncFinished,
)
from app.engine.settings import EngineSettings
from tests.engine.play import MS, SECOND, Stage, lifecycle, of, outcomes


def two_running(by_hand: bool = False, capacity: int = 200) -> Stage:
    """Pods ``p`` and ``q``, each with a running container, a tenth of a second after a relist."""
    stage = Stage(settings=EngineSettings(queue_capacity=capacity))
    stage.node.container("p", "c1")
    stage.node.container("q", "c2")
    stage.start()
    stage.relist()
    stage.run(0.1)
    stage.by_hand = by_hand
    return stage


def published(records: list[Record], uid: str) -> list[Record]:
    """Whatever was published about a pod."""
    return [
        one
        for one in records
        if isinstance(one, Lifecycle | PodCached | PodUncached) and one.uid == uid
    ]


def relists_of(records: list[Record], uid: str) -> list[int | None]:
    """Requests whose targeted relist of this pod began."""
    return [one.request for one in of(records, RelistStarted) if one.uid == uid]


def test_p1_no_source_gets_a_held_pod_relisted() -> None:
    stage = two_running()
    stage.hold("p")
    stage.node.exit("p", "c1", 1)
    stage.ask("p", "post_sync")
    stage.ask("p", "post_allocation")
    stage.stopped("p", "c1")
    told = stage.run(30)
    assert relists_of(told, "p") == []
    assert published(told, "p") == []
    assert stage.state().queue.held == 1
    assert stage.state().queue.suspended == 1


@pytest.mark.parametrize("requests", [1, 2, 7])
def test_p2_k_requests_are_one_relist_after_the_release(requests: int) -> None:
    stage = two_running()
    stage.hold("p")
    stage.node.exit("p", "c1", 1)
    for _ in range(requests):
        stage.ask("p")
    stage.run(0.2)
    told = stage.release("p") + stage.run(0.1)
    assert relists_of(told, "p") == [1]
    assert lifecycle(told) == ["p Died c1"]
    (finished,) = of(told, SyncFinished)
    assert (finished.held, finished.duration_ns) == (requests, 200 * MS)
    counted = stage.state().requests
    assert (counted["coalesced"], counted["executed"], counted["held"]) == (requests - 1, 1, 0)


def test_p2_the_relist_after_the_release_tells_the_whole_wait() -> None:
    stage = two_running()
    stage.hold("p")
    stage.ask("p")
    stage.run(0.3)
    (begun,) = of(stage.release("p"), RelistStarted)
    assert begun.waited_ns == 300 * MS


def test_p2_requests_from_before_and_during_the_hold_are_one_relist() -> None:
    stage = two_running(by_hand=True)
    stage.ask("q")
    stage.ask("p")
    stage.ask("p")
    stage.hold("p")
    stage.ask("p")
    told = stage.answer()
    assert relists_of(told, "p") == []
    told = stage.release("p")
    stage.by_hand = False
    told += stage.answer() if stage.calls else []
    told += stage.run(0.5)
    assert relists_of(told, "p") == [2]


def test_p3_without_a_request_the_release_queues_nothing() -> None:
    stage = two_running()
    stage.hold("p")
    stage.run(0.1)
    told = stage.release("p", did_work=True) + stage.run(0.5)
    assert relists_of(told, "p") == []
    (finished,) = of(told, SyncFinished)
    assert (finished.did_work, finished.held) == (True, 0)


def test_p3_a_successful_sync_still_asks_for_its_post_sync_relist() -> None:
    stage = two_running()
    stage.hold("p")
    stage.release("p", did_work=True)
    stage.ask("p", "post_sync")
    (begun,) = of(stage.targeted(), RelistFinished)
    assert (begun.uid, begun.source) == ("p", "post_sync")


@pytest.mark.parametrize(("did_work", "failed"), [*itertools.product([True, False], repeat=2)])
def test_p4_the_hold_ends_however_syncpod_ends(did_work: bool, failed: bool) -> None:
    stage = two_running()
    stage.hold("p")
    stage.ask("p")
    told = stage.release("p", did_work=did_work, failed=failed)
    (finished,) = of(told, SyncFinished)
    assert (finished.did_work, finished.failed) == (did_work, failed)
    assert relists_of(told, "p") == [1]
    assert stage.state().queue.suspended == 0


def test_p5_a_global_relist_goes_on_for_the_others_and_publishes_nothing_of_a_held_pod() -> None:
    stage = two_running()
    stage.hold("p")
    stage.node.exit("p", "c1", 1)
    stage.node.exit("q", "c2", 2)
    told = stage.relist()
    assert lifecycle(told) == ["q Died c2"]
    assert published(told, "p") == []
    assert stage.statuses("p") == {"c1": "running"}
    assert stage.recorded()["p"] == {"c1": "running"}
    (finished,) = of(told, RelistFinished)
    assert (finished.ok, finished.withheld) == (True, 1)


def test_p5_a_held_pod_that_is_new_or_gone_is_not_published_either() -> None:
    stage = two_running()
    stage.hold("new")
    stage.hold("p")
    stage.node.container("new", "c9")
    stage.node.remove_pod("p")
    told = stage.relist()
    assert lifecycle(told) == []
    assert stage.recorded() == {"p": {"c1": "running"}, "q": {"c2": "running"}}
    assert stage.engine.cache.entry("new") is None
    stage.node.remove_pod("new")
    stage.relist()
    stage.release("new")
    stage.release("p")
    assert lifecycle(stage.relist()) == ["p Died c1", "p Removed c1"]
    assert stage.recorded() == {"q": {"c2": "running"}}


def test_p5_a_pod_that_came_and_went_within_its_hold_is_forgotten_afterwards() -> None:
    stage = two_running()
    stage.hold("new")
    stage.node.container("new", "c9")
    assert [one.uid for one in of(stage.relist(), PodSeen)] == ["new"]
    stage.node.remove_pod("new")
    assert of(stage.relist(), PodGone) == []
    stage.release("new")
    told = stage.relist()
    assert [one.uid for one in of(told, PodGone)] == ["new"]
    assert published(told, "new") == []


def test_p5_a_mark_waits_for_the_end_of_the_hold() -> None:
    stage = two_running()
    stage.hold("p")
    stage.mark("p")
    assert lifecycle(stage.relist()) == []
    stage.release("p")
    assert lifecycle(stage.relist()) == ["p PodSync"]


def test_p6_what_changed_meanwhile_is_found_by_the_next_relist() -> None:
    for targeted in (True, False):
        stage = two_running()
        stage.hold("p")
        stage.node.exit("p", "c1", 1)
        stage.relist()
        told = stage.release("p")
        if targeted:
            told += stage.ask("p")
            told += stage.targeted()
        else:
            told += stage.relist()
        assert lifecycle(told) == ["p Died c1"]


def test_p7_another_pods_request_is_not_delayed() -> None:
    stage = two_running()
    stage.hold("p")
    stage.ask("p")
    stage.node.exit("q", "c2", 1)
    stage.ask("q")
    told = stage.run(0.01)
    assert lifecycle(told) == ["q Died c2"]
    begun = of(stage.records, RelistStarted)[-1]
    assert (begun.uid, begun.waited_ns) == ("q", 0)


def test_p8_holding_applies_without_the_stream_too() -> None:
    stage = Stage(policy="relist_only")
    stage.node.container("p", "c1")
    stage.start()
    stage.relist()
    stage.run(0.1)
    stage.hold("p")
    stage.node.exit("p", "c1", 1)
    stage.ask("p")
    assert lifecycle(stage.run(5)) == []
    assert lifecycle(stage.release("p") + stage.run(0.1)) == ["p Died c1"]


def test_p10_outside_a_hold_duplicates_are_not_merged() -> None:
    stage = two_running()
    for _ in range(3):
        stage.ask("p")
    told = stage.run(0.1)
    assert relists_of(told, "p") == [2, 3]
    assert stage.state().requests["coalesced"] == 0


# A hold that begins or ends while a relist runs


MOMENTS = ("list", "inspection")


def into(stage: Stage, moment: str) -> None:
    """Bring the relist in progress to where its list, or its inspection of ``p``, is awaited."""
    if moment == "inspection":
        stage.answer()
        assert stage.inspection().uid == "p"


@pytest.mark.parametrize("moment", MOMENTS)
def test_p5_a_hold_that_begins_during_a_targeted_relist_withholds_it(moment: str) -> None:
    stage = two_running(by_hand=True)
    stage.node.exit("p", "c1", 1)
    stage.ask("p")
    into(stage, moment)
    stage.hold("p")
    told = stage.answer()
    assert published(told, "p") == []
    (finished,) = of(told, RelistFinished)
    assert (finished.withheld, finished.ok) == (1, True)
    (moved,) = of(told, RequestMoved)
    assert (moved.request, moved.outcome, moved.relist) == (1, "held", finished.relist)
    stage.by_hand = False
    told = stage.release("p") + stage.run(0.1)
    assert lifecycle(told) == ["p Died c1"]
    assert relists_of(told, "p") == [1]
    assert stage.state().requests["executed"] == 1


@pytest.mark.parametrize("moment", MOMENTS)
def test_p5_a_hold_that_begins_and_ends_during_a_targeted_relist_withholds_it(moment: str) -> None:
    stage = two_running(by_hand=True)
    stage.node.exit("p", "c1", 1)
    stage.ask("p")
    into(stage, moment)
    stage.hold("p")
    stage.run(0.001)
    stage.release("p")
    told = stage.answer()
    assert published(told, "p") == []
    assert outcomes(told) == ["1 queued"]
    assert relists_of(told, "p") == [1], "it is looked at again at once"
    assert lifecycle(stage.targeted()) == ["p Died c1"]
    assert stage.state().requests["queued"] == 1


@pytest.mark.parametrize("moment", MOMENTS)
def test_p2_one_relist_after_a_hold_within_a_targeted_relist(moment: str) -> None:
    stage = two_running(by_hand=True)
    stage.node.exit("p", "c1", 1)
    stage.ask("p")
    into(stage, moment)
    stage.hold("p")
    stage.ask("p")
    stage.ask("p")
    told = stage.release("p")
    assert outcomes(told) == ["2 released"]
    told = stage.answer()
    assert outcomes(told) == ["1 coalesced"]
    assert relists_of(told, "p") == [2]
    stage.by_hand = False
    stage.run(0)
    told = stage.targeted() if stage.calls == [] else stage.answer() + stage.run(0.1)
    assert lifecycle(told) == ["p Died c1"]
    assert relists_of(stage.records, "p") == [1, 2]


@pytest.mark.parametrize("moment", MOMENTS)
def test_p5_a_hold_that_begins_during_a_global_relist_withholds_that_pod_only(moment: str) -> None:
    stage = two_running(by_hand=True)
    stage.node.exit("p", "c1", 1)
    stage.node.exit("q", "c2", 1)
    stage.to_next_global()
    into(stage, moment)
    stage.hold("p")
    told = stage.relist()
    assert lifecycle(told) == ["q Died c2"]
    assert published(told, "p") == []
    stage.run(0.1)
    assert lifecycle(stage.release("p") + stage.relist()) == ["p Died c1"]


@pytest.mark.parametrize("moment", MOMENTS)
def test_p5_a_hold_that_ends_during_a_global_relist_withholds_the_pod_all_the_same(
    moment: str,
) -> None:
    """What was listed during SyncPod may be an intermediate state."""
    stage = two_running(by_hand=True)
    if moment == "list":
        stage.hold("p")
    stage.node.exit("p", "c1", 1)
    stage.to_next_global()
    into(stage, moment)
    if moment == "inspection":
        stage.hold("p")
    stage.look()
    stage.node.set("p", "c1", "running")
    stage.release("p")
    told = stage.relist()
    assert published(told, "p") == []
    assert lifecycle(stage.relist()) == []
    assert stage.recorded()["p"] == stage.statuses("p") == {"c1": "running"}


def test_p5_a_pod_published_before_its_hold_began_stays_published() -> None:
    stage = two_running(by_hand=True)
    stage.node.exit("p", "c1", 1)
    stage.node.exit("q", "c2", 1)
    stage.to_next_global()
    stage.answer()
    assert lifecycle(stage.answer()) == ["p Died c1"]
    stage.hold("p")
    told = stage.relist()
    assert lifecycle(told) == ["q Died c2"]
    assert of(told, RelistFinished)[0].withheld == 0


def test_p5_a_failed_inspection_of_a_pod_held_meanwhile_writes_no_error() -> None:
    stage = two_running(by_hand=True)
    stage.mark("p")
    stage.ask("p")
    stage.answer()
    stage.hold("p")
    told = stage.fail("It broke.")
    assert published(told, "p") == []
    entry = stage.engine.cache.entry("p")
    assert entry is not None
    assert entry.error == ""
    stage.by_hand = False
    stage.release("p")
    assert lifecycle(stage.targeted()) == ["p PodSync"], "the mark was kept"


def test_p5_a_withheld_targeted_relist_wakes_nobody() -> None:
    stage = two_running(by_hand=True)
    waiter = stage.engine.cache.wait("p", stage.clock.t)
    stage.ask("p")
    stage.hold("p")
    stage.answer()
    assert waiter is not None
    assert stage.engine.cache.woken() == ()


def test_a_list_that_fails_or_finds_no_pod_ends_the_request_held_or_not() -> None:
    for gone in (True, False):
        stage = two_running(by_hand=True)
        stage.ask("p")
        stage.hold("p")
        if gone:
            stage.node.remove_pod("p")
            stage.answer()
        else:
            stage.fail()
        assert stage.state().requests["executed"] == 1
        assert stage.state().queue.held == 0


# The skip rule and pods that a global relist withheld


def test_p6_a_global_relist_does_not_cover_a_pod_that_it_withheld() -> None:
    """A request of the very instant at which the global relist began, released within it."""
    stage = two_running(by_hand=True)
    stage.hold("p")
    stage.ask("p")
    stage.node.exit("p", "c1", 1)
    stage.to_next_global()
    stage.look()
    stage.release("p")
    told = stage.answer()
    assert outcomes(told) == []
    assert relists_of(told, "p") == [1]
    stage.by_hand = False
    assert lifecycle(stage.answer() + stage.run(0.1)) == ["p Died c1"]


def test_a_later_global_relist_covers_what_an_earlier_one_withheld() -> None:
    stage = two_running(by_hand=True)
    stage.hold("p")
    stage.to_next_global()
    stage.answer()
    stage.release("p")
    stage.run(0.5)
    stage.ask("q")
    stage.ask("p")
    stage.run(1)
    stage.answer()
    assert outcomes(stage.relist()) == ["2 skipped"]


def test_a_failed_global_relist_changes_nothing_about_what_is_covered() -> None:
    stage = two_running(by_hand=True)
    stage.to_next_global()
    stage.hold("p")
    stage.answer()
    stage.to_next_global()
    stage.fail()
    stage.run(0.1)
    stage.ask("p")
    stage.release("p")
    assert stage.listing().uid == "p"


# Full queues, odd orders, shutdown


def test_p2_p23_a_release_into_a_full_queue_is_dropped_and_polling_finds_it() -> None:
    stage = two_running(by_hand=True, capacity=1)
    stage.hold("p")
    stage.node.exit("p", "c1", 1)
    stage.ask("p")
    stage.ask("q")
    stage.ask("q")
    told = stage.release("p")
    assert outcomes(told) == ["1 dropped"]
    (finished,) = of(told, SyncFinished)
    assert finished.held == 1
    stage.answer()
    stage.answer()
    assert lifecycle(stage.relist()) == ["p Died c1"]
    assert stage.state().requests["dropped"] == 1


def test_a_withheld_request_into_a_full_queue_is_dropped() -> None:
    stage = two_running(by_hand=True, capacity=1)
    stage.ask("p")
    stage.hold("p")
    stage.release("p")
    stage.ask("q")
    told = stage.answer()
    assert outcomes(told) == ["1 dropped"]
    assert stage.listing().uid == "q"


def test_p9_holds_and_releases_in_any_order_never_block_the_dispatcher() -> None:
    for order in itertools.permutations(("hold", "release", "ask", "answer", "answer")):
        stage = two_running(by_hand=True)
        stage.node.exit("p", "c1", 1)
        stage.ask("p")
        for act in order:
            match act:
                case "hold":
                    stage.hold("p")
                case "release":
                    stage.release("p")
                case "ask":
                    stage.ask("p")
                case _ if stage.calls:
                    stage.answer()
        stage.release("p")
        stage.relist()
        stage.relist()
        state = stage.state()
        assert state.running is None
        assert state.queue.length == state.queue.held == state.queue.suspended == 0
        assert [one for one in lifecycle(stage.records) if one == "p Died c1"] == ["p Died c1"]


def test_beginning_twice_and_ending_twice_is_told_once() -> None:
    stage = two_running()
    assert len(of(stage.hold("p") + stage.hold("p"), SyncBegan)) == 1
    stage.run(0.01)
    told = stage.release("p") + stage.release("p")
    (finished,) = of(told, SyncFinished)
    assert finished.duration_ns == 10 * MS


def test_the_beginning_of_a_sync_is_told_before_what_it_holds() -> None:
    stage = two_running(by_hand=True)
    stage.ask("q")
    stage.ask("p")
    told = stage.hold("p")
    assert [type(one) for one in told] == [SyncBegan, RequestMoved]


def test_a_hold_from_before_the_start_counts() -> None:
    stage = Stage()
    stage.node.container("p", "c1")
    stage.hold("p")
    stage.start()
    assert lifecycle(stage.relist()) == []
    stage.release("p")
    assert lifecycle(stage.relist()) == ["p Started c1"]


def test_a_hold_that_never_ends_costs_the_others_nothing() -> None:
    stage = two_running()
    stage.hold("p")
    for _ in range(1000):
        stage.ask("p")
    assert stage.state().queue.length == 0
    assert len(of(stage.records, RequestMade)) == 1000
    stage.node.exit("q", "c2", 1)
    stage.ask("q")
    assert lifecycle(stage.run(0.01)) == ["q Died c2"]
    state = stage.state()
    assert state.requests["coalesced"] == 999
    assert (state.health.healthy, state.pace_ns) == (True, SECOND)


def test_p19_shutdown_ends_held_requests_too() -> None:
    stage = two_running()
    stage.hold("p")
    stage.ask("p")
    told = stage.stop()
    assert outcomes(told) == ["1 cancelled"]
    told = stage.release("p")
    (finished,) = of(told, SyncFinished)
    assert finished.held == 0
    assert stage.state().requests["cancelled"] == 1
