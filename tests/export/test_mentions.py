"""What a text names by the way it speaks of it, and the words that are no names."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest

from app.export.mentions import Mention, mentions

SHA = "@sha256:" + "ab" * 32


def told(text: str) -> list[tuple[str, str]]:
    found = list(mentions(text))
    for one in found:
        assert text[one.start : one.end] == one.name
    return [(one.kind, one.name) for one in found]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        # The kubelet, its volumes and its controllers
        ('MountVolume.SetUp failed for volume "kube-api-x7k2p" : configmap "acme" not found',
         [("object", "kube-api-x7k2p"), ("object", "acme")]),
        ("secret acme-tls is missing; pvc=data", [("object", "acme-tls"), ("object", "data")]),
        ("failed container=web pod=web-0_shop(5f1c)",
         [("container", "web"), ("pod", "web-0"), ("namespace", "shop")]),
        ('err="x" pod="shop/web-1" containerName="broker"',
         [("namespace", "shop"), ("pod", "web-1"), ("container", "broker")]),
        ('SyncLoop: "dns-2x7qp_kube-system(3c81b68e-65f5-11e8-b6bf-42010af00011)"',
         [("pod", "dns-2x7qp"), ("namespace", "kube-system")]),
        ("pod shop/web-1 is gone", [("namespace", "shop"), ("pod", "web-1")]),
        ("for &PodSandboxMetadata{Name:nginx,Uid:u,Namespace:shop,Attempt:0,}",
         [("pod", "nginx"), ("namespace", "shop")]),
        ('deployment.apps/acme-portal, ReplicaSet \\"acme-portal-7c9d8b6f5\\"',
         [("workload", "acme-portal"), ("workload", "acme-portal-7c9d8b6f5")]),
        ("/run/x/volumes/kubernetes.io~secret/acme-cert: busy", [("object", "acme-cert")]),
        ('exec: "/opt/acme/start": stat /opt/acme/start: no such file',
         [("path", "opt/acme/start"), ("path", "opt/acme/start")]),
        ("dial unix:///opt/acme/c.sock: refused", [("path", "opt/acme/c.sock")]),
        ("mount nfs01.acme.lan:/export/acme.",
         [("host", "nfs01.acme.lan"), ("path", "export/acme")]),
        # Images
        ('failed to pull image "team/app:1.2": denied', [("image", "team/app:1.2")]),
        ("pull localhost:5000/team/app:1.2, hub:5000/x" + SHA,
         [("image", "localhost:5000/team/app:1.2"), ("image", "hub:5000/x" + SHA)]),
        ("pull registry.corp.example/team/app: denied",
         [("image", "registry.corp.example/team/app")]),
        # Machines, pages, people
        ("dial tcp: lookup db.acme.corp on 10.0.0.2:53: no such host", [("host", "db.acme.corp")]),
        ("dial tcp: lookup dbhost: no such host", [("host", "dbhost")]),
        ('node "origin.example.lan": worker.eu-west-1.compute.internal.',
         [("node", "origin.example.lan"), ("host", "worker.eu-west-1.compute.internal")]),
        ("on srv7.acme.co.uk", [("host", "srv7.acme.co.uk")]),
        ("see https://me:pw@wiki.acme.example/shop?token=x.",
         [("url", "me:pw@wiki.acme.example/shop?token=x")]),
        ("ask bob@acme.example, /home/alice/x",
         [("account", "bob@acme.example"), ("account", "alice")]),
        ('User "system:node:x" cannot', [("account", "system:node:x")]),
    ],
)  # fmt: skip
def test_what_is_said_to_be_a_name_is_one(text: str, found: list[tuple[str, str]]) -> None:
    assert told(text) == found


@pytest.mark.parametrize(
    "text",
    [
        "The event stream is open; polling finds every change meanwhile.",
        "volume is full; the node is quiet; service is unknown; a pod was deleted; node 3 of 5",
        "unknown method GetContainerEvents for service runtime.v1.RuntimeService",
        "io.containerd.runtime.v2, io.kubernetes.cri.container-name, kubernetes.io/config.seen",
        'dial unix /run/containerd/containerd.sock, endpoint "unix:///run/containerd/containerd.sock"',
        "/var/lib/kubelet/pods, /kubepods.slice/x, /runtime.v1.RuntimeService/ListContainers",
        "GET /healthz, 3 / 4, and/or, /proc/1/ns, /etc/crictl.yaml",
        "container.go:721 and main.py, image sha256:abcdef0123456789",
        # Names of pods and namespaces are in it, which are found one by one.
        "lookup of web-1.shop.svc.cluster.local",
        "web-1",
        "",
    ],
)
def test_words_paths_and_names_of_the_trade_are_none(text: str) -> None:
    assert told(text) == []


def test_none_overlaps_another_whatever_the_text() -> None:
    text = 'pod "a/b" pod=c_d image=https://e.example/f volume "https://g" node h@i.example '
    found: list[Mention] = list(mentions(text * 3))
    assert len(found) > 15
    assert all(one.end <= other.start for one, other in pairwise(found))


@pytest.mark.parametrize(
    "part",
    ["web-", "a.", "pod ", "a@", "pod='", "/volumes/", "a-", "a", "x:", "com.", "1.2.3.", "a/",
     "a_", "a_b(", "PodSandboxMetadata{Name:", "pod a/", "pod a-", "aa.bb_", "lookup ", "://",
     " /a", "a+"],
)  # fmt: skip
def test_a_text_that_was_made_to_hurt_takes_no_time(part: str) -> None:
    """A tenth of a second; were it to grow with the square of the length, it were minutes."""
    text = part * (50_000 // len(part))
    began = time.process_time()
    assert len(list(mentions(text))) <= len(text)
    assert time.process_time() - began < 5
