"""Things are found by what they are, and never before they have happened."""

from __future__ import annotations

import msgspec
import pytest

from app.engine.records import Lifecycle, RelistFinished
from app.stage.lessonparts import MAIN, Group, Thing, When, special
from app.stage.select import KINDS, Finder, Horizon, Missing
from tests.stage.lessonruns import S, lesson

RUN = lesson("hint-lost")._runs[MAIN]


def thing(text: str) -> Thing:
    return msgspec.toml.decode(f'call = "it"\n{text}', type=Thing, dec_hook=special)


def finder(**things: str) -> Finder:
    return Finder({name: thing(text) for name, text in things.items()}, {MAIN: RUN})


DEATHS = 'kind = "lifecycle"\nwhere = { type = "ContainerDied", is_sandbox = false }'


def test_the_nth_from_either_end() -> None:
    deaths = [
        one
        for one in RUN.records
        if isinstance(one, Lifecycle) and one.type == "ContainerDied" and not one.is_sandbox
    ]
    found = finder(one=DEATHS, two=f"{DEATHS}\nnth = 2", last=f"{DEATHS}\nnth = -1")
    assert found.thing("one").record is deaths[0]
    assert found.thing("two").record is deaths[1]
    assert found.thing("last").record is deaths[-1]
    assert found.thing("two").t == deaths[1].t


def test_of_a_pod_after_another_thing() -> None:
    found = finder(
        one=DEATHS,
        later=f'{DEATHS}\nafter = "one"\npod = "shop/web-*"',
        before=f'{DEATHS}\nbefore = "one"',
    )
    assert found.name(found.thing("later").record) == "shop/web-0"
    assert not found.has("before")
    with pytest.raises(Missing, match="no before"):
        found.thing("before")


def test_fields_that_say_something_or_nothing() -> None:
    hinted = finder(it=f'{DEATHS}\nhas = ["event"]').thing("it").record
    polled = finder(it=f'{DEATHS}\nlacks = ["event"]').thing("it").record
    assert isinstance(hinted, Lifecycle)
    assert isinstance(polled, Lifecycle)
    assert hinted.event is not None
    assert polled.event is None


def test_other_times_of_a_record() -> None:
    found = finder(
        own=DEATHS,
        stop=f'{DEATHS}\nat = "stop"',
        end=f'{DEATHS}\nat = "end"',
        start='kind = "relist_finished"\nnth = 3\nat = "start"',
        none='kind = "relist_finished"\nat = "stop"',
    )
    record = found.thing("own").record
    assert isinstance(record, Lifecycle)
    assert found.thing("stop").t == record.stop_t
    assert found.thing("end").t == record.t - (record.since_finished_ns or 0)
    relist = found.thing("start").record
    assert isinstance(relist, RelistFinished)
    assert found.thing("start").t == relist.started < relist.t
    assert not found.has("none"), "a time that a record does not tell is not made up"


def test_nothing_is_found_before_it_is_told_of() -> None:
    found = finder(it=f'{DEATHS}\nat = "end"')
    told = found.thing("it").record.t
    assert found.has("it", Horizon(MAIN, told))
    assert not found.has("it", Horizon(MAIN, told - 1))
    assert found.has("it", Horizon("another", 0)), "other runs are told of as a whole"


def test_times() -> None:
    found = finder(it=DEATHS)
    t = found.thing("it").t
    assert found.moment(special(When, "12.4s")) == 12_400_000_000
    assert found.moment(special(When, "it")) == t
    assert found.moment(special(When, "it + 200ms")) == t + 200_000_000
    assert found.moment(special(When, "it - 1h")) == 0
    for wrong in ("", "it+1s", "it + s", "-1s", "it - it", "IT"):
        with pytest.raises(ValueError, match="write"):
            special(When, wrong)


def test_a_group_is_bounded_in_time() -> None:
    relists = finder().group(
        Group(
            kind="relist_started",
            where={"scope": "global"},
            since=When("", 2 * S),
            to=When("", 5 * S),
        )
    )
    assert [round(one.t / S) for one in relists] == [2, 3, 4, 5][: len(relists)]
    assert len(relists) >= 3


def test_pods_by_name() -> None:
    uids = finder().uids(("shop/web-0", "shop/*"))
    assert len(uids) == 2
    assert finder().uids(("nowhere/*",)) == ()


def test_every_kind_of_record_has_its_name() -> None:
    assert {"lifecycle", "relist_finished", "stream_event", "watching"} <= set(KINDS)
