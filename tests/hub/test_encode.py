"""JSON of messages: one text for all, hostile text harmless, broken text replaced."""

from __future__ import annotations

import json

import msgspec
import pytest

from app.engine.records import AnyRecord
from app.hub.encode import encode, frame
from app.hub.wire import Batch, Bye, State
from tests.build import HOSTILE, chain, note, pod_cached, pod_seen, session_state


def batch(*records: AnyRecord) -> Batch:
    return Batch(1, len(records), records)


def test_a_frame_knows_its_size_in_bytes_and_its_newest_record() -> None:
    made = frame(Bye("größer"), last=7)
    assert made.size == len(made.text.encode()) > len(made.text)
    assert made.last == 7


def test_messages_carry_their_type_and_records_their_kind() -> None:
    message = json.loads(frame(batch(pod_seen(), note())).text)
    assert message["type"] == "batch"
    assert [record["kind"] for record in message["records"]] == ["pod_seen", "note"]


def test_what_is_sent_can_be_read_back_as_the_same_structs() -> None:
    sent = batch(pod_seen(), pod_cached("u1"), *chain(1, 0))  # type: ignore[arg-type] # all are records
    assert msgspec.json.decode(encode(sent), type=Batch) == sent


def test_hostile_names_stay_inside_their_string() -> None:
    text = frame(batch(pod_seen(name=HOSTILE))).text
    assert json.loads(text)["records"][0]["name"] == HOSTILE
    assert "\n" not in text
    assert "\x00" not in text


@pytest.mark.parametrize("name", ["\ud800", "a\udcffb", "\udcc3\udca9"])
def test_text_that_is_not_unicode_costs_its_own_letters_only(name: str) -> None:
    message = json.loads(frame(batch(note(text="fine"), pod_seen(name=name))).text)
    assert message["records"][0]["text"] == "fine"
    assert message["records"][1]["name"] == "".join(
        "?" if 0xD800 <= ord(letter) <= 0xDFFF else letter for letter in name
    )
    assert message["records"][1]["kind"] == "pod_seen"


def test_a_title_that_is_not_unicode_does_not_end_the_header() -> None:
    assert json.loads(frame(State(session_state(title="x\ud800"))).text)["state"]["title"] == "x?"
