"""The kubelet's PLEG metrics with their exact names, types and buckets, as the shadow has them.

Sources: kubelet ``pkg/kubelet/metrics/metrics.go``, and KEP-3386 (Metrics) for
``kubelet_pleg_events_total``. All are there from the start, as in the kubelet, which registers
them whatever its feature gates say. Where the shadow must differ, the help text says so.

Not among them is ``kubelet_terminated_containers_total`` (1.36): it is the status manager's and no
PLEG's, it tells init containers from others, which no runtime does, and its label ``reason`` is
whatever the runtime says.
"""

from typing import get_args

from app.engine.model import PLEG_STATE, RelistSource
from app.engine.records import (
    ContainerEventSeen,
    Lifecycle,
    Record,
    RelistFinished,
    RelistStarted,
    RunningMoved,
)
from app.engine.state import EngineState
from app.histogram import Histogram
from app.metrics.exposition import Exposition

SHADOW = "plegscope's shadow, not the kubelet: "

SOURCES: tuple[str, ...] = get_args(RelistSource)

CONTAINER_STATES: frozenset[str] = frozenset(PLEG_STATE) - {"ready", "notready"}
"""The words that a container's state may have in a label."""


class KubeletMetrics:
    """Takes records from the journal, adds the engine's state, writes the kubelet's families."""

    def __init__(self) -> None:
        self._relist = Histogram()
        self._interval = Histogram()
        self._pod_relist = Histogram()
        self._latency = Histogram()
        self._discarded = 0
        self._running_pods = 0
        self._running_containers: dict[str, int] = {}
        self._last_good_start: int | None = None

    def apply(self, record: Record) -> None:
        """Take one record into account."""
        match record:
            case RelistStarted(scope="global"):
                if self._last_good_start is not None:
                    self._interval.observe_ns(record.t - self._last_good_start)
            case RelistFinished(scope="global"):
                self._relist.observe_ns(record.duration_ns)
                if record.ok:
                    self._last_good_start = record.started
                self._count_running(record)
            case RelistFinished():
                self._pod_relist.observe_ns(record.duration_ns)
            case Lifecycle(delivery="discarded"):
                self._discarded += 1
            case ContainerEventSeen(latency_ns=int(latency)):
                self._latency.observe_ns(latency)
            case RunningMoved():
                self._running_pods += record.running_pods
                for state, change in record.containers_by_state.items():
                    now = self._running_containers.get(state, 0)
                    self._running_containers[state] = now + change
            case _:
                pass

    def _count_running(self, record: RelistFinished) -> None:
        if record.running_pods is not None:
            self._running_pods = record.running_pods
        # Only states that a listing shows are set: an absent one keeps its old value, as there.
        self._running_containers.update(record.containers_by_state or {})

    def write(self, out: Exposition, state: EngineState) -> None:
        """Add the families."""
        self._write_relists(out, state)
        self._write_stream(out, state)
        self._write_running(out)

    def _write_relists(self, out: Exposition, state: EngineState) -> None:
        out.histogram(
            "kubelet_pleg_relist_duration_seconds",
            SHADOW + "how long a global relist took, failed ones included. One that hangs is not "
            "there before it ends.",
            self._relist,
        )
        out.histogram(
            "kubelet_pleg_relist_interval_seconds",
            SHADOW + "from the start of the last global relist whose list succeeded to the start "
            "of the next. On a slow runtime the shadow pauses longer than the kubelet.",
            self._interval,
        )
        out.histogram(
            "kubelet_pleg_pod_relist_duration_seconds",
            SHADOW + "how long a targeted relist of one pod took, failed ones included.",
            self._pod_relist,
        )
        out.counter(
            "kubelet_pleg_discard_events",
            SHADOW + "lifecycle events discarded because the event channel was full. In the "
            "shadow somebody always takes them, unless its channel was given a size.",
            self._discarded,
        )
        out.gauge(
            "kubelet_pleg_last_seen_seconds",
            SHADOW + "Unix time of the relist that the health check last looked at; 0 before. "
            "The check is asked once a second, and the gauge moves only then, as in the kubelet.",
            state.health.last_seen or 0,
        )
        out.counter(
            "kubelet_pleg_events_total",
            SHADOW + "lifecycle events generated, sent or discarded, by the source that asked for "
            "the relist which found them (KEP-3386). ContainerChanged, which never leaves PLEG, "
            "does not count.",
            [({"relist_source": source}, state.events.get(source, 0)) for source in SOURCES],
        )

    def _write_stream(self, out: Exposition, state: EngineState) -> None:
        out.counter(
            "kubelet_evented_pleg_connection_error_count",
            SHADOW + "times that the container event stream ended or could not be opened. A "
            "planned renewal is none; the kubelet's stream is never renewed.",
            state.stream_events.get("errors", 0),
        )
        out.counter(
            "kubelet_evented_pleg_connection_success_count",
            SHADOW + "times that a container event stream was obtained from the runtime, which "
            "proves nothing yet: gRPC opens it before the runtime has answered. Renewals do not "
            "count.",
            state.stream_events.get("opened", 0),
        )
        out.histogram(
            "kubelet_evented_pleg_connection_latency_seconds",
            SHADOW + "from the runtime's created_at to the receipt of a valid event of any type. "
            "Events that are older than the subscription, or whose time is not set or lies in the "
            "future, are left out; the kubelet counts those too.",
            self._latency,
        )

    def _write_running(self, out: Exposition) -> None:
        out.gauge(
            "kubelet_running_pods",
            SHADOW + "pods with a running sandbox at the last global relist.",
            self._running_pods,
        )
        out.gauge(
            "kubelet_running_containers",
            SHADOW + "containers by state at the last global relist that showed the state; a state "
            "that is no longer listed keeps its value, as in the kubelet.",
            [
                ({"container_state": name}, count)
                for name, count in sorted(self._running_containers.items())
                if name in CONTAINER_STATES
            ],
        )
