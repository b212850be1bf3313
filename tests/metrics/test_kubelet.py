"""The kubelet's names, types and meanings, one by one."""

from __future__ import annotations

import pytest

from app.engine.records import Record, RunningMoved
from app.engine.state import EngineState, HealthState
from app.metrics.exposition import Exposition
from app.metrics.kubelet import KubeletMetrics
from tests.build import (
    HOSTILE,
    SECOND,
    WALL,
    died,
    engine_state,
    note,
    relist_finished,
    relist_started,
    stop_event,
)
from tests.metrics.scrape import Scrape, types

MILLI = 1_000_000

# Name, type, labels: the kubelet's (and for events_total the KEP's). Written out here once more on
# purpose: a slip in the code must not be repeated by the test.
FAMILIES = {
    "kubelet_pleg_relist_duration_seconds": "histogram",
    "kubelet_pleg_relist_interval_seconds": "histogram",
    "kubelet_pleg_pod_relist_duration_seconds": "histogram",
    "kubelet_pleg_discard_events": "counter",
    "kubelet_pleg_last_seen_seconds": "gauge",
    "kubelet_evented_pleg_connection_error_count": "counter",
    "kubelet_evented_pleg_connection_success_count": "counter",
    "kubelet_evented_pleg_connection_latency_seconds": "histogram",
    "kubelet_pleg_events_total": "counter",
    "kubelet_running_pods": "gauge",
    "kubelet_running_containers": "gauge",
}


class Read(Scrape):
    """Metrics after some records, as a scraper reads them."""

    def __init__(self, *records: Record, state: EngineState | None = None) -> None:
        metrics = KubeletMetrics()
        for record in records:
            metrics.apply(record)
        out = Exposition()
        metrics.write(out, state or engine_state())
        super().__init__(out.text())


def test_names_and_types_are_exact() -> None:
    assert types(Read().text) == FAMILIES


def test_every_family_says_what_it_means_and_that_it_is_the_shadows() -> None:
    helps = [line for line in Read().text.splitlines() if line.startswith("# HELP")]
    assert len(helps) == len(FAMILIES)
    assert all("plegscope's shadow, not the kubelet:" in line for line in helps)


def test_before_anything_happened_counters_are_there_and_zero() -> None:
    read = Read()
    assert read["kubelet_pleg_relist_duration_seconds_count"] == 0
    assert read["kubelet_evented_pleg_connection_error_count"] == 0
    assert read["kubelet_pleg_discard_events"] == 0
    for source in ("post_sync", "post_allocation", "evented_pleg", "global"):
        assert read["kubelet_pleg_events_total", source] == 0


def test_buckets_are_the_kubelets() -> None:
    read = Read(relist_finished(duration=7 * MILLI))
    bounds = ["0.005", "0.01", "0.025", "0.05", "0.1", "0.25", "0.5", "1", "2.5", "5", "10", "+Inf"]
    counts = [read["kubelet_pleg_relist_duration_seconds_bucket", bound] for bound in bounds]
    assert counts == [0] + [1] * 11


def test_global_relists_count_in_duration_failed_ones_too() -> None:
    read = Read(
        relist_finished(duration=100 * MILLI), relist_finished(duration=2 * SECOND, ok=False)
    )
    assert read["kubelet_pleg_relist_duration_seconds_count"] == 2
    assert read["kubelet_pleg_relist_duration_seconds_sum"] == pytest.approx(2.1)
    assert read["kubelet_pleg_pod_relist_duration_seconds_count"] == 0


def test_h26_targeted_relists_count_in_their_own_histogram_only() -> None:
    read = Read(
        relist_started(1, 0, "u1"),
        relist_finished(1, 0, 4 * MILLI, "u1"),
        relist_finished(2, 0, 4 * MILLI, "u1", ok=False),
    )
    assert read["kubelet_pleg_pod_relist_duration_seconds_count"] == 2
    assert read["kubelet_pleg_relist_duration_seconds_count"] == 0
    assert read["kubelet_pleg_relist_interval_seconds_count"] == 0


