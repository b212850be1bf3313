"""What a recording holds: every input and record there is, with schemas that say so."""

from __future__ import annotations

import json
from typing import Any, get_args

import msgspec
import pytest

from app.engine import inputs, records
from app.engine.inputs import Input, PodsListed
from app.engine.records import AnyRecord, Record
from app.recording import format as words
from app.recording.format import AnyInput, SessionInfo, StateThen
from app.recording.lists import Listed
from tests.recording.recorded import info


def kinds(module: object, base: type) -> set[type]:
    return {
        one
        for one in vars(module).values()
        if isinstance(one, type) and issubclass(one, base) and one is not base
    }


def test_every_input_of_the_engine_can_be_recorded() -> None:
    assert set(get_args(AnyInput)) == (kinds(inputs, Input) - {PodsListed}) | {Listed}
    tags = [one.__struct_config__.tag for one in get_args(AnyInput)]
    assert len(set(tags)) == len(tags)
    assert Listed.__struct_config__.tag == PodsListed.__struct_config__.tag


def test_every_record_can_be_recorded() -> None:
    assert set(get_args(AnyRecord)) == kinds(records, Record)


def test_every_field_of_an_input_survives_json() -> None:
    decoder = msgspec.json.Decoder(AnyInput)
    for kind in get_args(AnyInput):
        made = msgspec.convert(example(kind), kind)
        assert decoder.decode(msgspec.json.encode(made)) == made


def example(kind: type) -> dict[str, Any]:
    """Something in each field that must be given."""
    known: dict[str, Any] = {
        "policy": "join", "code": "eof", "source": "post_sync", "sandboxes": [], "containers": [],
        "event": {
            "type": "stopped", "container_id": "c", "created_at": 1, "has_sandbox_status": True,
            "has_metadata": True,
        },
    }  # fmt: skip
    fields = msgspec.structs.fields(kind)
    values = {
        one.name: known.get(one.name, 7 if one.type is int else "text")
        for one in fields
        if one.required
    }
    return {kind.__struct_config__.tag_field: kind.__struct_config__.tag, **values}  # type: ignore[attr-defined]


def test_topics_and_numbers_are_fixed() -> None:
    assert words.TOPICS == {
        1: "/plegscope/session",
        2: "/plegscope/inputs",
        3: "/plegscope/records",
        4: "/plegscope/stream",
        5: "/plegscope/notes",
        6: "/plegscope/opening",
        7: "/plegscope/losses",
        8: "/cri/events",
        9: "/plegscope/state",
        10: "/plegscope/answers",
        11: "/cri/sandboxes",
        12: "/cri/containers",
        13: "/cri/sandbox_status",
        14: "/cri/container_status",
    }
    assert words.FORMAT == 1


@pytest.mark.parametrize("kind", [SessionInfo, StateThen, AnyInput, AnyRecord])
def test_schemas_are_json_schema(kind: Any) -> None:
    schema = json.loads(msgspec.json.encode(msgspec.json.schema(kind)))
    assert schema["$defs"]
    text = json.dumps(schema)
    assert all(
        ref in schema["$defs"]
        for ref in (part.partition('"')[0] for part in text.split("#/$defs/")[1:])
    )


def test_a_session_says_its_format_first_whatever_else_it_says() -> None:
    raw = msgspec.json.encode(info())
    version = msgspec.json.decode(raw, type=words.Versions)
    assert (version.format, version.plegscope) == (words.FORMAT, info().plegscope)
