"""Lifecycle events: the channel, what a death is told with, and which stop event told of it."""

from typing import Any

import pytest

from app.engine.inputs import EventsTaken
from app.engine.lifecycle import StopEvents
from app.engine.listing import group
from app.engine.model import RuntimeState
from app.engine.records import ContainerEventSeen, Lifecycle
from app.engine.settings import EngineSettings
from tests.engine.node import Node
from tests.engine.play import MS, WALL, Stage, container_event, lifecycle, of


def two_pods(event_channel: int | None = None) -> Stage:
    """The stage of behaviours A1."""
    stage = Stage(settings=EngineSettings(event_channel=event_channel))
    stage.node.container("1234", "c1", "exited")
    stage.node.container("1234", "c2", "running")
    stage.node.container("1234", "c3", "unknown")
    stage.node.container("4567", "c1", "exited")
    stage.start()
    return stage


def everything_changes(stage: Stage) -> None:
    """The listing of behaviours A3: five events."""
    stage.node.remove("1234", "c1")
    stage.node.exit("1234", "c2", 3)
    stage.node.set("1234", "c3", "running")
    stage.node.remove("4567", "c1")
    stage.node.container("4567", "c4")


ALL_FIVE = {
    "1234 Removed c1",
    "1234 Died c2",
    "1234 Started c3",
    "4567 Removed c1",
    "4567 Started c4",
}


def full_channel() -> Stage:
    stage = two_pods(event_channel=4)
    stage.relist()
    stage.tell(EventsTaken(t=stage.clock.t, wall=stage.clock.wall, count=1000))
    everything_changes(stage)
    return stage


def running(**settings: Any) -> Stage:
    """One running container that a relist has seen."""
    stage = Stage(settings=EngineSettings(**settings))
    stage.node.sandbox("p", "s")
    stage.node.container("p", "c1", sandbox="s", attempt=0)
    stage.start()
    stage.relist()
    return stage


# B. Channel and discard


def test_b1_a_full_channel_keeps_what_came_first_and_blocks_nobody() -> None:
    stage = full_channel()
    sent = lifecycle(stage.relist())
    assert len(sent) == 4
    assert set(sent) < ALL_FIVE


def test_b2_the_one_too_many_is_counted_and_told() -> None:
    stage = full_channel()
    told = of(stage.relist(), Lifecycle)
    assert [one.delivery for one in told] == ["sent"] * 4 + ["discarded"]
    assert stage.engine.state(0).events["global"] == 8


def test_b3_a_discarded_event_never_comes_again() -> None:
    stage = full_channel()
    stage.relist()
    stage.tell(EventsTaken(t=stage.clock.t, wall=stage.clock.wall, count=4))
    assert lifecycle(stage.relist()) == []


def test_b4_cache_and_records_move_on_all_the_same() -> None:
    stage = full_channel()
    stage.relist()
    assert stage.recorded() == {
        "1234": {"c2": "exited", "c3": "running"},
        "4567": {"c4": "running"},
    }
    assert stage.statuses("1234") == {"c2": "exited", "c3": "running"}
    assert stage.statuses("4567") == {"c4": "running"}


def test_b5_a_changed_container_is_filtered_before_the_channel() -> None:
    stage = Stage(settings=EngineSettings(event_channel=0))
    stage.node.container("p", "c1", "created")
    stage.start()
    (told,) = of(stage.relist(), Lifecycle)
    assert (told.type, told.delivery) == ("ContainerChanged", "filtered")
    assert stage.state().events["global"] == 0


def test_b1_a_channel_holds_as_many_as_it_has_slots() -> None:
    for slots, expected in ((3, ["sent"] * 3), (2, ["sent", "sent", "discarded"])):
        told = of(two_pods(event_channel=slots).relist(), Lifecycle)
        assert [one.delivery for one in told if one.delivery != "filtered"] == expected


def test_taking_more_than_there_is_makes_no_credit() -> None:
    stage = two_pods(event_channel=2)
    stage.tell(EventsTaken(t=0, wall=WALL, count=50))
    told = of(stage.relist(), Lifecycle)
    assert [one.delivery for one in told if one.delivery != "filtered"] == [
        "sent",
        "sent",
        "discarded",
    ]


@pytest.mark.parametrize("channel", [None, 0])
def test_b6_a_death_tells_how_it_ended_sent_or_discarded(channel: int | None) -> None:
    stage = Stage(settings=EngineSettings(event_channel=channel))
    stage.node.container("p", "c1")
    stage.start()
    stage.relist()
    at = stage.clock.wall + 5 * MS
    stage.node.exit("p", "c1", 137, "OOMKilled", at)
    (told,) = of(stage.relist(), Lifecycle)
    assert (told.type, told.exit_code, told.reason) == ("ContainerDied", 137, "OOMKilled")
    assert told.finished_at == at
    assert told.since_finished_ns == told.wall - at
    assert told.delivery == ("sent" if channel is None else "discarded")


