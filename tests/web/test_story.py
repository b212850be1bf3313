"""A pod's story: whose each end was, what told of it, and the records as they are."""

from __future__ import annotations

import msgspec

from app.engine.records import AnyRecord, Lifecycle
from app.web import story
from tests.build import died, relist_finished, request, stop_event
from tests.web.test_pages import container, pod


def numbered(*records: AnyRecord) -> list[AnyRecord]:
    return [msgspec.structs.replace(one, seq=seq) for seq, one in enumerate(records, 1)]


def found(**fields: object) -> Lifecycle:
    return msgspec.structs.replace(died(), **fields)


def test_each_event_comes_with_what_told_of_it_and_all_records_between() -> None:
    records = numbered(
        stop_event(3),
        request(3),
        relist_finished(7, uid="u1"),
        found(event=3, request=3, relist=7),
        stop_event(4),
    )
    (told,) = story.tell(records)
    assert told.said == records[0]
    assert [(one.seq, one.kind) for one in told.raw] == [
        (1, "stream_event"),
        (2, "request"),
        (3, "relist_finished"),
        (4, "lifecycle"),
    ]
    assert [msgspec.json.decode(one.text)["seq"] for one in told.raw] == [1, 2, 3, 4]


def test_what_is_not_kept_any_more_is_left_out() -> None:
    (told,) = story.tell(numbered(found(event=3, request=3, relist=7)))
    assert told.said is None
    assert [one.kind for one in told.raw] == ["lifecycle"]


def test_the_newest_come_first_and_filtered_ones_not_at_all() -> None:
    records = numbered(died(t=1), died(t=2, delivery="filtered"), died(t=3), died(t=4))
    assert [told.record.t for told in story.tell(records)] == [4, 3, 1]
    assert [told.record.t for told in story.tell(records, 2)] == [4, 3]
    assert [record.t for record in story.lifecycle(records)] == [4, 3, 1]


def test_containers_are_told_by_name_with_their_earlier_attempts() -> None:
    there = pod(
        "a",
        containers=(
            container(name="app", id="n", attempt=2, runtime_state="running"),
            container(name="side", id="s", attempt=0),
            container(name="app", id="o", attempt=1),
        ),
    )
    told = [
        found(container_id="o", container_name="app"),
        found(container_id="o", container_name="app"),
        found(container_id="p", container_name="app"),
        found(container_id="q", container_name="app", type="ContainerStarted"),
        found(container_id="r", container_name="app", is_sandbox=True),
    ]
    app, side = story.chapters(there, told)
    assert (app.name, app.status.id, [one.id for one in app.earlier]) == ("app", "n", ["o"])
    assert (app.ends, side.ends) == (2, 0)
    assert (side.name, side.earlier) == ("side", ())
