"""JSON from files, requests and people, which may be nested without end."""

import json
from collections.abc import Iterable
from typing import Any

DEEPEST = 200
"""Levels of lists and objects inside of each other; the parser of pydantic has the same limit."""

_TOO_DEEP = f"lists and objects are nested more than {DEEPEST} levels deep; write it flatter"


def parse_json(text: str | bytes, **options: Any) -> Any:
    """Return the value of JSON `text`, parsed with the `options` of `json.loads`; ValueError if it is no JSON.

    ValueError, too, if it is nested so deep that Python's functions, which call themselves at every level, would fail.
    """
    try:
        value = json.loads(text, **options)
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
    if _is_deep(text) and not _is_shallow(value):
        raise ValueError(_TOO_DEEP)
    return value


def _is_deep(text: str | bytes) -> bool:
    """Return whether `text` has brackets enough to be nested too deep; most texts have not."""
    if isinstance(text, str):
        return text.count("[") + text.count("{") > DEEPEST
    return text.count(b"[") + text.count(b"{") > DEEPEST


def _is_shallow(value: Any) -> bool:
    """Return whether the lists and objects in `value` are nested at most `DEEPEST` levels deep."""
    level = [value]
    for _ in range(DEEPEST):
        level = [part for whole in level for part in _parts(whole) if isinstance(part, dict | list)]
        if not level:
            return True
    return False


def _parts(value: Any) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
