"""A journal without names: two mentions of the same thing stay the same thing.

Replaced: names of pods, namespaces, nodes and images, labels and annotations with their values,
UIDs, container IDs, addresses, the recording's own name; names of containers if asked for. Free
texts (notes, errors, reasons, messages) are scrubbed of every name that occurs anywhere, of the
workloads that pods are named after, and of what a text itself calls a Deployment, Secret, volume,
user, host and so on, or what has a host's, a page's or a mail address's form. Kept: times, states,
numbers, exit codes, the paths that systems, runtimes and the kubelet bring along, and the words of
plegscope and of the CRI. Not hidden: how many pods there are, when something happened, a name that
is one of those words, and one that a text mentions without saying of what.

The names must be known before the first text is written, so whatever is redacted is read twice.
"""

import socket
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final, TypeVar

import msgspec
from msgspec import inspect

from app.engine.profiles import PROFILES
from app.engine.records import Record
from app.export.mentions import mentions
from app.export.names import HEX, MOST_LETTERS, UUID, Kind, Names
from app.export.owners import is_telling, owners
from app.export.scrub import TAG, Scrubber
from app.export.source import Source, nodes_of
from app.journal.rebuild import ENDS, SOURCES, TYPES

S = TypeVar("S", bound=msgspec.Struct)

NAMES: Final[dict[str, Kind]] = {
    "uid": "id",
    "pod_uid": "id",
    "slowest_uid": "id",
    "container_id": "id",
    "sandbox_id": "id",
    "id": "id",
    "asked_for": "id",
    "gone_ids": "id",
    "namespace": "namespace",
    "pod_name": "pod",
    "pod_namespace": "namespace",
    "container_name": "container",
    "image": "image",
    "ips": "ip",
    "host": "node",
}
"""What a field holds, by its name, wherever it is."""

OF_STRUCTS: Final[dict[tuple[str, str], Kind]] = {
    ("PodSeen", "name"): "pod",
    ("PodCached", "name"): "pod",
    ("Observation", "name"): "container",
    ("ContainerStatus", "name"): "container",
}
"""The same for ``name``, which is of what the struct is of. Anything else is free text."""

VOCABULARY: Final = frozenset(
    {
        *PROFILES,
        *("containerd", "cri-o", "v1", "simulated", "demo", "watch", "record", "simulate"),
        *("created", "running", "exited", "unknown", "ready", "notready"),
        *("health", "retry", "cache_time"),
        *(*SOURCES, *ENDS, *TYPES, "queued", "executed", "held"),
        *("ignored", "backlog", "lost", "opened", "errors"),
        *("ListPodSandbox", "ListContainers", "ContainerStatus", "PodSandboxStatus", "Version"),
    }
)
"""Values that are a word of ours or of the CRI where they stand alone in one of ``WORDS``."""

WORDS: Final = frozenset(
    {"profile", "timer", "method", "slowest_method", "type", "api_version", "command", "name"}
)

MOST_TEXT: Final = 64 * 1024
"""Characters of a text that is searched for names it mentions before any text is written."""
MOST_READ: Final = 4096
"""Texts that are remembered, so that the same one is not searched for names again and again."""

_Op = Callable[[Any], Any]


