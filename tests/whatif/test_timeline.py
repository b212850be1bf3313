"""What is known of a state between two looks, and what is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.engine.model import ContainerStatus
from app.whatif.reading import gather
from app.whatif.timeline import LAG_NS, TELLS_WITHIN_NS, Phase, Timeline
from tests.whatif.built import MS, UID, Built, event, one_life, row, sandbox, status


def phases(path: Path, item: str = "app/0") -> dict[str, Phase]:
    """The phases of one container by state."""
    life = Timeline(gather([path])).lives[f"{UID}/{item}"]
    return {"gone" if one.row is None else one.row.runtime_state: one for one in life.phases}


def ms(phase: Phase) -> tuple[int, int, int]:
    """Its times."""
    return phase.lo // MS, phase.t // MS, phase.hi // MS


def test_between_two_looks_nothing_is_known_but_what_the_runtime_wrote_down(tmp_path: Path) -> None:
    found = phases(one_life(tmp_path / "a.mcap", stream=False))
    assert list(found) == ["created", "running", "exited"]
    # Listed at 1.1 s without it, at 2.1 s with it; made at 1.5 s, started at 1.6 s by its status.
    assert ms(found["created"]) == (1500, 1500, 2104)
    assert ms(found["running"]) == (1600, 1600, 2104)
    # It ended at 4.5 s, and that was listed at 5.1 s; when it could have been, nobody knows.
    assert ms(found["exited"]) == (4500, 4500 + LAG_NS // MS, 5104)


def test_an_event_tells_when_the_runtime_knew(tmp_path: Path) -> None:
    found = phases(one_life(tmp_path / "a.mcap"))
    assert ms(found["exited"]) == (4550 - TELLS_WITHIN_NS // MS, 4550, 4551)


def test_without_a_status_it_is_somewhere_between_the_looks(tmp_path: Path) -> None:
    built = Built(tmp_path / "a.mcap")
    built.begin(stream=False)
    built.relist(100, sandbox(), row("running"))
    built.relist(1100, sandbox(), row("exited"))
    built.relist(2100)
    found = phases(built.close())
    assert ms(found["running"]) == (0, 0, 0)
    assert ms(found["exited"]) == (100, 602, 1104)
    assert ms(found["gone"]) == (1100, 1602, 2104)


def test_an_event_with_a_wrong_clock_is_not_believed(tmp_path: Path) -> None:
    built = Built(tmp_path / "a.mcap")
    built.begin()
    built.relist(100, sandbox(), row("running"))
    built.hear(700, event("stopped", 3_600_000))
    built.relist(1100, sandbox(), row("exited"))
    lo, _t, hi = ms(phases(built.close())["exited"])
    assert (lo, hi) == (100, 700)


def test_a_targeted_list_tells_of_its_pod_only(tmp_path: Path) -> None:
    built = Built(tmp_path / "a.mcap")
    built.begin(stream=False)
    other = row("running", uid="pod-2")
    built.relist(100, sandbox(), row("running"), other)
    built.relist(500, sandbox(), row("exited"), uid=UID)
    built.relist(1100, sandbox(), row("exited"), other)
    path = built.close()
    assert ms(phases(path)["exited"])[::2] == (100, 504)
    lives = Timeline(gather([path])).lives
    assert [one.row for one in lives[other.id].phases] == [other]


def test_what_an_inspection_sees_counts_as_seen(tmp_path: Path) -> None:
    built = Built(tmp_path / "a.mcap")
    built.begin(stream=False)
    built.relist(100, sandbox(), row("running"))
    built.relist(1100, sandbox(), row("running"), statuses=(status("exited", finished=1105),))
    built.relist(2100, sandbox(), row("exited"))
    assert ms(phases(built.close())["exited"])[::2] == (1105, 1106)


def test_a_start_that_no_list_saw_is_there_if_its_status_tells(tmp_path: Path) -> None:
    built = Built(tmp_path / "a.mcap")
    built.begin(stream=False)
    built.relist(100)
    ended = (status("exited", started=1520, finished=1580),)
    built.relist(2100, sandbox(), row("exited"), statuses=ended)
    found = phases(built.close())
    assert list(found) == ["created", "running", "exited"]
    assert [one.t // MS for one in found.values()] == [1500, 1520, 1580 + LAG_NS // MS]
    assert found["exited"].hi == 2104 * MS


def test_order_is_kept_whatever_the_times_say(tmp_path: Path) -> None:
    built = Built(tmp_path / "a.mcap")
    built.begin(stream=False)
    built.relist(100)
    built.relist(
        2100, sandbox(), row("exited"), statuses=(status("exited", started=1900, finished=1550),)
    )
    built.relist(3100)
    times = [one.t for one in phases(built.close()).values()]
    assert times == sorted(times)


@pytest.mark.parametrize(
    ("t", "state"), [(1000, None), (1550, "created"), (3000, "running"), (4560, "exited")]
)
def test_a_status_is_that_of_its_time(t: int, state: str | None, tmp_path: Path) -> None:
    timeline = Timeline(gather([one_life(tmp_path / "a.mcap")]))
    answer = timeline.container_status(f"{UID}/app/0", t * MS)
    assert (None if answer is None else answer.runtime_state) == state
    if isinstance(answer, ContainerStatus):
        assert (answer.exit_code is None) == (state != "exited")
        assert (answer.started_at > 0) == (state in ("running", "exited"))
    there = timeline.sandbox_status(f"{UID}/sandbox", t * MS)
    assert (there is None) == (t < 1400)


def test_happenings_leave_out_what_was_over_at_the_first_look(tmp_path: Path) -> None:
    built = Built(tmp_path / "a.mcap")
    built.begin(stream=False)
    built.relist(100, sandbox(), row("running"), row("exited", "done"))
    built.relist(1100, sandbox(), row("exited"), row("exited", "done"))
    found = [
        (one.what, one.life.item.first.name)
        for one in Timeline(gather([built.close()])).happenings()
    ]
    assert found == [("end", "app")]


def test_attempts_with_the_same_name_are_told_apart(tmp_path: Path) -> None:
    built = Built(tmp_path / "a.mcap")
    built.begin(stream=False)
    built.relist(100)
    built.relist(1100, sandbox(), row("running"), row("running", attempt=1))
    lives = Timeline(gather([built.close()])).lives.values()
    who = [life.who for life in lives if life.who is not None]
    assert sorted((one.attempt, one.nth) for one in who) == [(0, 0), (1, 0)]
