"""SyncPods of another length."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.engine.inputs import (
    RelistRequested,
    RuntimeProbed,
    Start,
    StreamLive,
    StreamOpened,
    SyncEnded,
    SyncStarted,
)
from app.engine.records import Lifecycle, Record, RelistStarted, StreamChanged
from app.whatif.evidence import Replayed
from app.whatif.holds import Held, lasting
from app.whatif.options import Options
from app.whatif.play import Play
from app.whatif.reading import gather
from app.whatif.result import ask
from app.whatif.timeline import Timeline
from tests.whatif.built import Built
from tests.whatif.played import MS, SECOND, play, whatif

END = 100 * SECOND


def sync(began: int, ended: int | None, uid: str = "a", *, asks: bool = True) -> list[Replayed]:
    """A SyncPod from second ``began`` to ``ended``, and what its worker asks for then."""
    inputs: list[Replayed] = [SyncStarted(t=began * SECOND, wall=0, uid=uid)]
    if ended is not None:
        t = ended * SECOND
        inputs.append(SyncEnded(t=t, wall=0, uid=uid, did_work=True))
        if asks:
            inputs.append(RelistRequested(t=t, wall=0, uid=uid, source="post_sync"))
    return inputs


def told(held: Held, uid: str = "a") -> list[tuple[str, int]]:
    """What is played of a pod, in whole seconds."""
    names = {SyncStarted: "begins", SyncEnded: "ends", RelistRequested: "asks"}
    return [
        (names[type(one)], one.t // SECOND)
        for one in held.script
        if isinstance(one, SyncStarted | SyncEnded | RelistRequested) and one.uid == uid
    ]


def test_a_longer_one_returns_and_asks_later() -> None:
    held = lasting(sync(1, 2), 5 * SECOND, END)
    assert told(held) == [("begins", 1), ("ends", 6), ("asks", 6)]
    assert held.spans == {"a": [(SECOND, 6 * SECOND)]}
    assert held.recorded("a", (SECOND, 6 * SECOND)) == (SECOND, 6 * SECOND)


def test_a_shorter_one_returns_sooner_but_acted_when_it_was_recorded() -> None:
    held = lasting(sync(1, 9), 2 * SECOND, END)
    assert told(held) == [("begins", 1), ("ends", 3), ("asks", 3)]
    assert held.recorded("a", (SECOND, 3 * SECOND)) == (SECOND, 9 * SECOND)


def test_those_that_wait_become_one() -> None:
    script = [*sync(1, 2), *sync(3, 4, asks=False), *sync(5, 6), *sync(7, 8, "b")]
    held = lasting(script, 10 * SECOND, END)
    assert told(held) == [
        ("begins", 1), ("ends", 11), ("asks", 11), ("begins", 11), ("ends", 21), ("asks", 21),
    ]  # fmt: skip
    assert held.recorded("a", (11 * SECOND, 21 * SECOND)) == (3 * SECOND, 21 * SECOND)
    assert told(held, "b") == [("begins", 7), ("ends", 17), ("asks", 17)]
    times = [one.t for one in held.script]
    assert times == sorted(times)


def test_one_that_never_returned_does_now() -> None:
    held = lasting(sync(1, None), 2 * SECOND, END)
    assert told(held) == [("begins", 1), ("ends", 3)]
    assert held.recorded("a", (SECOND, 3 * SECOND)) == (SECOND, END)


def test_what_was_so_before_the_file_began_stays_behind_the_probe() -> None:
    probe = RuntimeProbed(
        t=50 * SECOND, wall=0, name="n", version="1", api_version="v1", endpoint="e",
        policy="join", reason="r",
    )  # fmt: skip
    held = lasting([probe, *sync(40, 60)], 15 * SECOND, END)
    assert held.script[0] is probe
    assert told(held) == [("begins", 40), ("ends", 55), ("asks", 55)]


@pytest.mark.parametrize("hold_ns", [300 * MS, 2 * SECOND, 10 * SECOND])
def test_nothing_is_told_of_a_pod_while_its_syncpod_runs(hold_ns: int, tmp_path: Path) -> None:
    (tmp_path / "a.mcap").write_bytes(play("crash-loop", "kep", 7, 60).recording)
    evidence = gather([tmp_path / "a.mcap"])
    found: list[Record] = []
    options = Options(hold_ns=hold_ns)
    run = Play(evidence, Timeline(evidence), options, found.append).run()
    left_out = {uid: {began for began, _ in spans} for uid, spans in run.skipped.items()}
    fed = {
        uid: [one for one in spans if run.held.recorded(uid, one)[0] not in left_out.get(uid, ())]
        for uid, spans in run.held.spans.items()
    }
    held = [one for one in found if isinstance(one, Lifecycle) and one.type != "ContainerRemoved"]
    assert len(held) >= 20
    for one in held:
        assert not any(began < one.t < ended for began, ended in fed.get(one.uid, ()))


def test_the_longer_the_hold_the_later_what_a_syncpod_did_is_found(tmp_path: Path) -> None:
    recorded = play("crash-loop", "kep", 7, 60)
    medians = [
        whatif(recorded, tmp_path / "a.mcap", hold_ns=ns).tallies[1].starts.all.median
        for ns in (300 * MS, 3 * SECOND)
    ]
    assert medians[0] < medians[1]
    assert medians[1] > SECOND


def test_what_another_length_means_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.mcap").write_bytes(play("crash-loop", "kep", 7, 60).recording)
    for profile, words in (("kep", "stays where it was recorded"), ("polling", "only moves what")):
        answer = ask([tmp_path / "a.mcap"], Options(profile=profile, hold_ns=SECOND))
        assert any("took 1.0\N{NO-BREAK SPACE}s each" in one for one in answer.knows)
        assert any(words in one for one in answer.cannot)


def test_a_runtime_that_said_late_who_it_is_is_polled_from_the_beginning(tmp_path: Path) -> None:
    built = Built(tmp_path / "a.mcap")
    built.feed(Start, 0)
    for second in range(9):
        built.relist(second * 1000 + 100)
        if second == 4:
            built.probe(4500)
            built.feed(StreamOpened, 4501)
            built.feed(StreamLive, 4502)
    evidence = gather([built.close()])
    played: list[Record] = []
    Play(evidence, Timeline(evidence), Options(), played.append).run()
    first = next(one for one in played if isinstance(one, RelistStarted))
    joined = next(one for one in played if isinstance(one, StreamChanged))
    assert first.t < SECOND
    assert joined.state == "connecting"
    assert 4 * SECOND < joined.t < 5 * SECOND
