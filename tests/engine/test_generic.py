"""Generic PLEG: relists, reconciling, reinspection and the dispatcher."""

import itertools

from app.engine.effects import InspectPod, ListPods, WakeAt
from app.engine.inputs import PodInspected, PodInspectFailed, PodsListed, PodsListFailed
from app.engine.model import CallCost, ContainerStatus, PodStatus, RuntimeState
from app.engine.records import (
    Lifecycle,
    PodCached,
    PodGone,
    PodSeen,
    PodUncached,
    RelistFinished,
    RelistListed,
    RelistStarted,
    RequestMade,
    RequestMoved,
)
from app.engine.settings import EngineSettings
from tests.engine.play import MS, SECOND, Stage, lifecycle, of, outcomes


def a1(stage: Stage) -> None:
    """The listing of behaviours A1."""
    stage.node.container("1234", "c1", "exited")
    stage.node.container("1234", "c2", "running")
    stage.node.container("1234", "c3", "unknown")
    stage.node.container("4567", "c1", "exited")


def a3(stage: Stage) -> None:
    """From A1 to the listing of behaviours A3."""
    stage.node.remove("1234", "c1")
    stage.node.exit("1234", "c2")
    stage.node.set("1234", "c3", "running")
    stage.node.remove("4567", "c1")
    stage.node.container("4567", "c4", "running")


def started(**containers: RuntimeState) -> Stage:
    """A stage on which a relist has seen pod ``p`` with these containers."""
    stage = Stage()
    for name, state in containers.items():
        stage.node.container("p", name, state)
    stage.start()
    stage.relist()
    return stage


def inspected(stage: Stage, since: int = 0) -> list[str]:
    """UIDs that were inspected since so many effects, in order."""
    return [effect.uid for effect in stage.effects[since:] if isinstance(effect, InspectPod)]


def listed(stage: Stage, since: int = 0) -> list[str | None]:
    """Lists wanted since so many effects: None for all pods, else the UID."""
    return [effect.uid for effect in stage.effects[since:] if isinstance(effect, ListPods)]


# A. Global relist


def test_a1_first_sight() -> None:
    stage = Stage()
    a1(stage)
    stage.start()
    assert lifecycle(stage.relist()) == ["1234 Started c2", "1234 Died c1", "4567 Died c1"]


def test_a2_the_same_listing_again_brings_nothing_at_all() -> None:
    stage = Stage()
    a1(stage)
    stage.start()
    stage.relist()
    again = stage.relist()
    assert of(again, Lifecycle) == []
    assert [type(one).__name__ for one in again if one.wall][-2:] == [
        "RelistStarted",
        "RelistFinished",
    ]


def test_a3_a4_each_pod_has_its_own_events() -> None:
    stage = Stage()
    a1(stage)
    stage.start()
    stage.relist()
    a3(stage)
    assert lifecycle(stage.relist()) == [
        "1234 Started c3",
        "1234 Died c2",
        "1234 Removed c1",
        "4567 Removed c1",
        "4567 Started c4",
    ]


def test_a5_sandboxes_are_compared_like_containers() -> None:
    stage = Stage()
    stage.node.sandbox("1234", "s1", "notready")
    stage.node.sandbox("1234", "s2", "ready")
    stage.node.sandbox("4567", "s1", "notready")
    stage.start()
    first = stage.relist()
    assert lifecycle(first) == ["1234 Started s2", "1234 Died s1", "4567 Died s1"]
    assert all(one.is_sandbox for one in of(first, Lifecycle))
    stage.node.remove("1234", "s1")
    stage.node.exit("1234", "s2")
    stage.node.remove("4567", "s1")
    stage.node.sandbox("4567", "s4")
    assert lifecycle(stage.relist()) == [
        "1234 Died s2",
        "1234 Removed s1",
        "4567 Removed s1",
        "4567 Started s4",
    ]


def test_a6_a7_deaths_however_many_idle_relists_came_before() -> None:
    for idle in (0, 2):
        stage = started(c1="running", c2="running", c3="exited")
        for _ in range(idle):
            stage.relist()
        stage.node.remove("p", "c2")
        stage.node.remove("p", "c3")
        assert lifecycle(stage.relist()) == ["p Removed c3", "p Died c2", "p Removed c2"]


def test_a8_an_empty_listing() -> None:
    for idle in (0, 2):
        stage = started(c2="running")
        for _ in range(idle):
            stage.relist()
        stage.node.remove_pod("p")
        told = stage.relist()
        assert lifecycle(told) == ["p Died c2", "p Removed c2"]
        assert [one.uid for one in of(told, PodUncached)] == ["p"]
        assert [one.uid for one in of(told, PodGone)] == ["p"]
        assert stage.recorded() == {}


def test_a9_created_is_not_told_but_inspected_and_cached() -> None:
    for state in ("created", "unknown"):
        stage = started(c1=state)
        told = of(stage.records, Lifecycle)
        assert [(one.type, one.delivery) for one in told] == [("ContainerChanged", "filtered")]
        assert inspected(stage) == ["p"]
        assert stage.statuses("p") == {"c1": state}


