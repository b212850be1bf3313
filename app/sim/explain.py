"""What is wrong with a scenario file, where, and what may stand there instead, in a sentence."""

import re
from typing import Any

import msgspec
from msgspec import inspect

_AT = re.compile(r"^(?P<what>.*?)(?: - at `(?P<path>\$[^`]*)`)?$", re.DOTALL)
_STEP = re.compile(r"\.([^.\[\]]+)|\[(\d+|\.\.\.)\]")
_EXPECTED = re.compile(
    r"^Expected `(?P<wanted>[^`]+)`(?P<rest>.*?)(?:, got `(?P<got>[^`]+)`)?$", re.DOTALL
)
_FIELD = re.compile(r"field `([^`]*)`")
_WORDS = {
    "object": "a table",
    "array": "an array",
    "str": "a text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "null": "nothing",
}
SHOWN = 60
"""Characters of something hostile that are repeated in a message."""

Step = str | int


def explain(error: msgspec.ValidationError, data: object, kind: type) -> tuple[str, str]:
    """Where it is (empty: at the head of the file), and what is wrong with it."""
    found = _AT.match(str(error))
    assert found is not None, "the pattern matches any text"
    path = _steps(found["path"] or "")
    here = _resolve(inspect.type_info(kind), data, path)
    kinds = _kinds(here)
    if kinds and path and path[-1] == "kind":
        return _place(data, path), f"it is one of {kinds}"
    return _place(data, path), _reason(found["what"], here)


def _steps(path: str) -> list[Step]:
    return [key or (int(number) if number.isdigit() else 0) for key, number in _STEP.findall(path)]


def _place(data: object, path: list[Step]) -> str:
    """``workload 2 (web), mishap 1, every``: tables counted from 1, named where they have one."""
    words: list[str] = []
    for step in path:
        data = _inside(data, step)
        if isinstance(step, str):
            words.append(step)
            continue
        name = data.get("name", data.get("kind")) if isinstance(data, dict) else None
        if words:
            words[-1] += f" {step + 1}" + (f" ({_short(name)})" if isinstance(name, str) else "")
    return ", ".join(words)


def _inside(data: object, step: Step) -> object:
    if isinstance(step, str):
        return data.get(step) if isinstance(data, dict) else None
    return data[step] if isinstance(data, list) and step < len(data) else None


def _resolve(node: Any, data: object, path: list[Step]) -> Any:
    """The type of what the path leads to, or None when that cannot be told."""
    for step in path:
        node = _chosen(node, data)
        if isinstance(step, str):
            fields = node.fields if isinstance(node, inspect.StructType) else ()
            node = next((one.type for one in fields if one.encode_name == step), node)
        elif isinstance(node, inspect.VarTupleType):
            node = node.item_type
        data = _inside(data, step)
    return _chosen(node, data)


def _chosen(node: Any, data: object) -> Any:
    """Of several types, the one that the data says it is; the union itself when it does not."""
    if not isinstance(node, inspect.UnionType):
        return node
    kinds = [one for one in node.types if isinstance(one, inspect.StructType)]
    if isinstance(data, dict):
        named = [one for one in kinds if one.tag == data.get("kind")]
        return named[0] if named else node
    rest = [one for one in node.types if not isinstance(one, inspect.NoneType)]
    return rest[0] if len(rest) == 1 else node


def _reason(what: str, here: Any) -> str:
    if what.startswith("Object contains unknown field"):
        allowed = _keys(here)
        return f"there is no key `{_named(what)}`; there are {allowed}" if allowed else what
    if what.startswith("Object missing required field"):
        name = _named(what)
        kinds = _kinds(here)
        if name == "kind" and kinds:
            return f"the key `kind` is missing; it is one of {kinds}"
        return f"the key `{name}` is missing"
    if what.startswith(("Invalid value", "Invalid enum value")):
        allowed = _kinds(here) or _values(here)
        return f"it is one of {allowed}" if allowed else "this value cannot stand here"
    if isinstance(here, inspect.StrType) and here.pattern is not None:
        return "it is a name: lower case letters, digits, `-` and `.`, at most 63"
    expected = _EXPECTED.match(what)
    return _say_expected(expected) if expected is not None else what


def _say_expected(expected: "re.Match[str]") -> str:
    wanted = " or ".join(_WORDS.get(one, one) for one in expected["wanted"].split(" | "))
    rest = expected["rest"].replace(" of length", " with a length of")
    got = expected["got"]
    return f"it is {wanted}{rest}" + (f", not {_WORDS.get(got, got)}" if got else "")


def _named(what: str) -> str:
    found = _FIELD.search(what)
    return _short(found[1]) if found is not None else "?"


def _keys(here: Any) -> str:
    if not isinstance(here, inspect.StructType):
        return ""
    names = [here.tag_field] if here.tag_field and isinstance(here.tag, str) else []
    return ", ".join([*names, *(one.encode_name for one in here.fields)])


def _kinds(here: Any) -> str:
    types = here.types if isinstance(here, inspect.UnionType) else ()
    return ", ".join(str(one.tag) for one in types if isinstance(one, inspect.StructType))


def _values(here: Any) -> str:
    values = here.values if isinstance(here, inspect.LiteralType) else ()
    return ", ".join(str(one) for one in values)


def _short(text: str) -> str:
    text = text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"
    return "".join(one if one.isprintable() else "�" for one in text)
