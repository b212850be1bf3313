"""The pod cache: what it holds, who is woken, and the IPs a dead pod keeps."""

import pytest

from app.engine.cache import Entry, PodCache, keep_ips, pod_status
from app.engine.model import ContainerStatus, PodStatus, RuntimeState, SandboxStatus
from tests.engine.play import Stage, lifecycle

IPV4 = ("10.0.0.1",)
DUAL = ("10.0.0.1", "fd00::1")


def sandbox(
    item_id: str, state: RuntimeState, ips: tuple[str, ...] = (), created_at: int = 1
) -> SandboxStatus:
    return SandboxStatus(item_id, 0, state, created_at, ips)


def container(item_id: str, created_at: int = 1) -> ContainerStatus:
    return ContainerStatus(item_id, "app", 0, "running", created_at)


def cached(ips: tuple[str, ...], error: str = "") -> Entry:
    return Entry(PodStatus("p", ips=ips), error, 0, 0)


def filled(*, modified: int | None = None, time: int | None = None) -> PodCache:
    cache = PodCache()
    if modified is not None:
        cache.set("p", PodStatus("p", "web"), "", modified)
    if time is not None:
        cache.advance(time)
    return cache


# J. The cache


def test_j1_a_fresh_cache_knows_nothing_newer_than_zero() -> None:
    assert PodCache().newer_than("p", 0) is None


@pytest.mark.parametrize(
    ("modified", "time", "known"),
    [
        pytest.param(5, 6, True, id="j2-global-newer-modified-equal"),
        pytest.param(4, 6, True, id="j3-global-newer-modified-older"),
        pytest.param(6, 4, True, id="j4-global-older-modified-newer"),
        pytest.param(4, 4, False, id="j5-both-older"),
        pytest.param(5, 5, False, id="j5-both-equal-is-not-newer"),
        pytest.param(6, None, True, id="j4-no-global-yet"),
    ],
)
def test_j2_j3_j4_j5_an_entry_newer_than_5(modified: int, time: int | None, known: bool) -> None:
    status = filled(modified=modified, time=time).newer_than("p", 5)
    assert status == (PodStatus("p", "web") if known else None)


@pytest.mark.parametrize(("time", "known"), [(6, True), (5, False), (4, False), (None, False)])
def test_j6_j7_no_entry(time: int | None, known: bool) -> None:
    assert filled(time=time).newer_than("p", 5) == (PodStatus("p") if known else None)


@pytest.mark.parametrize(("containers", "error"), [(3, ""), (2, "It broke."), (0, "")])
def test_j8_what_was_set_comes_back(containers: int, error: str) -> None:
    cache = PodCache()
    status = PodStatus("p", containers=tuple(container(f"c{n}") for n in range(containers)))
    cache.set("p", status, error, 3)
    assert cache.get("p") == status
    assert cache.entry("p") == Entry(status, error, 3, 3)
    assert cache.uids() == ("p",)
    assert len(cache) == 1


def test_j9_j10_a_missing_and_a_deleted_entry_are_an_id_without_an_error() -> None:
    cache = filled(modified=1)
    cache.delete("p")
    cache.delete("p")
    for uid in ("p", "q"):
        assert cache.get(uid) == PodStatus(uid)
        assert cache.entry(uid) is None
    assert len(cache) == 0


def test_j11_equal_is_enough_to_be_woken() -> None:
    cache = PodCache()
    waiter = cache.wait("p", 5)
    cache.set("p", PodStatus("p"), "", 5)
    assert cache.woken() == (waiter,)
    assert cache.woken() == ()


def test_j12_the_global_time_wakes_everybody_it_is_new_enough_for() -> None:
    cache = PodCache()
    waiters = [cache.wait("p", 5), cache.wait("q", 7), cache.wait("r", 6)]
    assert len(set(waiters)) == 3
    cache.advance(6)
    assert cache.woken() == (waiters[0], waiters[2])


def test_j13_observing_wakes_with_the_unchanged_status() -> None:
    cache = filled(modified=1)
    waiter = cache.wait("p", 5)
    cache.observe("p", 6)
    assert cache.woken() == (waiter,)
    assert cache.newer_than("p", 5) == PodStatus("p", "web")
    entry = cache.entry("p")
    assert entry is not None
    assert (entry.modified, entry.observed) == (1, 6)


def test_j14_observing_a_missing_pod_wakes_and_makes_no_entry() -> None:
    cache = PodCache()
    waiter = cache.wait("p", 5)
    cache.observe("p", 6)
    assert cache.woken() == (waiter,)
    assert cache.entry("p") is None
    assert cache.get("p") == PodStatus("p")