def test_a10_from_unknown() -> None:
    outcome: dict[RuntimeState, list[str]] = {"running": ["p Started c1"], "exited": ["p Died c1"]}
    for to, expected in outcome.items():
        stage = started(c1="unknown")
        stage.node.set("p", "c1", to)
        assert lifecycle(stage.relist()) == expected
    stage = started(c1="unknown", keep="exited")
    stage.node.remove("p", "c1")
    assert lifecycle(stage.relist()) == ["p Died c1", "p Removed c1"]


def test_a11_running_to_unknown_only_refreshes_the_status() -> None:
    stage = started(c1="running")
    stage.node.set("p", "c1", "unknown")
    assert lifecycle(stage.relist()) == []
    assert stage.statuses("p") == {"c1": "unknown"}


def test_a12_and_back_to_running_is_started_again() -> None:
    stage = started(c1="running")
    stage.node.set("p", "c1", "unknown")
    stage.relist()
    stage.node.set("p", "c1", "running")
    assert lifecycle(stage.relist()) == ["p Started c1"]


def test_a13_exited_to_running_is_started() -> None:
    stage = started(c1="exited")
    stage.node.set("p", "c1", "running")
    assert lifecycle(stage.relist()) == ["p Started c1"]


def test_a14_absent_then_exited_is_died_only() -> None:
    stage = started()
    stage.node.container("p", "c1", "exited")
    assert lifecycle(stage.relist()) == ["p Died c1"]


def test_a15_there_and_back_between_two_relists_is_nothing() -> None:
    stage = started(c1="running")
    stage.node.exit("p", "c1")
    stage.node.set("p", "c1", "running")
    since = len(stage.effects)
    assert lifecycle(stage.relist()) == []
    assert inspected(stage, since) == []


def test_a16_born_and_deleted_between_two_relists_is_nothing() -> None:
    stage = started()
    stage.node.container("p", "c1")
    stage.node.remove_pod("p")
    assert of(stage.relist(), Lifecycle) == []


def test_a17_sandbox_notready_is_died() -> None:
    stage = Stage()
    stage.node.sandbox("p", "s")
    stage.start()
    stage.relist()
    stage.node.exit("p", "s")
    assert lifecycle(stage.relist()) == ["p Died s"]


def test_a_restart_is_the_old_id_died_and_the_new_one_started() -> None:
    stage = started(c1="running")
    stage.node.exit("p", "c1", 1)
    stage.node.container("p", "c2")
    assert lifecycle(stage.relist()) == ["p Died c1", "p Started c2"]


# C. The cache and inspections that fail


def two_new_pods() -> Stage:
    """The stage of behaviours C1: the second pod's inspection fails."""
    stage = Stage()
    stage.node.container("p1", "c1")
    stage.node.container("p2", "c2")
    stage.node.broken_pods["p2"] = "It broke."
    stage.start()
    return stage


def test_c1_c9_a_failed_inspection_costs_its_own_pod_only() -> None:
    stage = two_new_pods()
    told = stage.relist()
    assert lifecycle(told) == ["p1 Started c1"]
    assert stage.statuses("p1") == {"c1": "running"}
    entry = stage.engine.cache.entry("p2")
    assert entry is not None
    assert (entry.error, entry.status.uid, entry.status.containers) == ("It broke.", "p2", ())
    assert [(one.uid, one.error) for one in of(told, PodCached)] == [
        ("p1", ""),
        ("p2", "It broke."),
    ]
    assert of(told, RelistFinished)[0].ok
    assert stage.engine.cache.time == 0


def test_c2_cured_without_any_change_of_the_listing() -> None:
    stage = two_new_pods()
    stage.relist()
    stage.node.broken_pods.clear()
    since = len(stage.effects)
    assert lifecycle(stage.relist()) == ["p2 Started c2"]
    assert inspected(stage, since) == ["p2"]
    entry = stage.engine.cache.entry("p2")
    assert entry is not None
    assert entry.error == ""
    assert lifecycle(stage.relist()) == []


def test_c3_a_pod_that_is_gone_is_an_id_without_an_error() -> None:
    stage = started(c1="running")
    stage.node.remove_pod("p")
    stage.relist()
    assert stage.engine.cache.get("p") == PodStatus("p")
    assert stage.engine.cache.entry("p") is None


def transient_container() -> Stage:
    """The stage of behaviours C4."""
    stage = started(infra="running")
    stage.node.container("p", "transient", "unknown")
    stage.node.broken_pods["p"] = "It broke."
    return stage


def test_c4_nothing_is_sent_and_the_cache_holds_the_error() -> None:
    stage = transient_container()
    assert of(stage.relist(), Lifecycle) == []
    entry = stage.engine.cache.entry("p")
    assert entry is not None
    assert entry.error == "It broke."
    assert stage.recorded() == {"p": {"infra": "running"}}


