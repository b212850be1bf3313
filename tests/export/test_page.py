"""The exported page: its records are in it, its policy lets nothing else in."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from html.parser import HTMLParser
from typing import Any

import msgspec
import pytest

from app.engine.records import Gap, Record, RuntimeHung
from app.export import page as module
from app.export.page import page
from app.journal.rebuild import StateBuilder
from tests.build import SECOND, WALL, note
from tests.export.made import hostile, kept, numbered, played, story


class Elements(HTMLParser):
    """Scripts, styles, and whatever would load something."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.scripts: dict[str, str] = {}
        self.styles: list[str] = []
        self.loads: list[str] = []
        self.policy = ""
        self._in: tuple[str, str] | None = None
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        assert not any(name.startswith("on") or name == "style" for name in given)
        if tag in ("script", "style"):
            self._in = (tag, given.get("id") or given.get("type") or "first")
        if given.get("http-equiv"):
            self.policy = given["content"] or ""
        self.loads += [
            value or "" for name, value in attrs if name in ("src", "href", "action", "hx-get")
        ]

    def handle_endtag(self, tag: str) -> None:
        self._in = None

    def handle_data(self, data: str) -> None:
        if self._in and self._in[0] == "style":
            self.styles.append(data)
        elif self._in:
            self.scripts[self._in[1]] = self.scripts.get(self._in[1], "") + data


def made(*records: Record, missing: list[str] | None = None, title: str = "A test") -> str:
    source = kept(*records)
    source.missing = missing or []
    source.title = title
    return b"".join(page(source)).decode()


def data(text: str) -> dict[str, Any]:
    packed = Elements(text).scripts["data"]
    told: dict[str, Any] = json.loads(gzip.decompress(base64.b64decode(packed, validate=True)))
    return told


def test_all_records_are_in_it_as_they_were() -> None:
    records = played()[1]
    told = data(made(*records))
    assert told["records"] == json.loads(msgspec.json.encode(records))
    assert told["run"]["duration_ns"] == max(one.t for one in records)


def test_the_changes_lead_to_the_state_that_the_records_tell() -> None:
    records = played()[1]
    told = data(made(*records))
    state = told["state"]["engine"]
    for _seq, fields in told["changes"]:
        for name, value in fields.items():
            field, _dot, key = name.partition(".")
            if key:
                state[field][key] = value
            else:
                state[field] = value
    builder = StateBuilder()
    for record in records:
        builder.apply(record)
    wanted = msgspec.to_builtins(builder.state(records[-1].t))
    assert {**state, "t": 0} == {**wanted, "t": 0}


@pytest.mark.parametrize("since_t", [None, 40 * SECOND])
def test_a_call_that_hangs_is_told_while_it_does(since_t: int | None) -> None:
    records = played("frozen-runtime", 60)[1]
    begins, _answers = (one for one in records if isinstance(one, RuntimeHung))
    told = data(b"".join(page(kept(*records), since_t)).decode())
    zero = 0 if since_t is None else next(one.t for one in records if one.t >= since_t)
    call = {"method": "ListPodSandbox", "since_t": begins.t - begins.age_ns - zero, "hung": True}
    at = {one["seq"]: one for one in told["records"]}
    changes = [(at[seq], fields["oldest_call"]) for seq, fields in told["changes"]
               if "oldest_call" in fields]  # fmt: skip
    *hangs, (end, none) = changes
    assert (end["kind"], none) == ("relist_finished", None)
    # A part that begins in the midst of it says so from its beginning.
    found = [(one["kind"], one["t"], oldest) for one, oldest in hangs]
    whole = since_t is None
    assert found == ([("runtime_hung", begins.t, call)] if whole else [])
    assert told["state"]["oldest_call"] == (None if whole else call)


def test_the_policy_names_the_digest_of_each_script_and_style_and_nothing_else() -> None:
    found = Elements(made(*story()))

    def digest(text: str) -> str:
        return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"

    policy = dict(part.strip().split(" ", 1) for part in found.policy.split(";"))
    assert policy == {
        "default-src": "'none'",
        "script-src": f"{digest(found.scripts['first'])} {digest(found.scripts['module'])}",
        "style-src": " ".join(map(digest, found.styles)),
        "img-src": "data:",
        "base-uri": "'none'",
        "form-action": "'none'",
    }


def test_nothing_is_loaded_and_nothing_leads_anywhere() -> None:
    for link in Elements(made(*story())).loads:
        assert link.startswith(("#", "data:image/svg+xml;base64,")), link


def test_no_name_can_be_markup() -> None:
    plain, evil = made(*story()), made(*hostile(), title='"><script>alert(1)</script>\u202e')
    assert "alert(1)" not in "".join(Elements(evil).scripts.values())
    assert "\u202e" not in evil
    assert evil.count("<script") == plain.count("<script") == 3
    assert "/C calc" not in evil
    assert any("/C calc" in json.dumps(one) for one in data(evil)["records"])


def test_a_session_that_was_recorded_later_begins_at_0(monkeypatch: pytest.MonkeyPatch) -> None:
    hour = 3600 * SECOND
    late = [
        msgspec.structs.replace(one, t=one.t + hour, wall=one.wall + hour, stop_t=hour + SECOND)
        if hasattr(one, "stop_t")
        else msgspec.structs.replace(one, t=one.t + hour, wall=one.wall + hour)
        for one in story()
    ]
    told = data(made(*late))
    assert told["records"][0]["t"] == 0
    assert told["state"]["wall"] == WALL + hour
    assert told["run"]["duration_ns"] == 3 * SECOND
    (found,) = [one for one in told["records"] if one["kind"] == "lifecycle"]
    assert (found["t"], found["stop_t"]) == (SECOND + 4_000_000, SECOND)


def test_what_does_not_fit_is_a_gap_and_the_node_is_known_nevertheless(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    records = played()[1]
    monkeypatch.setattr(module, "MOST_RECORDS", 100)
    told = data(made(*records))
    kinds = [one["kind"] for one in told["records"]]
    assert [one["seq"] for one in told["records"]] == list(range(1, len(kinds) + 1))
    (gap,) = [one for one in told["records"] if one["kind"] == "gap"]
    assert gap["count"] == len(records) - 100
    before = told["records"][: gap["seq"] - 1]
    assert sum(one["kind"] == "pod_seen" for one in before) >= 20
    assert all(one["t"] == 0 for one in before)
    builder = StateBuilder()
    for record in records[:-100]:
        builder.apply(record)
    assert told["state"]["engine"]["pods"] == builder.state(0).pods == 20


def test_heavy_texts_are_bounded_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_WEIGHT", 1000)
    told = data(made(*numbered(*(note(t, "x" * 300) for t in range(10)))))
    assert sum(one["kind"] == "note" for one in told["records"]) == 3
    assert any(one["kind"] == str(Gap.__struct_config__.tag) for one in told["records"])


def test_what_is_missing_is_told_in_it() -> None:
    last = data(made(*story(), missing=["3 lines could not be read."]))["records"][-1]
    assert (last["kind"], last["level"], last["text"]) == (
        "note",
        "warning",
        "3 lines could not be read.",
    )


def test_times_never_go_back_in_it() -> None:
    told = data(made(*numbered(note(5), note(3), note(9))))
    assert [one["t"] for one in told["records"]] == [0, 0, 4]


def test_it_can_be_read_without_scripts() -> None:
    assert re.search(r"<noscript>.*gzipped, in Base64", made(*story()), re.DOTALL)
