"""Calls to the runtime under the kubelet's names."""

from __future__ import annotations

from app.cri.allowlist import ALLOWED
from app.histogram import CALL_BUCKETS, Histogram
from app.metrics.exposition import Exposition
from app.metrics.own import METHODS
from app.metrics.runtime import OPERATIONS, RuntimeCalls, write_operations
from tests.build import HOSTILE
from tests.metrics.scrape import Scrape, types


def took(*seconds: float, failed: int = 0) -> RuntimeCalls:
    histogram = Histogram(CALL_BUCKETS)
    for value in seconds:
        histogram.observe(value)
    return RuntimeCalls(len(seconds), failed, histogram)


def read(**calls: RuntimeCalls) -> Scrape:
    out = Exposition()
    write_operations(out, calls)
    return Scrape(out.text())


def test_names_and_types_are_exact() -> None:
    assert types(read().text) == {
        "kubelet_runtime_operations_total": "counter",
        "kubelet_runtime_operations_errors_total": "counter",
        "kubelet_runtime_operations_duration_seconds": "histogram",
    }


def test_operations_have_the_kubelets_words() -> None:
    every = read(**dict.fromkeys(OPERATIONS, took(1.0)))
    name = "kubelet_runtime_operations_total"
    assert {key[1] for key in every.samples if key[0] == name} == {
        "version",
        "status",
        "list_podsandbox",
        "podsandbox_status",
        "list_containers",
        "container_status",
    }


def test_every_call_that_may_be_made_can_be_shown() -> None:
    assert set(METHODS) >= {path.rpartition("/")[2] for path in ALLOWED} - {
        "StreamPodSandboxes",
        "StreamContainers",
    }


def test_calls_errors_and_durations_of_each() -> None:
    shown = read(
        ListContainers=took(0.004, 0.2, 900.0, failed=1), Version=took(0.001), Status=took()
    )
    total = "kubelet_runtime_operations_total"
    assert shown[total, "list_containers"] == 3
    assert shown[total, "version"] == 1
    assert shown["kubelet_runtime_operations_errors_total", "list_containers"] == 1
    name = "kubelet_runtime_operations_duration_seconds"
    assert shown[f"{name}_count", "list_containers"] == 3
    assert shown[f"{name}_bucket", "list_containers", "0.005"] == 1
    assert shown[f"{name}_bucket", "list_containers", "0.1953125"] == 1
    assert shown[f"{name}_bucket", "list_containers", "0.48828125"] == 2
    assert shown[f"{name}_bucket", "list_containers", "+Inf"] == 3


def test_what_was_never_called_or_never_failed_has_no_series() -> None:
    shown = read(Version=took(0.001), Status=took())
    operations = {key[1] for key in shown.samples if len(key) > 1}
    assert operations == {"version"}
    assert not [key for key in shown.samples if "errors" in key[0]]


def test_streams_and_strange_names_are_not_shown() -> None:
    shown = read(**{"GetContainerEvents": took(50.0), HOSTILE: took(1.0)})
    assert shown.samples == {}
    assert "script" not in shown.text
