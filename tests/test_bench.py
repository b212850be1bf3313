"""What ``make bench`` runs, in small and without a runtime: it must not rot between two benches."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable

import pytest

from app.journal.marks import mark_of
from tests.bench import fanout, frames, latency, stepping
from tests.bench.__main__ import MEASURES, main
from tests.bench.marking import history
from tests.bench.node import Node
from tests.bench.processes import cpu_ns
from tests.bench.report import Section, machine, median, percentile, verdict
from tests.bench.viewing import Viewers, walls
from tests.lab.errors import LabUnavailable


def test_percentiles_are_values_that_were_seen() -> None:
    values = [5.0, 1.0, 4.0, 2.0, 3.0]
    assert [percentile(values, percent) for percent in (0, 20, 21, 50, 99, 100)] == [
        1.0, 1.0, 2.0, 3.0, 5.0, 5.0,
    ]  # fmt: skip
    assert median(values) == 3.0


def test_a_section_prints_figure_target_and_verdict() -> None:
    section = Section("(x) something", note="How.")
    section.at_most("cost", 1.5, 2, "x")
    section.at_most("time", 30.04, 25, "ms", 1)
    section.at_least("sooner", 50, 50, "x")
    section.add("by the way", "7")
    lines = [" ".join(line.split()) for line in section.text().splitlines()]
    assert lines == [
        "(x) something",
        "-------------",
        "How.",
        "cost 1.50 x at most 2 x met",
        "time 30.0 ms at most 25 ms MISSED",
        "sooner 50 x at least 50 x met",
        "by the way 7",
    ]
    assert verdict([section]) == "2 of 3 targets met; missed: time"
    assert verdict([Section("empty")]) == "0 of 0 targets met"


def test_the_machine_is_named_in_a_line() -> None:
    assert "Python 3." in machine()
    assert "\n" not in machine()


def test_cpu_of_another_process_counts_up_by_nanoseconds() -> None:
    burn = "import sys\nfor line in sys.stdin:\n sum(range(200_000)); print('done', flush=True)"
    with subprocess.Popen(
        [sys.executable, "-c", burn], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        used = []
        for _ in range(3):
            print("go", file=process.stdin, flush=True)
            assert process.stdout.readline() == "done\n"
            used.append(cpu_ns(process.pid))
        process.stdin.close()
    assert used[0] < used[1] < used[2]
    assert any(value % 1000 for value in used)


def test_the_engine_is_measured_at_each_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stepping, "SIZES", (2, 4))
    monkeypatch.setattr(stepping, "ROUNDS", 3)
    text = stepping.measure().text()
    assert "2 containers: step to parse" in text
    assert "growth from 2 to 4: step" in text


def test_viewers_are_counted_and_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fanout, "COUNTS", (1, 2, 3))
    monkeypatch.setattr(fanout, "WINDOW_S", 1.0)
    section = fanout.measure()
    late = {row.what: float(row.figure.split()[0]) for row in section.rows if "p50" in row.what}
    assert len(late) == 3
    assert all(0 < value < 10_000 for value in late.values())


def batch(first: int, last: int, wall: int) -> str:
    records = [{"seq": seq, "wall": wall} for seq in range(first, last + 1)]
    return json.dumps({"type": "batch", "first": first, "last": last, "records": records})


def test_a_viewers_frames_tell_how_late_and_what_was_lost() -> None:
    viewers = Viewers("http://127.0.0.1:1/", 2)
    viewers.frames[0] = [(2_000_000, batch(1, 2, 1_000_000)), (3_000_000, '{"type":"state"}')]
    viewers.frames[1] = [(4_000_000, batch(1, 2, 1_000_000)), (9_000_000, batch(5, 5, 8_000_000))]
    assert viewers.findings() == {"late_ms": [1.0, 1.0, 3.0, 3.0, 1.0], "lost": 2}
    assert walls('{"type":"state"}') == (0, 0, [])


def died(wall: int, after: int | None) -> dict[str, int | None]:
    return {"wall": wall, "after_ns": after, "since_finished_ns": wall}


def test_the_same_kills_by_stream_and_by_polling_are_compared() -> None:
    section = Section("(b)")
    milli = 1_000_000
    told = {"x": died(4 * milli, 2 * milli), "y": died(4 * milli, None)}
    polled = {"x": died(400 * milli, None), "y": died(800 * milli, None)}
    latency.compare(section, told, polled, {"x": 0, "y": 0})
    figures = {row.what: row.figure for row in section.rows}
    assert figures["event received to ContainerDied recorded: p99"] == "2.00 ms"
    assert figures["detection sooner with the stream"] == "150 x"
    assert "1 were found by a poll before their event came." in section.note


def test_an_hour_for_the_frames_has_the_marks_that_were_asked_for() -> None:
    records = list(history(lanes=20, marks=4000))
    assert [record.t for record in records] == sorted(record.t for record in records)
    found = Counter(mark_of(record) for record in records)
    marks = sum(found[kind] for kind in ("stop", "asked", "dropped", "relist", "req_end"))
    assert 3000 < marks < 4500
    assert found["global"] == 3600
    assert 0 < found["poll_end"] < found["req_end"] / 10
    assert len({getattr(record, "uid", None) for record in records}) == 21


def test_only_what_was_promised_of_frames_has_a_target() -> None:
    times = {"median": 16.7, "p95": 40.0, "max": 50.0}
    found = {"between": times, "within": times, "cpu": [4.0, 6.0], "frames": 200}
    section = Section("(j)")
    frames.told(section, 5, 1000, dict.fromkeys(("pan", "zoom", "scroll"), found))
    assert {row.met for row in section.rows} == {None}
    frames.told(section, *frames.TARGET, dict.fromkeys(("pan", "zoom", "scroll"), found))
    assert [row.what for row in section.rows if row.met is False] == [
        "500 lanes, 100,000 marks, pan: frame, 95 of 100",
        "500 lanes, 100,000 marks, zoom: frame, 95 of 100",
    ]


# ---------------------------------------------------------------------------- the command line


def unavailable(*_: object) -> Section:
    raise LabUnavailable("real containerd needs root. Run `sudo make test`.")


def shown(letter: str) -> Callable[[Node], Section]:
    return lambda _node: Section(f"({letter}) title")


def test_only_what_was_chosen_is_measured(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for letter in MEASURES:
        monkeypatch.setitem(MEASURES, letter, shown(letter))
    assert main(["--only", "e, b"]) == 0
    printed = capsys.readouterr().out
    assert [line for line in printed.splitlines() if "title" in line] == ["(b) title", "(e) title"]
    with pytest.raises(SystemExit):
        main(["--only", "z"])
    assert "choose from a, b, c, d, e" in capsys.readouterr().err


def test_without_a_runtime_the_rest_is_measured_and_a_sentence_says_why(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setitem(MEASURES, "e", shown("e"))
    assert main(["--only", "a,b,d,e"]) == 0
    printed = capsys.readouterr().out
    for letter in "abd":
        assert f"({letter}) left out: real containerd needs root." in printed
    assert "(e) title" in printed
