"""A model made anew from the log: corrections, people and labels that should not have counted."""

import time

import pytest

from evolabel.errors import DataError
from evolabel.server.log.records import find_kinds
from evolabel.server.project import operations, reading
from evolabel.server.project.rebuild import Amendments, RebuildPlan, rebuild_model
from evolabel.server.project.rule_edits import undo_act
from evolabel.server.project.rule_list import rule_list
from evolabel.server.project.settings import Label
from evolabel.server.project.training import add_history, fit_planned, plan_fit, take_fitted
from server.http.test_http import P, serving
from server.project.test_acts import EVA, act, in_one_batch_that_breaks, numbers
from server.pumps import ANNA, BOB, call, checksum, proven, run, samples, send
from server.signed_in import add_person

LOW = [-1.5, 0.0, "M-01"]


@pytest.fixture
def service(sqlite, start):
    """A project that has learned, with two people."""
    service = start(sqlite)
    assert [add_person(service, name) for name in ("anna", "bob")] == [1, 2]
    return service


def says(worker, cells=LOW):
    """Probability of each label."""
    return call(worker, lambda batch: batch.state.predict(cells)[0]["prediction"])


def counts(worker):
    shown = call(worker, reading.show_project)
    return shown["samples"], shown["asked"], shown["open"]


def rebuild(service, **plan):
    return rebuild_model(service.workers["pumps"], RebuildPlan("test", **plan), ANNA)


def check(service):
    """The log is whole, and a replay from its start gives the live state."""
    worker = service.workers["pumps"]
    with service.reader.connect() as connection:
        assert proven(connection).replay.checksum == checksum(worker)


def test_without_corrections_the_same_model_comes_out(service):
    worker = service.workers["pumps"]
    run(worker, samples(60))
    call(worker, operations.add_label, Label("heat"), ANNA)
    call(worker, operations.late_labels, 3, {"heat": True}, ANNA)
    more = [(s, {**y, "heat": i % 2 == 0}) for i, (s, y) in enumerate(samples(60, seed=1))]
    run(worker, [({"x": s["x"], **({"y": y} if i % 3 else {})}, y) for i, (s, y) in enumerate(more)])
    before, counted = says(worker), counts(worker)
    done = rebuild(service)
    assert says(worker) == before
    assert counts(worker) == counted
    assert done["seal"] == checksum(worker)
    check(service)
    run(worker, [({"x": s["x"]}, {**y, "heat": True}) for s, y in samples(30, seed=2)])
    check(service)


def test_corrections_count_after_a_rebuild(service):
    worker = service.workers["pumps"]
    stream = samples(80)
    run(worker, [(sample, {**truth, "leak": not truth["leak"]}) for sample, truth in stream])  # all of them wrong
    wrong, counted = says(worker)["leak"], counts(worker)
    for i, (_, truth) in enumerate(stream):
        record = call(worker, reading.show_sample, i + 1, 1, sees_all=True)
        if record["question"]:
            late = call(worker, operations.give_answer, i + 1, {"leak": truth["leak"]}, ANNA)
            assert late["late"]
    assert says(worker)["leak"] > wrong  # they are learned at once, beside what was wrong
    done = rebuild(service)
    assert wrong < 0.5 < says(worker)["leak"]
    assert done["seal_before"] != done["seal"] == checksum(worker)
    assert counts(worker) == counted
    check(service)


def test_a_person_or_a_label_is_left_out_also_by_later_rebuilds(service):
    worker = service.workers["pumps"]
    stream = samples(120)
    run(worker, stream[:60])
    honest = says(worker)
    run(worker, [(s, {name: not y for name, y in truth.items()}) for s, truth in stream[60:]], BOB)
    poisoned = says(worker)
    assert poisoned["leak"] < honest["leak"]
    rebuild(service, people=("bob",))
    cleaned = says(worker)
    assert cleaned["leak"] > poisoned["leak"]
    rebuild(service, labels=("wear",))
    assert says(worker)["leak"] > poisoned["leak"]  # what bob said does not come back
    with worker.reading() as connection:
        amended = Amendments(connection, worker.project.id, RebuildPlan("test"))
        closes = [amended.payload_of(record, worker.state) for record in find_kinds(connection, 1, ("close",))]
    assert {name for payload in closes for name in payload["annotators"]} == {"anna"}
    taught = [row for payload in closes for row in payload["rows"]]
    assert {row.get("wear") for row in taught} == {None}
    assert {row.get("leak") for row in taught} >= {0, 1}
    check(service)
    with pytest.raises(DataError, match="there is no person 'eve'"):
        rebuild(service, people=("eve",))
    with pytest.raises(DataError, match="there is no label 'waer'; the labels are leak, wear"):
        rebuild(service, labels=("waer",))


def test_a_label_is_left_out_of_the_history_too(service):
    worker = service.workers["pumps"]
    rows = [{"x": sample["x"], "y": truth} for sample, truth in samples(60)]
    call(worker, add_history, rows, ANNA)
    call(worker, take_fitted, fit_planned(call(worker, plan_fit)), ANNA)
    before = says(worker, [0.0, 3.0, "M-01"])
    rebuild(service, labels=("wear",))
    after = says(worker, [0.0, 3.0, "M-01"])
    assert before["wear"] > 0.5 >= after["wear"]
    assert says(worker)["leak"] > 0.5
    check(service)


