"""The runtime's own messages without names: protobuf, field by field.

What this version does not know of a message (mounts, resources, users) is left out, as nobody can
say what is in it. Labels and annotations get other keys and values, except that the keys which
Kubernetes gives itself stay, and their values are the pod's, the namespace's and so on.
"""

from collections.abc import MutableMapping
from typing import Any, Final

from google.protobuf.message import DecodeError, Message

from app.cri.pb import cri_pb2
from app.export.names import Kind
from app.export.redact import Redactor

FIELDS: Final[dict[str, Kind]] = {
    "PodSandboxMetadata.name": "pod",
    "PodSandboxMetadata.uid": "id",
    "PodSandboxMetadata.namespace": "namespace",
    "PodSandbox.id": "id",
    "PodSandboxStatus.id": "id",
    "PodSandboxNetworkStatus.ip": "ip",
    "PodIP.ip": "ip",
    "ContainerMetadata.name": "container",
    "Container.id": "id",
    "Container.pod_sandbox_id": "id",
    "Container.image_ref": "image",
    "Container.image_id": "image",
    "ContainerStatus.id": "id",
    "ContainerStatus.image_ref": "image",
    "ContainerStatus.image_id": "image",
    "ContainerEventResponse.container_id": "id",
    "NamespaceOption.target_id": "id",
    "ImageSpec.image": "image",
    "ImageSpec.user_specified_image": "image",
    "ImageSpec.image_ref": "image",
}
"""What a field of a message holds; anything else is free text."""

KEYS: Final[dict[str, Kind]] = {
    "io.kubernetes.pod.name": "pod",
    "io.kubernetes.pod.namespace": "namespace",
    "io.kubernetes.pod.uid": "id",
    "io.kubernetes.container.name": "container",
}
"""Labels whose values are names of something else."""

KUBERNETES: Final = ("io.kubernetes.", "kubernetes.io/", "annotation.io.kubernetes.")
"""How the keys begin that Kubernetes gives itself."""

SMALL: Final = 3
"""Values shorter than this, and numbers, are not looked for in texts: they are anywhere."""


def learn(redactor: Redactor, raw: bytes, kind: str = "ContainerEventResponse") -> None:
    """Learn all names in one message of this kind; what is none has none."""
    message = _parsed(raw, kind)
    if message is not None:
        _learn(redactor, message)


def redact(redactor: Redactor, raw: bytes, kind: str = "ContainerEventResponse") -> bytes | None:
    """The message without names; None if it is no message."""
    message = _parsed(raw, kind)
    if message is None:
        return None
    _redact(redactor, message)
    return message.SerializeToString(deterministic=True)


def _parsed(raw: bytes, kind: str) -> Message | None:
    made: Message = getattr(cri_pb2, kind)()
    try:
        made.ParseFromString(raw)
    except DecodeError:
        return None
    made.DiscardUnknownFields()
    return made


def _learn(redactor: Redactor, message: Message) -> None:
    for field, value in message.ListFields():
        if _is_map(field):
            for key, text in value.items():
                if not key.startswith(KUBERNETES):
                    _meet(redactor, "label", key)
                kind = KEYS.get(key)
                if kind is not None:
                    redactor.meet(kind, text)
                elif not key.startswith(KUBERNETES):
                    _meet(redactor, "value", text)
        elif field.type == field.TYPE_MESSAGE:
            for one in value if field.is_repeated else (value,):
                _learn(redactor, one)
        elif field.type == field.TYPE_STRING:
            kind = FIELDS.get(f"{message.DESCRIPTOR.name}.{field.name}")
            for text in value if field.is_repeated else (value,):
                if kind is not None:
                    redactor.meet(kind, text)
                else:
                    redactor.read(text)


def _meet(redactor: Redactor, kind: Kind, text: str) -> None:
    if len(text) >= SMALL and not text.isdigit() and text not in ("true", "false"):
        redactor.meet(kind, text)


def _redact(redactor: Redactor, message: Message) -> None:
    for field, value in message.ListFields():
        if _is_map(field):
            _map(redactor, value)
        elif field.type == field.TYPE_MESSAGE:
            for one in value if field.is_repeated else (value,):
                _redact(redactor, one)
        elif field.type == field.TYPE_STRING:
            kind = FIELDS.get(f"{message.DESCRIPTOR.name}.{field.name}")
            if field.is_repeated:
                value[:] = [_text(redactor, kind, one) for one in value]
            else:
                setattr(message, field.name, _text(redactor, kind, value))


def _text(redactor: Redactor, kind: Kind | None, text: str) -> str:
    return redactor.scrub(text) if kind is None else redactor.replace(kind, text)


def _map(redactor: Redactor, pairs: MutableMapping[str, str]) -> None:
    made: dict[str, str] = {}
    for key, text in pairs.items():
        if not key.startswith(KUBERNETES):
            made[redactor.replace("label", key)] = redactor.replace("value", text)
        elif key in KEYS:
            made[key] = redactor.replace(KEYS[key], text)
        else:
            # Some hold the whole pod as JSON, with whatever is in it.
            key_kept = redactor.scrub(key, forms=False)
            made[key_kept] = text if text.isdigit() else redactor.replace("value", text)
    pairs.clear()
    pairs.update(made)


def _is_map(field: Any) -> bool:
    kind = field.message_type
    return kind is not None and kind.GetOptions().map_entry
