"""Messages into the engine's words: what is kept, what is bounded, what is refused."""

from __future__ import annotations

from typing import Any

import pytest
from google.protobuf.message import DecodeError
from hypothesis import given
from hypothesis import strategies as st

from app.cri import convert
from app.cri.convert import MAX_MESSAGE, MAX_NAME, Interner, InvalidStatus
from app.cri.pb import cri_pb2
from app.engine.model import ContainerStatus, Observation, SandboxStatus
from tests.cri import captures
from tests.cri.fakes import (
    T0,
    container,
    container_status,
    containers,
    labels,
    sandbox,
    sandbox_status,
    sandboxes,
    stop_event,
)

# Rows


def test_a_sandbox_row() -> None:
    (row,) = Interner().sandboxes(sandboxes(sandbox(1)), full=True)
    assert row == Observation(
        id="s1",
        kind="sandbox",
        pod_uid="u1",
        pod_name="pod-1",
        pod_namespace="default",
        name="",
        attempt=0,
        runtime_state="ready",
        created_at=T0 + 1,
    )


def test_a_container_row_belongs_to_a_pod_by_its_labels() -> None:
    (row,) = Interner().containers(containers(container(1)), full=True)
    assert row == Observation(
        id="c1",
        kind="container",
        pod_uid="u1",
        pod_name="pod-1",
        pod_namespace="default",
        name="main",
        attempt=2,
        runtime_state="running",
        created_at=T0 + 1,
        sandbox_id="s1",
    )


def test_a_containers_name_is_its_label() -> None:
    named = container(1, labels=labels(1, "label"))
    unnamed = container(2, labels=labels(2) | {"io.kubernetes.container.name": ""})
    rows = Interner().containers(containers(named, unnamed), full=True)
    assert [row.name for row in rows] == ["label", "main"]


@pytest.mark.parametrize(
    ("number", "word"),
    [
        (0, "created"),
        (1, "running"),
        (2, "exited"),
        (3, "unknown"),
        (4, "unknown"),
        (-1, "unknown"),
    ],
)
def test_container_states(number: int, word: str) -> None:
    (row,) = Interner().containers(containers(container(1, state=number)), full=True)
    assert row.runtime_state == word


@pytest.mark.parametrize(("number", "word"), [(0, "ready"), (1, "notready"), (7, "unknown")])
def test_sandbox_states(number: int, word: str) -> None:
    (row,) = Interner().sandboxes(sandboxes(sandbox(1, state=number)), full=True)
    assert row.runtime_state == word


def test_the_order_is_the_listings() -> None:
    rows = Interner().containers(containers(container(2), container(3), container(1)), full=True)
    assert [row.id for row in rows] == ["c2", "c3", "c1"]


def test_rows_that_cannot_be_placed_are_left_out_and_counted() -> None:
    made = Interner()
    bare = cri_pb2.Container(id="c9", labels=labels(9))
    foreign = container(8, labels={})
    rows = made.containers(
        containers(container(1), container(2, id=""), bare, foreign, container(1), container(3)),
        full=True,
    )
    assert [row.id for row in rows] == ["c1", "c3"]
    assert made.skipped == 4
    assert not made.sandboxes(
        sandboxes(sandbox(1, id=""), cri_pb2.PodSandbox(id="s2"), sandbox(3, id="x" * 2000)),
        full=True,
    )
    assert made.skipped == 7


def test_a_pod_whose_uid_is_too_long_is_left_out_as_it_cannot_be_asked_for_again() -> None:
    made = Interner()
    fits, long = "u" * MAX_NAME, "u" * (MAX_NAME + 1)
    uid = "io.kubernetes.pod.uid"
    meta = {"name": "p", "namespace": "n"}
    rows = made.containers(
        containers(
            container(1, labels=labels(1) | {uid: fits}),
            container(2, labels=labels(2) | {uid: long}),
        ),
        full=True,
    )
    assert [(row.id, row.pod_uid) for row in rows] == [("c1", fits)]
    rows = made.sandboxes(
        sandboxes(
            sandbox(1, metadata=meta | {"uid": fits}), sandbox(2, metadata=meta | {"uid": long})
        ),
        full=True,
    )
    assert [(row.id, row.pod_uid) for row in rows] == [("s1", fits)]
    assert made.skipped == 2


# Interning


def test_an_unchanged_row_is_the_same_object() -> None:
    made = Interner()
    first = made.containers(containers(container(1), container(2)), full=True)
    again = made.containers(containers(container(2), container(1)), full=True)
    assert again[0] is first[1]
    assert again[1] is first[0]


