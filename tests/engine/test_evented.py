"""Evented PLEG: a stop event is a hint to look, and nothing an event says is believed."""

import pytest

from app.engine.inputs import StreamLost
from app.engine.model import ContainerStatus
from app.engine.records import (
    ContainerEventSeen,
    EventIgnored,
    Gap,
    Lifecycle,
    PodCached,
    RequestMade,
)
from tests.engine.play import MS, SECOND, WALL, Stage, container_event, lifecycle, of


def connected() -> Stage:
    """A stage with one running container and an open stream, half a second later."""
    stage = Stage()
    stage.node.sandbox("p", "s")
    stage.node.container("p", "c1", sandbox="s")
    stage.start()
    stage.relist()
    stage.run(0.5)
    return stage


# Events


@pytest.mark.parametrize(
    "payload",
    [
        pytest.param({"exit_code": 2, "reason": "Error"}, id="k4-exit-2"),
        pytest.param({"exit_code": 137, "reason": "OOMKilled"}, id="k5-oom"),
        pytest.param({"exit_code": 0, "reason": "Completed"}, id="k6-clean"),
        pytest.param({}, id="k7-no-status"),
    ],
)
def test_k4_k5_k6_k7_every_stop_asks_for_a_relist(payload: dict[str, object]) -> None:
    stage = connected()
    stage.node.exit("p", "c1", 2)
    told = stage.stopped("p", "c1", **payload)
    (made,) = of(told, RequestMade)
    assert (made.uid, made.source, made.event, made.outcome) == ("p", "evented_pleg", 1, "queued")
    (seen,) = of(told, ContainerEventSeen)
    assert seen.request == made.request
    assert lifecycle(stage.run(0.1)) == ["p Died c1"]


@pytest.mark.parametrize("kind", ["created", "started", "deleted", "unknown(17)"])
def test_k8_k9_k12_no_other_type_asks_for_one(kind: str) -> None:
    stage = connected()
    told = stage.event(
        container_event("p", "c1", kind, stage.clock.wall, exit_code=2, reason="Error")
    )
    (seen,) = of(told, ContainerEventSeen)
    assert (seen.type, seen.request) == (kind, None)
    assert of(told, RequestMade) == []
    counted = "unknown" if kind.startswith("unknown") else kind
    assert stage.state().stream_events[counted] == 1


@pytest.mark.parametrize(
    ("missing", "reason"),
    [
        pytest.param(
            {"has_sandbox_status": False, "has_metadata": False, "pod_uid": ""},
            "missing_sandbox_status",
            id="k10-no-sandbox-status",
        ),
        pytest.param({"has_metadata": False, "pod_uid": ""}, "missing_metadata", id="k11"),
        pytest.param({"pod_uid": ""}, "missing_uid", id="p11-empty-uid"),
    ],
)
def test_k10_k11_p11_an_event_without_a_pod_is_told_and_ignored(
    missing: dict[str, object], reason: str
) -> None:
    stage = connected()
    told = stage.stopped("p", "c1", **missing)
    (ignored,) = of(told, EventIgnored)
    assert (ignored.reason, ignored.type, ignored.container_id) == (reason, "stopped", "c1")
    assert len(told) == 1
    counts = stage.state().stream_events
    assert (counts["ignored"], counts["stopped"]) == (1, 0)
    assert stage.state().queue.length == 0


def test_k13_the_latency_of_every_valid_event_is_measured() -> None:
    for kind in ("created", "started", "stopped", "deleted"):
        stage = connected()
        told = stage.event(container_event("p", "c1", kind, stage.clock.wall - 7 * MS))
        (seen,) = of(told, ContainerEventSeen)
        assert (seen.latency_ns, seen.backlog) == (7 * MS, False)


def test_k19_what_the_payload_claims_is_shown_and_never_used() -> None:
    stage = connected()
    stage.node.exit("p", "c1", 3, "Error")
    told = stage.stopped("p", "c1", exit_code=99, reason="Lies", finished_at=5)
    told += stage.run(2)
    (seen,) = of(told, ContainerEventSeen)
    assert (seen.exit_code, seen.reason, seen.finished_at) == (99, "Lies", 5)
    (died,) = of(told, Lifecycle)
    assert (died.exit_code, died.reason) == (3, "Error")
    (cached,) = of(told, PodCached)
    assert [(one.exit_code, one.reason) for one in cached.containers] == [(3, "Error")]


def test_k19_a_stop_that_is_not_true_changes_nothing() -> None:
    stage = connected()
    before = (stage.recorded(), stage.engine.cache.get("p"))
    stage.stopped("p", "c1", exit_code=1)
    told = stage.run(3)
    assert of(told, Lifecycle) == []
    assert (stage.recorded(), stage.engine.cache.get("p")) == before
    assert isinstance(before[1].containers[0], ContainerStatus)


