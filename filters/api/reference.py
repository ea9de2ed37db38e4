"""The calls of the API for people: what the OpenAPI document says of each, in the order of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from filters.api.api import described


@dataclass(frozen=True, slots=True)
class Value:
    """A value that a call takes or gives: what it is called, and of which type."""

    name: str
    type: str
    is_required: bool = False


@dataclass(frozen=True, slots=True)
class Call:
    """A call: what it does, the scope of its token, what it takes, and what it answers."""

    method: str
    path: str
    paragraphs: tuple[str, ...]
    scope: str
    takes: tuple[Value, ...]
    answers: tuple[tuple[str, tuple[Value, ...]], ...]


@cache
def reference() -> dict[str, list[Call]]:
    """Return all calls by what they are about."""
    document = described()
    found: dict[str, list[Call]] = {}
    for path, calls in document["paths"].items():
        for method, call in calls.items():
            found.setdefault(call["tags"][0], []).append(_call(document, method, path, call))
    return found


def _call(document: dict[str, Any], method: str, path: str, call: dict[str, Any]) -> Call:
    parameters = (
        Value(part["name"], type_of(part["schema"]), part.get("required", False))
        for part in call.get("parameters", ())
        if part["in"] == "query"
    )
    body = call.get("requestBody", {})
    answers = ((status, tuple(_values(document, it))) for status, it in call["responses"].items())
    return Call(
        method.upper(),
        path,
        tuple(paragraphs_of(call["description"])),
        call["security"][0]["PersonalToken"][0],
        (*parameters, *_values(document, body)),
        tuple(answers),
    )


def paragraphs_of(words: str) -> list[str]:
    """Return the paragraphs of a description, without its marks of code."""
    return words.replace("`", "").split("\n\n")


def _values(document: dict[str, Any], content: dict[str, Any]) -> Iterator[Value]:
    """Yield the fields of a body, of each row of it if it is a list."""
    schema = content.get("content", {}).get("application/json", {}).get("schema", {})
    for option in schema.get("anyOf", [schema]):
        named = option.get("items", option).get("$ref", "").rpartition("/")[2]
        fields = document["components"]["schemas"].get(named, {})
        for name, value in fields.get("properties", {}).items():
            yield Value(name, type_of(value), name in fields.get("required", ()))


def type_of(schema: dict[str, Any]) -> str:
    """Return the type of a value in words; that it may be null goes without saying.

    >>> type_of({"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}]})
    'list of string'
    >>> type_of({"$ref": "#/components/schemas/CopyIn"}), type_of({"enum": ["keep", "live"]})
    ('CopyIn', 'keep or live')
    """
    if "anyOf" in schema:
        types = (type_of(option) for option in schema["anyOf"] if option.get("type") != "null")
        return " or ".join(types)
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if "enum" in schema:
        return " or ".join(map(str, schema["enum"]))
    if schema.get("type") == "array":
        return f"list of {type_of(schema.get('items', {}))}"
    return str(schema.get("const") or schema.get("format") or schema.get("type", "anything"))
