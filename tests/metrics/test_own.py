"""plegscope's own metrics: what moves which number, and that no label can grow."""

from __future__ import annotations

import msgspec
import pytest

from app.engine.records import Gap, Record, RequestMoved, StreamChanged
from app.engine.state import EngineState, HealthState, QueueState, StreamView
from app.histogram import Histogram
from app.metrics.exposition import Exposition
from app.metrics.kubelet import SOURCES
from app.metrics.own import Figures, OwnMetrics, RecorderFigures
from app.metrics.runtime import RuntimeCalls
from tests.build import (
    HOSTILE,
    SECOND,
    WALL,
    engine_state,
    relist_finished,
    relist_started,
    request,
)
from tests.engine.director import play
from tests.metrics.scrape import Scrape


class Read(Scrape):
    """Metrics after some records, as a scraper reads them."""

    def __init__(
        self,
        *records: Record,
        state: EngineState | None = None,
        figures: Figures | None = None,
    ) -> None:
        metrics = OwnMetrics()
        for record in records:
            metrics.apply(record)
        out = Exposition()
        metrics.write(out, state or engine_state(), figures or Figures(version="1"))
        super().__init__(out.text())


def moved(outcome: str, source: str = "evented_pleg") -> RequestMoved:
    return RequestMoved(
        t=0,
        wall=WALL,
        request=1,
        uid="u1",
        source=source,  # type: ignore[arg-type] # the caller's word
        outcome=outcome,  # type: ignore[arg-type] # the caller's word
        depth=0,
    )


def stream(state: str) -> StreamChanged:
    return StreamChanged(t=0, wall=WALL, state=state, meaning="")  # type: ignore[arg-type] # caller's


def test_requests_by_source_and_step() -> None:
    read = Read(
        request(outcome="queued"),
        request(outcome="queued"),
        request(outcome="dropped"),
        moved("skipped"),
        moved("coalesced", "post_sync"),
        *executed(4),
        relist_started(2, 0),
        relist_finished(2, 0),
    )
    name = "plegscope_relist_requests_total"
    assert read[name, "evented_pleg", "queued"] == 2
    assert read[name, "evented_pleg", "dropped"] == 1
    assert read[name, "evented_pleg", "skipped"] == 1
    assert read[name, "evented_pleg", "executed"] == 1
    assert read[name, "post_sync", "coalesced"] == 1
    assert read[name, "global", "executed"] == 0, "a global relist is nobody's request"


def executed(number: int, *, withheld: int = 0, cancelled: bool = False) -> list[Record]:
    """A request's targeted relist, which may come to nothing."""
    started = msgspec.structs.replace(relist_started(1, 0, "u1"), request=number)
    ended = msgspec.structs.replace(
        relist_finished(1, 0, uid="u1"), request=number, withheld=withheld
    )
    gone = [msgspec.structs.replace(moved("cancelled"), request=number)] if cancelled else []
    return [started, *gone, ended]


def test_only_a_relist_that_was_published_counts_as_executed() -> None:
    name = "plegscope_relist_requests_total"
    back = msgspec.structs.replace(moved("queued"), request=7)
    read = Read(*executed(7, withheld=1), back, *executed(7), *executed(8, cancelled=True))
    assert read[name, "evented_pleg", "executed"] == 1
    assert read[name, "evented_pleg", "cancelled"] == 1
    assert read[name, "evented_pleg", "queued"] == 1


@pytest.mark.parametrize("seed", range(8))
def test_p23_p30_every_request_ends_in_one_of_five_ways_as_the_engine_counts_them(
    seed: int,
) -> None:
    stage = play(seed, 150).stage
    state = stage.state()
    read = Read(*stage.records, state=state)
    name = "plegscope_relist_requests_total"
    for outcome in ("executed", "skipped", "coalesced", "dropped", "cancelled"):
        counted = sum(read[name, source, outcome] for source in SOURCES)
        assert counted == state.requests[outcome], outcome


def test_the_profile_is_one_of_all() -> None:
    read = Read(state=engine_state(profile="1.37"))
    shown = {key[1]: value for key, value in read.samples.items() if key[0] == "plegscope_profile"}
    assert shown == {"kep": 0, "generic": 0, "polling": 0, "1.37": 1, "legacy": 0}


def test_p30_the_first_connection_is_no_reconnect() -> None:
    name = "plegscope_stream_reconnect_attempts_total"
    assert Read()[name] == 0
    assert Read(stream("connecting"))[name] == 0
    again = [stream("waiting"), stream("connecting")]
    assert Read(stream("connecting"), stream("connected"), *again, *again)[name] == 2


def test_p30_the_streams_state_is_one_of_all() -> None:
    read = Read(state=engine_state(stream=StreamView("waiting", 0, "", "join")))
    states = {key[1]: value for key, value in read.samples.items() if key[0].endswith("_state")}
    assert states == {"off": 0, "connecting": 0, "connected": 0, "waiting": 1, "closed": 0}


