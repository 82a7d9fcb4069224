"""Disputes and corrections: what the model learns of them, once; agreement; replays and rebuilds."""

from itertools import permutations
from shutil import copy

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evolabel.errors import DataError
from evolabel.server.log.engines import read_url
from evolabel.server.log.records import find_kinds
from evolabel.server.project import operations
from evolabel.server.project.agreement import alphas, disputes, krippendorff_alpha, shared_questions
from evolabel.server.project.batch import Origin
from evolabel.server.project.exports import answered_labels
from evolabel.server.project.operations import ConflictError
from evolabel.server.project.rebuild import RebuildPlan, rebuild_model
from evolabel.server.project.sample_rows import earlier_responses, responses_to
from server.pumps import ANNA, BOB, call, checksum, proven, run, samples, send
from server.signed_in import add_person

EVA = Origin(3)
N = None
# K. Krippendorff, Computing Krippendorff's alpha-reliability, section C: 12 units, 4 observers, missing values.
TEXTBOOK = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, N, N, N],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, N, 3],
    [N, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, N],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, N],
]
BINARY = [[0, 1, 0, 0, 0, 0, 0, 0, 1, 0], [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]]  # section A: two observers, no missing values


def units_of(rows):
    return [[y for y in unit if y is not None] for unit in zip(*rows, strict=True)]


@pytest.mark.parametrize(("rows", "alpha", "units"), [(TEXTBOOK, 0.743, 11), (BINARY, 0.095, 10)])
def test_alpha_has_the_values_of_the_textbook(rows, alpha, units):
    found = krippendorff_alpha(units_of(rows))
    assert (round(found.alpha, 3), found.units) == (alpha, units)


def naive_alpha(units):
    """Alpha by its matrix of coincidences."""
    units = [unit for unit in units if len(unit) > 1]
    pairs = [(a, b, 1.0 / (len(unit) - 1)) for unit in units for a, b in permutations(unit, 2)]
    n = sum(weight for _, _, weight in pairs)
    totals = {c: sum(weight for a, _, weight in pairs if a == c) for c in {a for a, _, _ in pairs}}
    expected = sum(x * y for c, x in totals.items() for k, y in totals.items() if c != k)
    observed = sum(weight for a, b, weight in pairs if a != b)
    return 1.0 - (n - 1) * observed / expected if expected else None


@settings(max_examples=200, deadline=None)
@given(st.lists(st.lists(st.integers(0, 2), max_size=4), max_size=8))
def test_alpha_is_that_of_the_coincidences(units):
    found, expected = krippendorff_alpha(units), naive_alpha(units)
    assert found.units == sum(len(unit) > 1 for unit in units)
    assert found.alpha == (None if expected is None else pytest.approx(expected))


@pytest.fixture
def service(sqlite, start):
    """A project that has learned, with two annotators and an expert; every question needs two people."""
    service = start(sqlite, min_answers=2, expire_after=30)
    assert [add_person(service, name) for name in ("anna", "bob")] == [1, 2]
    assert add_person(service, "eva", "expert") == 3
    return service


def answer(worker, number, leak, origin, **others):
    return call(worker, operations.give_answer, number, {"leak": leak, **others}, origin)


def asked(service, seed=0):
    """The number of a question that asks for leak."""
    for i, (sample, _) in enumerate(samples(200, seed)):
        result = send(service.workers["pumps"], {**sample, "id": f"{seed}-{i}"})
        if result["question"] and "leak" in result["question"]["labels"]:
            return result["number"]
    raise AssertionError("leak was not asked about")


def find(service, query, *arguments, **named):
    with service.workers["pumps"].reading() as connection:
        return query(connection, 1, *arguments, **named)


def listed(service, **named):
    with service.workers["pumps"].reading() as connection:
        return disputes(connection, 1, list(shared_questions(connection, 1)), 10, **named)


def check(service):
    """The log is whole, and a replay from its start gives the live state."""
    with service.reader.connect() as connection:
        assert proven(connection).replay.checksum == checksum(service.workers["pumps"])


