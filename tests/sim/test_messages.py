"""CRI messages made of the world's objects."""

from app.cri.pb import cri_pb2 as pb
from app.sim import messages
from app.sim.naming import digest
from app.sim.objects import Container, ContainerConfig, RuntimeEvent, Sandbox, SandboxConfig

POD = SandboxConfig(
    name="web-0",
    uid="uid-1",
    namespace="shop",
    attempt=2,
    labels={"app": "web"},
    annotations={"kubernetes.io/config.source": "api"},
)
SANDBOX = Sandbox("a" * 64, POD, "ready", 100, "10.244.16.2")
APP = ContainerConfig(
    name="app",
    image="registry.example/app:1",
    attempt=3,
    labels={"io.kubernetes.container.name": "app"},
    annotations={"io.kubernetes.container.restartCount": "3"},
    log_path="/var/log/pods/app/3.log",
)
EXITED = Container(
    "b" * 64,
    SANDBOX.id,
    APP,
    "exited",
    110,
    120,
    130,
    exit_code=137,
    reason="OOMKilled",
    image_ref=f"sha256:{digest(APP.image)}",
)


def test_a_sandbox_is_told_with_all_that_a_kubelet_checks() -> None:
    row = messages.sandbox_item(SANDBOX)
    status = messages.sandbox_status(SANDBOX)
    for told in (row, status):
        assert told.id == SANDBOX.id
        assert told.metadata == pb.PodSandboxMetadata(
            name="web-0", uid="uid-1", namespace="shop", attempt=2
        )
        assert told.state == pb.SANDBOX_READY
        assert told.created_at == 100
        assert dict(told.labels) == POD.labels
        assert dict(told.annotations) == POD.annotations
    assert status.network.ip == "10.244.16.2"
    assert status.linux.namespaces.options.network == pb.POD


def test_a_sandbox_on_the_nodes_network_says_so_and_has_no_address() -> None:
    pod = SandboxConfig(name="proxy", uid="u", namespace="kube-system", host_network=True)
    status = messages.sandbox_status(Sandbox("c" * 64, pod, "notready", 100))
    assert status.HasField("network")
    assert status.network.ip == ""
    assert status.linux.namespaces.options.network == pb.NODE
    assert status.state == pb.SANDBOX_NOTREADY


def test_a_container_is_told_with_all_that_a_kubelet_checks() -> None:
    row = messages.container_item(EXITED)
    status = messages.container_status(EXITED)
    for told in (row, status):
        assert told.id == EXITED.id
        assert told.metadata == pb.ContainerMetadata(name="app", attempt=3)
        assert told.state == pb.CONTAINER_EXITED
        assert told.created_at == 110
        assert told.image.image
        assert told.image_ref.startswith("sha256:")
        assert dict(told.labels) == APP.labels
        assert dict(told.annotations) == APP.annotations
    assert row.pod_sandbox_id == SANDBOX.id
    assert (status.started_at, status.finished_at) == (120, 130)
    assert (status.exit_code, status.reason) == (137, "OOMKilled")
    assert status.log_path == APP.log_path


def test_a_row_names_its_image_by_digest_a_status_by_name() -> None:
    row, status = messages.container_item(EXITED), messages.container_status(EXITED)
    assert row.image.image == f"sha256:{digest(APP.image)}"
    assert row.image.user_specified_image == status.image.image == APP.image
    assert (status.image.user_specified_image, row.image_id, status.image_id) == ("", "", "")


def test_an_event_carries_sandbox_and_containers_over_the_wire() -> None:
    event = RuntimeEvent("stopped", EXITED.id, 180, SANDBOX, (EXITED,))
    wire = messages.event_message(event).SerializeToString()
    heard = pb.ContainerEventResponse.FromString(wire)
    assert heard.container_id == EXITED.id
    assert heard.container_event_type == pb.CONTAINER_STOPPED_EVENT
    assert heard.created_at == 180
    assert heard.pod_sandbox_status == messages.sandbox_status(SANDBOX)
    assert list(heard.containers_statuses) == [messages.container_status(EXITED)]


def test_every_word_has_its_number() -> None:
    assert sorted(messages.SANDBOX_STATE.values()) == [0, 1]
    assert sorted(messages.CONTAINER_STATE.values()) == [0, 1, 2, 3]
    assert sorted(messages.EVENT_TYPE.values()) == [0, 1, 2, 3]


def test_an_event_is_about_as_big_as_a_real_one() -> None:
    alone = messages.event_message(RuntimeEvent("started", SANDBOX.id, 1, SANDBOX))
    full = messages.event_message(RuntimeEvent("stopped", EXITED.id, 1, SANDBOX, (EXITED,)))
    assert 200 < alone.ByteSize() < 600
    assert 500 < full.ByteSize() < 1300


def test_a_bare_event_is_78_bytes_as_a_real_one() -> None:
    told = RuntimeEvent("deleted", SANDBOX.id, 1_795_956_360_702_371_186, SANDBOX, bare=True)
    message = messages.event_message(told)
    assert message.ByteSize() == 78
    assert not message.HasField("pod_sandbox_status")
    assert message.container_event_type == pb.CONTAINER_DELETED_EVENT
