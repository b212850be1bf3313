"""No effect before its cause."""

from __future__ import annotations

from pathlib import Path

from app.engine.records import Lifecycle
from app.whatif.reactions import Reactions
from tests.whatif.played import SECOND, play, whatif


def found(t: int, container: str = "c", *, uid: str = "u", baseline: bool = False) -> Lifecycle:
    """An end that was found."""
    return Lifecycle(
        t=t,
        wall=t,
        type="ContainerDied",
        uid=uid,
        container_id=container,
        container_name="app",
        is_sandbox=False,
        old_state="running",
        new_state="exited",
        relist=1,
        source="global",
        delivery="sent",
        baseline=baseline,
    )


def test_a_syncpod_after_a_finding_that_this_run_has_not_made_is_left_out() -> None:
    reactions = Reactions([found(100)])
    reactions.sync_began("u", 50)
    assert not reactions.skips("u")
    reactions.sync_ended("u", 60)
    reactions.sync_began("u", 110)
    assert reactions.skips("u")
    assert not reactions.skips("other")
    reactions.sync_ended("u", 200)
    # The request that comes right after it is left out with it.
    assert reactions.skips("u")
    assert reactions.skipped == {"u": [(110, 200)]}


def test_once_this_run_has_found_it_nothing_is_left_out() -> None:
    reactions = Reactions([found(100)])
    reactions.found(found(90))
    reactions.sync_began("u", 110)
    assert not reactions.skips("u")
    late = Reactions([found(100)])
    late.sync_began("u", 110)
    late.found(found(150))
    late.sync_began("u", 160)
    assert not late.skips("u")
    assert late.skipped == {}


def test_what_the_first_look_showed_is_no_finding() -> None:
    reactions = Reactions([found(100, baseline=True)])
    reactions.sync_began("u", 110)
    assert not reactions.skips("u")


def test_polling_does_not_find_an_end_by_the_restart_that_it_caused(tmp_path: Path) -> None:
    answer = whatif(play("crash-loop", "kep", 7, 60), tmp_path / "a.mcap", profile="generic")
    ends = [row for row in answer.rows if row.what == "end" and row.now]
    assert ends
    assert {row.now.source for row in ends if row.now} == {"global"}
    assert answer.follows > 0
    assert any("came of what this run had not found" in one for one in answer.cannot)
    assert all(row.now.t - row.t <= 2 * SECOND for row in ends if row.now)
