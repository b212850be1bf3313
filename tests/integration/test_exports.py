"""The demo's own journal, and a run of its stage, in every format over HTTP."""

from __future__ import annotations

import json
from collections.abc import Iterator

import httpx
import pytest

from app.values import EXPORTS
from tests.commands import demo, get, until
from tests.patience import PATIENCE_S


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with demo() as command:
        address = command.address()

        def found() -> list[object]:
            asked = {"kind": "lifecycle"}
            return list(get(f"{address}api/v1/records", params=asked).json()["records"])

        # There is something to take away: not yet when it has only begun.
        until(found, "a relist to find something")
        yield address


@pytest.mark.parametrize("name", EXPORTS)
def test_what_is_shown_can_be_taken_away(address: str, name: str) -> None:
    asked = {"format": name, "redact": "true"}
    answer = get(f"{address}api/v1/export", params=asked)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-disposition"].startswith("attachment")
    assert len(answer.content) > 500


def test_a_run_can_be_taken_away(address: str) -> None:
    asked = {"format": "jsonl", "scenario": "storm", "duration": "20s"}
    answer = get(f"{address}api/v1/run/export", params=asked)
    records = [json.loads(line) for line in answer.text.splitlines()]
    assert [one["seq"] for one in records] == list(range(1, len(records) + 1))
    assert any(one["kind"] == "lifecycle" for one in records)


def test_it_is_described_and_names_what_is_wrong(address: str) -> None:
    with httpx.Client(base_url=address, trust_env=False, timeout=PATIENCE_S) as web:
        described = web.get("api/v1/openapi.json").json()["paths"]
        assert {"/api/v1/export", "/api/v1/run/export"} <= set(described)
        wrong = web.get("api/v1/run/export?format=jsonl&scenario=nothing")
        assert wrong.status_code in (404, 422)
        assert wrong.json()["error"].endswith(".")
