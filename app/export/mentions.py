"""What a text names by the way it speaks of it: ``configmap "x"``, ``pod=a_b``, hosts, addresses of
pages, of mail and of images, paths that no system brings along, volumes.

These are names of which nothing else in a recording tells: of Deployments, Secrets, volumes, users,
machines, registries. They are found by what stands before them, or by their own form. A name
without a quote, a hyphen or a digit (``volume is full``) is taken for a word.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from app.export.names import HEX, UUID, Kind


class Mention(NamedTuple):
    """A name and where it stands. ``kind``: what of."""

    start: int
    end: int
    kind: Kind
    name: str


OF_WORDS: Final[dict[str, Kind]] = {
    **dict.fromkeys(("pod", "podname"), "pod"),
    **dict.fromkeys(("namespace", "ns"), "namespace"),
    **dict.fromkeys(("node", "nodename"), "node"),
    **dict.fromkeys(("host", "hostname", "server"), "host"),
    **dict.fromkeys(("container", "containername"), "container"),
    **dict.fromkeys(("image", "imagename"), "image"),
    **dict.fromkeys(("user", "username", "serviceaccount", "account", "group"), "account"),
    **dict.fromkeys(
        ("deployment", "replicaset", "statefulset", "daemonset", "replicationcontroller"),
        "workload",
    ),
    **dict.fromkeys(("job", "cronjob", "rollout"), "workload"),
    **dict.fromkeys(("configmap", "secret", "volume", "volumename", "persistentvolume"), "object"),
    **dict.fromkeys(("persistentvolumeclaim", "claim", "pvc", "pv"), "object"),
    **dict.fromkeys(("storageclass", "service", "svc", "ingress", "networkpolicy"), "object"),
}
"""What a word says of the name behind it."""

PUBLIC: Final = ("kubernetes.io", "k8s.io")
"""Domains of the trade itself: in keys, in names of plugins and of packages."""
OWN: Final = (*PUBLIC, "runtime.v1")
"""How names begin that are Kubernetes' own, the CRI's among them."""
IN_CLUSTER: Final = (".svc", ".cluster.local")
"""Ends of a cluster's own names, which are made of names of pods, services and namespaces."""

