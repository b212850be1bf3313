"""The pod cache as workers read it, rebuilt from records."""

from typing import Any

import msgspec
import pytest

from app.engine.model import ContainerStatus
from app.engine.records import (
    CacheTimeMoved,
    ContainerEventSeen,
    PodCached,
    PodSeen,
    PodUncached,
    RelistFinished,
    RelistStarted,
)
from app.sim.podcache import PodCacheView


def started(t: int) -> RelistStarted:
    return RelistStarted(t=t, wall=t, relist=1, scope="global", source="global")


def finished(started_t: int, uid: str | None = None, **more: Any) -> RelistFinished:
    return RelistFinished(
        t=started_t + 2,
        wall=0,
        relist=1,
        scope="global" if uid is None else "pod",
        source="global" if uid is None else "evented_pleg",
        started=started_t,
        duration_ns=2,
        ok=more.pop("ok", True),
        uid=uid,
        **more,
    )


def cached(uid: str, error: str = "") -> PodCached:
    one = ContainerStatus("c1", "app", 0, "running", 1)
    return PodCached(
        t=0, wall=0, uid=uid, name="web", namespace="shop", relist=1, containers=(one,), error=error
    )


@pytest.fixture
def cache() -> PodCacheView:
    return PodCacheView()


def test_a_pod_that_is_not_cached_has_an_empty_status(cache: PodCacheView) -> None:
    entry = cache.get("u1")
    assert (entry.status.uid, entry.status.containers, entry.error) == ("u1", (), "")


def test_an_entry_is_what_was_cached_last_and_goes_when_it_is_uncached(
    cache: PodCacheView,
) -> None:
    assert cache.on_record(cached("u1")) == "u1"
    assert cache.get("u1").status.containers[0].id == "c1"
    assert cache.get("u1").status.namespace == "shop"
    cache.on_record(cached("u1", "inspection failed"))
    assert cache.get("u1").error == "inspection failed"
    cache.on_record(PodUncached(t=1, wall=1, uid="u1", relist=2))
    assert cache.get("u1").status.containers == ()


def test_before_the_first_global_relist_nothing_is_new_enough(cache: PodCacheView) -> None:
    assert not cache.newer_than("u1", None)
    cache.on_record(finished(5, ok=False))
    assert not cache.newer_than("u1", None)
    assert cache.on_record(finished(10)) == ""
    assert cache.newer_than("u1", None)


def test_a_global_relist_makes_every_pod_as_new_as_its_start(cache: PodCacheView) -> None:
    cache.on_record(finished(10))
    assert cache.newer_than("u1", 10)
    assert not cache.newer_than("u1", 11)


def test_a_targeted_relist_makes_its_pod_newer_and_no_other(cache: PodCacheView) -> None:
    cache.on_record(finished(10))
    assert cache.on_record(finished(20, "u1")) == "u1"
    assert cache.newer_than("u1", 20)
    assert not cache.newer_than("u2", 20)


def test_a_relist_that_failed_or_was_withheld_makes_nothing_newer(cache: PodCacheView) -> None:
    cache.on_record(finished(10))
    assert cache.on_record(finished(20, "u1", ok=False)) is None
    assert cache.on_record(finished(30, "u1", withheld=1)) is None
    assert cache.on_record(finished(40, ok=False)) is None
    assert not cache.newer_than("u1", 11)


def test_a_pod_is_new_as_soon_as_it_is_cached_before_the_relist_ends(cache: PodCacheView) -> None:
    cache.on_record(finished(10))
    cache.on_record(started(20))
    cache.on_record(cached("u1"))
    assert cache.newer_than("u1", 20)
    assert not cache.newer_than("u2", 20)


def test_other_records_say_nothing_about_the_cache(cache: PodCacheView) -> None:
    assert cache.on_record(PodSeen(t=1, wall=1, uid="u1", name="web", namespace="shop")) is None
    assert not cache.newer_than("u1", None)


def told(t: int, ago: int) -> ContainerEventSeen:
    """An event received at ``t``, made so long before."""
    return ContainerEventSeen(
        t=t,
        wall=10**9 + t,
        event=1,
        type="started",
        uid="u1",
        container_id="c1",
        container_name="app",
        is_sandbox=False,
        created_at=10**9 + t - ago,
        latency_ns=ago,
        backlog=False,
        request=None,
    )


def test_an_event_that_is_believed_is_as_new_as_the_runtime_says(cache: PodCacheView) -> None:
    cache.on_record(finished(10))
    cache.on_record(told(100, ago=30))
    believed = msgspec.structs.replace(cached("u1"), t=100, relist=0)
    assert cache.on_record(believed) == "u1"
    assert cache.newer_than("u1", 70)
    assert not cache.newer_than("u1", 71)
    assert cache.get("u1").read_t == 70
    # Whoever waits for more is let go by the ticker, with what there is.
    assert cache.on_record(CacheTimeMoved(t=150, wall=0)) == ""
    assert cache.newer_than("u1", 150)
    assert cache.get("u1").read_t == 70


def test_what_a_relist_cached_was_read_when_it_was_cached(cache: PodCacheView) -> None:
    cache.on_record(finished(10))
    cache.on_record(started(20))
    cache.on_record(msgspec.structs.replace(cached("u1"), t=25))
    assert cache.newer_than("u1", 20)
    assert not cache.newer_than("u1", 21)
    assert cache.get("u1").read_t == 25
