"""plegscope's own metrics: what the kubelet's do not tell, and what plegscope itself costs.

No label carries anything that grows with the node or comes from outside: no pod UID, no container
ID, no error text, no endpoint, and of a runtime's event types only the known ones.
"""

from collections.abc import Mapping
from typing import get_args

import msgspec

from app.engine.profiles import PROFILES
from app.engine.records import (
    Gap,
    Record,
    RelistFinished,
    RelistStarted,
    RequestMade,
    RequestMoved,
    StreamChanged,
    StreamState,
)
from app.engine.state import EngineState
from app.metrics.exposition import Exposition
from app.metrics.kubelet import SOURCES
from app.metrics.runtime import OPERATIONS, RuntimeCalls

OUTCOMES = (
    "queued", "held", "released", "executed", "skipped", "coalesced", "dropped", "cancelled",
)  # fmt: skip
EVENT_TYPES = ("created", "started", "stopped", "deleted", "unknown", "ignored")
STREAM_STATES: tuple[str, ...] = get_args(StreamState)
METHODS = (*OPERATIONS, "GetContainerEvents")
HOPS = ("stream", "journal", "viewer", "paused")


class RecorderFigures(msgspec.Struct, frozen=True, kw_only=True):
    """The recorder: whether all is well, what it has written, what it cost, what it lost."""

    well: bool
    size: int
    cpu_seconds: float
    waiting: int
    lost: int


class Figures(msgspec.Struct, frozen=True, kw_only=True):
    """Numbers that neither records nor the engine know, at the moment of a scrape.

    Counters count since the start. ``runtime_calls``: by CRI method name, as sent.
    """

    version: str
    records: int = 0
    """Records that the journal was given, and how many of them it no longer keeps."""
    records_forgotten: int = 0
    viewers: int = 0
    viewers_joined: int = 0
    viewers_refused: int = 0
    viewers_dropped: int = 0
    viewers_lagging: int = 0
    """Times that a viewer was too slow, records it was not sent, and those that it never got."""
    viewer_records_skipped: int = 0
    viewer_records_lost: int = 0
    viewer_bytes: int = 0
    batches: int = 0
    runtime_calls: Mapping[str, RuntimeCalls] = {}
    oldest_call_ns: int = 0
    """Age of the unary call that has waited longest; 0 when none waits."""
    runtime_bytes: int = 0
    cpu_seconds: float = 0.0
    rss_bytes: int = 0
    recording: RecorderFigures | None = None
    """None: nothing is recorded."""


class OwnMetrics:
    """Takes records from the journal, adds state and figures, writes the plegscope families."""

    def __init__(self) -> None:
        self._requests = {(source, outcome): 0 for source in SOURCES for outcome in OUTCOMES}
        self._executing: int | None = None
        """The request whose targeted relist runs."""
        self._connects = 0
        self._lost = dict.fromkeys(HOPS, 0)

    def apply(self, record: Record) -> None:
        """Take one record into account."""
        match record:
            case RequestMade() | RequestMoved():
                self._requests[record.source, record.outcome] += 1
                if record.request == self._executing:
                    # Its relist came to nothing: it was cancelled.
                    self._executing = None
            case RelistStarted(scope="pod"):
                self._executing = record.request
            case RelistFinished(scope="pod"):
                if self._executing == record.request and not record.withheld:
                    # One whose result was withheld goes on, and is told of what became of it.
                    self._requests[record.source, "executed"] += 1
                self._executing = None
            case StreamChanged(state="connecting"):
                self._connects += 1
            case Gap():
                self._lost[record.hop] += record.count
            case _:
                pass

    def write(self, out: Exposition, state: EngineState, figures: Figures) -> None:
        """Add the families."""
        self._write_pleg(out, state)
        self._write_stream(out, state)
        _write_figures(out, figures)
        _write_recorder(out, figures.recording)

    def _write_pleg(self, out: Exposition, state: EngineState) -> None:
        out.gauge(
            "plegscope_profile",
            "Which PLEG the shadow is: 1 for its profile.",
            [({"profile": name}, int(name == state.profile)) for name in PROFILES],
        )
        out.gauge(
            "plegscope_pleg_healthy",
            "Whether the shadow's PLEG health check passes. The kubelet has no such metric: it "
            "writes last_seen and leaves the judgement to whoever reads it.",
            int(state.health.healthy),
        )
        out.gauge(
            "plegscope_relist_period_seconds",
            "Pause between two global relists now in force, longer when the runtime is slow.",
            state.pace_ns / 1e9,
        )
        out.gauge("plegscope_pods", "Pods with a pod record.", state.pods)
        out.gauge("plegscope_containers", "Containers in pod records.", state.containers)
        out.counter(
            "plegscope_relist_requests_total",
            "Steps that requests for a relist of one pod went through, by who asked. Each request "
            "ends in exactly one of executed, skipped (a newer global relist covered it), "
            "coalesced, dropped (the queue was full) and cancelled; held and released are the "
            "begin and the end of its wait for SyncPod.",
            [
                ({"relist_source": source, "outcome": outcome}, count)
                for (source, outcome), count in self._requests.items()
            ],
        )
        out.gauge(
            "plegscope_relist_queue_length",
            "Relist requests that wait in the queue.",
            state.queue.length,
        )
        out.gauge(
            "plegscope_relist_queue_capacity",
            "Relist requests that the queue can hold.",
            state.queue.capacity,
        )
        out.gauge(
            "plegscope_relist_requests_held",
            "Relist requests that wait for their pod's SyncPod to return.",
            state.queue.held,
        )
        out.gauge(
            "plegscope_pods_suspended",
            "Pods whose relists are suspended by SyncPod.",
            state.queue.suspended,
        )

    def _write_stream(self, out: Exposition, state: EngineState) -> None:
        out.gauge(
            "plegscope_stream_state",
            "The container event stream: 1 for the state it is in. Whatever it is, polling "
            "finds every change.",
            [({"state": name}, int(name == state.stream.state)) for name in STREAM_STATES],
        )
        out.counter(
            "plegscope_stream_reconnect_attempts_total",
            "Tries to open the container event stream after the first one.",
            max(0, self._connects - 1),
        )
        out.counter(
            "plegscope_stream_events_total",
            "Events received from the container event stream; ignored ones could not be used.",
            [({"type": name}, state.stream_events.get(name, 0)) for name in EVENT_TYPES],
        )
        out.counter(
            "plegscope_stream_backlog_events_total",
            "Valid events that were older than the subscription.",
            state.stream_events.get("backlog", 0),
        )
        out.counter(
            "plegscope_lost_total",
            "What was lost on the way, by the hop that lost it; each loss is a gap in the picture.",
            [({"hop": hop}, count) for hop, count in self._lost.items()],
        )