def test_a_changed_state_is_another_object_with_the_same_rest() -> None:
    made = Interner()
    (first,) = made.containers(containers(container(1)), full=True)
    (changed,) = made.containers(containers(container(1, cri_pb2.CONTAINER_EXITED)), full=True)
    assert changed is not first
    assert changed.runtime_state == "exited"
    assert (changed.id, changed.name, changed.pod_uid) == (first.id, first.name, first.pod_uid)
    assert (changed.sandbox_id, changed.created_at) == (first.sandbox_id, first.created_at)
    (kept,) = made.containers(containers(container(1, cri_pb2.CONTAINER_EXITED)), full=True)
    assert kept is changed


def test_a_sandbox_row_is_interned_too() -> None:
    made = Interner()
    (first,) = made.sandboxes(sandboxes(sandbox(1)), full=True)
    (same,) = made.sandboxes(sandboxes(sandbox(1)), full=True)
    (ended,) = made.sandboxes(sandboxes(sandbox(1, cri_pb2.SANDBOX_NOTREADY)), full=True)
    assert same is first
    assert ended.runtime_state == "notready"
    assert ended.pod_uid == first.pod_uid


def test_a_full_listing_forgets_what_has_vanished() -> None:
    made = Interner()
    made.containers(containers(container(1), container(2)), full=True)
    made.sandboxes(sandboxes(sandbox(1), sandbox(2)), full=True)
    assert len(made) == 4
    made.containers(containers(container(2)), full=True)
    made.sandboxes(sandboxes(), full=True)
    assert len(made) == 1


def test_one_pods_listing_forgets_nothing_and_shares_the_table() -> None:
    made = Interner()
    first = made.containers(containers(container(1), container(2)), full=True)
    (targeted,) = made.containers(containers(container(2)), full=False)
    assert targeted is first[1]
    (new,) = made.containers(containers(container(3)), full=False)
    all_of_them = made.containers(containers(container(1), container(2), container(3)), full=True)
    assert all_of_them[0] is first[0]
    assert all_of_them[2] is new


# Statuses


def test_a_sandbox_status() -> None:
    assert convert.sandbox_status(sandbox_status(1)) == SandboxStatus(
        "s1", 1, "ready", T0 + 1, ("10.0.0.7", "fd00::7")
    )


def test_a_sandbox_on_the_nodes_network_has_no_address() -> None:
    answer = sandbox_status(1)
    answer.status.ClearField("network")
    assert convert.sandbox_status(answer).ips == ()


def test_addresses_are_bounded() -> None:
    many = [{"ip": "1" * 5000}] * 1000
    status = convert.sandbox_status(sandbox_status(1, network={"ip": "", "additional_ips": many}))
    assert len(status.ips) == 15
    assert all(len(ip) == MAX_NAME for ip in status.ips)


def test_a_status_of_an_exited_container() -> None:
    assert convert.container_status(container_status(1)) == ContainerStatus(
        id="c1",
        name="main",
        attempt=2,
        runtime_state="exited",
        created_at=T0 + 1,
        started_at=T0 + 2,
        finished_at=T0 + 3,
        exit_code=137,
        reason="OOMKilled",
        message="too much",
        image="busybox:1",
    )


@pytest.mark.parametrize("state", [cri_pb2.CONTAINER_RUNNING, cri_pb2.CONTAINER_UNKNOWN, 9])
def test_n14_how_it_ended_counts_only_once_it_has_exited(state: int) -> None:
    status = convert.container_status(container_status(1, state))
    assert (status.exit_code, status.reason, status.message) == (None, "", "")
    assert status.finished_at == 0
    assert status.started_at == T0 + 2


def test_a_created_container_has_not_started() -> None:
    status = convert.container_status(container_status(1, cri_pb2.CONTAINER_CREATED))
    assert status.started_at == 0


def test_the_image_falls_back_to_the_runtimes_name() -> None:
    answer = container_status(1, image={"image": "sha256:9"})
    assert convert.container_status(answer).image == "sha256:9"


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"id": ""}, "id"),
        ({"metadata": {"name": ""}}, r"metadata\.name"),
        ({"created_at": 0}, "created_at"),
        ({"image": {}}, "image"),
        ({"image_ref": ""}, "image_ref"),
    ],
)
def test_a_container_status_the_kubelet_would_refuse(change: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidStatus, match=f"has no {field}"):
        convert.container_status(container_status(1, **change))


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"id": ""}, "id"),
        ({"metadata": {"uid": "u", "namespace": "n"}}, r"metadata\.name"),
        ({"metadata": {"uid": "u", "name": "n"}}, r"metadata\.namespace"),
        ({"metadata": {"name": "u", "namespace": "n"}}, r"metadata\.uid"),
        ({"created_at": 0}, "created_at"),
    ],
)
def test_a_sandbox_status_the_kubelet_would_refuse(change: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidStatus, match=f"has no {field}"):
        convert.sandbox_status(sandbox_status(1, **change))


