"""The collector rests while something short is done, and is as it was afterwards."""

from __future__ import annotations

import gc
from contextlib import ExitStack

import pytest

from app.replaying.uncollected import settle, uncollected


def test_it_rests_until_the_last_one_is_done() -> None:
    assert gc.isenabled()
    with ExitStack() as first:
        first.enter_context(uncollected())
        with uncollected():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()


def test_it_is_on_again_after_an_error() -> None:
    with pytest.raises(KeyError), uncollected():
        raise KeyError
    assert gc.isenabled()


def test_who_has_turned_it_off_turns_it_on() -> None:
    gc.disable()
    try:
        with uncollected():
            assert not gc.isenabled()
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_what_is_there_when_it_begins_is_not_looked_through_again() -> None:
    gc.unfreeze()
    try:
        before = len(gc.get_objects())
        settle()
        kept = gc.get_freeze_count()
        assert kept > before // 2
        assert len(gc.get_objects()) < before // 2
        later = [[number] for number in range(1000)]
        settle()
        assert gc.get_freeze_count() < kept + len(later) // 2
    finally:
        gc.unfreeze()