def test_c6_the_retry_of_an_inspection_ends_in_podsync() -> None:
    stage = transient_container()
    stage.relist()
    stage.node.remove("p", "transient")
    stage.node.broken_pods.clear()
    assert lifecycle(stage.relist()) == ["p PodSync"]
    assert stage.statuses("p") == {"infra": "running"}
    entry = stage.engine.cache.entry("p")
    assert entry is not None
    assert entry.error == ""
    assert lifecycle(stage.relist()) == []


def test_c7_a_failed_list_changes_nothing_but_is_told() -> None:
    stage = started(c1="running")
    before = (stage.recorded(), stage.engine.cache.time, stage.state().health)
    stage.node.exit("p", "c1", 1)
    stage.node.broken_list = "The runtime is away."
    (finished,) = of(stage.relist(), RelistFinished)
    assert (stage.recorded(), stage.engine.cache.time) == before[:2]
    assert stage.state().health.last_start_t == before[2].last_start_t
    assert (finished.ok, finished.error) == (False, "The runtime is away.")
    last = stage.state().last_global
    assert last is not None
    assert (finished.code, last.code) == ("unreachable", "unreachable")
    assert finished.duration_ns == MS
    assert finished.running_pods is None
    assert finished.containers_by_state is None
    stage.node.broken_list = ""
    assert lifecycle(stage.relist()) == ["p Died c1"]


def test_c8_an_unchanged_pod_is_not_inspected() -> None:
    stage = started(c1="running")
    since = len(stage.effects)
    for _ in range(3):
        stage.relist()
    assert inspected(stage, since) == []


def test_c10_first_inspection_failed_then_gone() -> None:
    stage = two_new_pods()
    stage.relist()
    stage.node.remove_pod("p2")
    told = stage.relist()
    assert lifecycle(told) == ["p2 PodSync"]
    assert [one.uid for one in of(told, PodUncached)] == ["p2"]
    assert stage.engine.cache.entry("p2") is None
    assert list(stage.recorded()) == ["p1"]
    assert lifecycle(stage.relist()) == []


def test_c11_a_waiter_gets_the_error() -> None:
    stage = started(c1="running")
    cache = stage.engine.cache
    waiter = cache.wait("p", stage.clock.t)
    stage.node.broken_pods["p"] = "It broke."
    stage.mark("p")
    stage.relist()
    assert cache.woken() == (waiter,)
    entry = cache.entry("p")
    assert entry is not None
    assert entry.error == "It broke."


def test_c12_a_status_is_stamped_with_the_time_before_the_listing() -> None:
    stage = started()
    stage.node.container("p", "c1")
    stage.to_next_global()
    began = stage.clock.t
    stage.relist()
    entry = stage.engine.cache.entry("p")
    assert entry is not None
    assert entry.modified == entry.observed == began
    assert stage.clock.t == began + 2 * MS
    assert stage.engine.pod_records()["p"].listed_t == began


def test_c1_c7_a_failure_without_a_text_is_a_failure() -> None:
    stage = started(c1="running")
    stage.by_hand = True
    stage.node.exit("p", "c1")
    before = stage.engine.cache.time
    stage.to_next_global()
    (finished,) = of(stage.fail(""), RelistFinished)
    assert (finished.ok, finished.error) == (False, "The runtime failed without a word.")
    assert stage.engine.cache.time == before
    stage.to_next_global()
    stage.answer()
    told = stage.fail("")
    assert of(told, Lifecycle) == []
    (cached,) = of(told, PodCached)
    entry = stage.engine.cache.entry("p")
    assert entry is not None
    assert entry.error == cached.error == "The runtime failed without a word."
    assert lifecycle(stage.relist()) == ["p Died c1"]


# D. Reinspection


def test_d1_a_marked_pod_is_inspected_and_ends_in_podsync() -> None:
    stage = started(c1="running")
    stage.node.items["p", "c1"].attempt = 7
    stage.mark("p")
    since = len(stage.effects)
    told = stage.relist()
    assert lifecycle(told) == ["p PodSync"]
    (sync,) = of(told, Lifecycle)
    assert (sync.is_sandbox, sync.old_state, sync.new_state) == (
        False,
        "non-existent",
        "non-existent",
    )
    assert inspected(stage, since) == ["p"]
    assert [one.attempt for one in stage.engine.cache.get("p").containers] == [7]
    assert lifecycle(stage.relist()) == []


def test_d2_a_failed_reinspection_keeps_the_mark() -> None:
    stage = started(c1="running")
    stage.mark("p")
    stage.node.broken_pods["p"] = "It broke."
    for _ in range(2):
        since = len(stage.effects)
        assert of(stage.relist(), Lifecycle) == []
        assert inspected(stage, since) == ["p"]
    entry = stage.engine.cache.entry("p")
    assert entry is not None
    assert (entry.error, entry.status) == ("It broke.", PodStatus("p", "pod-p", "demo"))


