"""Metrics after a session in which everything happened, with names made to do harm."""

from __future__ import annotations

from app.histogram import CALL_BUCKETS, Histogram
from app.journal.journal import Journal
from app.metrics.metrics import Metrics
from app.metrics.own import METHODS, Figures
from app.metrics.runtime import RuntimeCalls
from tests.build import HOSTILE
from tests.engine.play import Stage, container_event

UID = f"uid-4711{HOSTILE}"
CONTAINER = f"container-4711{HOSTILE}"
ERROR = f"error-4711{HOSTILE}"
ENDPOINT = "unix:///run/x.sock"


def session() -> Stage:
    """A play with a pod of a hostile name, and every kind of trouble."""
    stage = Stage()
    stage.node.sandbox(UID, f"s-{CONTAINER}", "ready", "10.0.0.1")
    stage.node.container(UID, CONTAINER)
    stage.start()
    stage.relist()
    stage.run(0.2)
    stage.node.exit(UID, CONTAINER, 137, ERROR)
    stage.stopped(UID, CONTAINER)
    stage.event(container_event(UID, CONTAINER, HOSTILE))
    stage.event(container_event(UID, CONTAINER, "unknown(77)"))
    stage.event(container_event(UID, CONTAINER, "stopped", 5))
    stage.stopped("", CONTAINER)
    stage.run(0.2)
    stage.hold(UID)
    stage.ask(UID)
    stage.ask(UID, "post_allocation")
    stage.release(UID)
    stage.node.broken_list = ERROR
    stage.relist()
    stage.node.broken_list = ""
    stage.node.broken_pods[UID] = ERROR
    stage.mark(UID)
    stage.relist()
    stage.stream_ends("error", ERROR)
    stage.stream = "unimplemented"
    stage.run(2)
    return stage


def busy() -> Metrics:
    """All of /metrics after such a session."""
    stage = session()
    quick = Histogram(CALL_BUCKETS)
    quick.observe(0.003)
    calls = {method: RuntimeCalls(1, 1, quick) for method in (*METHODS, HOSTILE)}
    metrics = Metrics(stage.state, lambda: Figures(version="1.2.3", runtime_calls=calls))
    journal = Journal()
    journal.subscribe(metrics.apply)
    for record in stage.records:
        journal.append(record)
    return metrics
