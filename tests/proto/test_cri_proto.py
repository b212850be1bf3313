"""The CRI messages are upstream's, number by number, and nothing in them changes a node."""

from typing import Final

import pytest
from google.protobuf.descriptor import Descriptor, FieldDescriptor

from app.cri.pb import cri_pb2

#: RPC -> (request, response, whether the response is a stream).
RPCS: Final = {
    "Version": ("VersionRequest", "VersionResponse", False),
    "Status": ("StatusRequest", "StatusResponse", False),
    "ListPodSandbox": ("ListPodSandboxRequest", "ListPodSandboxResponse", False),
    "PodSandboxStatus": ("PodSandboxStatusRequest", "PodSandboxStatusResponse", False),
    "ListContainers": ("ListContainersRequest", "ListContainersResponse", False),
    "ContainerStatus": ("ContainerStatusRequest", "ContainerStatusResponse", False),
    "GetContainerEvents": ("GetEventsRequest", "ContainerEventResponse", True),
    "StreamPodSandboxes": ("StreamPodSandboxesRequest", "StreamPodSandboxesResponse", True),
    "StreamContainers": ("StreamContainersRequest", "StreamContainersResponse", True),
}

#: Message -> "name=number type" of every field; maps of strings are written "map", lists "[]".
MESSAGES: Final = {
    "VersionRequest": "version=1 string",
    "VersionResponse": (
        "version=1 string, runtime_name=2 string, runtime_version=3 string, "
        "runtime_api_version=4 string"
    ),
    "StatusRequest": "verbose=1 bool",
    "StatusResponse": (
        "status=1 RuntimeStatus, info=2 map, runtime_handlers=3 []RuntimeHandler, "
        "features=4 RuntimeFeatures"
    ),
    "RuntimeStatus": "conditions=1 []RuntimeCondition",
    "RuntimeCondition": "type=1 string, status=2 bool, reason=3 string, message=4 string",
    "RuntimeHandler": "name=1 string, features=2 RuntimeHandlerFeatures",
    "RuntimeHandlerFeatures": "recursive_read_only_mounts=1 bool, user_namespaces=2 bool",
    "RuntimeFeatures": (
        "supplemental_groups_policy=1 bool, user_namespaces_host_network=2 bool, "
        "mount_options=3 bool"
    ),
    "ListPodSandboxRequest": "filter=1 PodSandboxFilter",
    "PodSandboxFilter": "id=1 string, state=2 PodSandboxStateValue, label_selector=3 map",
    "PodSandboxStateValue": "state=1 PodSandboxState",
    "ListPodSandboxResponse": "items=1 []PodSandbox",
    "PodSandbox": (
        "id=1 string, metadata=2 PodSandboxMetadata, state=3 PodSandboxState, created_at=4 int64, "
        "labels=5 map, annotations=6 map, runtime_handler=7 string"
    ),
    "PodSandboxMetadata": "name=1 string, uid=2 string, namespace=3 string, attempt=4 uint32",
    "StreamPodSandboxesRequest": "filter=1 PodSandboxFilter",
    "StreamPodSandboxesResponse": "pod_sandboxes=1 []PodSandbox",
    "PodSandboxStatusRequest": "pod_sandbox_id=1 string, verbose=2 bool",
    "PodSandboxStatusResponse": (
        "status=1 PodSandboxStatus, info=2 map, containers_statuses=3 []ContainerStatus, "
        "timestamp=4 int64"
    ),
    "PodSandboxStatus": (
        "id=1 string, metadata=2 PodSandboxMetadata, state=3 PodSandboxState, created_at=4 int64, "
        "network=5 PodSandboxNetworkStatus, linux=6 LinuxPodSandboxStatus, labels=7 map, "
        "annotations=8 map, runtime_handler=9 string"
    ),
    "PodSandboxNetworkStatus": "ip=1 string, additional_ips=2 []PodIP",
    "PodIP": "ip=1 string",
    "LinuxPodSandboxStatus": "namespaces=1 Namespace",
    "Namespace": "options=2 NamespaceOption",
    "NamespaceOption": (
        "network=1 NamespaceMode, pid=2 NamespaceMode, ipc=3 NamespaceMode, target_id=4 string"
    ),
    "ListContainersRequest": "filter=1 ContainerFilter",
    "ContainerFilter": (
        "id=1 string, state=2 ContainerStateValue, pod_sandbox_id=3 string, label_selector=4 map"
    ),
    "ContainerStateValue": "state=1 ContainerState",
    "ListContainersResponse": "containers=1 []Container",
    "StreamContainersRequest": "filter=1 ContainerFilter",
    "StreamContainersResponse": "containers=1 []Container",
    "Container": (
        "id=1 string, pod_sandbox_id=2 string, metadata=3 ContainerMetadata, image=4 ImageSpec, "
        "image_ref=5 string, state=6 ContainerState, created_at=7 int64, labels=8 map, "
        "annotations=9 map, image_id=10 string"
    ),
    "ContainerMetadata": "name=1 string, attempt=2 uint32",
    "ImageSpec": (
        "image=1 string, annotations=2 map, user_specified_image=18 string, "
        "runtime_handler=19 string, image_ref=20 string"
    ),
    "ContainerStatusRequest": "container_id=1 string, verbose=2 bool",
    "ContainerStatusResponse": "status=1 ContainerStatus, info=2 map",
    "ContainerStatus": (
        "id=1 string, metadata=2 ContainerMetadata, state=3 ContainerState, created_at=4 int64, "
        "started_at=5 int64, finished_at=6 int64, exit_code=7 int32, image=8 ImageSpec, "
        "image_ref=9 string, reason=10 string, message=11 string, labels=12 map, "
        "annotations=13 map, log_path=15 string, image_id=17 string"
    ),
    "GetEventsRequest": "",
    "ContainerEventResponse": (
        "container_id=1 string, container_event_type=2 ContainerEventType, created_at=3 int64, "
        "pod_sandbox_status=4 PodSandboxStatus, containers_statuses=5 []ContainerStatus"
    ),
}