def test_d3_d4_marking_twice_is_marking_once() -> None:
    stage = started(c1="running")
    for broken, expected in (("It broke.", []), ("", ["p PodSync"])):
        stage.mark("p")
        stage.mark("p")
        stage.node.broken_pods = {"p": broken}
        assert lifecycle(stage.relist()) == expected
    assert lifecycle(stage.relist()) == []


def test_d5_without_a_mark_nothing_is_written() -> None:
    stage = started(c1="running")
    stage.engine.cache.delete("p")
    stage.relist()
    assert stage.engine.cache.entry("p") is None


def test_d6_d7_a_mark_stays_from_relist_to_relist_until_it_is_served() -> None:
    stage = started(c1="running")
    stage.mark("p")
    stage.node.broken_list = "Away."
    stage.relist()
    stage.node.broken_list = ""
    stage.node.broken_pods["p"] = "It broke."
    assert lifecycle(stage.relist()) == []
    stage.node.broken_pods.clear()
    assert lifecycle(stage.relist()) == ["p PodSync"]


def test_d8_a_marked_pod_that_is_gone() -> None:
    stage = two_new_pods()
    stage.relist()
    stage.node.broken_pods.clear()
    stage.relist()
    stage.mark("p2")
    stage.node.remove_pod("p2")
    since = len(stage.effects)
    assert lifecycle(stage.relist()) == ["p2 Died c2", "p2 Removed c2"]
    assert inspected(stage, since) == []
    assert stage.engine.cache.get("p2") == PodStatus("p2")
    assert lifecycle(stage.relist()) == []


def test_d9_a_marked_pod_that_changed_needs_no_podsync() -> None:
    stage = started(c1="running")
    stage.mark("p")
    stage.node.exit("p", "c1")
    assert lifecycle(stage.relist()) == ["p Died c1"]
    assert lifecycle(stage.relist()) == []


def test_d10_a_targeted_relist_serves_a_mark_too() -> None:
    stage = started(c1="running")
    stage.run(0.1)
    stage.mark("p")
    stage.ask("p")
    assert lifecycle(stage.targeted()) == ["p PodSync"]
    assert lifecycle(stage.relist()) == []


def test_d11_a_mark_starts_no_relist() -> None:
    stage = started(c1="running")
    since = len(stage.effects)
    assert stage.mark("p") == []
    assert len(stage.effects) == since


def test_d12_a_mark_for_a_pod_never_listed_stays() -> None:
    stage = started(c1="running")
    stage.mark("new")
    for _ in range(2):
        assert lifecycle(stage.relist()) == []
    stage.node.container("new", "c9")
    stage.node.broken_pods["new"] = "It broke."
    stage.relist()
    stage.node.broken_pods.clear()
    assert lifecycle(stage.relist()) == ["new Started c9"]
    assert lifecycle(stage.relist()) == []


def test_a_mark_set_during_the_inspection_is_served_by_the_next_relist() -> None:
    stage = started(c1="running")
    stage.by_hand = True
    stage.mark("p")
    stage.to_next_global()
    stage.answer()
    stage.mark("p")
    assert lifecycle(stage.answer()) == ["p PodSync"]
    assert lifecycle(stage.relist()) == ["p PodSync"]
    assert lifecycle(stage.relist()) == []


# G. Running gauges


def test_g1_pods_and_containers_by_state() -> None:
    stage = Stage()
    containers: tuple[RuntimeState, ...] = ("running", "unknown", "created")
    sandboxes: tuple[RuntimeState, ...] = ("ready", "ready", "unknown")
    for number, state in enumerate(containers):
        stage.node.container("p1", f"c{number}", state)
    for number, state in enumerate(sandboxes):
        stage.node.sandbox("p1", f"s{number}", state)
    stage.node.container("p2", "c", "exited")
    stage.node.sandbox("p2", "s1", "ready")
    stage.node.sandbox("p2", "s2", "notready")
    stage.start()
    (finished,) = of(stage.relist(), RelistFinished)
    assert finished.running_pods == 2
    # PLEG takes both for unknown; the gauge has a series for each.
    assert finished.containers_by_state == {"running": 1, "exited": 1, "unknown": 1, "created": 1}
    assert (finished.pods, finished.containers) == (2, 4)


def test_g2_a_state_that_is_not_listed_is_not_mentioned() -> None:
    stage = started(c1="running", c2="exited")
    stage.node.remove("p", "c2")
    (finished,) = of(stage.relist(), RelistFinished)
    assert finished.containers_by_state == {"running": 1}


def test_g3_a_targeted_relist_leaves_the_gauges_alone() -> None:
    stage = started(c1="running")
    stage.run(0.1)
    stage.ask("p")
    (finished,) = of(stage.targeted(), RelistFinished)
    assert finished.running_pods is None
    assert finished.containers_by_state is None
    assert (finished.pods, finished.containers) == (1, 1)


# H. The dispatcher


