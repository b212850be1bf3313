"""The messages of the calls that change a node are upstream's on the wire, number by number."""

from typing import Final

import pytest
from google.protobuf.descriptor import Descriptor, FieldDescriptor

from app.sim.pb import cri_changes_pb2
from tests.lab.cri import descriptors

OURS: Final = cri_changes_pb2.DESCRIPTOR.message_types_by_name

#: What the lab, which real runtimes understand, does not know: "name=number" of every field.
UPSTREAM: Final = {
    "LinuxSandboxSecurityContext": "namespace_options=1",
    "UpdateContainerResourcesRequest": "container_id=1",
    "UpdateContainerResourcesResponse": "",
    "RuntimeConfigRequest": "",
    "RuntimeConfigResponse": "linux=1",
    "LinuxRuntimeConfiguration": "cgroup_driver=1",
    "Image": "id=1 repo_tags=2 repo_digests=3 size=4",
    "ImageFilter": "image=1",
    "ListImagesRequest": "filter=1",
    "ListImagesResponse": "images=1",
    "PullImageRequest": "image=1",
    "PullImageResponse": "image_ref=1",
    "RemoveImageRequest": "image=1",
    "RemoveImageResponse": "",
    "ImageFsInfoRequest": "",
    "ImageFsInfoResponse": "",
}


def lab(name: str) -> Descriptor | None:
    """The same message as the lab sends it to real runtimes."""
    try:
        found: Descriptor = descriptors().FindMessageTypeByName(f"runtime.v1.{name}")
    except KeyError:
        return None
    return found


def kind(field: FieldDescriptor) -> tuple[object, ...]:
    """What a field is on the wire."""
    message = "" if field.message_type is None else field.message_type.name
    return field.number, field.type, field.is_repeated, message


@pytest.mark.parametrize("name", sorted(OURS))
def test_a_message_is_as_real_runtimes_understand_it(name: str) -> None:
    theirs = lab(name)
    fields = {one.name: one for one in OURS[name].fields}
    known = {} if theirs is None else {one.name: one for one in theirs.fields}
    for field in fields.keys() & known.keys():
        assert kind(fields[field]) == kind(known[field]), field
    beyond = [one for one in fields.values() if one.name not in known]
    if theirs is None or name in UPSTREAM:
        told = " ".join(f"{one.name}={one.number}" for one in fields.values())
        assert told == UPSTREAM[name]
    else:
        assert [(one.name, one.number) for one in beyond] in ([], [("args", 4)])


def test_none_of_them_is_where_the_client_that_reads_could_find_it() -> None:
    assert cri_changes_pb2.DESCRIPTOR.package == "plegscope.sim"
    assert not cri_changes_pb2.DESCRIPTOR.services_by_name
