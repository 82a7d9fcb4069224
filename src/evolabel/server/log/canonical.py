"""Canonical JSON: the one text of a value, which hashes and comparisons use."""

import hashlib
import json
from collections.abc import Sequence
from types import NoneType
from typing import Any

from pydantic_core import to_json

_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def canonical(value: object) -> str:
    """Return `value` as JSON text with sorted keys, no blanks and shortest floats; ValueError for NaN and infinities.

    Floats read back from the text have the same bits.
    """
    return _ENCODER.encode(value)


def canonical_with_list(value: dict[str, Any], name: str) -> str:
    """Return `canonical` of `value`, whose item `name` is a list, of numbers for the most part.

    Such a list is written by pydantic, ten times as fast as by Python.
    """
    mark = f"{canonical(name)}:"  # quotes inside of texts are escaped, so nothing else looks like it
    before, _, after = canonical({**value, name: 0}).partition(f"{mark}0")
    return f"{before}{mark}{_list_text(value[name])}{after}"


def _list_text(values: Sequence[object]) -> str:
    """Return `canonical` of `values`: both writers find the shortest floats, and differ in exponents alone."""
    if {float, NoneType}.issuperset(map(type, values)):
        text = to_json(values, inf_nan_mode="constants").decode()
        if not any(sign in text for sign in ("e", "0.0000", "N", "f")):  # exponents, small floats, NaN, infinities
            return text
    return canonical(values)


def parsed(text: str) -> Any:
    """Return the value of JSON `text` that `canonical` wrote."""
    return json.loads(text)


def digest(text: str) -> bytes:
    """Return the SHA-256 of `text` in UTF-8."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