def worker_loop() -> tuple[Stage, list[int]]:
    """H1 to H8: two waiters, period 2 s, nothing cached, both pods on the node."""
    stage = Stage(settings=EngineSettings(period_ns=2 * SECOND, threshold_ns=4 * SECOND))
    stage.start()
    stage.relist()
    stage.node.container("pod1", "c1")
    stage.node.container("pod2", "c2")
    stage.run(0.5)
    waiters = [stage.engine.cache.wait(uid, stage.clock.t) for uid in ("pod1", "pod2")]
    assert None not in waiters
    return stage, [one for one in waiters if one is not None]


def test_h1_to_h8_one_story() -> None:
    stage, (first, second) = worker_loop()
    cache = stage.engine.cache
    assert cache.woken() == (), "H1: both block"

    stage.run(0.1)
    stage.ask("pod1")
    told = stage.targeted()
    assert cache.woken() == (first,), "H2: only the waiter of the pod that was looked at"
    assert lifecycle(told) == ["pod1 Started c1"]
    assert stage.statuses("pod1") == {"c1": "running"}

    later = cache.wait("pod1", stage.clock.t)
    assert later is not None, "H3: unchanged, but nothing newer is known"

    stage.by_hand = True
    stage.ask("pod1")
    stage.ask("pod2")
    stage.run(2)
    stage.answer()
    assert stage.listing().uid is None, "H4: the global relist goes first"
    inspections = len(inspected(stage))
    told = stage.relist()
    assert lifecycle(told) == ["pod2 Started c2"]
    assert sorted(cache.woken()) == sorted([later, second]), "H5: both, pod1's unchanged"
    assert inspected(stage)[inspections:] == ["pod2"], "H5: no new inspection of pod1"
    assert outcomes(told)[-1] == "3 skipped", "H6: covered by the newer global relist"
    assert not stage.calls

    stage.run(0.1)
    stage.ask("pod2")
    waiter = cache.wait("pod1", stage.clock.t)
    stage.mark("pod1")
    stage.ask("pod1")
    stage.run(3)
    stage.answer()
    assert stage.listing().uid is None
    told = stage.relist()
    assert lifecycle(told) == ["pod1 PodSync"], "H7: the global relist serves the mark"
    assert cache.woken() == (waiter,)
    assert outcomes(told) == ["5 skipped"], "H8"


def test_h4_a_due_global_relist_goes_before_requests_that_wait() -> None:
    stage = started(c1="running")
    stage.by_hand = True
    stage.run(0.5)
    for _ in range(3):
        stage.ask("p")
    stage.run(0.6)
    assert stage.listing().uid == "p"
    stage.answer()
    assert stage.listing().uid is None


def test_h6_h8_a_request_older_than_a_good_global_relist_is_skipped_and_says_by_which() -> None:
    stage = started(c1="running")
    stage.by_hand = True
    stage.run(0.5)
    stage.ask("p")
    stage.ask("p")
    stage.run(0.6)
    stage.answer()
    told = stage.relist()
    (moved,) = of(told, RequestMoved)
    (ended,) = of(told, RelistFinished)
    assert (moved.request, moved.outcome, moved.relist) == (2, "skipped", ended.relist)
    assert stage.state().requests["skipped"] == 1


def test_h9_h10_h11_start_stop() -> None:
    stage = Stage()
    stage.start()
    assert listed(stage) == [None], "H11: at once"
    stage.start()
    assert listed(stage) == [None], "H10: one only"
    stage.ask("p")
    stage.run(0.0005)
    stage.stop()
    stage.run(10)
    assert listed(stage) == [None], "H9: nothing after the end"


def test_h12_the_pause_counts_from_the_end_of_a_relist() -> None:
    stage = Stage(list_ns=300 * MS)
    stage.start()
    stage.run(10)
    starts = [one.t for one in of(stage.records, RelistStarted)]
    assert starts[:4] == [0, 1300 * MS, 2600 * MS, 3900 * MS]


def test_h13_a_request_of_the_same_instant_as_the_global_relist_is_skipped() -> None:
    stage = started(c1="running")
    stage.by_hand = True
    stage.to_next_global()
    stage.ask("p")
    assert outcomes(stage.answer()) == ["1 skipped"]


def test_h14_a_request_made_while_a_global_relist_runs_is_executed() -> None:
    stage = started(c1="running")
    stage.by_hand = True
    stage.to_next_global()
    stage.look()
    stage.run(0.000000001)
    stage.node.exit("p", "c1")
    stage.ask("p")
    assert lifecycle(stage.answer()) == []
    assert lifecycle(stage.targeted()) == ["p Died c1"]


def test_h15_a_failed_global_relist_covers_nothing() -> None:
    stage = started(c1="running")
    stage.by_hand = True
    stage.run(0.5)
    stage.ask("p")
    stage.ask("p")
    stage.run(0.6)
    stage.answer()
    assert stage.listing().uid is None
    stage.fail()
    assert stage.listing().uid == "p"