_TOP: Final = (
    "com|net|org|edu|gov|mil|int|info|biz|io|dev|app|cloud|tech|internal|intranet|local|lan|corp|"
    "localdomain|home|private|test|example|invalid|svc"
)
_COUNTRIES: Final = (
    "at|au|be|br|ca|ch|cn|cz|de|dk|es|eu|fi|fr|hk|ie|in|it|jp|kr|mx|nl|no|nz|pl|ru|se|sg|tw|uk|us|"
    "za"
)
_LABEL: Final = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_REPOSITORY: Final = r"[\w./-]+(?::[\w.-]+)?"
_DIGEST: Final = "@sha256:[0-9a-f]{64}"
_IMAGE: Final = (
    rf"[a-z0-9][\w.-]*\.[a-z]{{2,}}(?::\d+)?/{_REPOSITORY}(?:{_DIGEST})?"
    rf"|(?!\d+\.\d+\.\d+\.)[a-z0-9][\w.-]*:\d{{2,5}}/{_REPOSITORY}(?:{_DIGEST})?"
    rf"|[a-z0-9][\w.-]*(?:/[\w.-]+)*(?::[\w.-]+)?{_DIGEST}"
)
_HOST: Final = (
    rf"(?:{_LABEL}\.){{1,10}}(?:{_TOP})(?![\w-]|\.\w)"
    rf"|(?:{_LABEL}\.){{2,10}}(?:{_COUNTRIES})(?![\w-]|\.\w)"
)
_SYSTEM: Final = (
    r"run|proc|sys|dev|bin|sbin|lib|lib64|usr/(?:s?bin|lib|libexec)|var/run|kubepods[\w.]*"
    r"|var/lib/(?:kubelet|containerd|containers|crio|cni|docker|etcd)|var/log/(?:pods|containers)"
    r"|etc/(?:kubernetes|cni|containerd|containers|crio|crictl\.yaml|hosts|resolv\.conf|passwd)"
    r"|healthz|metrics|apis?|runtime\.v1[\w.]*|tmp/plegscope-\w+"
)
_MARK: Final = r"\\{0,3}[\"'`\u2018\u201c]"
_NAME: Final = r"[a-z0-9][a-z0-9-]{0,252}(?:\.[a-z0-9-]{1,63}){0,10}"
_BARE: Final = rf"(?=[a-z0-9./-]{{0,253}}[-0-9])(?![0-9]){_NAME}(?:/{_NAME})?(?![\w/-]|[.:]\w)"
_WORDS: Final = "|".join(sorted(OF_WORDS, key=len, reverse=True))
_TYPED: Final = (
    rf"(?<![a-z])(?P<word>{_WORDS})s?(?:\.[a-z][a-z0-9.]*)?"
    rf"(?:[ :=]{{1,2}}{_MARK}(?P<quoted>[^\s\"'`\\()\u2019\u201d]{{1,253}})"
    r"|=(?P<given>[^\s\"'`\\,;:()\[\]{}]{1,253})"
    rf"|[ /](?P<bare>{_BARE}))"
)
_PATTERN: Final = re.compile(
    r"(?<![a-z0-9+.-])(?!unix:|file:|passthrough:)[a-z][a-z0-9+.-]{1,15}://(?P<url>[^\s\"'<>\\`]{1,2048})"
    r"|(?<![\w.+-])(?P<mail>[\w.+-]{1,64}@(?:[\w-]{1,63}\.){1,10}[a-z]{2,24})(?![\w-])"
    # As the kubelet tells of pods: name_namespace(uid); and as containerd does.
    rf"|(?<![\w.-])(?P<full>{_NAME}_{_NAME})(?=\([0-9a-f-]{{8,36}}\))"
    r"|PodSandboxMetadata\{Name:(?P<sandbox>[^\s,}]{1,253})"
    r"|,Namespace:(?P<within>[^\s,}]{1,253})"
    rf"|{_TYPED}"
    r"|(?<![a-z])lookup (?P<resolved>[\w.-]{1,253})(?=:\ |\ on\ )"
    rf"|(?-i:(?<![\w/.@-])(?P<image>{_IMAGE}))"
    r"|/volumes/[\w.-]{1,64}~[\w.-]{1,64}/(?P<volume>[^\s/\"'\\:]{1,253})"
    rf"|(?:(?<![\w/.~-])|(?<=://))/(?!(?:{_SYSTEM}|home|users)(?![\w.-]))"
    r"(?P<path>[a-z0-9._][^\s\"'`\\,;:()\[\]{}<>]{0,1023})"
    r"|(?<![\w.])/(?:home|users)/(?P<home>[^\s/\"'\\:]{1,253})"
    rf"|(?<![\w.@/~-])(?P<host>{_HOST})",
    re.IGNORECASE,
)
_BY_FORM: Final[dict[str, Kind]] = {
    "url": "url",
    "mail": "account",
    "resolved": "host",
    "full": "pod",
    "sandbox": "pod",
    "within": "namespace",
    "image": "image",
    "volume": "object",
    "path": "path",
    "home": "account",
    "host": "host",
}
_HINT: Final = re.compile(r"[ =/:@.(]")
"""Without one of these a text is a name and mentions none."""
_TAIL: Final = ".,;:!?)]}"
"""What ends a sentence and not a name."""


def mentions(text: str) -> Iterator[Mention]:
    """All of them in order; none overlaps another."""
    if _HINT.search(text) is None:
        return
    for found in _PATTERN.finditer(text):
        word = found["word"]
        if word is None:
            group = found.lastgroup or ""
            kind = _BY_FORM[group]
        else:
            group = next(one for one in ("quoted", "given", "bare") if found[one] is not None)
            kind = OF_WORDS[word.lower()]
        start = found.start(group)
        name = found[group].rstrip(_TAIL)
        if not name or _public(kind, name):
            continue
        yield from _parts(start, kind, name)


def _public(kind: Kind, name: str) -> bool:
    """What is nobody's own, or is made of names that are found one by one."""
    lower = name.lower()
    if kind == "host":
        return lower.endswith((*PUBLIC, *IN_CLUSTER))
    # A number says nothing, an identity is found by its form, and what Kubernetes brings along is
    # called by its own domain.
    formed = UUID.fullmatch(name) or HEX.fullmatch(name)
    return name.isdigit() or formed is not None or lower.startswith(OWN)


def _parts(start: int, kind: Kind, name: str) -> Iterator[Mention]:
    """A pod is often told with its namespace: ``ns/name``, or ``name_ns`` (kubelet/container)."""
    kinds: dict[str, tuple[Kind, Kind]] = {}
    if kind in ("pod", "workload", "object"):
        kinds["/"] = ("namespace", kind)
    if kind == "pod":
        kinds["_"] = (kind, "namespace")
    for sign, (one, other) in kinds.items():
        first, _, second = name.partition(sign)
        if first and second:
            yield Mention(start, start + len(first), one, first)
            yield Mention(start + len(first) + 1, start + len(name), other, second)
            return
    yield Mention(start, start + len(name), kind, name)