def test_acts_that_do_not_fit_the_rules_any_more_are_left_out_and_named(service):
    worker = service.workers["pumps"]
    stream = [{**sample, "id": f"k{i}", "y": truth} for i, (sample, truth) in enumerate(samples(180))]
    for i in range(0, 180, 3):
        call(worker, operations.send_samples, stream[i : i + 2], ANNA)
        call(worker, operations.send_samples, stream[i + 2 : i + 3], BOB)
    learned = max(numbers(worker))
    lock = act(worker, "rule.locked", {"rule": learned})
    named = act(worker, "rule.renamed", {"rule": learned, "name": "seldom"})
    undo_act(worker, named["seq"], EVA)
    added = act(worker, "rule.added", {"form": "IF pressure BELOW -500 THEN leak LIKELY"})
    act(worker, "rule.renamed", {"rule": added["rule"], "name": "never"})
    before = says(worker)
    assert rebuild(service)["left_out"] == []
    assert says(worker) == before
    assert rebuild(service, people=("bob",))["left_out"] == [lock["seq"], named["seq"]]
    rules = worker.view.read(lambda copy: rule_list(copy.state)).result(30)
    assert {rule["name"] for rule in rules if rule["name"] or rule["locked"]} == {"never"}
    check(service)


def test_open_questions_stay_and_can_be_answered(service):
    worker = service.workers["pumps"]
    run(worker, samples(30))
    for sample, _ in samples(30, seed=1):
        send(worker, {"x": sample["x"]})
    numbers = list(worker.state.open)
    assert numbers
    rebuild(service)
    assert list(worker.state.open) == numbers
    for number in numbers:
        call(worker, operations.give_answer, number, {"leak": True}, ANNA)
    check(service)


def test_a_batch_that_is_applied_again_counts_each_sample_once(service):
    worker = service.workers["pumps"]
    run(worker, samples(30))
    done = in_one_batch_that_breaks(worker, lambda: rebuild(service))
    assert done["seal"] == checksum(worker)
    assert worker.state.learner.bucket.seen == worker.state.seen == 33
    check(service)


def test_the_route_is_for_administrators_and_runs_beside_the_worker(sqlite, start):
    service = start(sqlite)
    _, senders = next(serving(service, sqlite))
    worker = service.workers["pumps"]
    run(worker, samples(40))
    body = {"cause": "checked by hand"}
    for role in ("annotator", "expert", "operator"):
        assert senders[role]("POST", f"{P}/rebuild", body).status_code == 403
    head = worker.head
    dry = senders["admin"]("POST", f"{P}/rebuild?dry_run=1", body)
    assert dry.json() == {"records": head.seq, "seconds": 1, "corrections": 0}
    assert worker.head == head
    assert senders["admin"]("POST", f"{P}/rebuild", {**body, "people": ["eve"]}).status_code == 422
    begun = senders["admin"]("POST", f"{P}/rebuild", body)
    assert begun.status_code == 202
    end = time.monotonic() + 30
    while worker.head.seq == head.seq and time.monotonic() < end:
        time.sleep(0.02)
    lines = senders["operator"]("GET", f"{P}/export/log.ndjson").text.splitlines()
    assert '"kind": "model.rebuilt"' in lines[head.seq]
    assert "checked by hand" in lines[head.seq]
    check(service)


def test_the_command(command, sqlite, start):
    service = start(sqlite)
    run(service.workers["pumps"], samples(30))
    place = ("--database", sqlite.render_as_string(), "--cause", "trial")
    running = command("serve", "rebuild", "pumps", *place)
    assert running.code == 2
    assert "another process serves" in running.err
    service.stop()
    dry = command("serve", "rebuild", "pumps", *place, "--dry-run")
    assert "corrections would count" in dry.out
    done = command("serve", "rebuild", "pumps", *place, "--without-labels", "wear")
    assert done.code == 0, done.err
    assert "checksum before" in done.out
    assert command("serve", "rebuild", "no", *place).code == 2
    assert command("serve", "verify", "--from-start", *place[:2]).code == 0


@pytest.mark.parametrize("cause", [DataError("no room"), ArithmeticError("broken")])
def test_a_rebuild_that_fails_is_an_event_and_in_the_audit_table(service, sqlite, monkeypatch, cause):
    _, senders = next(serving(service, sqlite))
    worker = service.workers["pumps"]
    run(worker, samples(20))

    def fail(*_):
        raise cause

    monkeypatch.setattr("evolabel.server.http.projects.rebuild_model", fail)
    assert senders["admin"]("POST", f"{P}/rebuild", {"cause": "new sensor"}).status_code == 202
    while service.changing:
        time.sleep(0.01)
    (event,) = senders["admin"]("GET", f"{P}/activity?kind=rebuild").json()["activity"]
    assert (event["kind"], event["person"]) == ("rebuild.failed", "root")
    assert str(cause) in event["args"]["error"]
    audit = senders["admin"]("GET", "/api/v1/audit?limit=1000").json()["entries"]
    begun, failed = [entry for entry in audit if entry["action"].startswith("rebuild")]
    assert (begun["actor"], begun["detail"]["cause"]) == ("root", "new sensor")
    assert failed["detail"] == event["args"]
    check(service)