def test_h17_three_requests_are_three_relists_and_one_finds_it() -> None:
    stage = started(c1="running")
    stage.run(0.1)
    stage.node.exit("p", "c1", 1)
    for _ in range(3):
        stage.ask("p", "evented_pleg")
    told = stage.run(0.1)
    assert [one.request for one in of(told, RelistFinished)] == [1, 2, 3]
    assert lifecycle(told) == ["p Died c1"]
    assert stage.state().requests["executed"] == 3


def test_h19_one_relist_at_a_time() -> None:
    stage = Stage(list_ns=700 * MS, inspect_ns=90 * MS)
    for number in range(5):
        stage.node.container(f"p{number}", "c")
    stage.start()
    for number in range(100):
        stage.node.set(f"p{number % 5}", "c", "exited" if number % 2 else "running")
        stage.ask(f"p{number % 5}")
        stage.run(0.1)
    running = 0
    for one in stage.records:
        running += isinstance(one, RelistStarted)
        running -= isinstance(one, RelistFinished)
        assert running in (0, 1)


def test_h20_n3_a_targeted_relist_of_a_pod_that_is_gone_changes_nothing() -> None:
    stage = started(c1="running")
    stage.run(0.1)
    stage.node.remove_pod("p")
    stage.ask("p", "evented_pleg")
    told = stage.targeted()
    (finished,) = of(told, RelistFinished)
    assert (finished.ok, finished.error) == (False, "The runtime lists no such pod.")
    assert of(told, Lifecycle) == []
    assert stage.recorded() == {"p": {"c1": "running"}}
    assert stage.statuses("p") == {"c1": "running"}
    assert stage.state().requests["executed"] == 1
    assert lifecycle(stage.relist()) == ["p Died c1", "p Removed c1"]


def test_h21_a_targeted_relist_finds_a_new_pod() -> None:
    stage = started()
    stage.run(0.1)
    stage.node.container("new", "c1")
    stage.ask("new")
    told = stage.targeted()
    assert lifecycle(told) == ["new Started c1"]
    assert [one.uid for one in of(told, PodSeen)] == ["new"]
    assert stage.recorded() == {"new": {"c1": "running"}}


def test_h22_h23_a_targeted_relist_does_all_that_a_global_one_does_for_its_pod() -> None:
    stage = started(c1="running")
    stage.node.container("other", "x")
    stage.run(0.1)
    stage.node.exit("p", "c1", 4)
    stage.ask("p", "evented_pleg")
    told = stage.targeted()
    assert lifecycle(told) == ["p Died c1"]
    assert stage.recorded() == {"p": {"c1": "exited"}}
    assert [one.exit_code for one in stage.engine.cache.get("p").containers] == [4]
    assert listed(stage)[-1] == "p"
    assert lifecycle(stage.relist()) == ["other Started x"]


def test_h24_nothing_changed_wakes_the_pods_waiters_and_no_others() -> None:
    stage = started(c1="running")
    stage.run(0.1)
    cache = stage.engine.cache
    mine, other = cache.wait("p", stage.clock.t), cache.wait("q", stage.clock.t)
    since = len(stage.effects)
    stage.ask("p")
    began = stage.clock.t
    told = stage.targeted()
    assert inspected(stage, since) == []
    assert of(told, Lifecycle) == []
    assert cache.woken() == (mine,)
    entry = cache.entry("p")
    assert entry is not None
    assert entry.observed == began
    assert other is not None


def test_h25_a_failed_inspection_of_a_targeted_relist_is_tried_again_by_the_next_one() -> None:
    stage = started(c1="running")
    stage.run(0.1)
    stage.node.exit("p", "c1")
    stage.node.broken_pods["p"] = "It broke."
    stage.ask("p")
    assert lifecycle(stage.targeted()) == []
    entry = stage.engine.cache.entry("p")
    assert entry is not None
    assert entry.error == "It broke."
    stage.node.broken_pods.clear()
    assert lifecycle(stage.relist()) == ["p Died c1"]


def test_h26_targeted_relists_are_told_apart_failed_ones_too() -> None:
    stage = started(c1="running")
    stage.run(0.1)
    stage.node.broken_list = "Away."
    stage.ask("p", "post_sync")
    (finished,) = of(stage.targeted(), RelistFinished)
    assert (finished.scope, finished.source, finished.uid) == ("pod", "post_sync", "p")
    assert (finished.ok, finished.error, finished.duration_ns) == (False, "Away.", MS)
    assert stage.state().health.last_start_t == 0
    last = stage.state().last_global
    assert last is not None
    assert last.relist == 1


def test_h27_a_storm_of_requests_cannot_starve_the_global_relist() -> None:
    stage = Stage(list_ns=10 * MS)
    stage.node.container("p", "c1")
    stage.start()
    stage.relist()
    for _ in range(500):
        stage.ask("p")
        stage.run(0.01)
    starts = [one.t for one in of(stage.records, RelistStarted) if one.scope == "global"]
    gaps = [later - earlier for earlier, later in itertools.pairwise(starts)]
    assert max(gaps) <= SECOND + 3 * 10 * MS


