"""The transition table, every cell, and the order in which a pod's items are compared."""

import pytest

from app.engine.listing import Pod, group
from app.engine.model import EventType, ItemKind, Observation, RuntimeState, State
from app.engine.transitions import Change, changes, events_for

STATES: tuple[State, ...] = ("running", "exited", "unknown", "non-existent")

TABLE: dict[tuple[State, State], list[EventType]] = {
    ("running", "running"): [],
    ("running", "exited"): ["ContainerDied"],
    ("running", "unknown"): ["ContainerChanged"],
    ("running", "non-existent"): ["ContainerDied", "ContainerRemoved"],
    ("exited", "running"): ["ContainerStarted"],
    ("exited", "exited"): [],
    ("exited", "unknown"): ["ContainerChanged"],
    ("exited", "non-existent"): ["ContainerRemoved"],
    ("unknown", "running"): ["ContainerStarted"],
    ("unknown", "exited"): ["ContainerDied"],
    ("unknown", "unknown"): [],
    ("unknown", "non-existent"): ["ContainerDied", "ContainerRemoved"],
    ("non-existent", "running"): ["ContainerStarted"],
    ("non-existent", "exited"): ["ContainerDied"],
    ("non-existent", "unknown"): ["ContainerChanged"],
    ("non-existent", "non-existent"): [],
}


def row(
    item_id: str,
    state: RuntimeState = "running",
    kind: ItemKind = "container",
    created_at: int = 1,
) -> Observation:
    return Observation(
        id=item_id,
        kind=kind,
        pod_uid="p",
        pod_name="pod-p",
        pod_namespace="demo",
        name="",
        attempt=0,
        runtime_state=state,
        created_at=created_at,
    )


def pod(*rows: Observation) -> Pod:
    sandboxes = [one for one in rows if one.kind == "sandbox"]
    containers = [one for one in rows if one.kind == "container"]
    return group(sandboxes, containers, 0)["p"]


def found(old: Pod | None, new: Pod | None) -> list[str]:
    return [f"{one.item.id} {one.old_state}>{one.new_state}" for one in changes(old, new)]


def test_the_table_has_every_pair() -> None:
    assert set(TABLE) == {(old, new) for old in STATES for new in STATES}


@pytest.mark.parametrize(("old", "new"), TABLE)
def test_a10_a11_a12_a13_table(old: State, new: State) -> None:
    assert list(events_for(old, new)) == TABLE[old, new]
    item = row("c1")
    assert list(Change(item, old, new).events) == TABLE[old, new]


def test_a18_died_comes_before_removed() -> None:
    assert events_for("running", "non-existent") == ("ContainerDied", "ContainerRemoved")


@pytest.mark.parametrize(
    ("word", "state"),
    [
        ("created", "unknown"),
        ("running", "running"),
        ("exited", "exited"),
        ("unknown", "unknown"),
        ("ready", "running"),
        ("notready", "exited"),
    ],
)
def test_a9_a17_runtime_words_to_pleg_states(word: RuntimeState, state: State) -> None:
    assert row("c1", word).state == state


def test_a19_a_state_outside_the_known_set_is_a_programming_error() -> None:
    unheard_of = row("c1", "paused")  # type: ignore[arg-type]  # what the boundary must not let in
    with pytest.raises(KeyError, match="paused"):
        _ = unheard_of.state


def test_a20_each_id_once_old_containers_old_sandboxes_new_containers_new_sandboxes() -> None:
    old = pod(
        row("old-c-early", created_at=1),
        row("old-c-late", created_at=5),
        row("old-s", "ready", "sandbox", created_at=9),
        row("both-c", created_at=3),
        row("both-s", "ready", "sandbox", created_at=2),
    )
    new = pod(
        row("both-c", "exited", created_at=3),
        row("both-s", "notready", "sandbox", created_at=2),
        row("new-s", "ready", "sandbox", created_at=20),
        row("new-c-early", created_at=11),
        row("new-c-late", created_at=12),
    )
    assert found(old, new) == [
        "old-c-late running>non-existent",
        "both-c running>exited",
        "old-c-early running>non-existent",
        "old-s running>non-existent",
        "both-s running>exited",
        "new-c-late non-existent>running",
        "new-c-early non-existent>running",
        "new-s non-existent>running",
    ]


def test_a20_what_is_new_is_found_behind_what_was_known() -> None:
    """A runtime that was restored may list something older than all that it listed before."""
    old = pod(row("known", created_at=5), row("known-s", "ready", "sandbox", created_at=5))
    new = pod(
        row("known", created_at=5),
        row("older", created_at=1),
        row("known-s", "ready", "sandbox", created_at=5),
        row("older-s", "ready", "sandbox", created_at=1),
    )
    assert found(old, new) == ["older non-existent>running", "older-s non-existent>running"]


def test_a20_same_time_of_creation_is_ordered_by_id() -> None:
    assert found(None, pod(row("b"), row("a"), row("c"))) == [
        "a non-existent>running",
        "b non-existent>running",
        "c non-existent>running",
    ]


def test_a_change_shows_the_newer_row_where_there_is_one() -> None:
    before, after = row("c1"), row("c1", "exited")
    (change,) = changes(pod(before), pod(after))
    assert change.item is after
    (change,) = changes(pod(before), None)
    assert change.item is before


def test_no_pod_on_either_side_and_equal_pods_bring_nothing() -> None:
    assert changes(None, None) == []
    assert changes(pod(row("c1")), pod(row("c1"))) == []


def test_rows_that_differ_in_nothing_pleg_compares_bring_nothing() -> None:
    assert changes(pod(row("c1", "created")), pod(row("c1", "unknown"))) == []
