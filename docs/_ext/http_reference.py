"""The page of the HTTP interface, from its OpenAPI document."""

import json
import re
from collections.abc import Iterator
from typing import Any

_HEAD = """HTTP interface
==============

Routes of the labelling service for programs, from the OpenAPI document that a running service has at
``/openapi.json``. Requests carry ``Authorization: Bearer TOKEN``; :doc:`/reference/service` has roles, settings
and limits. Errors are problem documents (RFC 9457). For Python there is ``evolabel.client``.
"""


def http_page(openapi: dict[str, Any]) -> str:
    """Return the page of the document `openapi`: routes by their tags, then the JSON that they take."""
    lines = [_HEAD]
    tags: dict[str, list[str]] = {}
    for path, methods in openapi["paths"].items():
        for method, route in methods.items():
            tag = route.get("tags", ["other"])[0]
            tags.setdefault(tag, []).extend(_route_lines(f"{method.upper()} {path}", route))
    for tag, routes in tags.items():
        lines += [*_heading(tag.capitalize(), "-"), *routes]
    lines += _heading("Bodies", "-")
    for name, schema in openapi["components"]["schemas"].items():
        if name not in ("HTTPValidationError", "ValidationError"):
            lines += _schema_lines(name, schema)
    return "\n".join(lines)


def _heading(text: str, mark: str) -> list[str]:
    return ["", text, mark * len(text), ""]


def _route_lines(title: str, route: dict[str, Any]) -> Iterator[str]:
    yield from _heading(f"``{title}``", "~")
    yield _literals(route.get("description", ""))
    yield ""
    for parameter in route.get("parameters", []):
        needed = "" if parameter.get("required") else ", optional"
        yield f"- ``{parameter['name']}`` ({parameter['in']}{needed}): {_kind(parameter['schema'])}"
    body = route.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
    if body:
        yield f"- body: {_kind(body)}"
    codes = [code for code in route["responses"] if code != "422"]
    yield f"- answers {', '.join(codes)}"
    yield ""


def _schema_lines(name: str, schema: dict[str, Any]) -> Iterator[str]:
    yield f".. _http-{name}:"
    yield from _heading(name, "~")
    yield _literals(schema.get("description", ""))
    yield ""
    required = schema.get("required", [])
    for key, value in schema.get("properties", {}).items():
        needed = "" if key in required else ", optional"
        yield f"- ``{key}``: {_kind(value)}{needed}"
    yield ""
    for example in schema.get("examples", [])[:1]:
        yield from [".. code-block:: json", ""]
        yield from (f"   {line}" for line in json.dumps(example, indent=2).splitlines())
        yield ""


def _kind(schema: dict[str, Any]) -> str:
    """The type of `schema` in words, with a link where it is a body of its own."""
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[-1]
        return f":ref:`{name} <http-{name}>`"
    if "anyOf" in schema:
        return " or ".join(_kind(one) for one in schema["anyOf"])
    if "enum" in schema:
        return " or ".join(f"``{value}``" for value in schema["enum"])
    kind = schema.get("type", "any value")
    if kind == "array":
        return f"list of {_kind(schema.get('items', {}))}"
    if kind == "object" and isinstance(schema.get("additionalProperties"), dict):
        return f"object of {_kind(schema['additionalProperties'])}"
    limits = [f"{words} {schema[key]:g}" for key, words in _LIMITS.items() if key in schema]
    return kind + (f" ({', '.join(limits)})" if limits else "")


_LIMITS = {"minimum": "from", "maximum": "to", "minLength": "at least", "maxLength": "at most"}


def _literals(text: str) -> str:
    return re.sub(r"(?<!`)`([^`]+)`(?!`)", r"``\1``", text)
