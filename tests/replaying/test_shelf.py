"""The shelf of counts: what is put there is there, as long as there is room."""

from __future__ import annotations

import pytest

from app.errors import RecordingError
from app.journal.levels import NoRoom
from app.replaying import shelf as module
from app.replaying.shelf import SpoolShelf


def test_blocks_are_found_by_their_numbers() -> None:
    shelf = SpoolShelf(10)
    with pytest.raises(IndexError):
        shelf.get(0)
    assert [shelf.put(block) for block in (b"one", b"two")] == [0, 1]
    assert (shelf.get(1), shelf.get(0)) == (b"two", b"one")
    with pytest.raises(NoRoom):
        shelf.put(b"three")
    assert shelf.get(1) == b"two"


def test_without_a_private_file_there_is_no_room(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(_most: int) -> None:
        raise RecordingError("There is no room.")

    monkeypatch.setattr(module, "Spool", refused)
    with pytest.raises(NoRoom):
        SpoolShelf().put(b"one")