def test_an_empty_answer_is_refused() -> None:
    with pytest.raises(InvalidStatus, match=r"id, metadata\.name, created_at, image, image_ref"):
        convert.container_status(cri_pb2.ContainerStatusResponse())


# Events


def test_a_stop_event() -> None:
    message = stop_event(1)
    made = convert.event(message, 99)
    assert (made.type, made.container_id, made.created_at, made.size) == ("stopped", "c1", T0, 99)
    assert (made.has_sandbox_status, made.has_metadata) == (True, True)
    assert (made.pod_uid, made.pod_name, made.pod_namespace) == ("u1", "pod-1", "default")
    assert (made.sandbox_id, made.container_name) == ("s1", "main")
    assert (made.exit_code, made.reason, made.finished_at) == (137, "OOMKilled", T0 + 3)


def test_an_event_of_a_running_container_claims_no_end() -> None:
    message = stop_event(1)
    message.container_event_type = cri_pb2.CONTAINER_STARTED_EVENT
    message.containers_statuses[0].state = cri_pb2.CONTAINER_RUNNING
    made = convert.event(message)
    assert (made.type, made.exit_code, made.reason, made.finished_at) == ("started", None, "", 0)


def test_statuses_of_other_containers_are_not_its_own() -> None:
    message = stop_event(1)
    message.container_id = "s1"
    made = convert.event(message)
    assert (made.container_name, made.exit_code) == ("", None)


def test_what_is_absent_is_said_to_be() -> None:
    bare = cri_pb2.ContainerEventResponse(
        container_id="s1", container_event_type=cri_pb2.CONTAINER_DELETED_EVENT
    )
    made = convert.event(bare)
    assert (made.type, made.has_sandbox_status, made.has_metadata) == ("deleted", False, False)
    half = cri_pb2.ContainerEventResponse(pod_sandbox_status=cri_pb2.PodSandboxStatus(id="s1"))
    made = convert.event(half)
    assert (made.has_sandbox_status, made.has_metadata, made.pod_uid) == (True, False, "")


def test_an_unknown_type_keeps_its_number() -> None:
    # Field 2, a number that no version has.
    message = cri_pb2.ContainerEventResponse.FromString(b"\x10\x11")
    assert convert.event(message).type == "unknown(17)"


# Real traffic


@pytest.mark.parametrize("runtime", captures.STREAMING)
def test_real_events(runtime: str) -> None:
    made = [convert.event(message) for message in captures.events(runtime, "lifecycle")]
    assert {one.type for one in made} == {"created", "started", "stopped", "deleted"}
    ends = [(one.exit_code, one.reason) for one in made if one.type == "stopped"]
    assert (0, "Completed") in ends
    assert (1, "Error") in ends
    assert ends.count((137, "OOMKilled")) == 2
    nameless = [one for one in made if not one.pod_uid]
    # containerd 1.7 says nothing of the pod when the sandbox itself goes; the others do.
    expected = [("deleted", False)] if runtime == "containerd-1.7.24" else []
    assert [(one.type, one.has_sandbox_status) for one in nameless] == expected


@pytest.mark.parametrize("runtime", captures.RUNTIMES)
def test_real_listings(runtime: str) -> None:
    made = Interner()
    for pods, inside in captures.listings(runtime, "lifecycle"):
        made.sandboxes(pods, full=True)
        rows = made.containers(inside, full=True)
        again = made.containers(inside, full=True)
        assert all(one is other for one, other in zip(rows, again, strict=True))
        assert all(row.pod_uid and row.name and row.sandbox_id for row in rows)
    assert made.skipped == 0


# Hostile traffic

