"""The whole of /metrics: valid, described, and free of what must not be in a label."""

from __future__ import annotations

from prometheus_client.parser import text_string_to_metric_families

from app.histogram import CALL_BUCKETS, DEF_BUCKETS
from app.metrics.metrics import Metrics
from app.metrics.own import Figures
from tests.build import engine_state
from tests.metrics.busy import ENDPOINT, busy
from tests.metrics.scrape import Scrape, types

FORBIDDEN = ("4711", ENDPOINT, "<script>", "unknown(", "\x00", "\u202e")
"""KEP-3386: no pod UID, container ID, error text or endpoint in labels."""

SOURCES = {"post_sync", "post_allocation", "evented_pleg", "global"}
METHODS = {
    "Version": "version",
    "Status": "status",
    "ListPodSandbox": "list_podsandbox",
    "PodSandboxStatus": "podsandbox_status",
    "ListContainers": "list_containers",
    "ContainerStatus": "container_status",
}

#: Every label there is, and every value it may have: written out, so that a new one is looked at.
LABELS: dict[str, set[str]] = {
    "le": {f"{bound!r}".removesuffix(".0") for bound in (*DEF_BUCKETS, *CALL_BUCKETS)} | {"+Inf"},
    "relist_source": SOURCES,
    "container_state": {"created", "running", "exited", "unknown"},
    "operation_type": set(METHODS.values()),
    "method": {*METHODS, "GetContainerEvents"},
    "profile": {"kep", "generic", "polling", "1.37", "legacy"},
    "outcome": {
        *("queued", "held", "released", "executed", "skipped", "coalesced", "dropped"),
        "cancelled",
    },
    "state": {"off", "connecting", "connected", "waiting", "closed"},
    "type": {"created", "started", "stopped", "deleted", "unknown", "ignored"},
    "hop": {"stream", "journal", "viewer", "paused"},
    "version": {"1.2.3"},
}


def test_a_scraper_reads_every_line() -> None:
    text = busy().render()
    families = list(text_string_to_metric_families(text))
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    assert sum(len(family.samples) for family in families) == len(lines)
    assert text.endswith("\n")
    assert not [family.name for family in families if family.type == "unknown"]


def test_every_family_is_described_once_and_named_by_the_rules() -> None:
    text = busy().render()
    helps = [line.split()[2] for line in text.splitlines() if line.startswith("# HELP")]
    assert helps == list(types(text))
    assert len(set(helps)) == len(helps)
    for name, kind in types(text).items():
        assert name.startswith(("kubelet_", "plegscope_"))
        if name.startswith("plegscope_"):
            assert name.endswith("_total") == (kind == "counter"), name


def test_every_help_is_a_sentence_and_the_kubelets_names_say_whose_they_are() -> None:
    for line in busy().render().splitlines():
        if line.startswith("# HELP"):
            _, _, name, text = line.split(" ", 3)
            assert text.endswith("."), name
            assert ("not the kubelet" in text) == name.startswith("kubelet_"), name


def test_p30_no_label_tells_names_errors_or_endpoints() -> None:
    text = busy().render()
    for word in FORBIDDEN:
        assert word not in text
    seen: dict[str, set[str]] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            for label, value in sample.labels.items():
                seen.setdefault(label, set()).add(value)
    assert seen.keys() == LABELS.keys()
    for label, values in seen.items():
        assert values <= LABELS[label], label


def test_what_happened_is_there() -> None:
    """The session of the test above was no quiet one."""
    read = Scrape(busy().render())
    assert read["plegscope_stream_events_total", "unknown"] == 2
    assert read["plegscope_stream_events_total", "ignored"] == 1
    assert read["plegscope_stream_backlog_events_total"] == 1
    assert read["kubelet_pleg_events_total", "evented_pleg"] == 1
    assert read["kubelet_evented_pleg_connection_error_count"] == 2
    assert read["plegscope_relist_requests_total", "post_allocation", "coalesced"] == 1
    assert read["kubelet_running_containers", "exited"] == 1


def test_labels_stay_few_whatever_comes_in() -> None:
    assert len(busy().render().splitlines()) < 400


def test_each_scrape_shows_the_present() -> None:
    seen = [0]
    metrics = Metrics(
        lambda: engine_state(pods=seen[0]), lambda: Figures(version="1", viewers=seen[0])
    )
    assert "\nplegscope_pods 0\n" in metrics.render()
    seen[0] = 5
    text = metrics.render()
    assert "\nplegscope_pods 5\n" in text
    assert "\nplegscope_viewers 5\n" in text
