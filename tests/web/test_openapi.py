"""The API's description is valid, complete, and true."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from fastapi.openapi.models import OpenAPI

from app.journal.query import KINDS
from app.web.api import ANSWERS
from tests.web.site import Site, standing

Document = dict[str, Any]


@pytest.fixture
async def document() -> Document:
    async with standing().client() as client:
        answer = await client.get("/api/v1/openapi.json")
    assert answer.status_code == 200
    made: Document = answer.json()
    return made


def references(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for key, item in value.items():
            if key == "$ref":
                yield str(item)
            elif key == "mapping":
                yield from item.values()
            else:
                yield from references(item)
    elif isinstance(value, list):
        for item in value:
            yield from references(item)


async def test_it_is_valid(document: Document) -> None:
    OpenAPI.model_validate(document)
    assert document["openapi"].startswith("3.1")
    assert document["info"]["title"] == "plegscope"


async def test_every_reference_leads_somewhere(document: Document) -> None:
    found = set(references(document))
    assert found
    for reference in found:
        name = reference.removeprefix("#/components/schemas/")
        assert name in document["components"]["schemas"], reference


async def test_it_lists_what_there_is_and_only_get(document: Document) -> None:
    assert set(document["paths"]) == {
        "/healthz",
        "/metrics",
        "/api/v1/state",
        "/api/v1/pods",
        "/api/v1/records",
        "/api/v1/bins",
    }
    assert all(list(methods) == ["get"] for methods in document["paths"].values())


async def test_every_operation_says_what_it_does_and_answers(document: Document) -> None:
    for path, methods in document["paths"].items():
        operation = methods["get"]
        assert operation["summary"]
        assert operation["description"]
        assert "200" in operation["responses"]
        for status, response in operation["responses"].items():
            assert response["description"], (path, status)
            assert all(kind["schema"] for kind in response["content"].values())


async def test_parameters_are_described_with_their_limits(document: Document) -> None:
    parameters = {p["name"]: p for p in document["paths"]["/api/v1/records"]["get"]["parameters"]}
    assert set(parameters) == {"since", "limit", "pod", "kind"}
    assert all(p["description"] and not p["required"] for p in parameters.values())
    assert parameters["limit"]["schema"]["maximum"] == 10_000
    assert all(kind in parameters["kind"]["description"] for kind in KINDS)


async def test_every_kind_of_record_has_a_schema(document: Document) -> None:
    schemas = document["components"]["schemas"]
    items = schemas["RecordsReport"]["properties"]["records"]["items"]
    assert set(items["discriminator"]["mapping"]) == set(KINDS)
    for reference in items["discriminator"]["mapping"].values():
        schema = schemas[reference.rsplit("/", 1)[1]]
        assert schema["description"]
        assert {"seq", "t", "wall", "kind"} <= set(schema["properties"])


async def test_names_need_a_token_and_the_description_says_so(document: Document) -> None:
    for path, methods in document["paths"].items():
        needs = path.startswith("/api/")
        assert ("security" in methods["get"]) is needs
        assert ("401" in methods["get"]["responses"]) is needs
    assert document["components"]["securitySchemes"]["token"]["scheme"] == "bearer"


async def test_nothing_is_loaded_from_elsewhere() -> None:
    async with standing().client() as client:
        for path in ("/docs", "/redoc", "/api/docs"):
            assert (await client.get(path)).status_code == 404
        text = (await client.get("/api/v1/openapi.json")).text
    assert "http://" not in text
    assert "https://" not in text


async def test_it_is_made_once() -> None:
    async with standing().client() as client:
        first = await client.get("/api/v1/openapi.json")
        second = await client.get("/api/v1/openapi.json")
    assert first.content == second.content


# Real answers against the description: a small reader of JSON Schema, enough for what msgspec
# writes (types, references, arrays, objects, unions, constants).


@pytest.mark.parametrize("path", sorted({path for path, status in ANSWERS if status == "200"}))
async def test_real_answers_are_as_described(path: str, document: Document) -> None:
    site = standing()
    fill(site)
    async with site.client() as client:
        answer = (await client.get(path)).json()
    schema = document["paths"][path]["get"]["responses"]["200"]["content"]["application/json"]
    assert fits(answer, schema["schema"], document)
    assert not fits({**answer, next(iter(answer)): object()}, schema["schema"], document)


async def test_a_refusal_is_as_described(document: Document) -> None:
    async with standing().client() as client:
        answer = (await client.get("/api/v1/records?limit=0")).json()
    responses = document["paths"]["/api/v1/records"]["get"]["responses"]
    assert fits(answer, responses["422"]["content"]["application/json"]["schema"], document)


def fill(site: Site) -> None:
    """One record of every kind, made of whatever its fields take."""
    for cls in KINDS.values():
        fields = {
            field.encode_name: sample(field.type)
            for field in msgspec.structs.fields(cls)
            if field.required
        }
        site.journal.append(msgspec.convert({**fields, "kind": cls.__struct_config__.tag}, cls))


def sample(kind: Any) -> object:
    """A value of a type as records have them."""
    info = msgspec.inspect.type_info(kind)
    match info:
        case msgspec.inspect.IntType():
            return 1
        case msgspec.inspect.StrType():
            return "x"
        case msgspec.inspect.BoolType():
            return True
        case msgspec.inspect.LiteralType(values=values):
            return values[0]
        case msgspec.inspect.DictType():
            return {}
        case msgspec.inspect.UnionType(types=types):
            return None if any(isinstance(t, msgspec.inspect.NoneType) for t in types) else 1
        case _:
            raise AssertionError(f"no sample for {info}")


def fits(value: object, schema: Document, document: Document) -> bool:
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[1]
        return fits(value, document["components"]["schemas"][name], document)
    if "anyOf" in schema:
        return any(fits(value, choice, document) for choice in schema["anyOf"])
    if "enum" in schema:
        return value in schema["enum"]
    match schema.get("type"):
        case "null":
            return value is None
        case "boolean":
            return isinstance(value, bool)
        case "integer":
            return isinstance(value, int) and not isinstance(value, bool)
        case "number":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case "string":
            return isinstance(value, str)
        case "array":
            items = schema.get("items", {})
            return isinstance(value, list) and all(fits(item, items, document) for item in value)
        case "object":
            return isinstance(value, dict) and fits_object(value, schema, document)
        case None:
            return schema == {}
        case kind:
            raise AssertionError(f"an unknown type in the schema: {kind}")


def fits_object(value: dict[str, object], schema: Document, document: Document) -> bool:
    properties = schema.get("properties", {})
    more = schema.get("additionalProperties", {})
    return set(schema.get("required", ())) <= set(value) and all(
        fits(item, properties.get(name, more), document) for name, item in value.items()
    )