def test_a_decision_closes_a_question_and_is_learned_once(service, start, tmp_path):
    worker, number = service.workers["pumps"], asked(service)
    answer(worker, number, True, ANNA, wear=False)
    with pytest.raises(DataError, match="no label is decided"):
        call(worker, operations.decide, number, {"leak": None}, EVA)
    answer(worker, number, False, BOB, wear=False)
    (dispute,) = listed(service)
    assert (dispute.number, dispute.labels, dispute.undecided, dispute.open) == (number, ["leak"], ["leak"], True)
    assert [(one.person, one.answers["leak"]) for one in dispute.responses] == [("anna", 1), ("bob", 0)]
    done = call(worker, operations.decide, number, {"leak": True}, EVA, "the gauge was seen")
    assert done == {"learned": 2, "replayed": False}  # both have said that wear is no
    assert number not in call(worker, lambda batch: set(batch.state.open))
    before, seq = checksum(worker), worker.head.seq
    assert call(worker, operations.decide, number, {"leak": True}, EVA) == {"learned": 0, "replayed": True}
    assert (checksum(worker), worker.head.seq) == (before, seq)
    assert listed(service) == []
    (decided,) = listed(service, decided=True)
    (made,) = decided.decisions
    assert (made.person, made.answers, made.note) == ("eva", {"leak": 1}, "the gauge was seen")
    check(service)
    for suffix in ("", "-wal"):  # as a kill leaves them
        copy(f"{service.url.database}{suffix}", tmp_path / f"killed.db{suffix}")
    again = start(read_url(f"sqlite:///{tmp_path / 'killed.db'}"))
    assert checksum(again.workers["pumps"]) == before
    done = call(again.workers["pumps"], operations.decide, number, {"leak": True}, EVA)
    assert done["replayed"]
    assert len(find(again, find_kinds, ("decision",))) == len(find(again, find_kinds, ("labels.late",))) == 1


def test_a_decision_on_a_closed_question_teaches_what_anybody_said_otherwise(service):
    worker, number = service.workers["pumps"], asked(service)
    with pytest.raises(ConflictError, match="no final answer yet"):
        call(worker, operations.decide, number, {"leak": True}, EVA)
    answer(worker, number, True, ANNA, wear=True)
    answer(worker, number, True, BOB, wear=True)
    assert call(worker, operations.decide, number, {"leak": True, "wear": False}, EVA)["learned"] == 1
    assert call(worker, operations.decide, number, {"leak": False}, EVA)["learned"] == 1
    assert call(worker, operations.decide, number, {"leak": True}, EVA)["learned"] == 1
    taught = [record.entry.payload["y"] for record in find(service, find_kinds, ("labels.late",))]
    assert taught == [{"wear": 0}, {"leak": 0}, {"leak": 1}]
    check(service)


def test_a_correction_is_learned_unless_people_differ_then(service):
    worker, number = service.workers["pumps"], asked(service)
    answer(worker, number, True, ANNA, wear=True)
    answer(worker, number, True, BOB)
    first = checksum(worker)
    done = answer(worker, number, False, ANNA, wear=False)
    assert (done["late"], done["learned"]) == (True, 1)  # bob has not answered wear
    assert checksum(worker) != first
    assert answer(worker, number, False, ANNA, wear=False)["replayed"]
    assert [dispute.labels for dispute in listed(service)] == [["leak"]]
    assert answer(worker, number, False, BOB)["learned"] == 1  # both agree now
    assert listed(service) == []
    last, earlier = find(service, responses_to, number), find(service, earlier_responses, number)
    assert [(one.person, one.status, one.learned) for one in last] == [
        ("anna", "correction", 1), ("bob", "correction", 1)
    ]  # fmt: skip
    assert [one.answers["leak"] for one in (*earlier[1], *earlier[2])] == [1, 1]
    assert call(worker, operations.decide, number, {"leak": True}, EVA)["learned"] == 1
    assert answer(worker, number, True, ANNA, wear=False)["learned"] == 0  # an expert has decided
    check(service)


def test_the_corrected_answer_counts_when_the_question_closes(service):
    worker, number = service.workers["pumps"], asked(service)
    answer(worker, number, True, ANNA)
    assert answer(worker, number, False, ANNA)["late"]  # it was final
    answer(worker, number, False, BOB)
    (close,) = [r.entry.payload for r in find(service, find_kinds, ("close",)) if r.entry.payload["number"] == number]
    assert [row["leak"] for row in close["rows"]] == [0, 0]
    check(service)