def test_events_by_type_without_the_other_counters() -> None:
    counts = {"stopped": 2, "unknown": 1, "ignored": 3, "backlog": 4, "opened": 5, "errors": 6}
    read = Read(state=engine_state(stream_events=counts))
    types = {k[1]: v for k, v in read.samples.items() if k[0] == "plegscope_stream_events_total"}
    assert types == {
        "created": 0,
        "started": 0,
        "stopped": 2,
        "deleted": 0,
        "unknown": 1,
        "ignored": 3,
    }
    assert read["plegscope_stream_backlog_events_total"] == 4


def test_losses_by_hop_each_once() -> None:
    gaps = [
        Gap(t=1, wall=WALL, hop="stream", count=7, from_t=0, reason=HOSTILE),
        Gap(t=2, wall=WALL, hop="stream", count=1, from_t=1, reason="y"),
        Gap(t=2, wall=WALL, hop="paused", count=3, from_t=1, reason="z"),
    ]
    read = Read(*gaps)
    assert read["plegscope_lost_total", "stream"] == 8
    assert read["plegscope_lost_total", "paused"] == 3
    assert read["plegscope_lost_total", "viewer"] == 0


def test_health_queue_and_pace() -> None:
    state = engine_state(
        health=HealthState(False, "", None, 1, None),
        queue=QueueState(length=4, capacity=200, held=2, suspended=1),
        pace_ns=3 * SECOND // 2,
        pods=11,
        containers=22,
    )
    read = Read(state=state)
    assert read["plegscope_pleg_healthy"] == 0
    assert read["plegscope_relist_queue_length"] == 4
    assert read["plegscope_relist_queue_capacity"] == 200
    assert read["plegscope_relist_requests_held"] == 2
    assert read["plegscope_pods_suspended"] == 1
    assert read["plegscope_relist_period_seconds"] == 1.5
    assert (read["plegscope_pods"], read["plegscope_containers"]) == (11, 22)


def test_every_figure_is_shown_under_its_name() -> None:
    figures = Figures(
        version="1.2.3",
        records=1,
        records_forgotten=2,
        viewers=3,
        viewers_joined=4,
        viewers_refused=5,
        viewers_dropped=6,
        viewers_lagging=7,
        viewer_records_skipped=8,
        viewer_records_lost=9,
        viewer_bytes=10,
        batches=11,
        runtime_calls={
            "ListContainers": RuntimeCalls(12, 1, Histogram()),
            "GetContainerEvents": RuntimeCalls(13, 0, Histogram()),
            HOSTILE: RuntimeCalls(99, 0, Histogram()),
        },
        oldest_call_ns=7 * SECOND // 2,
        runtime_bytes=14,
        cpu_seconds=1.5,
        rss_bytes=16,
    )
    read = Read(figures=figures)
    assert read["plegscope_build_info", "1.2.3"] == 1
    assert read["plegscope_journal_records_total"] == 1
    assert read["plegscope_journal_forgotten_total"] == 2
    assert read["plegscope_viewers"] == 3
    assert read["plegscope_viewers_joined_total"] == 4
    assert read["plegscope_viewers_refused_total"] == 5
    assert read["plegscope_viewers_dropped_total"] == 6
    assert read["plegscope_viewers_lagging_total"] == 7
    assert read["plegscope_viewer_records_skipped_total"] == 8
    assert read["plegscope_viewer_records_lost_total"] == 9
    assert read["plegscope_viewer_bytes_total"] == 10
    assert read["plegscope_batches_total"] == 11
    assert read["plegscope_runtime_calls_total", "ListContainers"] == 12
    assert read["plegscope_runtime_calls_total", "GetContainerEvents"] == 13
    assert HOSTILE not in read.text
    assert read["plegscope_runtime_oldest_call_seconds"] == 3.5
    assert read["plegscope_runtime_bytes_total"] == 14
    assert read["plegscope_cpu_seconds_total"] == 1.5
    assert read["plegscope_resident_memory_bytes"] == 16


def test_the_recorders_cost_and_what_it_lost() -> None:
    recorder = RecorderFigures(well=True, size=17, cpu_seconds=0.5, waiting=3, lost=4)
    read = Read(figures=Figures(version="1", recording=recorder))
    assert read["plegscope_recorder_well"] == 1
    assert read["plegscope_recorder_bytes_total"] == 17
    assert read["plegscope_recorder_cpu_seconds_total"] == 0.5
    assert read["plegscope_recorder_waiting"] == 3
    assert read["plegscope_recorder_lost_total"] == 4
    sick = msgspec.structs.replace(recorder, well=False)
    assert Read(figures=Figures(version="1", recording=sick))["plegscope_recorder_well"] == 0


def test_where_nothing_is_recorded_only_that_is_told() -> None:
    read = Read(figures=Figures(version="1"))
    assert read["plegscope_recorder_well"] == 0
    assert "plegscope_recorder_bytes_total" not in read.text