def test_k20_the_stop_of_a_sandbox_asks_for_its_pods_relist() -> None:
    stage = connected()
    stage.node.exit("p", "s")
    told = stage.stopped("p", "s", sandbox_id="s")
    (seen,) = of(told, ContainerEventSeen)
    assert seen.is_sandbox
    assert lifecycle(stage.run(0.1)) == ["p Died s"]


def test_p20_a_late_event_asks_and_finds_nothing() -> None:
    stage = connected()
    stage.node.exit("p", "c1", 1)
    assert lifecycle(stage.relist()) == ["p Died c1"]
    stage.run(0.1)
    stage.stopped("p", "c1")
    told = stage.targeted()
    assert of(told, Lifecycle) == []


def test_p21_a_duplicate_event_costs_one_relist_at_most() -> None:
    stage = connected()
    stage.node.exit("p", "c1", 1)
    stage.stopped("p", "c1")
    stage.stopped("p", "c1")
    assert lifecycle(stage.run(0.5)) == ["p Died c1"]
    assert stage.state().requests["executed"] == 2


@pytest.mark.parametrize(
    ("age_ns", "latency", "backlog"),
    [
        pytest.param(5 * MS, 5 * MS, False, id="just-now"),
        pytest.param(0, 0, False, id="this-instant"),
        pytest.param(502 * MS, 502 * MS, False, id="the-instant-of-the-subscription"),
        pytest.param(502 * MS + 1, None, True, id="before-the-subscription"),
        pytest.param(-3600 * SECOND, None, False, id="in-the-future"),
        pytest.param(None, None, False, id="zero"),
        pytest.param(WALL * 2, None, False, id="before-1970"),
    ],
)
def test_p29_created_at_is_for_the_latency_and_nothing_else(
    age_ns: int | None, latency: int | None, backlog: bool
) -> None:
    stage = connected()
    created_at = 0 if age_ns is None else stage.clock.wall - age_ns
    stage.node.exit("p", "c1", 1)
    told = stage.event(container_event("p", "c1", created_at=created_at))
    (seen,) = of(told, ContainerEventSeen)
    assert (seen.latency_ns, seen.backlog) == (latency, backlog)
    assert seen.created_at == created_at
    assert stage.state().stream_events["backlog"] == backlog
    (died,) = of(stage.run(0.1), Lifecycle)
    assert died.event == 1
    assert died.after_ns == (None if backlog else 2 * MS)


def test_an_event_before_the_stream_object_is_known_has_no_time_to_compare_with() -> None:
    stage = Stage(stream="silent")
    stage.start()
    stage.run(0.1)
    for created_at, latency in ((stage.clock.wall - SECOND, SECOND), (0, None)):
        told = stage.event(container_event("p", "c1", created_at=created_at))
        (seen,) = of(told, ContainerEventSeen)
        assert (seen.backlog, seen.latency_ns) == (False, latency)


def test_nor_is_it_compared_with_the_stream_before() -> None:
    stage = connected()
    stage.stream = "silent"
    stage.stream_ends("error")
    stage.run(1)
    made = stage.clock.wall - 100 * SECOND
    (seen,) = of(stage.event(container_event("p", "c1", created_at=made)), ContainerEventSeen)
    assert (seen.backlog, seen.latency_ns) == (False, 100 * SECOND)


def test_events_outside_a_stream_are_not_taken() -> None:
    stage = Stage(stream="unimplemented")
    stage.start()
    stage.run(0.1)
    assert stage.state().stream.state == "waiting"
    assert stage.stopped("p", "c1") == []
    assert stage.state().stream_events["stopped"] == 0


def test_p22_lost_events_are_shown_as_a_gap_and_polling_finds_what_they_told() -> None:
    stage = connected()
    stage.node.exit("p", "c1", 1)
    told = stage.tell(StreamLost(t=stage.clock.t, wall=stage.clock.wall, count=5, from_t=400 * MS))
    (gap,) = of(told, Gap)
    assert (gap.hop, gap.count, gap.from_t, gap.t) == ("stream", 5, 400 * MS, stage.clock.t)
    assert stage.state().stream_events["lost"] == 5
    died = of(stage.relist(), Lifecycle)
    assert [(one.type, one.source) for one in died] == [("ContainerDied", "global")]


def test_p22_a_stop_while_disconnected_is_found_at_the_normal_period() -> None:
    stage = connected()
    stage.stream = "unavailable"
    stage.stream_ends("unavailable")
    due = stage.state().next_global_t
    stage.node.exit("p", "c1", 1)
    told = stage.relist()
    assert [one.source for one in of(told, Lifecycle)] == ["global"]
    assert stage.state().last_global is not None
    assert stage.clock.t == (due or 0) + 2 * MS
