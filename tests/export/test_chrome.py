"""The JSON trace: slices, names, arrows, and times that are exact."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import Any

from app.export.chrome import trace
from tests.build import SECOND, pod_seen
from tests.export.made import hostile, kept, numbered, played, story


def events(*records: Any) -> list[dict[str, Any]]:
    told = json.loads(b"".join(trace(kept(*records))))
    assert told["otherData"]["title"] == "A test"
    found: list[dict[str, Any]] = told["traceEvents"]
    return found


def test_a_stop_is_a_slice_of_a_nanosecond_on_its_containers_thread() -> None:
    found = events(*story())
    threads = {
        (one["pid"], one["tid"]): one["args"]["name"]
        for one in found
        if one["name"] == "thread_name"
    }
    stop = next(one for one in found if one["name"] == "stopped event")
    assert threads[stop["pid"], stop["tid"]] == "app c1"
    assert (stop["ph"], stop["ts"], stop["dur"]) == ("X", 1_000_000.0, 0.001)
    process = next(one for one in found if one["name"] == "process_name" and one["pid"] > 1)
    assert (process["pid"], process["args"]["name"]) == (stop["pid"], "shop/web-1")


def test_each_arrow_begins_once_and_lies_on_a_slice() -> None:
    found = events(*played()[1])
    slices = {(one["pid"], one["tid"], one["ts"]) for one in found if one["ph"] == "X"}
    begun: dict[int, int] = defaultdict(int)
    for one in found:
        if one["ph"] in "st":
            assert (one["pid"], one["tid"], one["ts"]) in slices
            begun[one["id"]] += one["ph"] == "s"
    assert len(begun) > 10
    assert set(begun.values()) == {1}


def test_slices_of_a_thread_nest() -> None:
    """What overlaps without lying inside is drawn wrongly by every viewer."""
    by_thread = defaultdict(list)
    for one in events(*played("storm")[1]):
        if one["ph"] == "X":
            by_thread[one["pid"], one["tid"]].append((one["ts"], one["ts"] + one["dur"]))
    for spans in by_thread.values():
        stack: list[float] = []
        for start, end in sorted(spans, key=lambda span: (span[0], -span[1])):
            while stack and stack[-1] <= start + 1e-6:
                stack.pop()
            assert not stack or end <= stack[-1] + 1e-6
            stack.append(end)


def test_hostile_names_are_only_text() -> None:
    found = events(*hostile())
    assert any("</script>" in str(one["args"]) for one in found if "args" in one)


def test_a_nanosecond_is_kept_after_a_hundred_days() -> None:
    t = 100 * 86_400 * SECOND + 123_456_789
    seen = next(one for one in events(*numbered(pod_seen(t=t))) if one["name"] == "pod seen")
    assert round(seen["ts"] * 1000) == t


def test_nothing_at_all_is_still_a_trace() -> None:
    assert events() == []