INT64 = st.integers(-(2**63), 2**63 - 1)
INT32 = st.integers(-(2**31), 2**31 - 1)
UINT32 = st.integers(0, 2**32 - 1)
TEXT = st.text(max_size=20) | st.sampled_from(["", "x" * 3000, "\u202e\x00\x1b[2J", "c1", "s1"])
LABELS = st.dictionaries(
    st.sampled_from([convert.UID, convert.NAME, convert.NAMESPACE, convert.CONTAINER_NAME]) | TEXT,
    TEXT,
    max_size=5,
)
POD_META = st.none() | st.builds(
    cri_pb2.PodSandboxMetadata, name=TEXT, uid=TEXT, namespace=TEXT, attempt=UINT32
)
META = st.none() | st.builds(cri_pb2.ContainerMetadata, name=TEXT, attempt=UINT32)
IMAGE = st.none() | st.builds(cri_pb2.ImageSpec, image=TEXT, user_specified_image=TEXT)
SANDBOX = st.builds(
    cri_pb2.PodSandbox, id=TEXT, metadata=POD_META, state=INT32, created_at=INT64, labels=LABELS
)
CONTAINER = st.builds(
    cri_pb2.Container,
    id=TEXT,
    pod_sandbox_id=TEXT,
    metadata=META,
    state=INT32,
    created_at=INT64,
    labels=LABELS,
)
NETWORK = st.none() | st.builds(
    cri_pb2.PodSandboxNetworkStatus,
    ip=TEXT,
    additional_ips=st.lists(st.builds(cri_pb2.PodIP, ip=TEXT), max_size=30),
)
SANDBOX_STATUS = st.builds(
    cri_pb2.PodSandboxStatus,
    id=TEXT,
    metadata=POD_META,
    state=INT32,
    created_at=INT64,
    network=NETWORK,
)
CONTAINER_STATUS = st.builds(
    cri_pb2.ContainerStatus,
    id=TEXT,
    metadata=META,
    state=INT32,
    created_at=INT64,
    started_at=INT64,
    finished_at=INT64,
    exit_code=INT32,
    image=IMAGE,
    image_ref=TEXT,
    reason=TEXT,
    message=TEXT | st.just("m" * 100_000),
    labels=LABELS,
)
EVENT = st.builds(
    cri_pb2.ContainerEventResponse,
    container_id=TEXT,
    container_event_type=INT32,
    created_at=INT64,
    pod_sandbox_status=st.none() | SANDBOX_STATUS,
    containers_statuses=st.lists(CONTAINER_STATUS, max_size=4),
)


def check_bounded(made: object) -> None:
    for name in made.__struct_fields__:  # type: ignore[attr-defined]  # msgspec's
        value = getattr(made, name)
        if isinstance(value, str):
            assert len(value) <= (MAX_MESSAGE if name == "message" else MAX_NAME)


@given(st.lists(st.lists(CONTAINER, max_size=6), max_size=4))
def test_hostile_containers(rounds: list[list[cri_pb2.Container]]) -> None:
    made = Interner()
    for listed in rounds:
        skipped = made.skipped
        rows = made.containers(containers(*listed), full=True)
        assert len(rows) + made.skipped - skipped == len(listed)
        assert len({row.id for row in rows}) == len(rows) == len(made)
        for row in rows:
            check_bounded(row)
            assert row.id
            assert row.pod_uid
            assert row.state in ("running", "exited", "unknown")


@given(st.lists(st.lists(SANDBOX, max_size=6), max_size=4))
def test_hostile_sandboxes(rounds: list[list[cri_pb2.PodSandbox]]) -> None:
    made = Interner()
    for listed in rounds:
        rows = made.sandboxes(sandboxes(*listed), full=False)
        assert len({row.id for row in rows}) == len(rows)
        for row in rows:
            check_bounded(row)
            assert row.pod_uid


@given(SANDBOX_STATUS)
def test_a_hostile_sandbox_status(status: cri_pb2.PodSandboxStatus) -> None:
    answer = cri_pb2.PodSandboxStatusResponse(status=status)
    meta = status.metadata
    if not all((status.id, meta.name, meta.namespace, meta.uid, status.created_at)):
        with pytest.raises(InvalidStatus):
            convert.sandbox_status(answer)
        return
    made = convert.sandbox_status(answer)
    check_bounded(made)
    assert len(made.ips) <= convert.MAX_IPS


@given(CONTAINER_STATUS)
def test_a_hostile_container_status(status: cri_pb2.ContainerStatus) -> None:
    answer = cri_pb2.ContainerStatusResponse(status=status)
    named = status.id and status.metadata.name and status.created_at
    if not (named and status.image.image and status.image_ref):
        with pytest.raises(InvalidStatus):
            convert.container_status(answer)
        return
    made = convert.container_status(answer)
    check_bounded(made)
    assert (made.exit_code is None) == (made.runtime_state != "exited")


@given(EVENT)
def test_a_hostile_event(message: cri_pb2.ContainerEventResponse) -> None:
    made = convert.event(message)
    check_bounded(made)
    assert made.has_sandbox_status or not made.has_metadata
    assert convert.event_key(message)[2] == made.created_at


@given(st.binary(max_size=300))
def test_any_bytes_are_a_message_or_no_message(raw: bytes) -> None:
    try:
        message = cri_pb2.ContainerEventResponse.FromString(raw)
    except DecodeError:
        return
    check_bounded(convert.event(message, len(raw)))
