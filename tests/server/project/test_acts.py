"""Acts of experts on rules: recorded, refused, undone after learning, and made again by a replay of the log."""

import threading
import time

import pytest

from evolabel.active import ActiveLearner
from evolabel.errors import DataError, StateError
from evolabel.server.log.records import find_kinds, read_blob
from evolabel.server.log.snapshots import snapshot_checksums
from evolabel.server.project import operations, reading, rule_edits
from evolabel.server.project.batch import Origin, TornError
from evolabel.server.project.operations import ConflictError, UnknownError
from evolabel.server.project.rule_edits import LaterActsError, MovedError, acts_since, plan_undo, undo_act, undo_cost
from evolabel.server.project.rule_list import life_of, rule_list, show_rule
from evolabel.server.project.training import replace_model
from server.conftest import on_sqlite
from server.project.test_model import trained_file
from server.pumps import ANNA, call, checksum, proven, run, samples

EVA = Origin(3)
LOW = {"form": 'IF pressure BELOW -1 THEN leak UNLIKELY CALLED "low"'}
NEVER = {"form": "IF pressure BELOW -500 THEN leak LIKELY"}


@pytest.fixture
def worker(sqlite, start):
    worker = start(sqlite).workers["pumps"]
    train(worker)
    return worker


def train(worker, n=90, seed=0):
    """Send samples whose labels are known, in one request; 80 make the first rules."""
    known = [{**sample, "id": f"k{seed}{sample['id']}", "y": y} for sample, y in samples(n, seed)]
    call(worker, operations.send_samples, known, ANNA)


def more(worker, seed=1, n=12):
    run(worker, [({**sample, "id": f"{seed}{sample['id']}"}, y) for sample, y in samples(n, seed)])


def act(worker, kind, payload):
    call(worker, rule_edits.prepare_act, kind, payload, EVA)
    return call(worker, rule_edits.act, kind, payload, EVA)


def learner_seal(worker):
    return call(worker, lambda batch: batch.state.learner.checksum())


def shown(worker, number):
    return worker.view.read(lambda copy: show_rule(copy.state, number)).result(30)


def numbers(worker):
    return worker.view.read(lambda copy: {rule["rule"] for rule in rule_list(copy.state)}).result(30)


def test_a_rule_that_ends_the_warm_up_gives_the_same_state_in_a_replay(sqlite, start):
    """In between, the state is read by people and for checksums, which a replay does not do."""
    worker = start(sqlite).workers["pumps"]
    run(worker, samples(40))
    call(worker, reading.show_project)
    assert numbers(worker) == set()
    learner_seal(worker)
    act(worker, "rule.added", LOW)
    more(worker, n=50)
    with worker.reading() as connection:
        proven(connection)


def test_acts_change_the_rules_and_are_read_at_once(worker):
    rule = act(worker, "rule.added", LOW)["rule"]
    assert shown(worker, rule)["name"] == "low"
    act(worker, "rule.locked", {"rule": rule})
    assert shown(worker, rule)["locked"]
    act(worker, "rule.renamed", {"rule": rule, "name": "cold"})
    edited = act(worker, "rule.edited", {"rule": rule, "form": "IF pressure BELOW -2 THEN leak 5%"})
    assert edited["text"] == 'IF pressure BELOW -2 THEN leak 5% WITH CONFIDENCE 1 WEIGHT 20 CALLED "cold"'
    assert shown(worker, rule)["form"] == edited["text"]
    life = worker.view.read(lambda copy: life_of(copy.state, rule)).result(30)
    assert [event["kind"] for event in life] == ["added", "locked", "renamed", "edited"]
    act(worker, "rule.deleted", {"rule": rule})
    assert rule not in numbers(worker)
    one, other = sorted(numbers(worker))[:2]
    assert act(worker, "rule.merged", {"one": one, "other": other})["rule"] in (one, other)


@on_sqlite
def test_the_log_gives_the_same_state_again_with_acts(database, start):
    service = start(database, snapshot_every=5000)
    worker = service.workers["pumps"]
    train(worker, 40)
    rule = act(worker, "rule.added", LOW)["rule"]
    more(worker)
    lock = act(worker, "rule.locked", {"rule": rule})
    undo_act(worker, lock["seq"], EVA)
    deleted = act(worker, "rule.deleted", {"rule": rule})
    more(worker, seed=2)
    undo_act(worker, deleted["seq"], EVA)
    more(worker, seed=3)
    with service.reader.connect() as connection:
        assert proven(connection).replay.checksum == checksum(worker)


