"""CSV: every event and relist a row, and no cell that a spreadsheet would run."""

from __future__ import annotations

import csv
import io

import msgspec
import pytest

from app.engine.records import Lifecycle, RelistFinished
from app.export.tables import LIFECYCLE, RELISTS, lifecycle, relists
from tests.build import died, relist_finished
from tests.export.made import hostile, kept, numbered, played, story


def rows(*records: object, table: object = lifecycle) -> list[dict[str, str]]:
    text = b"".join(table(kept(*records))).decode()  # type: ignore[operator, arg-type]
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_a_lifecycle_event_is_a_row_with_its_latencies() -> None:
    (row,) = rows(*story())
    assert (row["pod"], row["namespace"], row["container"]) == ("web-1", "shop", "app")
    assert (row["type"], row["after_stop_event_ns"], row["stop_event"]) == (
        "ContainerDied",
        "4000000",
        "1",
    )
    assert row["time"] == "2026-09-21T14:13:21.004000000Z"
    assert row["finished_at"] == row["exit_code"] == ""


def test_all_events_and_relists_of_a_run_are_there() -> None:
    records = played()[1]
    events = [one for one in records if isinstance(one, Lifecycle)]
    found = rows(*records)
    assert [row["seq"] for row in found] == [str(one.seq) for one in events]
    assert all(row["pod"] and row["namespace"] for row in found)
    ended = [one for one in records if isinstance(one, RelistFinished)]
    told = rows(*records, table=relists)
    assert [int(row["duration_ns"]) for row in told] == [one.duration_ns for one in ended]


@pytest.mark.parametrize(
    "text", ["=1+1", "+1", "-1", "@x", "\t=1", " =1", "\n=1", "\uff1d1", "\r+1", "\x00=1"]
)
def test_no_cell_is_a_formula(text: str) -> None:
    record = msgspec.structs.replace(died(), reason=text, container_name=text)
    (row,) = rows(*numbered(record))
    assert row["reason"].startswith("'")
    assert row["container"].startswith("'")


def test_hostile_names_stay_in_their_cells() -> None:
    (row,) = rows(*hostile())
    assert row["pod"].startswith("'=")
    assert row["namespace"] == "'@x"
    assert row["reason"] == "'+1+1"
    assert set(row) == set(LIFECYCLE)
    assert "\x00" not in row["pod"]
    assert "\u202e" not in row["pod"]


def test_a_relist_that_failed_says_why() -> None:
    record = msgspec.structs.replace(relist_finished(ok=False), error='no "runtime",\nat all')
    (row,) = rows(*numbered(record), table=relists)
    assert (row["ok"], row["error"]) == ("false", 'no "runtime",\nat all')


def test_a_journal_without_any_is_a_table_without_rows() -> None:
    assert b"".join(lifecycle(kept())).decode().split(",")[:3] == list(LIFECYCLE[:3])
    assert b"".join(relists(kept())).decode().strip().split(",") == list(RELISTS)