HOUR = 3_600_000 * MS


@pytest.mark.parametrize(
    ("created", "finished", "possible"),
    [
        (-HOUR, -5 * MS, True),
        (-HOUR, -HOUR, True),
        (-(2**62), -HOUR, True),
        (-HOUR, -HOUR - 1, False),
        (-HOUR, HOUR, False),
        (-HOUR, -WALL, False),
        (-HOUR, -WALL - HOUR, False),
        (2**62, -5 * MS, False),
    ],
)
def test_an_end_before_the_beginning_or_still_to_come_tells_no_lateness(
    created: int, finished: int, *, possible: bool
) -> None:
    """The container's times, from now on; ``-WALL`` is 1970."""
    stage = Stage()
    now = stage.clock.wall
    item = stage.node.container("p", "c1", created_at=now + created)
    stage.start()
    stage.relist()
    stage.node.exit("p", "c1", 1, "Error", now + finished)
    (told,) = of(stage.relist(), Lifecycle)
    assert told.finished_at == item.finished_at
    assert told.since_finished_ns == (told.wall - item.finished_at if possible else None)


def test_b7_died_and_removed_at_once_has_no_exit_code() -> None:
    stage = Stage()
    stage.node.container("p", "c1")
    stage.node.container("p", "c2")
    stage.node.container("q", "c3")
    stage.start()
    stage.relist()
    stage.node.remove("p", "c1")
    stage.node.remove_pod("q")
    died = [one for one in of(stage.relist(), Lifecycle) if one.type == "ContainerDied"]
    assert [one.container_id for one in died] == ["c1", "c3"]
    for one in died:
        assert (one.exit_code, one.finished_at, one.since_finished_ns) == (None, 0, None)


def test_a17_a_sandbox_that_ends_has_no_exit_code() -> None:
    stage = running()
    stage.node.exit("p", "s", 9)
    (told,) = of(stage.relist(), Lifecycle)
    assert (told.container_id, told.is_sandbox, told.exit_code) == ("s", True, None)


# What a lifecycle event is told with


def test_a_lifecycle_event_names_container_states_relist_and_source() -> None:
    stage = running()
    stage.node.exit("p", "c1", 1)
    stage.ask("p", "post_allocation")
    (told,) = of(stage.targeted(), Lifecycle)
    assert told.request == 1
    assert (told.relist, told.source) == (2, "post_allocation")
    assert (told.uid, told.container_id, told.container_name) == ("p", "c1", "name-c1")
    assert (told.old_state, told.new_state) == ("running", "exited")
    assert told.poll_due_t == stage.state().next_global_t


def test_what_the_first_relist_finds_is_the_baseline_and_nothing_later() -> None:
    stage = Stage()
    stage.node.container("p", "c1")
    stage.node.container("q", "c2")
    stage.node.broken_list = "Away."
    stage.start()
    stage.relist()
    stage.node.broken_list = ""
    assert [one.baseline for one in of(stage.relist(), Lifecycle)] == [True, True]
    stage.node.exit("p", "c1")
    stage.ask("p")
    stage.mark("q")
    told = of(stage.run(2), Lifecycle)
    assert [(one.type, one.baseline) for one in told] == [
        ("ContainerDied", False),
        ("PodSync", False),
    ]


def test_a_global_relist_has_no_polling_to_compare_with() -> None:
    stage = running()
    stage.node.exit("p", "c1", 1)
    (told,) = of(stage.relist(), Lifecycle)
    assert (told.request, told.poll_due_t, told.event, told.stop_t) == (None, None, None, None)


# Stop events and the deaths they told of


def test_a_death_names_the_stop_event_that_told_of_it() -> None:
    stage = running()
    stage.run(0.5)
    stage.node.exit("p", "c1", 1)
    stage.stopped("p", "c1")
    stop_t = stage.clock.t
    (told,) = of(stage.targeted(), Lifecycle)
    assert (told.event, told.stop_t, told.after_ns) == (1, stop_t, 2 * MS)
    assert told.source == "evented_pleg"


def test_after_ns_counts_from_the_receipt_even_if_the_event_stood_in_a_ring() -> None:
    stage = running()
    stage.run(0.5)
    stage.node.exit("p", "c1", 1)
    received = stage.clock.t - 40 * MS
    stage.mark("other")
    stage.event(container_event("p", "c1", created_at=stage.clock.wall), received=received)
    (told,) = of(stage.targeted(), Lifecycle)
    assert told.stop_t == received
    assert told.after_ns == 42 * MS


def test_whichever_relist_finds_it_the_stop_event_is_named() -> None:
    stage = running()
    stage.hold("p")
    stage.node.exit("p", "c1", 1)
    stage.stopped("p", "c1")
    stop_t = stage.clock.t
    stage.relist()
    stage.node.broken_list = "Away."
    stage.release("p")
    stage.targeted()
    stage.node.broken_list = ""
    (told,) = of(stage.relist(), Lifecycle)
    assert (told.source, told.event, told.stop_t) == ("global", 1, stop_t)


