"""Names are found in texts wherever nothing else stands directly beside them."""

from __future__ import annotations

import pytest

from app.export.names import Names
from app.export.scrub import Scrubber

UID = "b935e07e-ba09-4e4a-93bc-956e37b7151f"


def scrubber() -> Scrubber:
    names = Names(b"k" * 32)
    made = Scrubber(names)
    for kind, name in (
        ("pod", "web-1"),
        ("pod", "web-1-b"),
        ("namespace", "shop"),
        ("pod", "a.b.c"),
        ("pod", "=cmd"),
        ("pod", "</>"),
        ("pod", "日本"),
    ):
        names.meet(kind, name)  # type: ignore[arg-type]
        made.learn(kind, name)  # type: ignore[arg-type]
    return made


@pytest.mark.parametrize(
    ("text", "scrubbed"),
    [
        ("pod shop/web-1: lost", "pod ns-1/pod-1: lost"),
        ('"web-1_shop(x)"', '"pod-1_ns-1(x)"'),
        ("web-1-b and web-1-c", "pod-1 and pod-2-c"),
        ("WEB-1 Shop", "pod-1 ns-1"),
        ("workshop web-12 1web-1", "workshop web-12 1web-1"),
        ("a.b.c. a.b", "pod-1. a.b"),
        ("=cmd cmd", "=pod-1 pod-1"),
        ("x</>y", "xpod-1y"),
        ("日本 日本語", "pod-1 日本語"),
        ("", ""),
    ],
)
def test_known_names_are_found(text: str, scrubbed: str) -> None:
    assert scrubber().scrub(text) == scrubbed


@pytest.mark.parametrize(
    ("text", "gone"),
    [
        (f"kubepods-pod{UID.replace('-', '_')}.slice", "ba09"),
        (f"/var/lib/kubelet/pods/{UID}/volumes", UID),
        ("container 67f26ba46fbe6ace is gone", "67f26ba46fbe6ace"),
        ("dial tcp 10.244.16.9:443: refused", "10.244"),
        ("on fd00:10:244::9", "fd00"),
        ("dial tcp [::ffff:10.244.16.9]:443: refused", "244.16"),
        ("from 64:ff9b::10.244.16.9", "244.16"),
        ("code:dead:10.244.16.9", "244.16"),
        ("a:b:c:10.244.16.9", "244.16"),
        ("pull registry.corp.example:5000/team/app:1.2: denied", "corp"),
        ("registry.io/a@sha256:" + "ab12" * 16, "registry"),
        ("hub:5000/shop/app:1.2 is gone", "5000"),
        ("on ip-10-0-3-7: down", "10-0-3-7"),
        ("dial 10-244-16-9.shop.pod.cluster.local", "244-16"),
        ("veth 0a:58:0a:f4:10:09 is up", "0a:f4"),
        ("MAC 0A-58-0A-F4-10-09.", "F4-10"),
        ('secret "shop-payroll" not found', "payroll"),
        ("see https://wiki.corp.example/shop/x?key=1", "key"),
        ("lookup db.shop.corp.example: no such host", "corp"),
    ],
)
def test_what_looks_like_an_identity_is_replaced_though_it_is_not_known(
    text: str, gone: str
) -> None:
    scrubbed = scrubber().scrub(text)
    assert gone not in scrubbed
    assert scrubbed != text


@pytest.mark.parametrize(
    "text",
    [
        "The event stream is open; polling finds every change meanwhile.",
        "pleg was last seen active 3m12.5s ago; threshold is 3m0s",
        "version 1.7.24 at 12:30:45, 1799676048064151326 ns",
        "on 2026-11-30, 12-30-45-07, part 1-2-3 of 4, 26:11:30:09:33, volume is full",
        "rpc error: code = Unavailable desc = /runtime.v1.RuntimeService/ListContainers",
    ],
)
def test_our_own_words_stay(text: str) -> None:
    assert scrubber().scrub(text) == text


def test_dashed_is_the_same_address_as_dotted() -> None:
    dotted, dashed = scrubber().scrub("10.0.3.7 ip-10-0-3-7").split()
    assert dashed == "ip-" + dotted.replace(".", "-")


def test_a_mac_address_keeps_its_form_and_is_nobodys() -> None:
    one, other = scrubber().scrub("0a:58:0a:f4:10:09 0A-58-0A-F4-10-09").split()
    assert one.startswith("02:")
    assert one.replace(":", "") == other.replace("-", "")


def test_what_a_text_mentions_is_the_same_wherever_it_does() -> None:
    made = scrubber()
    told = made.scrub('pod "web-1" in namespace shop-2, secret "web-1" and pod=new-1_shop')
    assert told == 'pod "pod-1" in namespace ns-1, secret "pod-1" and pod=pod-2_ns-2'
    assert made.scrub("namespace shop-2") == "namespace ns-1"
    assert made.scrub('pull image "team/app:1"') == 'pull image "image-1"'


def test_a_name_is_not_cut_by_what_it_looks_like_within() -> None:
    made = scrubber()
    for value in ("owner https://corp.example/x jane", "corp/opt/acme tail"):
        made.learn("value", value)
    assert made.scrub("a owner https://corp.example/x jane b") == "a value-1 b"
    # One that begins in the midst of another, and goes on: nothing is left of either.
    assert made.scrub("see https://x.corp/opt/acme tail b") == "see https://address-1 b"


def test_a_field_is_right_about_what_a_text_called_something_else() -> None:
    made = scrubber()
    made.learn("object", "blue-7", told=True)
    made.learn("pod", "blue-7")
    made.learn("object", "blue-7", told=True)
    assert made.scrub("blue-7") == "pod-1"
    made.learn("workload", "green-7", told=True)
    made.learn("value", "green-7")
    # A label's value is often what the pod is named after.
    assert made.scrub("green-7", weak=False) == "workload-1"
    made.learn("value", "red-7")
    made.learn("workload", "red-7", told=True)
    assert made.scrub("red-7", weak=False) == "workload-2"


def test_containers_that_a_text_mentions_stay_unless_asked_for() -> None:
    text = 'failed container="broker" of container other-1'
    assert scrubber().scrub(text) == text
    asked = Scrubber(Names(b"k" * 32), containers=True)
    assert asked.scrub(text) == 'failed container="container-1" of container container-2'


def test_a_long_text_of_beginnings_takes_no_time() -> None:
    text = "web-" * 100_000
    assert scrubber().scrub(text) == text