def test_j15_deleting_wakes_nobody() -> None:
    cache = filled(modified=1)
    assert cache.wait("p", 5) is not None
    cache.delete("p")
    assert cache.woken() == ()


def test_j16_one_set_wakes_all_it_is_new_enough_for_and_no_other() -> None:
    cache = PodCache()
    early, late, latest = (cache.wait("p", minimum) for minimum in (3, 5, 9))
    cache.set("p", PodStatus("p"), "", 5)
    assert cache.woken() == (early, late)
    cache.set("p", PodStatus("p"), "", 9)
    assert cache.woken() == (latest,)


def test_j17_a_deleted_entry_then_a_newer_global_time() -> None:
    cache = filled(modified=1)
    cache.delete("p")
    assert cache.newer_than("p", 5) is None
    cache.advance(6)
    assert cache.newer_than("p", 5) == PodStatus("p")


def test_nobody_waits_for_what_is_known_already() -> None:
    assert filled(modified=6).wait("p", 5) is None


# From an inspection to a status


def test_n5_newest_first_and_the_ips_of_the_newest_ready_sandbox() -> None:
    status = pod_status(
        "p",
        "web",
        "demo",
        (sandbox("old", "notready", ("10.0.0.9",), 1), sandbox("new", "ready", DUAL, 2)),
        (container("c-old", 1), container("c-new", 9), container("b-old", 1)),
    )
    assert (status.uid, status.name, status.namespace) == ("p", "web", "demo")
    assert status.ips == DUAL
    assert [one.id for one in status.sandboxes] == ["new", "old"]
    assert [one.id for one in status.containers] == ["c-new", "b-old", "c-old"]


def test_n11_no_ips_when_the_newest_sandbox_is_not_ready() -> None:
    boxes = (sandbox("old", "ready", IPV4, 1), sandbox("new", "notready", IPV4, 2))
    assert pod_status("p", "", "", boxes, ()).ips == ()
    assert pod_status("p", "", "", (), ()).ips == ()


@pytest.mark.parametrize(
    "bad", ["", "10.0.0", "10.0.0.300", "web", "10.0.0.1/24", "fe80::1%eth0", "\x00"]
)
def test_one_address_that_is_none_spoils_them_all(bad: str) -> None:
    status = pod_status("p", "", "", (sandbox("s", "ready", ("10.0.0.1", bad)),), ())
    assert status.ips == ()


# E. IP preservation


@pytest.mark.parametrize("ips", [pytest.param(IPV4, id="e1"), pytest.param(DUAL, id="e2")])
def test_e1_e2_a_dead_pod_keeps_its_ips_in_their_order(ips: tuple[str, ...]) -> None:
    stage = Stage()
    stage.node.sandbox("p", "s", "ready", *ips)
    stage.node.container("p", "c1")
    stage.start()
    stage.relist()
    assert stage.engine.cache.get("p").ips == ips
    stage.node.exit("p", "c1", 1)
    stage.node.exit("p", "s")
    stage.node.items["p", "s"].ips = ()
    assert sorted(lifecycle(stage.relist())) == ["p Died c1", "p Died s"]
    status = stage.engine.cache.get("p")
    assert status.ips == ips
    assert [one.exit_code for one in status.containers] == [1]


def test_e3_new_ips_win() -> None:
    new = PodStatus("p", ips=DUAL)
    assert keep_ips(new, cached(("10.9.9.9",))) == new


def test_e4_one_ready_sandbox_means_that_old_ips_are_not_raised_from_the_dead() -> None:
    new = PodStatus("p", sandboxes=(sandbox("a", "notready"), sandbox("b", "ready")))
    assert keep_ips(new, cached(IPV4)).ips == ()


def test_e5_none_on_either_side_is_none() -> None:
    new = PodStatus("p")
    assert keep_ips(new, cached(())).ips == ()
    assert keep_ips(new, None).ips == ()


def test_e6_all_sandboxes_dead_or_none_at_all_keeps_the_cached_ips() -> None:
    dead = PodStatus("p", sandboxes=(sandbox("a", "notready"), sandbox("b", "notready")))
    for new in (dead, PodStatus("p")):
        kept = keep_ips(new, cached(IPV4))
        assert kept.ips == IPV4
        assert kept.sandboxes == new.sandboxes


def test_e7_a_cached_error_keeps_nothing() -> None:
    assert keep_ips(PodStatus("p"), cached(IPV4, "It broke.")).ips == ()