def test_backlog_is_named_but_measures_nothing() -> None:
    stage = running()
    stage.node.exit("p", "c1", 1)
    stage.event(container_event("p", "c1", created_at=WALL - 1))
    (told,) = of(stage.targeted(), Lifecycle)
    assert told.event == 1
    assert told.stop_t is not None
    assert told.after_ns is None


def test_p20_a_stop_event_after_the_death_was_found_explains_no_later_death() -> None:
    stage = running()
    stage.node.exit("p", "c1", 1)
    stage.relist()
    stage.stopped("p", "c1")
    stage.targeted()
    stage.node.set("p", "c1", "running")
    stage.relist()
    stage.node.exit("p", "c1", 1)
    (told,) = of(stage.relist(), Lifecycle)
    assert (told.type, told.event) == ("ContainerDied", None)


def test_a_stop_event_that_the_runtime_refutes_explains_no_later_death() -> None:
    """A false stop, or a container that was up again before anybody looked (A15)."""
    stage = running()
    stage.stopped("p", "c1")
    stage.targeted()
    stage.run(60)
    stage.node.exit("p", "c1", 1)
    (told,) = of(stage.relist(), Lifecycle)
    assert (told.type, told.event, told.after_ns) == ("ContainerDied", None, None)


def test_a_stop_event_younger_than_the_list_is_not_refuted_by_it() -> None:
    stage = Stage(by_hand=True)
    stage.node.container("p", "c1")
    stage.start()
    stage.answer()
    stage.answer()
    stage.to_next_global()
    stage.look()
    stage.run(0.01)
    stage.node.exit("p", "c1", 1)
    stage.stopped("p", "c1")
    stage.answer()
    (told,) = of(stage.targeted(), Lifecycle)
    assert (told.event, told.source) == (1, "evented_pleg")


def test_a_stop_event_explains_deaths_of_its_own_pod_only() -> None:
    stage = Stage()
    stage.node.container("p", "c1")
    stage.node.container("q", "c1")
    stage.start()
    stage.relist()
    stage.hold("p")
    stage.stopped("p", "c1")
    stage.node.exit("q", "c1", 1)
    stage.ask("q")
    (told,) = of(stage.targeted(), Lifecycle)
    assert (told.uid, told.event) == ("q", None)


def test_the_first_stop_event_of_a_container_counts() -> None:
    stops = StopEvents(10)
    stops.remember("p", "c1", 1, 100, backlog=False)
    stops.remember("p", "c1", 2, 200, backlog=False)
    assert stops.take("p", "c1") == (1, 100, False)
    assert stops.take("p", "c1") is None


def test_p27_stop_events_are_remembered_up_to_a_bound() -> None:
    stops = StopEvents(3)
    for number in range(10):
        stops.remember("p", f"c{number}", number, number, backlog=True)
    assert [stops.take("p", f"c{number}") is None for number in range(10)] == [True] * 7 + [
        False
    ] * 3
    none_kept = StopEvents(0)
    none_kept.remember("p", "c1", 1, 1, backlog=False)
    assert none_kept.take("p", "c1") is None


def test_a_listing_shows_which_stop_events_no_death_can_follow_any_more() -> None:
    sight = Node(0)
    states: dict[str, RuntimeState] = {
        "runs": "running",
        "exited": "exited",
        "created": "created",
    }
    for item_id, state in states.items():
        sight.container("p", item_id, state)
    sight.container("p", "late", "running")
    listed = group((), sight.list().containers, 0)
    sight.container("q", "recorded", "running")
    recorded = {"q": group((), sight.list("q").containers, 0)["q"], "r": None}
    stops = StopEvents(10)
    for uid, item_id in (
        ("p", "runs"), ("p", "exited"), ("p", "created"), ("p", "gone"), ("q", "recorded"),
        ("r", "gone"), ("s", "gone"),
    ):  # fmt: skip
        stops.remember(uid, item_id, 1, 5, backlog=False)
    stops.remember("p", "late", 1, 6, backlog=False)
    stops.listed(listed, recorded, since_t=6)
    kept = [("p", "exited"), ("p", "created"), ("q", "recorded"), ("p", "late")]
    for uid, item_id in kept:
        assert stops.take(uid, item_id) is not None
    for uid, item_id in (("p", "runs"), ("p", "gone"), ("r", "gone"), ("s", "gone")):
        assert stops.take(uid, item_id) is None


def test_sending_and_counting_by_source() -> None:
    stage = running()
    stage.node.exit("p", "c1", 1)
    stage.stopped("p", "c1")
    stage.targeted()
    stage.mark("p")
    stage.ask("p", "post_sync")
    stage.targeted()
    assert stage.state().events == {
        "global": 2,
        "evented_pleg": 1,
        "post_sync": 1,
        "post_allocation": 0,
    }
    assert len(of(stage.records, ContainerEventSeen)) == 1
