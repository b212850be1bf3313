"""The API's description: questions from FastAPI, answers from the structs that are encoded."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
from fastapi import FastAPI

from app.web.refusal import Problem

REF = "#/components/schemas/{name}"


def describe(
    app: FastAPI,
    answers: Mapping[tuple[str, str], type[msgspec.Struct]],
    asked: Sequence[type[msgspec.Struct]] = (),
) -> Callable[[], dict[str, Any]]:
    """A replacement for ``FastAPI.openapi`` that knows the answers.

    Args:
        app: its own description is completed.
        answers: by path and status code; a path that is not for GET has its method before it.
        asked: what request bodies are made of.
    """
    plain = app.openapi
    done: dict[str, Any] = {}

    def openapi() -> dict[str, Any]:
        if not done:
            done.update(_complete(plain(), answers, asked))
        return done

    return openapi


def _complete(
    document: dict[str, Any],
    answers: Mapping[tuple[str, str], type[msgspec.Struct]],
    asked: Sequence[type[msgspec.Struct]],
) -> dict[str, Any]:
    structs = [*answers.values(), Problem, *asked]
    references, schemas = msgspec.json.schema_components(structs, ref_template=REF)
    by_struct = dict(zip(structs, references, strict=True))
    for schema in schemas.values():
        # Docstrings mark code in reStructuredText, OpenAPI in Markdown.
        schema["description"] = schema.get("description", "").replace("``", "`")
    for (where, status), struct in answers.items():
        method, _, path = where.rpartition(" ")
        responses = document["paths"][path][method.lower() or "get"]["responses"]
        responses.setdefault(status, {"description": ""})
        responses[status]["content"] = {"application/json": {"schema": by_struct[struct]}}
        if status == "200":
            # Not by the class's name: two of one name are told apart by their modules.
            name = by_struct[struct]["$ref"].rpartition("/")[2]
            responses[status]["description"] = schemas[name].get("description", "")
    for path, methods in document["paths"].items():
        for operation in methods.values():
            responses = operation["responses"]
            responses["403"] = _problem("Host or Origin is not served.", by_struct[Problem])
            if path.startswith("/api/"):
                responses["401"] = _problem("The token is missing.", by_struct[Problem])
                operation["security"] = [{"token": []}]
    document["paths"]["/metrics"]["get"]["responses"]["200"] = {
        "description": "The metrics.",
        "content": {"text/plain": {"schema": {"type": "string"}}},
    }
    components = document.setdefault("components", {})
    components["schemas"] = {**components.get("schemas", {}), **schemas}
    components["securitySchemes"] = {
        "token": {
            "type": "http",
            "scheme": "bearer",
            "description": "The token in the address that plegscope printed when it started.",
        }
    }
    return document


def _problem(text: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"description": text, "content": {"application/json": {"schema": schema}}}
