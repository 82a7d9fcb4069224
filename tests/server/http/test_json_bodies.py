"""Bodies of samples are parsed as Python's parser does it, value by value and error by error."""

import asyncio
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evolabel.server.http.samples import QuickRequest

ODD = [
    "-0", "-0.0", "1E5", "1e400", "-1e400", "1" * 40, "9223372036854775808", "4.9e-324", "1e-400", '{"a":1,"a":2}',
    "NaN", "[-Infinity]", "-NaN", "inf", '"\\ud800"', '"\\u0000"', '"\\ud83d\\ude00"', '"\t"', "\ufeff1", " 1 ", "",
    "[1,]", "01", "+1", "1.", ".5", "1 2", "'a'", '{"a": tru}', "[" * 300 + "]" * 300,
]  # fmt: skip


def parsed(body):
    """What the request with this body is parsed as, or the type of the error."""

    async def receive():
        return {"type": "http.request", "body": body, "more_body": False}

    try:
        return typed(asyncio.run(QuickRequest({"type": "http", "headers": []}, receive).json()))
    except ValueError as error:
        return type(error)


def by_python(body):
    try:
        return typed(json.loads(body))
    except ValueError as error:
        return type(error)


def typed(value):
    """The value with the type and the exact form of every part."""
    if isinstance(value, dict):
        return {name: typed(part) for name, part in value.items()}
    return [typed(part) for part in value] if type(value) is list else (type(value), repr(value))


@pytest.mark.parametrize("text", ODD, ids=repr)
def test_odd_bodies(text):
    for body in (text.encode(), text.encode("utf-16")):
        assert parsed(body) == by_python(body)


def test_bytes_that_are_no_text():
    for body in (b'"\xff"', b"\xed\xa0\x80", b'"\xed\xa0\x80"'):
        assert parsed(body) == by_python(body)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda part: st.lists(part) | st.dictionaries(st.text(), part),
    max_leaves=20,
)


@given(VALUES)
@settings(deadline=None)
def test_any_value(value):
    body = json.dumps(value).encode()
    assert parsed(body) == by_python(body)


@given(st.floats(allow_nan=False, allow_infinity=False), st.integers(0, 24))
@settings(deadline=None)
def test_floats_have_the_same_bits(value, digits):
    body = f"{value:.{digits}e}".encode()
    assert parsed(body) == by_python(body)