def test_refused_acts_change_nothing(worker):
    rule = act(worker, "rule.added", LOW)["rule"]
    before = worker.head.seq, checksum(worker)
    for kind, payload, error in (
        ("rule.added", {"form": "IF presure BELOW 1 THEN leak LIKELY"}, DataError),
        ("rule.added", {"form": 5}, DataError),
        ("rule.added", LOW, DataError),
        ("rule.edited", {"rule": 99, "form": "IF flow BELOW 1 THEN leak LIKELY"}, DataError),
        ("rule.unlocked", {"rule": rule}, StateError),
        ("rule.merged", {"one": rule, "other": rule}, DataError),
        ("rule.renamed", {"rule": rule, "name": "7"}, DataError),
    ):
        with pytest.raises(error):
            call(worker, rule_edits.act, kind, payload, EVA)
    with pytest.raises(MovedError):
        call(worker, rule_edits.act, "rule.locked", {"rule": rule}, EVA, 0)
    assert (worker.head.seq, checksum(worker)) == before


def test_a_key_stands_for_one_act(worker):
    origin = Origin(3, "key:3:a", b"1" * 32)
    first, again = (call(worker, rule_edits.act, "rule.added", LOW, origin) for _ in range(2))
    assert again == {**first, "replayed": True}
    with pytest.raises(ConflictError, match="used for another body"):
        call(worker, rule_edits.act, "rule.added", LOW, Origin(3, "key:3:a", b"2" * 32))


def test_an_act_in_the_warm_up_is_refused_while_too_few_are_answered(sqlite, start):
    worker = start(sqlite).workers["pumps"]
    with pytest.raises(Exception, match=r"10|trained"):
        call(worker, rule_edits.act, "rule.added", LOW, EVA)
    assert worker.is_ready


def test_an_edit_is_undone_by_its_inverse_after_learning(worker):
    rule = act(worker, "rule.added", LOW)["rule"]
    before = shown(worker, rule)["form"]
    edited = act(worker, "rule.edited", {"rule": rule, "form": "IF pressure BELOW -2 THEN leak 5%"})
    more(worker)
    assert undo_cost(worker, edited["seq"]) == {"way": "inverse", "records": 0, "seconds": 0}
    assert undo_act(worker, edited["seq"], EVA)["way"] == "inverse"
    assert shown(worker, rule)["form"] == before
    with pytest.raises(ConflictError, match="was undone by record"):
        undo_act(worker, edited["seq"], EVA)


@on_sqlite
def test_an_added_rule_is_undone_as_if_it_had_never_been(database, start, tmp_path):
    service = start(database)
    worker = service.workers["pumps"]
    train(worker)
    before = learner_seal(worker)
    added = act(worker, "rule.added", NEVER)
    assert undo_act(worker, added["seq"], EVA)["way"] == "replay"
    assert learner_seal(worker) == before
    more(worker)
    twin = learner_seal(worker)
    again = act(worker, "rule.added", NEVER)
    locked = act(worker, "rule.locked", {"rule": min(numbers(worker))})
    undo_act(worker, locked["seq"], EVA)
    assert learner_seal(worker) != twin
    cost = undo_cost(worker, again["seq"])
    assert cost["way"] == "replay"
    assert 0 < cost["records"] < 20  # from the snapshot before the act
    undo_act(worker, again["seq"], EVA)
    assert learner_seal(worker) == twin
    with service.reader.connect() as connection:
        payload = find_kinds(connection, worker.project.id, ("act.undone",))[-1].entry.payload
        kept = read_blob(connection, worker.project.id, payload["hash"])
    assert ActiveLearner.from_bytes(kept).checksum() == twin  # beside the log, not in the record
    assert len(str(payload)) < 200
    service.stop()
    assert learner_seal(start(database).workers["pumps"]) == twin


def test_a_replay_keeps_what_was_asked_paid_and_answered(worker):
    deleted = act(worker, "rule.deleted", {"rule": min(numbers(worker))})
    more(worker)
    train(worker, 10, seed=5)
    call(
        worker,
        operations.send_samples,
        [{**sample, "id": f"o{sample['id']}"} for sample, _ in samples(10, seed=7)],
        ANNA,
    )
    facts = call(worker, lambda batch: batch.state.facts())
    counts = call(worker, lambda batch: (batch.state.learner.bucket.seen, batch.state.learner.bucket.asked))
    open_before = set(call(worker, lambda batch: set(batch.state.learner.pending)))
    undo_act(worker, deleted["seq"], EVA)
    assert call(worker, lambda batch: batch.state.facts()) == facts
    assert call(worker, lambda batch: (batch.state.learner.bucket.seen, batch.state.learner.bucket.asked)) == counts
    assert set(call(worker, lambda batch: set(batch.state.learner.pending))) == open_before
    assert deleted["rule"] in numbers(worker)
    more(worker, seed=6)  # open questions can still be answered