def _write_figures(out: Exposition, figures: Figures) -> None:
    out.gauge(
        "plegscope_build_info",
        "Always 1; the version is a label.",
        [({"version": figures.version}, 1)],
    )
    for name, text, value in (
        ("journal_records", "Records written to the journal.", figures.records),
        (
            "journal_forgotten",
            "Records that the journal no longer keeps because newer ones took their place.",
            figures.records_forgotten,
        ),
        ("viewers_joined", "Browsers that have connected.", figures.viewers_joined),
        ("viewers_refused", "Browsers refused: too many.", figures.viewers_refused),
        ("viewers_dropped", "Browsers let go: they took nothing more.", figures.viewers_dropped),
        ("viewers_lagging", "Times that a browser was too slow.", figures.viewers_lagging),
        (
            "viewer_records_skipped",
            "Records that slow browsers were not sent one by one.",
            figures.viewer_records_skipped,
        ),
        (
            "viewer_records_lost",
            "Records that slow browsers never got, not even in a snapshot.",
            figures.viewer_records_lost,
        ),
        ("viewer_bytes", "Bytes sent to browsers.", figures.viewer_bytes),
        ("batches", "Batches of records encoded.", figures.batches),
        ("runtime_bytes", "Bytes received from the runtime.", figures.runtime_bytes),
        ("cpu_seconds", "CPU time that plegscope has used.", figures.cpu_seconds),
    ):
        out.counter(f"plegscope_{name}_total", text, value)
    out.gauge(
        "plegscope_runtime_oldest_call_seconds",
        "How long the oldest call that the runtime has not answered has waited; 0 when none waits. "
        "While a relist hangs, this grows and the relist's own metrics are silent.",
        figures.oldest_call_ns / 1e9,
    )
    out.gauge("plegscope_viewers", "Browsers connected now.", figures.viewers)
    out.gauge(
        "plegscope_resident_memory_bytes",
        "Memory that plegscope holds.",
        figures.rss_bytes,
    )
    out.counter(
        "plegscope_runtime_calls_total",
        "Calls made to the container runtime, by CRI method, subscriptions included.",
        [
            ({"method": method}, figures.runtime_calls[method].calls)
            for method in METHODS
            if method in figures.runtime_calls
        ],
    )


def _write_recorder(out: Exposition, recorder: RecorderFigures | None) -> None:
    out.gauge(
        "plegscope_recorder_well",
        "Whether what happens is being recorded: 0 when the recorder is in trouble, or off.",
        int(recorder is not None and recorder.well),
    )
    if recorder is None:
        return
    out.counter("plegscope_recorder_bytes_total", "Bytes written into recordings.", recorder.size)
    out.counter(
        "plegscope_recorder_cpu_seconds_total",
        "CPU time that the recorder has used; plegscope_cpu_seconds_total has it too.",
        recorder.cpu_seconds,
    )
    out.counter(
        "plegscope_recorder_lost_total",
        "Inputs, records and events that the recorder could not keep.",
        recorder.lost,
    )
    out.gauge(
        "plegscope_recorder_waiting",
        "Inputs, records and events that wait to be written.",
        recorder.waiting,
    )
