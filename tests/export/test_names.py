"""Stand-ins: the same for the same, in the form of what they stand for, and nobody's own name."""

from __future__ import annotations

import ipaddress
import stat
import uuid
from pathlib import Path

import pytest

from app.errors import RecordingError
from app.export import names as module
from app.export.names import Names, read_key

KEY = b"k" * 32
UID = "b935e07e-ba09-4e4a-93bc-956e37b7151f"


def test_names_are_numbered_and_stay_what_they_are() -> None:
    names = Names(KEY)
    assert [names.of("pod", one) for one in ("a", "b", "a")] == ["pod-1", "pod-2", "pod-1"]
    assert names.of("namespace", "a") == "ns-1"
    assert names.of("pod", "") == ""


def test_a_stand_in_is_nobodys_name() -> None:
    names = Names(KEY)
    for one in ("pod-1", "POD-2", "x"):
        names.meet("pod", one)
    assert [names.of("pod", one) for one in ("pod-1", "POD-2", "x")] == ["pod-3", "pod-4", "pod-5"]


def test_identities_keep_their_form() -> None:
    names = Names(KEY)
    made = names.identity(UID)
    assert str(uuid.UUID(made)) == made != UID
    assert names.identity(UID.replace("-", "_")) == made.replace("-", "_")
    for size in (12, 32, 64, 100):
        digits = ("0f1e2d3c4b5a" * 9)[:size]
        assert len(names.identity(digits)) == size
        assert names.identity(digits) != digits
    assert names.identity("not-a-uid").startswith("id-")


def test_a_shortened_id_stays_the_beginning_of_the_whole_one() -> None:
    names, whole = Names(KEY), "67f26ba46fbe6acee51626136b9e3ea5e746b270d18fd3f8b66049eaa8934c26"
    assert names.identity(whole).startswith(names.identity(whole[:12]))


def test_of_a_long_value_only_a_digest_is_kept() -> None:
    names, manifest = Names(KEY), '{"kind": "Pod"}' * 10_000
    assert names.of("value", manifest) == names.of("value", manifest) == "value-1"
    assert names.of("value", manifest + " ") == "value-2"
    assert max(len(name) for _kind, name in names._known) < 100
    assert not names.originals


def test_addresses_are_replaced_by_those_of_nobody() -> None:
    names = Names(KEY)
    made = [names.address(f"10.0.{one // 250}.{one % 250}") for one in range(3000)]
    assert len(set(made)) == 3000
    assert all(ipaddress.ip_address(one) in ipaddress.ip_network("240.0.0.0/4") for one in made)
    six = ipaddress.ip_address(names.address("fd00::1"))
    assert six in ipaddress.ip_network("2001:db8::/32")
    assert names.address("nonsense") == "value-1"


def test_with_a_key_that_is_kept_the_order_does_not_matter() -> None:
    one, other = Names(KEY, lasting=True), Names(KEY, lasting=True)
    first = [one.of("pod", name) for name in ("a", "b")]
    assert first == [other.of("pod", name) for name in ("b", "a")][::-1]
    assert all(name.startswith("pod-") and len(name) == 12 for name in first)
    assert Names(b"other" * 8, lasting=True).of("pod", "a") != first[0]


def test_too_many_names_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_NAMES", 3)
    names = Names(KEY)
    for one in "abc":
        names.meet("pod", one)
    with pytest.raises(RecordingError, match=r"Redact a shorter recording\.$"):
        names.meet("pod", "d")


def test_a_key_file_is_made_once_and_read_again(tmp_path: Path) -> None:
    path = tmp_path / "team.key"
    key, lasting = read_key(str(path))
    assert lasting
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert read_key(str(path)) == (key, True)
    assert len(key) >= 32


def test_without_a_key_file_each_run_has_its_own_key() -> None:
    (one, kept), (other, _) = read_key(""), read_key("")
    assert one != other
    assert not kept


def test_a_key_that_can_be_guessed_is_refused(tmp_path: Path) -> None:
    (tmp_path / "short").write_text("abc\n" + " " * 50)
    with pytest.raises(RecordingError, match="fewer than 16 bytes"):
        read_key(str(tmp_path / "short"))
    with pytest.raises(RecordingError, match="cannot be used"):
        read_key(str(tmp_path))
    with pytest.raises(RecordingError, match="cannot be used"):
        read_key(str(tmp_path / "no" / "key"))
