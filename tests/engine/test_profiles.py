"""Profiles: one engine, and what each of the five PLEGs does differently."""

from typing import get_args

import pytest

from app.engine.effects import ListPods
from app.engine.profiles import PROFILES, ProfileName
from app.engine.records import (
    EventIgnored,
    Lifecycle,
    PodCached,
    PodSeen,
    RelistFinished,
    RequestMade,
    SyncBegan,
    SyncFinished,
    Watching,
)
from app.engine.settings import EngineSettings
from tests.engine.play import SECOND, Stage, lifecycle, of

ALL: tuple[ProfileName, ...] = get_args(ProfileName)
NO_LEGACY = [name for name in ALL if name != "legacy"]


def running(profile: str) -> Stage:
    stage = Stage(settings=EngineSettings(profile=profile))
    stage.node.sandbox("p", "s")
    stage.node.container("p", "c1", sandbox="s")
    stage.start()
    stage.relist()
    stage.run(0.1)
    return stage


def test_every_profile_is_there_and_explains_itself() -> None:
    assert tuple(PROFILES) == ALL
    for name, profile in PROFILES.items():
        assert profile.name == name
        assert profile.explanation.count(". ") >= 1
        assert profile.explanation.endswith(".")
        assert "\n" not in profile.explanation
        assert profile.title
        assert profile.since


def test_an_unknown_profile_is_a_programming_error() -> None:
    with pytest.raises(KeyError, match=r"1\.99"):
        Stage(settings=EngineSettings(profile="1.99"))


@pytest.mark.parametrize("profile", NO_LEGACY)
def test_p24_the_period_and_the_threshold_are_the_same_in_all_but_the_old_design(
    profile: str,
) -> None:
    stage = running(profile)
    (watching,) = of(stage.records, Watching)
    assert (watching.profile, watching.period_ns, watching.threshold_ns) == (
        profile,
        SECOND,
        180 * SECOND,
    )
    assert stage.state().profile == profile
    stage.run(10)
    lists = [one for one in stage.effects if isinstance(one, ListPods)]
    assert len(lists) == 11


@pytest.mark.parametrize("profile", NO_LEGACY)
def test_a_change_is_found_by_polling_in_all(profile: str) -> None:
    stage = running(profile)
    stage.node.exit("p", "c1", 1)
    assert lifecycle(stage.relist()) == ["p Died c1"]


@pytest.mark.parametrize(
    ("profile", "opens"),
    [("kep", True), ("generic", False), ("polling", False), ("1.37", True), ("legacy", True)],
)
def test_p28_who_opens_the_stream(profile: str, opens: bool) -> None:
    stage = running(profile)
    assert bool(stage.opened) == opens
    if not opens:
        view = stage.state().stream
        assert (view.state, view.meaning) == (
            "off",
            "This profile does not use the event stream; polling finds every change.",
        )
        stage.probe("relist_only")
        stage.probe("join")
        assert stage.stopped("p", "c1") == []
        assert stage.opened == []


@pytest.mark.parametrize(
    ("profile", "on_demand"),
    [("kep", True), ("generic", True), ("polling", False), ("1.37", True), ("legacy", False)],
)
def test_h18_who_takes_requests(profile: str, on_demand: bool) -> None:
    stage = running(profile)
    assert bool(of(stage.ask("p"), RequestMade)) == on_demand
    assert bool(of(stage.run(0.1), RelistFinished)) == on_demand
    assert stage.state().requests["executed"] == on_demand


@pytest.mark.parametrize("profile", ["kep", "1.37"])
def test_k4_who_turns_a_stop_event_into_a_request(profile: str) -> None:
    stage = running(profile)
    stage.node.exit("p", "c1", 1)
    stage.stopped("p", "c1")
    (died,) = of(stage.run(0.1), Lifecycle)
    assert (died.type, died.source, died.event) == ("ContainerDied", "evented_pleg", 1)


def test_p11_an_empty_uid_is_refused_by_the_kep_and_asks_for_nothing_useful_in_1_37() -> None:
    stage = running("kep")
    assert len(of(stage.stopped("", "c1"), EventIgnored)) == 1
    stage = running("1.37")
    told = stage.stopped("", "c1")
    assert of(told, EventIgnored) == []
    assert [one.uid for one in of(told, RequestMade)] == [""]
    (finished,) = of(stage.run(0.1), RelistFinished)
    assert (finished.ok, finished.error) == (False, "The runtime lists no such pod.")


@pytest.mark.parametrize(
    ("profile", "holds"),
    [("kep", True), ("generic", False), ("polling", False), ("1.37", False)],
)
def test_p5_p8_who_holds_a_pod_during_syncpod(profile: str, holds: bool) -> None:
    stage = running(profile)
    assert len(of(stage.hold("p") + stage.hold("p"), SyncBegan)) == 1
    stage.node.exit("p", "c1", 1)
    assert lifecycle(stage.relist()) == ([] if holds else ["p Died c1"])
    assert stage.state().queue.suspended == holds
    stage.run(0.1)
    told = stage.release("p")
    (finished,) = of(told, SyncFinished)
    assert finished.held == 0
    assert finished.duration_ns > 0


@pytest.mark.parametrize("profile", ["generic", "1.37"])
def test_p1_without_suspension_requests_run_and_nothing_is_withheld(profile: str) -> None:
    stage = running(profile)
    stage.by_hand = True
    stage.ask("p")
    stage.node.exit("p", "c1", 1)
    stage.look()
    stage.ask("p")
    stage.hold("p")
    stage.release("p")
    stage.hold("p")
    stage.answer()
    assert lifecycle(stage.answer()) == ["p Died c1"]
    stage.answer()
    counted = stage.state().requests
    assert (counted["executed"], counted["coalesced"], counted["held"]) == (2, 0, 0)


@pytest.mark.parametrize(
    ("profile", "podsync"), [("kep", True), ("generic", True), ("1.37", True), ("polling", False)]
)
def test_c5_c6_who_tells_of_a_reinspection_without_a_change(profile: str, podsync: bool) -> None:
    stage = running(profile)
    stage.mark("p")
    told = stage.relist()
    assert lifecycle(told) == (["p PodSync"] if podsync else [])
    assert [one.uid for one in of(told, PodCached)] == ["p"]


@pytest.mark.parametrize(
    ("profile", "after_the_list"),
    [("kep", False), ("generic", False), ("1.37", False), ("polling", True)],
)
def test_c12_what_a_status_is_stamped_with(profile: str, after_the_list: bool) -> None:
    stage = Stage(settings=EngineSettings(profile=profile), list_ns=300, inspect_ns=5)
    stage.node.container("p", "c1")
    stage.start()
    stage.relist()
    entry = stage.engine.cache.entry("p")
    assert entry is not None
    assert entry.modified == (300 if after_the_list else 0)


def test_an_event_without_a_uid_names_no_pod() -> None:
    stage = running("1.37")
    assert of(stage.stopped("", "c1"), PodSeen) == []


@pytest.mark.parametrize("profile", NO_LEGACY)
def test_h28_a_running_engines_period_and_threshold_stay(profile: str) -> None:
    stage = running(profile)
    for name in ("period_ns", "threshold_ns"):
        with pytest.raises(AttributeError):
            setattr(stage.engine.settings, name, 5)
    stage.start()
    stage.stream_ends("error")
    stage.probe("relist_only")
    stage.probe("join")
    stage.run(20)
    state = stage.state()
    assert (state.period_ns, state.pace_ns) == (SECOND, SECOND)
    assert state.health.threshold_ns == 180 * SECOND
