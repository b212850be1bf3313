"""From when to when a finding could have come."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.engine.inputs import SyncEnded, SyncStarted
from app.whatif.answer import Row, WhatIf
from app.whatif.options import Options
from app.whatif.result import ask
from tests.whatif.built import MS, SECOND, UID, Built, event, one_life, row, sandbox, status


def end(answer: WhatIf) -> Row:
    """The row of the one end."""
    (one,) = (one for one in answer.rows if one.what == "end")
    return one


def test_a_poll_finds_it_within_a_period_and_a_relist(tmp_path: Path) -> None:
    one = end(ask([one_life(tmp_path / "a.mcap")], Options(profile="polling")))
    assert one.now is not None
    assert one.now.source == "global"
    assert one.from_t <= one.earliest <= one.now.t
    assert one.latest is not None
    assert one.now.t <= one.latest <= one.to_t + 1050 * MS
    # The recording was a poll's as well, at another moment of its period.
    assert one.verdict in ("open", "not sooner")


def test_soon_after_the_beginning_it_is_known_when_polls_come(tmp_path: Path) -> None:
    path = one_life(tmp_path / "a.mcap", until=30)
    one = end(ask([path], Options(profile="polling", period_ns=5 * SECOND)))
    assert one.latest is not None
    assert one.latest - one.earliest < 200 * MS
    assert 4900 * MS < one.earliest < 5010 * MS < one.latest


def test_a_period_longer_than_the_recording_may_not_find_it(tmp_path: Path) -> None:
    answer = ask([one_life(tmp_path / "a.mcap")], Options(profile="polling", period_ns=60 * SECOND))
    one = end(answer)
    assert (one.now, one.latest, one.shift) == (None, None, None)
    assert one.missed == "no"
    assert answer.tallies[1].ends.waiting == 1


def test_an_event_pins_it_down(tmp_path: Path) -> None:
    one = end(ask([one_life(tmp_path / "a.mcap")], Options(period_ns=2 * SECOND)))
    assert one.now is not None
    assert one.now.source == "evented_pleg"
    assert one.latest is not None
    assert one.latest - one.earliest < 50 * MS
    assert one.recorded is not None
    assert one.verdict == "sooner"
    assert one.shift is not None
    assert one.shift < -500 * MS


def test_an_event_that_nobody_recorded_leaves_the_change_itself_open(tmp_path: Path) -> None:
    one = end(ask([one_life(tmp_path / "a.mcap", stream=False)], Options(profile="1.37")))
    assert (one.from_t, one.to_t) == (4500 * MS, 5104 * MS)
    assert one.earliest == 4500 * MS
    assert one.latest is not None
    assert 5104 * MS <= one.latest <= 5150 * MS
    assert one.shift is not None
    assert one.shift < -500 * MS


@pytest.mark.parametrize(("profile", "waits"), [("kep", True), ("1.37", False)])
def test_a_syncpod_holds_it_up_where_relists_wait_for_it(
    profile: str, waits: bool, tmp_path: Path
) -> None:
    built = Built(tmp_path / "a.mcap")
    built.begin(stream=False)
    for second in range(14):
        if second == 4:
            built.feed(SyncStarted, 4050, uid=UID)
        if second == 9:
            built.feed(SyncEnded, 9050, uid=UID)
        now = row("running" if second < 5 else "exited")
        statuses = (status("exited", started=1600, finished=4500),) if second == 5 else ()
        built.relist(second * 1000 + 100, sandbox(), now, statuses=statuses)
    one = end(ask([built.close()], Options(profile=profile, stream=False, period_ns=1500 * MS)))
    assert one.now is not None
    assert one.latest is not None
    assert (one.now.t > 9050 * MS) == waits
    assert (one.latest > 9050 * MS) == waits


@pytest.mark.parametrize(("period_ms", "missed"), [(200, "no"), (1000, "maybe"), (700, "yes")])
def test_what_is_there_for_a_moment_may_be_missed(
    period_ms: int, missed: str, tmp_path: Path
) -> None:
    built = Built(tmp_path / "a.mcap")
    built.begin()
    built.relist(100)
    built.relist(1100)
    # Here for half a second, found by an event's relist only.
    built.hear(1501, event("created", 1500))
    built.hear(1511, event("started", 1510))
    built.relist(
        1512, sandbox(), row("running"), uid=UID, statuses=(status("running", started=1509),)
    )
    built.found(1519, "ContainerStarted")
    built.hear(2001, event("stopped", 2000))
    built.relist(2002, sandbox(), uid=UID)
    for second in range(2, 12):
        built.relist(second * 1000 + 100, sandbox())
    options = Options(profile="polling", period_ns=period_ms * MS)
    rows = ask([built.close()], options).rows
    assert [(one.what, one.missed) for one in rows if one.what == "start"] == [("start", missed)]


def test_bounds_hold_the_guess_and_are_in_order(tmp_path: Path) -> None:
    path = one_life(tmp_path / "a.mcap", until=40)
    for profile in ("kep", "generic", "polling", "1.37", "legacy"):
        for period in (300, 1100, 4000):
            answer = ask([path], Options(profile=profile, period_ns=period * MS))
            for one in answer.rows:
                assert one.from_t <= one.t <= one.to_t
                assert one.from_t <= one.earliest
                if one.now is not None:
                    assert one.earliest <= one.now.t <= (one.latest or 10**18)
