"""A stopwatch that stands still while others have the core."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from tests import patience
from tests.patience import Stopwatch


def test_waiting_for_something_counts_whole() -> None:
    watch, began = Stopwatch(), time.monotonic()
    assert not threading.Event().wait(0.05)
    assert 0.02 < watch.seconds() <= time.monotonic() - began


def test_waiting_for_a_core_does_not_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = tmp_path / "schedstat"
    monkeypatch.setattr(patience, "SCHEDULED", told)
    told.write_text("5 1000000000 7\n", encoding="ascii")
    watch = Stopwatch()
    told.write_text("5 61000000000 9\n", encoding="ascii")
    assert watch.seconds() < -50


def test_where_nothing_is_told_all_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience, "SCHEDULED", tmp_path / "none")
    assert Stopwatch().seconds() >= 0