def test_later_acts_that_build_on_an_act_are_named(worker):
    added = act(worker, "rule.added", LOW)
    locked = act(worker, "rule.locked", {"rule": added["rule"]})
    with pytest.raises(LaterActsError, match="later acts build on it") as refused:
        undo_act(worker, added["seq"], EVA)
    assert refused.value.acts == [locked["seq"]]
    undo_act(worker, locked["seq"], EVA)
    undo_act(worker, added["seq"], EVA)
    assert added["rule"] not in numbers(worker)
    with pytest.raises(UnknownError, match="is no act"):
        undo_act(worker, added["seq"] - 1, EVA)


def test_acts_on_other_parts_of_a_rule_do_not_build_on_each_other(worker):
    rule = act(worker, "rule.added", LOW)["rule"]
    edited = act(worker, "rule.edited", {"rule": rule, "form": "IF pressure BELOW -2 THEN leak 5%"})
    locked = act(worker, "rule.locked", {"rule": rule})
    named = act(worker, "rule.renamed", {"rule": rule, "name": "cold"})
    with pytest.raises(LaterActsError) as refused:
        undo_act(worker, edited["seq"], EVA)
    assert refused.value.acts == [named["seq"]]
    undo_act(worker, named["seq"], EVA)
    undo_act(worker, edited["seq"], EVA)
    assert shown(worker, rule)["locked"]
    undo_act(worker, locked["seq"], EVA)
    assert not shown(worker, rule)["locked"]


def test_an_act_before_one_that_was_undone_by_replay_is_undone_without_both(worker):
    first, second = sorted(numbers(worker))[:2]
    one = act(worker, "rule.deleted", {"rule": first})
    two = act(worker, "rule.deleted", {"rule": second})
    undo_act(worker, one["seq"], EVA)
    undo_act(worker, two["seq"], EVA)
    assert {first, second} <= numbers(worker)
    records = call(worker, lambda batch: batch.of_kinds(("rule.deleted", "act.undone")))
    with pytest.raises(ConflictError, match="was undone"):
        plan_undo(records, two["seq"])


def test_a_snapshot_is_stored_before_an_act_that_needs_one_and_after_an_undo(worker, start):
    added = act(worker, "rule.added", LOW)
    undone = undo_act(worker, added["seq"], EVA)
    worker.stop()
    with worker.reading() as connection:
        stored = set(snapshot_checksums(connection, worker.project.id))
    assert {added["seq"] - 1, undone["seq"]} <= stored


def test_an_act_is_not_undone_in_another_model(worker):
    rule = min(numbers(worker))
    locked = act(worker, "rule.locked", {"rule": rule})
    assert undo_cost(worker, locked["seq"])["way"] == "inverse"
    call(worker, replace_model, trained_file(), EVA)
    before = learner_seal(worker)
    with pytest.raises(LaterActsError, match="another model") as refused:
        undo_act(worker, locked["seq"], EVA)
    assert refused.value.acts == [worker.head.seq]
    assert learner_seal(worker) == before
    assert [(shown["kind"], shown["undo"]) for shown in acts_since(worker, 0)] == [("rule.locked", None)]


def test_the_number_of_the_last_act_is_found_without_reading_payloads(worker, monkeypatch):
    assert call(worker, rule_edits.last_act_of) == 0
    locked = act(worker, "rule.locked", {"rule": min(numbers(worker))})
    monkeypatch.setattr("evolabel.server.log.records.read_record", None)
    assert call(worker, rule_edits.last_act_of) == locked["seq"]


def in_one_batch_that_breaks(worker, change):
    """Result of `change`, called in a thread, whose job comes between samples and a job that breaks the batch."""
    taken, go, results = threading.Event(), threading.Event(), []

    def wait(batch):
        taken.set()
        go.wait(30)

    def tear(batch):
        raise TornError("torn")

    worker.submit(wait)
    taken.wait(30)
    sent = [{**sample, "id": f"b{sample['id']}"} for sample, _ in samples(3, seed=8)]
    worker.submit(lambda batch: operations.send_samples(batch, sent, ANNA))
    thread = threading.Thread(target=lambda: results.append(change()))
    thread.start()
    while worker.waiting < 2:
        time.sleep(0.01)
    torn = worker.submit(tear)
    go.set()
    thread.join(60)
    assert torn.exception(30) is not None
    return results[0]


def test_a_batch_that_is_applied_again_counts_each_sample_once_in_an_undo(worker):
    deleted = act(worker, "rule.deleted", {"rule": min(numbers(worker))})
    assert in_one_batch_that_breaks(worker, lambda: undo_act(worker, deleted["seq"], EVA))["way"] == "replay"
    assert (
        call(worker, lambda batch: batch.state.learner.bucket.seen)
        == call(worker, lambda batch: batch.state.seen)
        == 93
    )