def test_a_late_answer_of_another_person_is_not_learned(service):
    worker, number = service.workers["pumps"], asked(service)
    answer(worker, number, True, ANNA)
    answer(worker, number, True, BOB)
    before = checksum(worker)
    assert "learned" not in answer(worker, number, False, EVA)
    assert checksum(worker) == before


def test_a_person_without_weight_teaches_nothing_by_a_correction(service):
    worker, number = service.workers["pumps"], asked(service)
    answer(worker, number, True, ANNA)
    answer(worker, number, None, BOB, wear=True)
    call(worker, operations.weigh_annotator, 1, "anna", 0.0, EVA)
    rules = call(worker, lambda batch: batch.state.learner.checksum())
    answer(worker, number, False, ANNA)
    assert call(worker, lambda batch: batch.state.learner.checksum()) == rules
    check(service)


def test_a_rebuild_learns_what_counts_in_the_end(sqlite, start):
    """It is that of a log in which the first answers were right, but for what a decision teaches later."""
    service = start(sqlite)
    assert [add_person(service, name) for name in ("anna", "bob", "eva")] == [1, 2, 3]
    worker = service.workers["pumps"]
    stream = samples(80)
    run(worker, [(sample, {**truth, "leak": not truth["leak"]}) for sample, truth in stream])  # all of them wrong
    low, origins = [-1.5, 0.0, "M-01"], (ANNA, EVA)
    numbers = [r.entry.payload["number"] for r in find(service, find_kinds, ("close",))]
    for i, number in enumerate(numbers):
        truth = {"leak": stream[number - 1][1]["leak"]}
        operation = operations.give_answer if i % 2 else operations.decide
        call(worker, operation, number, truth, origins[1 - i % 2])
    live = call(worker, lambda batch: batch.state.predict(low)[0]["prediction"]["leak"])
    rebuild_model(worker, RebuildPlan("test"), ANNA)
    made = call(worker, lambda batch: batch.state.predict(low)[0]["prediction"]["leak"])
    assert made > max(live, 0.5)
    check(service)
    rebuild_model(worker, RebuildPlan("test", ("eva",)), ANNA)  # who has decided wrongly, say
    assert call(worker, lambda batch: batch.state.predict(low)[0]["prediction"]["leak"]) < made
    check(service)


def test_agreement_counts_labels_that_were_answered_twice(service):
    worker = service.workers["pumps"]
    for seed, (mine, other) in enumerate([(True, True), (False, False), (True, False), (False, None)], start=1):
        number = asked(service, seed)
        answer(worker, number, mine, ANNA, wear=True)
        answer(worker, number, other, BOB, wear=True)
    with worker.reading() as connection:
        found = alphas(shared_questions(connection, 1))
    assert found["leak"] == krippendorff_alpha([[1, 1], [0, 0], [1, 0]])
    assert found["wear"] == (None, 4)
    assert found[None] == krippendorff_alpha([[1, 1], [0, 0], [1, 0], *[[1, 1]] * 4])


def test_exports_have_decisions_and_the_last_answers(service):
    worker, number = service.workers["pumps"], asked(service)
    answer(worker, number, True, ANNA)
    answer(worker, number, True, BOB)
    answer(worker, number, False, ANNA)
    call(worker, operations.decide, number, {"leak": False}, EVA, "seen")
    rows = [row for row in answered_labels(service.reader, 1) if row["number"] == number and row["label"] == "leak"]
    assert [(row["person"], row["status"], row["answer"], row["stands"]) for row in rows] == [
        ("anna", "submitted", 1, False), ("bob", "submitted", 1, True), ("anna", "correction", 0, True),
        ("eva", "decision", 0, True),
    ]  # fmt: skip
    call(worker, operations.decide, number, {"leak": True}, EVA)
    *_, former, last = [row for row in answered_labels(service.reader, 1) if row["number"] == number]
    assert [(row["answer"], row["stands"], row["note"]) for row in (former, last)] == [(0, False, "seen"), (1, True, N)]
