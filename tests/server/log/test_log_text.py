"""What a record is hashed by, and that a sample is applied as the log has it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import select

from evolabel.server.log.canonical import canonical, canonical_with_list, digest, parsed
from evolabel.server.log.records import NewRecord, Place, next_chain
from evolabel.server.log.schema import LOG, SAMPLE
from evolabel.server.project import operations
from evolabel.server.project.batch import Origin
from server.pumps import call

NUMBER = st.integers(0, 2**60)


@given(
    st.text(),
    st.none() | st.text(),
    st.none() | NUMBER,
    st.none() | st.binary(min_size=32, max_size=32),
    NUMBER,
    NUMBER,
)
@settings(deadline=None)
def test_the_chain_is_the_hash_of_canonical_json(kind, key, actor, body, at, seq):
    entry = NewRecord(kind, {"x": 1}, {"é": [1.5, None]}, at, actor, key, 7, body)
    facts = {
        "actor": actor, "at": at, "body": None if body is None else body.hex(), "epoch": 3, "key": key, "kind": kind,
        "outcome": entry.outcome, "part": 7, "payload": (b"p" * 32).hex(), "project": 2, "seq": seq, "v": 1,
    }  # fmt: skip
    found = next_chain(b"c" * 32, Place(2, seq, 3), entry, b"p" * 32, canonical(entry.outcome))
    assert found == digest((b"c" * 32).hex() + canonical(facts))


CELLS = st.floats(allow_nan=False, allow_infinity=False) | st.none() | st.text() | st.integers() | st.booleans()
PLAIN = st.floats(1e-6, 1e18) | st.floats(-1e18, -1e-6) | st.sampled_from([0.0, -0.0, 1e-4, 1e16, 9999999999999998.0])


@given(
    st.lists(CELLS) | st.lists(PLAIN),
    st.dictionaries(st.sampled_from(["id", "at", "source"]), st.text() | st.just('"x":0')),
    st.none() | st.dictionaries(st.text() | st.just("x"), st.sampled_from([0, 1, None])),
)
@settings(deadline=None)
def test_a_sample_has_its_canonical_text(cells, facts, y):
    payload = {**({} if y is None else {"y": y}), "x": cells, **facts}
    assert canonical_with_list(payload, "x") == canonical(payload)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_no_text_holds_what_is_no_number(value):
    with pytest.raises(ValueError, match="JSON"):
        canonical_with_list({"x": [1.0, value]}, "x")


SAMPLES = [
    {"id": "plain", "x": [1, -0.0, None]},
    {"id": "by-name", "x": {"pressure": 5e-324, "machine": "M-01"}, "at": "2026-01-01T00:00:00Z", "source": "gärten"},
    {"id": "unseen", "x": [1e99, 0.1, "M-77"]},
    {"id": "labels", "x": [0.30000000000000004, 2**53, "M-02"], "y": {"wear": True, "leak": None}},
    {"x": [None, None, None]},
]


def typed(value):
    """The value with the type and the exact form of every part."""
    if isinstance(value, dict):
        return {name: typed(part) for name, part in value.items()}
    return [typed(part) for part in value] if type(value) is list else (type(value), repr(value))


def test_a_sample_is_applied_as_the_log_has_it(start, sqlite):
    worker = start(sqlite).workers["pumps"]

    def operation(batch):
        operations.send_samples(batch, SAMPLES, Origin(1))
        return [(entry.payload, entry.text) for entry in batch.entries if entry.kind == "sample"]

    applied = call(worker, operation)
    assert len(applied) == len(SAMPLES)
    for payload, text in applied:
        assert typed(payload) == typed(parsed(text))


@pytest.mark.parametrize("n", [1, 3])
def test_rows_of_all_kinds_are_stored(database, start, n):
    service = start(database)
    worker = service.workers["pumps"]
    call(worker, operations.send_samples, SAMPLES[:n], Origin(None, "key:1:a", b"h" * 32))
    with service.reader.connect() as connection:
        rows = connection.execute(select(LOG).where(LOG.c.kind == "sample").order_by(LOG.c.seq)).all()
        indexed = connection.execute(select(SAMPLE).order_by(SAMPLE.c.number)).all()
    assert [(row.key, row.part, bytes(row.body_hash), row.actor_id) for row in rows] == [
        ("key:1:a", part, b"h" * 32, None) for part in range(n)
    ]
    assert [row.external_id for row in indexed] == [sample["id"] for sample in SAMPLES[:n]]
    assert all(isinstance(row.asked, bool) for row in indexed)