def test_p27_a_termination_storm_is_bounded_and_the_global_relist_on_time() -> None:
    stage = Stage()
    for number in range(300):
        stage.node.container("p", f"c{number}")
    stage.start()
    stage.relist()
    stage.run(0.5)
    for number in range(300):
        stage.node.exit("p", f"c{number}", 1)
        stage.stopped("p", f"c{number}")
    queue = stage.state().queue
    assert queue.length == 200
    assert stage.state().requests["dropped"] == 99
    due = stage.state().next_global_t
    stage.relist()
    began = [one.t for one in of(stage.records, RelistStarted) if one.scope == "global"]
    assert began[-1] == due
    assert stage.recorded()["p"] == {f"c{number}": "exited" for number in range(300)}


def test_p23_dropped_requests_cost_only_time() -> None:
    stage = Stage(settings=EngineSettings(queue_capacity=0))
    stage.node.container("p", "c1")
    stage.start()
    stage.relist()
    stage.run(0.1)
    stage.node.exit("p", "c1", 1)
    stage.stopped("p", "c1")
    (made,) = of(stage.records, RequestMade)
    assert made.outcome == "dropped"
    told = stage.relist()
    assert lifecycle(told) == ["p Died c1"]
    assert of(told, Lifecycle)[0].event == 1


# Answers and accounts


def test_an_answer_that_nobody_waits_for_is_ignored() -> None:
    stage = started(c1="running")
    stage.by_hand = True
    stage.to_next_global()
    now = stage.clock
    for wrong in (0, stage.listing().call + 1):
        for late in (
            PodsListed(t=now.t, wall=now.wall, call=wrong, sandboxes=(), containers=()),
            PodsListFailed(t=now.t, wall=now.wall, call=wrong, error=""),
            PodInspected(t=now.t, wall=now.wall, call=wrong, sandboxes=(), containers=()),
            PodInspectFailed(t=now.t, wall=now.wall, call=wrong, error=""),
        ):
            assert stage.tell(late) == []
    assert stage.recorded() == {"p": {"c1": "running"}}


def test_an_answer_of_the_wrong_kind_is_ignored() -> None:
    stage = Stage(by_hand=True)
    stage.node.container("p", "c1")
    stage.start()
    now, listing = stage.clock, stage.listing()
    wrong_status = ContainerStatus("c1", "", 0, "exited", 1)
    for wrong in (
        PodInspected(t=now.t, wall=now.wall, call=listing.call, sandboxes=(), containers=()),
        PodInspectFailed(t=now.t, wall=now.wall, call=listing.call, error="Wrong."),
    ):
        assert stage.tell(wrong) == []
    stage.answer()
    inspection = stage.inspection()
    for also_wrong in (
        PodsListed(t=now.t, wall=now.wall, call=inspection.call, sandboxes=(), containers=()),
        PodsListFailed(t=now.t, wall=now.wall, call=inspection.call, error="Wrong."),
    ):
        assert stage.tell(also_wrong) == []
    assert lifecycle(stage.answer()) == ["p Started c1"]
    assert wrong_status not in stage.engine.cache.get("p").containers


def test_every_call_has_its_own_number() -> None:
    stage = started(c1="running", c2="exited")
    stage.node.container("q", "c1")
    stage.ask("q")
    stage.run(3)
    calls = [one.call for one in stage.effects if isinstance(one, ListPods | InspectPod)]
    assert calls == sorted(set(calls))


def test_an_inspection_asks_for_all_that_was_listed() -> None:
    stage = Stage(by_hand=True)
    stage.node.sandbox("p", "s1", "notready")
    stage.node.sandbox("p", "s2")
    stage.node.container("p", "c1", "exited")
    stage.node.container("p", "c2")
    stage.start()
    stage.answer()
    assert stage.inspection().sandbox_ids == ("s1", "s2")
    assert stage.inspection().container_ids == ("c1", "c2")


def test_a_global_relist_that_inspects_tells_when_it_had_its_list() -> None:
    stage = Stage(by_hand=True)
    stage.node.container("p", "c1")
    stage.node.container("q", "c2")
    stage.start()
    stage.run(0.2)
    told = stage.answer()
    [listed] = of(told, RelistListed)
    assert (listed.t, listed.relist, listed.started) == (200 * MS, 1, 0)
    assert listed.pause_ns == SECOND
    assert of(stage.answer(), RelistListed) == [], "once, however many pods are inspected"
    [finished] = of(stage.answer(), RelistFinished)
    assert finished.pause_ns == SECOND


