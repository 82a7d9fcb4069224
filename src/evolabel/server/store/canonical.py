"""Canonical JSON: the one text of a value, which hashes and comparisons use."""

import hashlib
import json
from typing import Any

_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def canonical(value: object) -> str:
    """Return `value` as JSON text with sorted keys, no blanks and shortest floats; ValueError for NaN and infinities.

    Floats read back from the text have the same bits.
    """
    return _ENCODER.encode(value)


def parsed(text: str) -> Any:
    """Return the value of JSON `text` that `canonical` wrote."""
    return json.loads(text)


def digest(text: str) -> bytes:
    """Return the SHA-256 of `text` in UTF-8."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
