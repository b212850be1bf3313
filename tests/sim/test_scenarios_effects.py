"""Claims of the scenario in which people wait for the kubelet."""

import pytest

from app.engine.records import Lifecycle, RequestMade
from app.sim.account import KubeletTimes
from app.sim.flavour import MS, SECOND
from tests.sim.claims import claim, played

PODS = 24


def times(profile: str) -> KubeletTimes:
    return played("kubelet-waits", profile).summary.kubelet


@claim("kubelet-waits")
@pytest.mark.parametrize("profile", ["kep", "generic", "polling", "legacy"])
def test_every_pod_is_seen_to_run_and_to_be_gone(profile: str) -> None:
    kubelet = times(profile)
    assert kubelet.running.count == kubelet.deleted.count == PODS
    # Of a resize no event tells, and the old design does not look often.
    assert kubelet.resized.count == (0 if profile == "legacy" else PODS)


@claim("kubelet-waits")
def test_relists_on_demand_make_people_wait_less() -> None:
    kep, generic, polling = times("kep"), times("generic"), times("polling")
    for asked in (kep, generic):
        assert asked.running.p50 < polling.running.p50 * 2 / 3
        assert asked.resized.p50 * 5 < polling.resized.p50
    assert kep.running.p50 < SECOND / 2
    assert kep.resized.max < 60 * MS
    assert kep.deleted.p50 < generic.deleted.p50


@claim("kubelet-waits")
def test_the_old_design_makes_them_wait_for_its_ticker() -> None:
    old, polling = times("legacy"), times("polling")
    assert old.deleted.p50 > polling.deleted.p50 + 3 * SECOND
    assert old.deleted.max < 16 * SECOND
    assert 4.5 * SECOND < old.waited.max <= 5 * SECOND
    assert old.running.max > 3 * SECOND


@claim("kubelet-waits")
def test_a_resize_asks_for_relists_before_and_after_it() -> None:
    play = played("kubelet-waits")
    asked = [one.source for one in play.of(RequestMade)]
    assert asked.count("post_allocation") == PODS
    seen = [one.source for one in play.of(Lifecycle) if one.type == "PodSync"]
    assert len(seen) == PODS
    assert set(seen) <= {"post_allocation", "post_sync", "global"}