class Redactor:
    """Gathers names (``learn``), then replaces them (``redact``).

    Args:
        names: the stand-ins.
        containers: whether names of containers are replaced.
    """

    def __init__(self, names: Names, *, containers: bool = False) -> None:
        self.names = names
        self.containers = containers
        self._scrubber = Scrubber(names, containers=containers)
        self._read: set[str] = set()
        host = socket.gethostname()
        if host != "localhost":
            self.meet("node", host)

    def meet(self, kind: Kind, name: str, *, told: bool = False) -> None:
        """Learn one name; ``told``: no field has it, it is concluded or read in a text."""
        if kind == "container" and not self.containers:
            return
        if kind == "id" and (UUID.fullmatch(name) or HEX.fullmatch(name)):
            # Found by its form wherever it is.
            return
        if self.names.meet(kind, name) and len(name) <= MOST_LETTERS:
            # A node is called by its whole name and by the first part of it.
            short = name.partition(".")[0] if kind == "node" else ""
            if kind == "image":
                # Texts name it without its tag or digest as well; `nginx` alone is a word.
                bare = TAG.sub("", name)
                short = bare if "/" in bare else ""
            self._scrubber.learn(kind, name, "" if short.isdigit() else short, told=told)
            if kind == "pod" and not told:
                for owner in owners(name):
                    self.meet("workload", owner, told=True)

    def read(self, text: str) -> None:
        """Learn the names that a text mentions, so that they are found where another one does not
        say what they are. A single word is not: it may be anywhere."""
        if text in self._read or len(text) > MOST_TEXT:
            return
        if len(self._read) >= MOST_READ:
            self._read.clear()
        self._read.add(text)
        for one in mentions(text):
            if is_telling(one.name) and self._scrubber.knows(one.name) is None:
                self.meet(one.kind, one.name, told=True)

    def meet_file(self, path: Path) -> None:
        """Learn what a recording is called: people put a node's name or a customer's into it."""
        if self.names.meet("file", path.name):
            self._scrubber.learn("file", path.name, str(path))

    def replace(self, kind: Kind, name: str) -> str:
        """What stands in for a name in a field of its own."""
        if kind == "id":
            return self.names.identity(name) if name else name
        if kind == "ip":
            return self.names.address(name) if name else name
        if kind == "container" and not self.containers:
            # Kept, unless it tells something else's name: a label often has the container's.
            return self._scrubber.scrub(name, weak=False)
        return self.names.of(kind, name)

    def scrub(self, text: str, *, forms: bool = True) -> str:
        """A free text without names, and without what has an identity's form (``forms``)."""
        return self._scrubber.scrub(text, forms=forms)

    def learn(self, thing: msgspec.Struct) -> None:
        """Learn all names in it."""
        for field, kind, nested in _plan(type(thing)):
            value = getattr(thing, field)
            if not value:
                continue
            if nested:
                for one in value if isinstance(value, tuple) else (value,):
                    self.learn(one)
            elif kind is not None:
                for name in value if isinstance(value, tuple) else (value,):
                    self.meet(kind, name)
            elif field not in WORDS and isinstance(value, str):
                self.read(value)

    def redact(self, thing: S) -> S:
        """The same without names."""
        changed: dict[str, Any] = {}
        for field, kind, nested in _plan(type(thing)):
            value = getattr(thing, field)
            if not value:
                continue
            if nested:
                op: _Op = self.redact
            elif kind is not None:
                op = _Replace(self, kind)
            elif field in WORDS:
                op = self._word
            else:
                op = self.scrub
            if isinstance(value, tuple):
                changed[field] = tuple(op(one) for one in value)
            elif isinstance(value, dict):
                changed[field] = {self._word(key): one for key, one in value.items()}
            elif nested or isinstance(value, str):
                changed[field] = op(value)
        return msgspec.structs.replace(thing, **changed) if changed else thing

    def _word(self, text: str) -> str:
        return text if text in VOCABULARY else self.scrub(text)


class _Replace:
    """``Redactor.replace`` of one kind."""

    def __init__(self, redactor: Redactor, kind: Kind) -> None:
        self._redactor = redactor
        self._kind = kind

    def __call__(self, name: str) -> str:
        return self._redactor.replace(self._kind, name)


class Redacted:
    """A source without names. The names are gathered when it is made.

    Raises:
        RecordingError: the source cannot be read.
    """

    def __init__(self, source: Source, redactor: Redactor) -> None:
        self._source = source
        self._redactor = redactor
        for path in source.files:
            redactor.meet_file(path)
        for node in nodes_of(source.files):
            redactor.meet("node", node)
        for record in source.records():
            redactor.learn(record)
        self.title = redactor.scrub(source.title)
        self.simulated = source.simulated
        self.files: Sequence[Path] = ()

    @property
    def missing(self) -> list[str]:
        """What could not be read."""
        return [self._redactor.scrub(sentence) for sentence in self._source.missing]

    def records(self) -> Iterator[Record]:
        """All records, redacted."""
        for record in self._source.records():
            yield self._redactor.redact(record)


_Plan = tuple[tuple[str, Kind | None, bool], ...]


@cache
def _plan(kind: type[msgspec.Struct]) -> _Plan:
    """Of each field that may hold a text: its name, what it names, whether structs are in it."""
    plan: list[tuple[str, Kind | None, bool]] = []
    for field in msgspec.structs.fields(kind):
        parts = _parts(inspect.type_info(field.type))
        if any(isinstance(part, inspect.StructType) for part in parts):
            plan.append((field.name, None, True))
        elif any(isinstance(part, inspect.StrType) for part in parts):
            what = NAMES.get(field.name) or OF_STRUCTS.get((kind.__name__, field.name))
            plan.append((field.name, what, False))
    return tuple(plan)


def _parts(info: inspect.Type) -> list[inspect.Type]:
    if isinstance(info, inspect.UnionType):
        return [part for one in info.types for part in _parts(one)]
    if isinstance(info, inspect.VarTupleType | inspect.ListType):
        return _parts(info.item_type)
    if isinstance(info, inspect.TupleType):
        return [part for one in info.item_types for part in _parts(one)]
    if isinstance(info, inspect.DictType):
        return _parts(info.key_type)
    return [info]