ENUMS: Final = {
    "PodSandboxState": {"SANDBOX_READY": 0, "SANDBOX_NOTREADY": 1},
    "ContainerState": {
        "CONTAINER_CREATED": 0,
        "CONTAINER_RUNNING": 1,
        "CONTAINER_EXITED": 2,
        "CONTAINER_UNKNOWN": 3,
    },
    "ContainerEventType": {
        "CONTAINER_CREATED_EVENT": 0,
        "CONTAINER_STARTED_EVENT": 1,
        "CONTAINER_STOPPED_EVENT": 2,
        "CONTAINER_DELETED_EVENT": 3,
    },
    "NamespaceMode": {"POD": 0, "CONTAINER": 1, "NODE": 2, "TARGET": 3},
}

SCALARS: Final = {
    FieldDescriptor.TYPE_STRING: "string",
    FieldDescriptor.TYPE_BOOL: "bool",
    FieldDescriptor.TYPE_INT32: "int32",
    FieldDescriptor.TYPE_INT64: "int64",
    FieldDescriptor.TYPE_UINT32: "uint32",
}


def describe(message: Descriptor) -> str:
    """A message's fields, written as in MESSAGES."""
    return ", ".join(f"{field.name}={field.number} {kind(field)}" for field in message.fields)


def kind(field: FieldDescriptor) -> str:
    """A field's type, written as in MESSAGES."""
    if field.enum_type is not None:
        return field.enum_type.name
    if field.message_type is None:
        return SCALARS[field.type]
    if field.message_type.GetOptions().map_entry:
        assert [part.type for part in field.message_type.fields] == [
            FieldDescriptor.TYPE_STRING
        ] * 2
        return "map"
    return f"{'[]' if field.is_repeated else ''}{field.message_type.name}"


def test_the_service_has_the_read_only_rpcs_and_no_other() -> None:
    service = cri_pb2.DESCRIPTOR.services_by_name["RuntimeService"]
    assert service.full_name == "runtime.v1.RuntimeService"
    assert {
        method.name: (method.input_type.name, method.output_type.name, method.server_streaming)
        for method in service.methods
    } == RPCS
    assert not any(method.client_streaming for method in service.methods)


def test_the_lists_here_are_complete() -> None:
    assert set(cri_pb2.DESCRIPTOR.message_types_by_name) == set(MESSAGES)
    assert set(cri_pb2.DESCRIPTOR.enum_types_by_name) == set(ENUMS)


@pytest.mark.parametrize("name", MESSAGES)
def test_fields_have_upstreams_names_numbers_and_types(name: str) -> None:
    assert describe(cri_pb2.DESCRIPTOR.message_types_by_name[name]) == MESSAGES[name]


@pytest.mark.parametrize("name", ENUMS)
def test_enums_have_upstreams_values(name: str) -> None:
    enum = cri_pb2.DESCRIPTOR.enum_types_by_name[name]
    assert {value.name: value.number for value in enum.values} == ENUMS[name]


def test_what_is_left_out_survives_a_round_trip() -> None:
    # Field 14 (mounts: host_path=2 "/var") and 19 (stop_signal: 15) of ContainerStatus.
    unknown = bytes([14 << 3 | 2, 6, 2 << 3 | 2, 4, *b"/var"]) + bytes([0x98, 0x01, 15])
    known = cri_pb2.ContainerStatus(id="c1", exit_code=-1).SerializeToString()
    message = cri_pb2.ContainerStatus.FromString(known + unknown)
    assert (message.id, message.exit_code) == ("c1", -1)
    assert message.SerializeToString() == known + unknown
