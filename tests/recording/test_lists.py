"""Listings as keyframes and deltas: the same rows, in the same order, and the same objects."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.engine.inputs import PodsListed
from app.engine.model import Observation
from app.recording.lists import KEYFRAME_NS, Listed, ListReader, ListWriter, Undecodable

SECOND = 1_000_000_000


def row(number: int, state: str = "running") -> Observation:
    return Observation(
        f"id-{number}", "container", "uid", "pod", "ns", "name", 0, state, number, "sandbox"  # type: ignore[arg-type]
    )  # fmt: skip


def listing(t: int, *rows: Observation, inside: tuple[Observation, ...] = ()) -> PodsListed:
    return PodsListed(t=t, wall=t, call=t, sandboxes=inside, containers=rows)


def through(listed: Listed) -> Listed:
    """As it is once it was written and read."""
    return msgspec.json.decode(msgspec.json.encode(listed), type=Listed)


class Line:
    """A writer, and a reader at its end."""

    def __init__(self) -> None:
        self.writer = ListWriter()
        self.reader = ListReader()
        self.last: Listed | None = None

    def pass_on(self, listed: PodsListed) -> PodsListed:
        self.last = through(self.writer.write(listed))
        return self.reader.read(self.last)


def test_an_unchanged_listing_costs_nothing_but_its_time() -> None:
    line = Line()
    rows = [row(n) for n in range(300)]
    assert line.pass_on(listing(1, *rows)) == listing(1, *rows)
    assert line.pass_on(listing(2, *rows)) == listing(2, *rows)
    assert line.last is not None
    assert (line.last.rows, line.last.sandboxes, line.last.containers) == ((), None, None)


def test_a_change_is_one_row_and_its_place() -> None:
    line = Line()
    rows = [row(n) for n in range(300)]
    line.pass_on(listing(1, *rows))
    rows[100] = row(100, "exited")
    assert line.pass_on(listing(2, *rows)) == listing(2, *rows)
    assert line.last is not None
    assert len(line.last.rows) == 1
    assert line.last.containers == (0, 100, 300, 1, 101, 199)


def test_unchanged_rows_are_the_same_objects_also_across_keyframes() -> None:
    line = Line()
    rows = [row(n) for n in range(5)]
    first = line.pass_on(listing(0, *rows))
    second = line.pass_on(listing(KEYFRAME_NS, *rows))
    assert line.last is not None
    assert line.last.known == 0
    assert all(a is b for a, b in zip(first.containers, second.containers, strict=True))


def test_a_listing_of_one_pod_does_not_hide_that_of_all() -> None:
    line = Line()
    rows = [row(n) for n in range(50)]
    line.pass_on(listing(1, *rows))
    assert line.pass_on(listing(2, rows[7])) == listing(2, rows[7])
    assert line.pass_on(listing(3, *rows)) == listing(3, *rows)
    assert line.last is not None
    assert line.last.containers is None


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.integers(0, 3 * SECOND),
            st.lists(st.tuples(st.integers(0, 12), st.sampled_from(["running", "exited"]))),
            st.lists(st.tuples(st.integers(13, 20), st.sampled_from(["ready", "notready"]))),
        ),
        max_size=25,
    )
)
def test_any_sequence_of_listings_comes_back(
    steps: list[tuple[int, list[tuple[int, str]], list[tuple[int, str]]]],
) -> None:
    line = Line()
    known: dict[tuple[int, str], Observation] = {}
    t = 0
    for pause, containers, sandboxes in steps:
        t += pause
        listed = PodsListed(
            t=t,
            wall=t,
            call=1,
            sandboxes=tuple(known.setdefault(one, row(*one)) for one in sandboxes),
            containers=tuple(known.setdefault(one, row(*one)) for one in containers),
        )
        assert line.pass_on(listed) == listed


def test_what_builds_on_something_lost_is_not_guessed() -> None:
    writer, reader = ListWriter(), ListReader()
    rows = [row(n) for n in range(5)]
    reader.read(writer.write(listing(1, *rows)))
    lost = [*rows[1:], row(9)]
    writer.write(listing(2, *lost))
    with pytest.raises(Undecodable, match="builds on one that is lost"):
        reader.read(writer.write(listing(3, *lost, row(10))))
    again = listing(4 + KEYFRAME_NS, *lost)
    assert reader.read(writer.write(again)) == again


@pytest.mark.parametrize(
    "changed",
    [
        {"known": 3},
        {"table": 7},
        {"containers": (0, 6)},
        {"containers": (-1, 1)},
        {"containers": (0, -1)},
        {"containers": (0,)},
        {"containers": (0, 5) * 20_000},
    ],
)
def test_nonsense_is_refused(changed: dict[str, object]) -> None:
    writer, reader = ListWriter(), ListReader()
    rows = [row(n) for n in range(5)]
    reader.read(writer.write(listing(1, *rows)))
    second = writer.write(listing(2, *reversed(rows)))
    with pytest.raises(Undecodable):
        reader.read(msgspec.structs.replace(second, **changed))
    assert reader.read(second).containers == tuple(reversed(rows))


def test_a_keyframe_that_repeats_is_refused() -> None:
    with pytest.raises(Undecodable, match="repeats one that is lost"):
        ListReader().read(Listed(t=1, wall=1, call=1, table=1, known=0))


def test_after_a_restart_comes_a_keyframe() -> None:
    writer = ListWriter()
    assert writer.write(listing(1, row(1))).known == 0
    assert writer.write(listing(2, row(2))).known == 1
    writer.restart()
    assert writer.write(listing(3, row(2))).known == 0


def test_what_is_named_again_is_the_same_and_costs_nothing() -> None:
    reader = ListReader()
    rows = tuple(row(n) for n in range(6))

    def read(**fields: object) -> tuple[Observation, ...]:
        plain = Listed(t=1, wall=1, call=1, table=1, known=6, sandboxes=(), containers=(1, 4))
        return reader.read(msgspec.structs.replace(plain, **fields)).containers

    first = read(known=0, rows=rows)
    assert first == rows[1:5]
    assert read() is first
    for count in range(1, 20):
        assert read(containers=(0, 1) * count) == rows[:1] * count
    assert read() == first
    # Another table has other rows in the same places.
    assert read(table=2, known=0, rows=rows[::-1]) == rows[::-1][1:5]
