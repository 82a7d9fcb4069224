"""What happened in a project: events of the rules in outcomes, and the tables that are made from the log."""

import re

import pytest
from sqlalchemy import delete, select, update

from evolabel.core.events import EDITS, EVENT_KINDS, Event
from evolabel.server.log.activity import ActivityItem, read_activity
from evolabel.server.log.canonical import parsed
from evolabel.server.log.projects import find_project
from evolabel.server.log.records import LogError
from evolabel.server.log.schema import ACTIVITY, LOG, PER_HOUR_LABEL, PER_MINUTE
from evolabel.server.ops.verify import verify_project
from evolabel.server.pages.events import describe
from evolabel.server.project import operations
from evolabel.server.project.learner_changes import event_facts
from evolabel.server.project.questions import judged_answers
from server.conftest import on_sqlite
from server.pumps import ANNA, call, proven, run, samples
from server.signed_in import add_person, ask, browser


def rows_of(service, table):
    """All rows of a table."""
    with service.reader.connect() as connection:
        return connection.execute(select(table)).all()


def happened(service, **chosen):
    """What happened in the project, newest first."""
    with service.reader.connect() as connection:
        return read_activity(connection, service.workers["pumps"].project.id, 100, **chosen)


@on_sqlite
def test_events_of_the_rules_are_in_the_outcome_of_the_record_that_learned(database, start):
    service = start(database)
    worker = service.workers["pumps"]
    taught = [{**sample, "y": truth} for sample, truth in samples(90)]
    results = call(worker, operations.send_samples, taught, ANNA)["results"]
    assert not [result for result in results if "events" in result]  # they are not for the producer
    assert call(worker, operations.send_samples, taught, ANNA)["results"] == results
    found = {row.seq: parsed(row.outcome).get("events", []) for row in rows_of(service, LOG)}
    born = [event["rule"] for events in found.values() for event in events if event["kind"] == "birth"]
    assert born == sorted(set(born))
    assert len(born) >= worker.state.learner.classifier.n_rules_ >= 1
    shown = happened(service, kinds=["model."])
    assert sorted(h.args["rule"] for h in shown if h.kind == "model.birth") == born
    assert {h.seq for h in shown} == {seq for seq, events in found.items() if events}
    with service.reader.connect() as connection:  # the same events again, and the same tables
        proven(connection)


def test_event_facts_leave_out_what_says_nothing():
    event = Event(7, "drift", None, None, label="wear", before=0.1, after=float("nan"), rows=3)
    assert event_facts(event) == {"kind": "drift", "label": "wear", "before": 0.1, "rows": 3}


@on_sqlite
def test_acts_are_activity_and_samples_are_not(database, start):
    service = start(database)
    worker, omar = service.workers["pumps"], add_person(service, "omar", "operator")
    origin = operations.Origin(omar)
    call(worker, operations.send_samples, [sample for sample, _ in samples(3)], ANNA)
    call(worker, operations.change_settings, {"max_open": 9}, origin)
    call(worker, operations.set_paused, origin, paused=True)
    shown = happened(service)
    assert [(h.kind, h.person) for h in shown] == [
        ("paused", "omar"),
        ("settings.changed", "omar"),
        ("project.created", None),
    ]
    assert shown[1].args == {"changed": {"max_open": 9}}
    assert happened(service, kinds=["pause"]) == shown[:1]
    assert happened(service, before=shown[0].seq) == shown[1:]


def test_a_restart_says_when_it_stopped_and_what_was_replayed(sqlite, start):
    service = start(sqlite)
    run(service.workers["pumps"], samples(5))
    last = max(row.at for row in rows_of(service, LOG))
    service.stop()
    again = start(sqlite)
    back = happened(again)[0]
    assert back.kind == "epoch.started"
    assert back.args["replayed"] == 0
    assert last <= back.args["stopped"] <= back.at