def test_a_relist_without_an_inspection_or_of_one_pod_tells_of_its_end_only() -> None:
    stage = Stage()
    stage.node.container("p", "c1")
    stage.start()
    stage.relist()
    told = stage.relist()
    stage.node.exit("p", "c1", 1)
    told += stage.ask("p") + stage.run(0.1)
    assert lifecycle(told) == ["p Died c1"]
    assert of(told, RelistListed) == []
    assert [one.pause_ns for one in of(told, RelistFinished)] == [SECOND, None]


def test_a_relist_cut_off_by_the_stop_tells_of_no_pause() -> None:
    stage = Stage(by_hand=True)
    stage.start()
    [finished] = of(stage.stop(), RelistFinished)
    assert finished.pause_ns is None


def test_n6_n7_what_went_between_list_and_inspection_is_left_out() -> None:
    stage = Stage(by_hand=True)
    stage.node.sandbox("p", "s1")
    stage.node.container("p", "c1")
    stage.node.container("p", "c2")
    stage.start()
    stage.answer()
    stage.node.remove("p", "c1")
    stage.node.remove("p", "s1")
    stage.answer()
    assert stage.statuses("p") == {"c2": "running"}
    assert stage.recorded() == {"p": {"s1": "running", "c1": "running", "c2": "running"}}
    assert lifecycle(stage.relist()) == [
        "p Died c1",
        "p Removed c1",
        "p Died s1",
        "p Removed s1",
    ]


def test_calls_are_counted_and_the_slowest_is_named() -> None:
    stage = Stage(by_hand=True)
    stage.node.container("p", "c1")
    stage.start()
    stage.answer(CallCost("ListPodSandbox", 3), CallCost("ListContainers", 2))
    told = stage.answer(CallCost("ContainerStatus", 9), CallCost("ContainerStatus", 9))
    (finished,) = of(told, RelistFinished)
    assert (finished.calls, finished.slowest_method, finished.slowest_ns) == (
        4,
        "ContainerStatus",
        9,
    )
    stage.to_next_global()
    (failed,) = of(stage.fail("Away.", CallCost("ListPodSandbox", 77)), RelistFinished)
    assert (failed.calls, failed.slowest_ns, failed.changed) == (1, 77, 0)
    assert finished.changed == 1


def test_costs_of_a_failed_inspection_count_too() -> None:
    stage = Stage(by_hand=True)
    stage.node.container("p", "c1")
    stage.start()
    stage.answer()
    (finished,) = of(stage.fail("Away.", CallCost("ContainerStatus", 5)), RelistFinished)
    assert (finished.calls, finished.slowest_ns) == (1, 5)


def test_a_relist_tells_its_start_its_end_and_its_request() -> None:
    stage = started(c1="running")
    stage.run(0.2)
    stage.by_hand = True
    stage.ask("p")
    stage.run(0.3)
    stage.ask("p", "post_allocation")
    stage.answer()
    stage.run(0.1)
    stage.answer()
    begun = of(stage.records, RelistStarted)[-2:]
    assert [(one.request, one.waited_ns, one.source) for one in begun] == [
        (1, 0, "post_sync"),
        (2, 0, "post_allocation"),
    ]
    ended = of(stage.records, RelistFinished)[-1]
    assert (ended.request, ended.started, ended.duration_ns) == (2, begun[1].t, 100 * MS)


def test_a_request_tells_how_long_it_waited() -> None:
    stage = started(c1="running")
    stage.by_hand = True
    stage.to_next_global()
    stage.run(0.25)
    stage.ask("p")
    stage.run(0.5)
    (begun,) = of(stage.answer(), RelistStarted)
    assert begun.waited_ns == 500 * MS


def test_rows_of_other_pods_in_a_pods_list_publish_nothing() -> None:
    """A runtime that ignores the label selector."""
    stage = started(c1="running")
    stage.by_hand = True
    stage.run(0.1)
    stage.node.exit("p", "c1")
    stage.node.container("q", "x")
    stage.ask("p")
    call = stage.listing()
    sight = stage.node.list()
    stage.calls.clear()
    stage.tell(
        PodsListed(
            t=stage.clock.t,
            wall=stage.clock.wall,
            call=call.call,
            sandboxes=sight.sandboxes,
            containers=sight.containers,
        )
    )
    assert lifecycle(stage.answer()) == ["p Died c1"]
    assert "q" not in stage.recorded()
    assert lifecycle(stage.relist()) == ["q Started x"]


def test_an_event_names_a_pod_before_it_is_listed_and_it_is_forgotten_again() -> None:
    stage = started(c1="running")
    stage.run(0.1)
    stage.stopped("ghost", "c9")
    assert [one.uid for one in of(stage.records, PodSeen)] == ["p", "ghost"]
    stage.relist()
    assert [one.uid for one in of(stage.records, PodGone)] == ["ghost"]


def test_the_timer_of_the_next_global_relist_is_set_at_each_end() -> None:
    stage = started(c1="running")
    wakes = [one for one in stage.effects if isinstance(one, WakeAt) and one.timer == "global"]
    assert [(one.token, one.at) for one in wakes] == [(1, SECOND + 2 * MS)]
