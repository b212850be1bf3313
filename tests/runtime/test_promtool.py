"""/metrics read by Prometheus' own parser and linter (promtool of Debian's package).

It needs no runtime, but it has to be downloaded, so it is tested where containerd is.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from app.journal.journal import Journal
from app.metrics.metrics import Metrics
from app.metrics.own import Figures
from tests.engine.director import play
from tests.metrics.busy import busy

SUFFIXES = {
    "total": 'counter metrics should have "_total" suffix',
    "count": 'non-histogram and non-summary metrics should not have "_count" suffix',
}

#: What the linter says of the kubelet's own names, which are not plegscope's to improve.
KUBELETS_NAMES = {
    f"{name} {complaint}"
    for name, complaints in (
        ("kubelet_evented_pleg_connection_error_count", ("total", "count")),
        ("kubelet_evented_pleg_connection_success_count", ("total", "count")),
        ("kubelet_pleg_discard_events", ("total",)),
    )
    for complaint in map(SUFFIXES.__getitem__, complaints)
}

LINTED = 3
"""promtool's exit code for what could be read and has a name it does not like."""


def check(promtool: Path, text: str) -> tuple[int, list[str]]:
    """Exit code and complaints."""
    done = subprocess.run(
        [promtool, "check", "metrics"], input=text, capture_output=True, text=True, timeout=60
    )
    return done.returncode, done.stderr.splitlines()


def test_everything_is_read_and_only_the_kubelets_names_are_complained_of(promtool: Path) -> None:
    code, said = check(promtool, busy().render())
    assert set(said) == KUBELETS_NAMES
    assert len(said) == len(KUBELETS_NAMES)
    assert code == LINTED


@pytest.mark.parametrize("seed", range(3))
def test_whatever_was_played(promtool: Path, seed: int) -> None:
    stage = play(seed, 100).stage
    metrics = Metrics(stage.state, lambda: Figures(version="1.2.3"))
    journal = Journal()
    journal.subscribe(metrics.apply)
    for record in stage.records:
        journal.append(record)
    code, said = check(promtool, metrics.render())
    assert (code, set(said)) == (LINTED, KUBELETS_NAMES)


def test_promtool_would_notice(promtool: Path) -> None:
    text = busy().render()
    torn = text.replace('le="+Inf"} ', 'le="+Inf} ', 1)
    assert torn != text
    code, said = check(promtool, torn)
    assert code == 1
    assert "parsing error" in said[0]
    code, said = check(promtool, text.replace("plegscope_pods ", "plegscope_pods_total ", 1))
    assert code in (1, LINTED)
    assert set(said) != KUBELETS_NAMES
