"""Finds names in bytes: gathered apart from the redactor, by walking what was written as JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from google.protobuf import json_format

from app.cri.pb import cri_pb2
from app.recording.format import MESSAGES
from app.recording.reading import Recording

NAMING = {"uid", "pod_uid", "pod_name", "pod_namespace", "namespace", "container_id", "sandbox_id"}
NAMING |= {"id", "image", "host", "asked_for"}


def names_in_json(thing: Any) -> Iterator[str]:
    """Names of pods, namespaces, images and nodes, UIDs, IDs and addresses."""
    if isinstance(thing, list):
        for one in thing:
            yield from names_in_json(one)
    if not isinstance(thing, dict):
        return
    for key, value in thing.items():
        if isinstance(value, str) and value:
            if key in NAMING or (key == "name" and thing.get("kind") in ("pod_seen", "pod_cached")):
                yield value
        elif key in ("ips", "gone_ids"):
            yield from value
        else:
            yield from names_in_json(value)


def names_in_message(raw: bytes, kind: str) -> Iterator[str]:
    """Names in a runtime's message: IDs, images, addresses, labels, and what metadata has."""
    message = getattr(cri_pb2, kind).FromString(raw)
    message.DiscardUnknownFields()
    yield from _names(json_format.MessageToDict(message, preserving_proto_field_name=True))


IN_MESSAGES = {"container_id", "id", "pod_sandbox_id", "ip", "image", "image_ref", "image_id"}
IN_MESSAGES |= {"user_specified_image", "uid", "namespace"}


def _names(thing: Any, parent: str = "") -> Iterator[str]:
    if isinstance(thing, list):
        for one in thing:
            yield from _names(one, parent)
    if not isinstance(thing, dict):
        return
    pod = "uid" in thing
    for key, value in thing.items():
        if parent in ("labels", "annotations"):
            if "kubernetes.io" not in key and "io.kubernetes" not in key:
                yield from (key, value)
        elif isinstance(value, str):
            if key in IN_MESSAGES or (pod and key == "name"):
                yield value
        else:
            yield from _names(value, key)


def messages(path: Path) -> Iterator[tuple[int, bytes]]:
    with Recording(path) as recording:
        for number, message in recording.messages():
            yield number, message.data


def names_of(path: Path) -> set[str]:
    """All names in a recording."""
    found: set[str] = set()
    for number, data in messages(path):
        kind = MESSAGES.get(number)
        found.update(names_in_message(data, kind) if kind else names_in_json(json.loads(data)))
    # A number is anywhere, and a simulated node's name is what it is.
    return {name for name in found - {"simulated", "true", "false"} if name and not name.isdigit()}


def content(path: Path) -> bytes:
    """Everything in a recording, unpacked."""
    return b"\n".join(data for _number, data in messages(path))


def leaked(names: Iterable[str], data: bytes) -> list[str]:
    """Those of the names that are in the bytes, in whatever case.

    A short name counts only where no letter or digit stands beside it: ``db-5`` is in many a UID.
    """
    text = data.decode("utf-8", "replace").lower()
    found = []
    for name in names:
        wanted = name.lower()
        if wanted not in text:
            continue
        bounded = rf"(?<![^\W_]){re.escape(wanted)}(?![^\W_])"
        if len(wanted) > 8 or re.search(bounded, text):
            found.append(name)
    return found
