"""Whom a pod is named after."""

from __future__ import annotations

import pytest

from app.export.owners import WORDS, is_telling, owners


@pytest.mark.parametrize(
    ("pod", "found"),
    [
        ("acme-portal-7c9d8b6f5-x2k9q", ("acme-portal-7c9d8b6f5", "acme-portal")),
        ("courier-3381902217-w8k2d", ("courier-3381902217", "courier")),
        ("agent-x2k9q", ("agent",)),
        ("backup-28391234-x2k9q", ("backup-28391234", "backup")),
        ("import-0-x2k9q", ("import-0", "import")),
        ("ledger-db-0", ("ledger-db",)),
        # A static pod, and one somebody made.
        ("etcd-master", ()),
        ("shell", ()),
        # What is but a word of the trade tells nothing, and would stand in every sentence.
        ("stream-7c9d8b6f5-x2k9q", ("stream-7c9d8b6f5",)),
        ("queue-0", ()),
        ("", ()),
        ("-x2k9q", ()),
    ],
)
def test_a_pods_name_tells_whose_it_is(pod: str, found: tuple[str, ...]) -> None:
    assert owners(pod) == found


def test_only_single_words_are_words() -> None:
    assert all(not is_telling(word) for word in WORDS)
    assert is_telling("acme-portal")
    assert not is_telling("2024")
    assert not is_telling("db-")
