"""The whole of /metrics: valid, described, and free of what must not be in a label."""

from __future__ import annotations

from prometheus_client.parser import text_string_to_metric_families

from app.engine.records import EventIgnored, Note
from app.journal.journal import Journal
from app.metrics.metrics import Metrics
from app.metrics.own import Figures
from tests.build import HOSTILE, WALL, chain, engine_state, pod_seen, stop_event
from tests.metrics.scrape import types

FORBIDDEN = ("uid-4711", "container-4711", "unix:///run/x.sock", "<script>")
"""KEP-3386: no pod UID, container ID, error text or endpoint in labels."""


def busy() -> Metrics:
    metrics = Metrics(
        lambda: engine_state(stream_events={"unknown(77)": 3, HOSTILE: 1, "stopped": 1}),
        lambda: Figures(version="1", runtime_calls={"Version": 1}),
    )
    journal = Journal()
    journal.subscribe(metrics.apply)
    for record in (
        pod_seen("uid-4711", name=HOSTILE),
        stop_event(1, "uid-4711"),
        EventIgnored(
            t=0,
            wall=WALL,
            event=2,
            type=HOSTILE,
            container_id="container-4711",
            reason="missing_uid",
        ),
        Note(t=0, wall=WALL, level="warning", text="unix:///run/x.sock broke"),
        *chain(3, 0, "uid-4711"),
    ):
        journal.append(record)
    return metrics


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


def test_no_label_tells_names_errors_or_endpoints() -> None:
    text = busy().render()
    for word in FORBIDDEN:
        assert word not in text


def test_labels_stay_few_whatever_comes_in() -> None:
    assert len(busy().render().splitlines()) < 250


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
