"""What is shown of several files: what each node is called."""

from __future__ import annotations

from pathlib import Path

from app.replaying.show import Show
from tests.recording.recorded import record_scenario


def test_two_seeds_of_one_scenario_are_told_apart_by_short_names(tmp_path: Path) -> None:
    paths = [tmp_path / f"{seed}.mcap" for seed in (1, 2)]
    for seed, path in enumerate(paths, 1):
        record_scenario(path, "churn", seconds=2, seed=seed)
    names = [node.name for node in Show(paths).nodes]
    assert names == ["churn, seed 1", "churn, seed 2"]
