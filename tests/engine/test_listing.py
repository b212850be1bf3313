"""Pods from the rows of a listing."""

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from app.engine.listing import LastListing, Pod, group
from app.engine.model import ItemKind, Observation


def row(
    item_id: str, uid: str = "p", kind: ItemKind = "container", created_at: int = 1, name: str = ""
) -> Observation:
    return Observation(
        id=item_id,
        kind=kind,
        pod_uid=uid,
        pod_name=name or f"pod-{uid}",
        pod_namespace="demo",
        name="",
        attempt=0,
        runtime_state="running" if kind == "container" else "ready",
        created_at=created_at,
    )


def test_n1_one_pod_with_its_containers_and_sandboxes_and_the_time_before_the_list() -> None:
    sandbox, one, two = row("s", kind="sandbox", created_at=7), row("c1"), row("c2")
    pods = group([sandbox], [one, two], 42)
    assert list(pods) == ["p"]
    pod = pods["p"]
    assert (pod.uid, pod.name, pod.namespace) == ("p", "pod-p", "demo")
    assert pod.listed_t == 42
    assert pod.created_at == 7
    assert pod.sandboxes == {"s": sandbox}
    assert pod.containers == {"c1": one, "c2": two}


def test_a_pod_is_as_old_as_its_oldest_sandbox_in_whichever_order_they_come() -> None:
    early, late = row("s1", kind="sandbox", created_at=3), row("s2", kind="sandbox", created_at=8)
    for sandboxes in ([early, late], [late, early]):
        assert group(sandboxes, [], 0)["p"].created_at == 3


def test_n10_a_container_without_a_sandbox_makes_a_pod_of_its_own() -> None:
    pods = group([row("s", "a", "sandbox", 5)], [row("c", "b")], 1)
    assert list(pods) == ["a", "b"]
    assert pods["b"].created_at == 0
    assert pods["b"].name == "pod-b"
    assert pods["b"].sandboxes == {}


def test_a4_the_same_id_in_two_pods_is_two_rows() -> None:
    pods = group([], [row("c1", "a"), row("c1", "b")], 0)
    assert pods["a"].find("c1") != pods["b"].find("c1")


def test_find_looks_among_containers_then_sandboxes() -> None:
    pod = group([row("s", kind="sandbox")], [row("c")], 0)["p"]
    assert pod.find("c") == row("c")
    assert pod.find("s") == row("s", kind="sandbox")
    assert pod.find("x") is None


def test_same_items_compares_rows_not_objects_and_not_times() -> None:
    def listed(t: int, *ids: str) -> Pod:
        return group([row("s", kind="sandbox")], [row(one) for one in ids], t)["p"]

    assert listed(1, "c").same_items(listed(2, "c"))
    assert not listed(1, "c").same_items(listed(1, "c", "d"))
    other_sandbox = group([row("s2", kind="sandbox")], [row("c")], 1)["p"]
    assert not listed(1, "c").same_items(other_sandbox)


def test_pods_made_from_nothing_share_nothing() -> None:
    one, two = Pod("a", "", "", 0), Pod("b", "", "", 0)
    one.containers["c"] = row("c")
    assert two.containers == {}
    assert group([], [], 0) == {}


def test_a_listing_of_the_same_rows_hands_out_the_same_pods_in_whatever_order() -> None:
    last = LastListing()
    boxes = (row("s1", kind="sandbox"), row("s2", "b", "sandbox"))
    inside = (row("c1"), row("c2", "b"))
    first, same = last.pods(boxes, inside, 1)
    assert not same
    again, same = last.pods(boxes[::-1], inside[::-1], 2)
    assert same
    assert again is first


def test_a_row_that_changed_came_or_went_makes_new_pods() -> None:
    last = LastListing()
    box, one, two = row("s1", kind="sandbox"), row("c1"), row("c2")
    first, _ = last.pods((box,), (one,), 1)
    for inside in ((one, two), (two,), (), (row("c1"),)):
        pods, same = last.pods((box,), inside, 2)
        assert not same
        assert pods["p"] is not first["p"]
        assert set(pods["p"].containers) == {item.id for item in inside}


def test_a_node_without_pods_is_a_listing_like_any_other() -> None:
    last = LastListing()
    assert last.pods((), (), 1) == ({}, False)
    assert last.pods((), (), 2) == ({}, True)


def test_a_pod_of_which_nothing_changed_is_handed_out_again_beside_one_that_did() -> None:
    last = LastListing()
    boxes = (row("s1", kind="sandbox"), row("s2", "b", "sandbox"))
    first, _ = last.pods(boxes, (row("c1"), two := row("c2", "b")), 1)
    pods, same = last.pods(boxes, (row("c1"), two), 2)
    assert not same
    assert pods["b"] is first["b"]
    assert pods["p"] is not first["p"]
    assert pods["p"].listed_t == 2


ROWS = [row(f"{kind[0]}{n}", uid, kind) for kind in ("container", "sandbox") for uid in "pqr"
        for n in range(2)]  # fmt: skip


@given(st.lists(st.sets(st.integers(0, len(ROWS) - 1)), max_size=8), st.randoms())
def test_whatever_comes_and_goes_the_pods_are_those_that_grouping_makes(
    listings: list[set[int]], chance: Random
) -> None:
    last = LastListing()
    for t, wanted in enumerate(listings):
        shown = [ROWS[one] for one in wanted]
        chance.shuffle(shown)
        boxes = tuple(one for one in shown if one.kind == "sandbox")
        inside = tuple(one for one in shown if one.kind == "container")
        pods, _ = last.pods(boxes, inside, t)
        made = group(boxes, inside, t)
        assert pods.keys() == made.keys()
        assert all(pods[uid].same_items(made[uid]) for uid in made)
        assert all(pods[uid].created_at == made[uid].created_at for uid in made)
