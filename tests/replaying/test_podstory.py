"""A pod's records are found from a moment back, over pieces, and only until there are enough."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from app.engine.records import Lifecycle, PodSeen, Record
from app.errors import RecordingError
from app.recording.scribe import Scribe
from app.recording.segment import Segment
from app.replaying.film import Film
from app.replaying.moments import NOTHING
from app.replaying.podstory import ENOUGH, pod_then
from app.replaying.show import Show
from tests.build import died, note, pod_seen
from tests.recording.recorded import info
from tests.replaying.test_joined import file

S = 1_000_000_000
EACH = 100
COUNT = 9000


@pytest.fixture(scope="module")
def film(tmp_path_factory: pytest.TempPathFactory) -> Film:
    """A pod that dies every so often among a lot that is told of others, and one that does once."""
    told: list[Record] = [note(S), pod_seen("often", S), pod_seen("once", S, "db")]
    for number in range(3, COUNT):
        uid = "often" if not number % EACH else "once" if number == 550 else ""
        t = S + number * S // 100
        told.append(died(uid, t) if uid else note(t, f"note {number}"))
    numbered = [msgspec.structs.replace(one, seq=n) for n, one in enumerate(told, 1)]
    path = tmp_path_factory.mktemp("story") / "a.mcap"
    scribe = Scribe(info(), lambda _part: Segment(path))
    for one in numbered:
        scribe.put_record(one, by_engine=True)
        if not one.seq % 500:
            scribe.flush()
    scribe.turn()
    film = Show([path]).films[0]
    while film.advance():
        pass
    assert film.pieces > 5
    return film


def test_all_of_a_pod_is_found_wherever_it_is(film: Film) -> None:
    told = pod_then(film, "once", film.end_t)
    assert told.whole
    assert [type(one) for one in told.records] == [PodSeen, Lifecycle]
    assert told.pod is not None
    assert told.pod.name == "db"
    assert told.wall == film.origin + film.end_t
    # Not what comes after.
    before = pod_then(film, "once", told.records[1].t - 1)
    assert before.records == told.records[:1]


def test_of_one_of_whom_there_is_much_the_newest_is_told(film: Film) -> None:
    told = pod_then(film, "often", film.end_t)
    events = [one for one in told.records if isinstance(one, Lifecycle)]
    assert ENOUGH <= len(events) < COUNT // EACH
    assert not told.whole
    assert [one.t for one in events] == sorted(one.t for one in events)
    assert film.end_t - events[-1].t < EACH * S // 100
    early = pod_then(film, "often", 20 * S)
    assert early.whole
    assert isinstance(early.records[0], PodSeen)


def test_who_is_not_there_is_told_to_be_so(film: Film) -> None:
    told = pod_then(film, "nobody", film.end_t)
    assert (told.pod, told.records, told.whole) == (None, (), True)


def test_nothing_is_known_before_anything_was_read(tmp_path: Path) -> None:
    later = info(session="f" * 16)
    paths = [file(tmp_path / f"{n}.mcap", later, [note(n * S)]) for n in (1, 2)]
    with pytest.raises(RecordingError, match=NOTHING[:40]):
        pod_then(Show(paths).films[0], "x", 0)
