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
        "rpc error: code = Unavailable desc = /runtime.v1.RuntimeService/ListContainers",
    ],
)
def test_our_own_words_stay(text: str) -> None:
    assert scrubber().scrub(text) == text


def test_a_long_text_of_beginnings_takes_no_time() -> None:
    text = "web-" * 100_000
    assert scrubber().scrub(text) == text