def test_minutes_and_hours_are_sums_of_the_log(database, start):
    service = start(database, max_open=3)
    worker = service.workers["pumps"]
    run(worker, samples(40))
    call(worker, operations.send_samples, [sample for sample, _ in samples(90)][40:], ANNA)
    rows = rows_of(service, PER_MINUTE)
    state = worker.state
    assert sum(row.samples for row in rows) == 90
    assert sum(row.asked for row in rows) == state.n_questions
    assert sum(row.answered for row in rows) == state.n_questions - 3
    assert sum(row.held_max_open for row in rows) > 0
    labels = rows_of(service, PER_HOUR_LABEL)
    assert sum(row.judged for row in labels) >= state.n_questions - 3
    assert 0 < sum(row.correct for row in labels) < sum(row.judged for row in labels)


def test_check_finds_tables_that_differ_from_the_log(sqlite, start):
    service = start(sqlite)
    run(service.workers["pumps"], samples(5))
    for table, change in [
        ("per_minute", update(PER_MINUTE).values(samples=PER_MINUTE.c.samples + 1)),
        ("activity", delete(ACTIVITY)),
    ]:
        with service.writer.transaction() as connection:
            before = connection.execute(select(PER_MINUTE)).all()
            connection.execute(change)
            with pytest.raises(LogError, match=f"the table {table} differs"):
                verify_project(connection, find_project(connection, "pumps"), replay=False)
            for row in before:
                connection.execute(update(PER_MINUTE).values(row._asdict()).where(PER_MINUTE.c.minute == row.minute))


def test_answers_are_judged_by_what_the_model_had_said():
    rows = [{"leak": 1, "wear": None}, {"leak": 0, "wear": 0}]
    assert judged_answers(["leak"], rows) == {"judged": {"leak": 2, "wear": 1}, "right": {"leak": 1, "wear": 1}}


def test_events_are_shown_by_day_kind_and_person(sqlite, start):
    service = start(sqlite)
    worker = service.workers["pumps"]
    omar, anna = add_person(service, "omar", "operator"), add_person(service)
    call(worker, operations.send_samples, [{"x": sample["x"], "y": truth} for sample, truth in samples(90)], ANNA)
    call(worker, operations.set_paused, operations.Origin(omar), paused=True)
    call(worker, operations.set_paused, operations.Origin(omar), paused=False)
    call(worker, operations.change_settings, {"blind": False, "budget": 0.7}, operations.Origin(omar))
    number, labels = ask(service)
    call(worker, operations.give_answer, number, dict.fromkeys(labels, True), operations.Origin(anna), took_ms=4100)
    page = browser(service, anna)
    shown = page.get("/p/pumps/events").text
    assert "Today, " in shown
    for text in (
        "omar paused asking",
        "blind off, budget 0.7",
        "anna answered 1 question",
        "4.1 s each",
        "rules are new",
    ):
        assert text in shown
    assert "paused" not in page.get("/p/pumps/events?kind=answers").text
    assert "anna answered" not in page.get("/p/pumps/events?kind=acts&person=omar").text
    assert "omar paused" in page.get("/p/pumps/events?kind=acts&person=omar").text
    assert "Nothing of this kind happened." in page.get("/p/pumps/events?kind=server&person=omar").text
    assert "omar paused asking" in page.get("/p/pumps").text


def test_a_stop_is_told_with_what_was_lost(sqlite, start):
    service = start(sqlite)
    run(service.workers["pumps"], samples(5))
    service.stop()
    again = start(sqlite)
    shown = browser(again, add_person(again)).get("/p/pumps/events?kind=server").text
    assert re.search(r"Stopped \d\d:\d\d, back \d\d:\d\d", shown)
    assert "0 acknowledged samples lost, 0 records replayed, state verified" in shown


def test_every_kind_of_event_has_a_text():
    for kind in {*EVENT_KINDS} - {*EDITS}:
        found = describe(
            ActivityItem(1, 0, f"model.{kind.replace(' ', '_')}", 10**15, None, {"rule": 3, "label": "leak"})
        )
        assert "model." not in found.title
    args = {"label": "leak", "before": 0.05, "after": 0.61, "note": "positives"}
    assert "is predicted" in describe(ActivityItem(1, 0, "model.drift", 10**15, None, args)).more
    assert "is predicted" not in describe(ActivityItem(1, 0, "model.drift", 10**15, None, {**args, "note": ""})).more
    assert describe(ActivityItem(1, 0, "new.kind", 10**15, "Eva", {})).title == "Eva: new.kind"