def test_the_interval_goes_from_the_last_good_start() -> None:
    first = [relist_started(1, 0), relist_finished(1, 0)]
    failed = [relist_started(2, 1 * SECOND), relist_finished(2, 1 * SECOND, ok=False)]
    assert Read(*first)["kubelet_pleg_relist_interval_seconds_count"] == 0
    read = Read(*first, *failed, relist_started(3, 2 * SECOND))
    assert read["kubelet_pleg_relist_interval_seconds_count"] == 2
    assert read["kubelet_pleg_relist_interval_seconds_sum"] == pytest.approx(1 + 2)


def test_b2_discarded_events_only() -> None:
    read = Read(died(), died(delivery="discarded"), died(delivery="filtered"))
    assert read["kubelet_pleg_discard_events"] == 1


@pytest.mark.parametrize(("last_seen", "shown"), [(None, 0), (1_790_000_000, 1_790_000_000)])
def test_f10_f11_last_seen_is_the_health_checks(last_seen: int | None, shown: int) -> None:
    health = HealthState(True, "", 5, 180 * SECOND, last_seen)
    assert Read(state=engine_state(health=health))["kubelet_pleg_last_seen_seconds"] == shown


def test_k14_k15_the_streams_connections_are_the_engines() -> None:
    read = Read(state=engine_state(stream_events={"opened": 3, "errors": 2, "stopped": 9}))
    assert read["kubelet_evented_pleg_connection_success_count"] == 3
    assert read["kubelet_evented_pleg_connection_error_count"] == 2


def test_k13_latency_counts_valid_events_and_leaves_out_the_backlog() -> None:
    read = Read(stop_event(1, latency=3 * MILLI), stop_event(2, latency=None), note())
    assert read["kubelet_evented_pleg_connection_latency_seconds_count"] == 1
    assert read["kubelet_evented_pleg_connection_latency_seconds_sum"] == pytest.approx(0.003)


def test_p26_events_by_relist_source() -> None:
    read = Read(state=engine_state(events={"evented_pleg": 4, "global": 1}))
    assert read["kubelet_pleg_events_total", "evented_pleg"] == 4
    assert read["kubelet_pleg_events_total", "global"] == 1
    assert read["kubelet_pleg_events_total", "post_sync"] == 0


def test_g2_running_gauges_follow_good_global_relists() -> None:
    read = Read(
        relist_finished(running_pods=2, by_state={"running": 5, "exited": 1}),
        relist_finished(running_pods=3, by_state={"running": 6}),
        relist_finished(ok=False),
        relist_finished(uid="u1"),
    )
    assert read["kubelet_running_pods"] == 3
    assert read["kubelet_running_containers", "running"] == 6
    assert read["kubelet_running_containers", "exited"] == 1, "keeps its value, as there"


def test_a_state_that_was_never_listed_is_not_there() -> None:
    read = Read(relist_finished(running_pods=0, by_state={}))
    assert not [key for key in read.samples if key[0] == "kubelet_running_containers"]


def moved(running_pods: int, **containers: int) -> RunningMoved:
    return RunningMoved(
        t=0, wall=WALL, uid="u1", running_pods=running_pods, containers_by_state=containers
    )


def test_l3_l4_events_of_the_old_design_move_the_gauges() -> None:
    read = Read(
        relist_finished(running_pods=2, by_state={"running": 3}),
        moved(1, running=1, created=1),
        moved(-1, running=-1, exited=1),
        moved(0, created=-1),
    )
    assert read["kubelet_running_pods"] == 2
    states = {
        key[1]: n for key, n in read.samples.items() if key[0] == "kubelet_running_containers"
    }
    assert states == {"running": 3, "exited": 1, "created": 0}


def test_a_state_that_no_container_can_have_is_no_label() -> None:
    read = Read(relist_finished(running_pods=0, by_state={HOSTILE: 1, "ready": 1, "unknown": 2}))
    states = [key[1] for key in read.samples if key[0] == "kubelet_running_containers"]
    assert states == ["unknown"]
