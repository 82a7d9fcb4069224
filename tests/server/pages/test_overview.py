"""The overview: counts from the tables, checks, how often the model was right."""

import threading
import time
from collections import Counter
from contextlib import contextmanager

import pytest
from sqlalchemy import event, select

from evolabel.evaluate import ErrorsMet
from evolabel.explain import read_rules
from evolabel.server.log.activity import read_activity
from evolabel.server.log.disk import last_backup
from evolabel.server.log.schema import QUESTION, SAMPLE
from evolabel.server.log.times import DAY, HOUR, SECOND
from evolabel.server.ops.maintenance import back_up
from evolabel.server.pages import overview
from evolabel.server.pages.charts import Bar, bar_chart, ticks
from evolabel.server.pages.events import day_of
from evolabel.server.pages.overview import Drift, label_rows
from evolabel.server.project import health, operations, rule_edits
from evolabel.server.project.health import RecentDays
from evolabel.server.project.questions import OpenQuestion, Response, needs_another
from evolabel.server.project.rule_list import count_rules, rule_list
from evolabel.server.project.settings import Label
from evolabel.server.project.statistics import Judgement, answers_by_day, count_since
from server.conftest import on_sqlite
from server.pumps import ANNA, BOB, FEATURES, call, checksum, run, samples, send
from server.signed_in import add_person, browser, post


def look(service, kept=None, since=0):
    """What the overview of the project shows of the time since then; `kept` has looked before."""
    worker, now = service.workers["pumps"], time.time_ns() // 1000
    with service.reader.connect() as connection:
        kept = kept or RecentDays(worker.project.id, day_of)
        return kept.read(connection, since, now, features=FEATURES, seen=worker.state.seen)


def test_the_overview_of_a_project_without_samples_shows_how_to_send_one(sqlite, start):
    service = start(sqlite)
    shown = browser(service, add_person(service)).get("/p/pumps").text
    assert "No sample yet" in shown
    assert "curl http://testserver/api/v1/projects/pumps/samples" in shown


@on_sqlite
def test_the_overview_counts_what_became_of_the_questions(database, start):
    service = start(database)
    worker, person = service.workers["pumps"], add_person(service)
    run(worker, samples(60))
    call(worker, operations.set_paused, ANNA, paused=True)
    found, later = look(service), look(service, since=(time.time_ns() // 1000 + DAY) // HOUR * HOUR)
    with service.reader.connect() as connection:
        counts = count_since(connection, worker.project.id, found.hours)
        happened = read_activity(connection, worker.project.id, 3)
        assert count_since(connection, worker.project.id, later.hours).samples == 0
    assert counts.samples == 60
    assert found.causes == {"answered": worker.state.n_questions}
    assert len(found.judged) >= found.causes["answered"]
    assert {j.label for j in found.judged} <= {"leak", "wear"}
    assert later[:2] == ({}, [])
    assert happened[0].kind == "paused"
    shown = browser(service, person).get("/p/pumps").text
    assert "All is well" in shown
    assert "Asking is paused" in shown
    assert f"<b>{found.causes['answered']}</b> answered" in shown


@contextmanager
def queries(service):
    """The statements of readers, and their parameters."""
    found = []

    def keep(connection, cursor, statement, parameters, *_):
        if threading.current_thread().name != "webhooks":  # which looks for messages meanwhile
            found.append((statement, parameters))

    event.listen(service.reader, "before_cursor_execute", keep)
    yield found
    event.remove(service.reader, "before_cursor_execute", keep)


def test_the_overview_needs_few_queries_and_renders_no_rule(sqlite, start, monkeypatch):
    service = start(sqlite)
    worker, client = service.workers["pumps"], browser(service, add_person(service))
    for n in (1, 30, 300):
        call(worker, operations.send_samples, [{"x": sample["x"], "y": truth} for sample, truth in samples(n)], ANNA)
        run(worker, [({"x": sample["x"]}, truth) for sample, truth in samples(5)])
        rules = call(worker, lambda batch: len(rule_list(batch.state)))
        with queries(service) as found, monkeypatch.context() as patch:
            patch.setattr(read_rules, "read_rules", None)
            shown = client.get("/p/pumps")
        assert shown.status_code == 200
        assert len(found) <= (15 if n == 1 else 14), "\n".join(statement for statement, _ in found)
        assert f'<h2>Rules</h2><p class="figure"><b>{rules}</b></p>' in shown.text
    assert rules > 1


def test_rules_of_all_kinds_are_counted(sqlite, start):
    service = start(sqlite)
    worker = service.workers["pumps"]
    stream = [{"x": sample["x"], "y": truth} for sample, truth in samples(1500)]
    for first in range(0, 1500, 300):
        call(worker, operations.send_samples, stream[first : first + 300], ANNA)
        before = checksum(worker)
        assert call(worker, lambda batch: count_rules(batch.state)) == len(rule_list(worker.state))
        assert checksum(worker) == before
    call(worker, rule_edits.act, "rule.added", {"form": "IF pressure BELOW -1 THEN leak LIKELY"}, ANNA)
    kinds = {rule["kind"] for rule in rule_list(worker.state)}
    assert kinds == {"written", "threshold", "learned"}
    assert count_rules(worker.state) == len(rule_list(worker.state))


@on_sqlite
def test_what_is_kept_between_two_looks_is_what_a_new_look_finds(database, start, monkeypatch):
    clock = [time.time_ns() - 12 * DAY * 1000]
    monkeypatch.setattr(time, "time_ns", lambda: clock[0])
    service = start(database, min_answers=2, hold_seconds=60, expire_after=40)
    worker, kept = service.workers["pumps"], RecentDays(service.workers["pumps"].project.id, day_of)
    people, shown = [operations.Origin(add_person(service, name)) for name in ("anna", "bob")], set()
    for turn in range(28):
        for place, (sample, truth) in enumerate(samples(4, turn)):
            sample["x"]["machine"] = f"M-{turn}{place}" if place % 4 == 0 else None
            result = send(worker, {**sample, "id": f"{turn}-{place}"})
            asked = {label: truth[label] for label in (result["question"] or {"labels": []})["labels"]}
            for person in people[: turn % 3] if asked else ():
                call(worker, operations.give_answer, result["number"], asked, person, took_ms=1000 * place)
                if place == 1:
                    call(worker, operations.withdraw, result["number"], person)
        untouched = [question.number for question in worker.state.open.values() if not question.responses]
        call(worker, operations.refuse, untouched[-1], None, people[0])
        call(worker, operations.late_labels, min(worker.state.open), {"leak": True}, ANNA)
        clock[0] += 10 * HOUR * 1000
        call(worker, lambda batch: None)  # what was held is final, and questions expire
        since = (clock[0] // 1000 - 7 * DAY) // HOUR * HOUR
        found = look(service, kept, since)
        assert found == look(service, since=since)
        with service.reader.connect() as connection:
            every = answers_by_day(connection, worker.project.id, 0, day=day_of)
            asked_since = {row.number for row in connection.execute(select(SAMPLE)) if row.at >= since}
            closed = [row.cause for row in connection.execute(select(QUESTION)) if row.number in asked_since]
        assert found.answered == sorted(item for item in every if day_of(item.at) > day_of(since))
        assert found.causes == Counter(cause for cause in closed if cause)
        shown |= {*found.causes, *(item.person for item in found.answered)}
    assert shown >= {"answered", "expired", "anna", "bob"}
    assert sum(item.counts.refused for item in found.answered) > 10
    assert found.judged
    assert found.unseen.total() == 28


def test_the_overview_reads_what_is_new_alone(sqlite, start):
    service = start(sqlite)
    worker, kept = service.workers["pumps"], RecentDays(service.workers["pumps"].project.id, day_of)
    run(worker, samples(30))
    look(service, kept)
    with queries(service) as found:
        look(service, kept)
    (records,) = [parameters for statement, parameters in found if "log.kind" in statement]
    assert worker.head.seq - 3 <= max(p for p in records if isinstance(p, int)) <= worker.head.seq
    assert not any("JOIN sample" in statement for statement, _ in found)  # no values of samples


def answered(needed, *said):
    """A question that needs so many people, with these responses: yes, no or refused."""
    question = OpenQuestion(1, 1, ["leak"], [], 1, 0, needed)
    for person, word in enumerate(said):
        status = "refused" if word is None else "submitted"
        question.responses[person] = Response(person, 1, status, {} if word is None else {"leak": word}, 0)
    return question


@pytest.mark.parametrize(
    ("needed", "said", "needs"),
    [(1, [], False), (1, [1], False), (2, [], False), (2, [1], True), (2, [1, 1], False), (2, [1, 0], True),
     (2, [None], True), (2, [None, None], False), (2, [1, None], True), (2, [1, 0, 1], False)],
)  # fmt: skip
def test_a_question_with_too_few_answers_needs_another_person(needed, said, needs):
    assert needs_another(answered(needed, *said)) is needs


def test_the_overview_counts_questions_that_wait_for_another_person(sqlite, start):
    service = start(sqlite, min_answers=2)
    worker, client = service.workers["pumps"], browser(service, add_person(service))
    call(worker, operations.send_samples, [sample for sample, _ in samples(30)], ANNA)
    assert "another person" not in client.get("/p/pumps").text
    numbers = sorted(worker.state.open)
    call(worker, operations.give_answer, numbers[0], {"leak": 1, "wear": 0}, ANNA)
    assert "1 has an answer and waits for another person" in client.get("/p/pumps").text
    call(worker, operations.give_answer, numbers[1], {"leak": 1, "wear": 0}, ANNA)
    assert "2 have an answer and wait for another person" in client.get("/p/pumps").text
    for number in numbers[:2]:
        call(worker, operations.give_answer, number, {"leak": 1, "wear": 0}, BOB)
    assert "another person" not in client.get("/p/pumps").text


@on_sqlite
def test_the_overview_counts_texts_that_are_none_of_the_choices(database, start):
    service = start(database)
    worker, client = service.workers["pumps"], browser(service, add_person(service))
    run(worker, samples(20))
    assert "unknown text" not in client.get("/p/pumps").text
    for i, machine in enumerate(["M-07", None, "<b>", "M-07"]):
        send(worker, {"id": f"new{i}", "x": {"pressure": 1.0, "flow": 1.0, "machine": machine}})
        if i == 0:
            assert "1 unknown text in the last 21 samples: machine = M-07" in client.get("/p/pumps").text
    assert "3 unknown texts in the last 24 samples, most often machine = M-07" in client.get("/p/pumps").text


@pytest.mark.parametrize(
    ("met", "shown"),
    [
        (ErrorsMet(700, 6, 60, 1), "How many labels drawn at random the 700 answered are worth is not yet known."),
        (
            ErrorsMet(700, 90, 60, 1),
            "All 700 labels answered are worth at least 1\u202f182 drawn at random; how many is not",
        ),
        (
            ErrorsMet(700, 90, 60, 3),
            "All 700 labels answered are worth about 1\u202f800 drawn at random (695 to 6\u202f332).",
        ),
    ],
)
def test_the_overview_states_what_answers_are_worth(sqlite, start, met, shown):
    service = start(sqlite)
    worker = service.workers["pumps"]
    run(worker, samples(20))
    worker.state.learner.ledger.met = met
    assert shown in browser(service, add_person(service)).get("/p/pumps").text


def test_the_heading_is_the_first_check_that_fails(sqlite, start, monkeypatch):
    service = start(sqlite, max_open=1)
    worker = service.workers["pumps"]
    call(worker, operations.send_samples, [sample for sample, _ in samples(60)], ANNA)
    client = browser(service, add_person(service))
    assert "held back because 1 had no answer yet" in client.get("/p/pumps").text
    assert "All is well" in client.get("/p/pumps").text
    monkeypatch.setattr(overview, "free_bytes", lambda url: 50_000_000)
    shown = client.get("/p/pumps").text
    assert "All is well" not in shown
    assert "Only 0.05 GB of disk left</h1>" in shown


def test_an_operator_pauses_and_resumes_asking(sqlite, start):
    service = start(sqlite)
    worker = service.workers["pumps"]
    call(worker, operations.send_samples, [sample for sample, _ in samples(3)], ANNA)
    client, anna = browser(service, add_person(service, "omar", "operator")), browser(service, add_person(service))
    assert "Pause asking" not in anna.get("/p/pumps").text
    assert post(anna, "/p/pumps/pause").status_code == 403
    assert post(client, "/p/pumps/pause").headers["location"] == "/p/pumps"
    assert worker.state.paused
    assert "omar paused asking" in client.get("/p/pumps").text
    post(client, "/p/pumps/resume")
    assert not worker.state.paused


@pytest.mark.parametrize(
    ("check", "holds"),
    [
        (health.check_writes(ready=False), False),
        (health.check_arrival(0, 10 * SECOND, 100 * SECOND), True),
        (health.check_arrival(0, 10 * SECOND, 101 * SECOND), False),
        (health.check_arrival(0, 1, 60 * SECOND), True),  # a minute at least
        (health.check_arrival(None, None, DAY), True),
        (health.check_disk(10, 200), False),
        (health.check_backup(None, 0, 2 * DAY), True),  # the project is new
        (health.check_backup(None, 0, 2 * DAY + 1), False),
        (health.check_backup(DAY, 0, 3 * DAY), True),
        (health.check_backup(DAY, 0, 3 * DAY + 1), False),
        (health.check_snapshot(20_000, 0), True),
        (health.check_snapshot(20_001, 0), False),
        (health.check_expired({"expired": 2, "answered": 8}), False),
        (health.check_expired({"expired": 1, "answered": 9}), True),
        (health.check_expired({"expired": 3}), True),  # too few to judge
        (health.check_waiting(0, DAY), True),
        (health.check_waiting(0, DAY + 1), False),
        (health.check_quality([("a", -0.11), ("b", 0.3)]), False),
        (health.check_quality([("a", -0.1)]), True),
        (health.check_quality([]), True),
    ],
)
def test_checks_have_limits(check, holds):
    assert check.holds == holds


def test_label_rows_are_on_one_scale_worst_first():
    judged = [Judgement(at, "a", at % 2 == 0) for at in range(100)] + [Judgement(at, "b", True) for at in range(100)]
    found = label_rows([Label("b"), Label("a", "A"), Label("c")], judged, 0, 100)
    assert [(row.name, row.right, row.judged) for row in found.rows] == [("A", 0.5, 100), ("b", 1.0, 100)]
    assert found.low <= 0.5
    assert found.rows[1].last[1] == 10.0
    assert found.rows[1].change == 0.0
    drifted = label_rows([Label("b")], judged, 0, 100, [Drift(25, "b"), Drift(30, "a")])
    assert drifted.rows[0].drifts == [25.0]


def test_a_chart_of_bars_over_time():
    sums = [{"minute": 0, "samples": 10, "asked": 1}, {"minute": 60, "samples": 5, "asked": 0}]
    chart = bar_chart(sums, ["samples", "asked"], 0, 4 * HOUR - 1)
    assert chart.step == "hour"
    assert [(bars.total, bars.most) for bars in chart.bars] == [(15, 10), (1, 1)]
    assert chart.bars[0].bars == [Bar(0.0, 0.0, 20.0, 100.0), Bar(25.0, 50.0, 20.0, 50.0)]
    assert len(chart.bars[1].bars) == 1
    assert [row["samples"] for row in chart.rows] == [5, 10]
    assert len(ticks(0, 7 * DAY)) in (6, 7)
    assert bar_chart(sums[:1], ["samples"], 0, HOUR).step == "minute"


def test_a_backup_is_noted_beside_the_database(sqlite, start, tmp_path):
    service = start(sqlite)
    assert last_backup(sqlite) is None
    back_up(sqlite, tmp_path / "copy.db")
    assert last_backup(sqlite) > service.workers["pumps"].project.created


def test_the_bar_of_questions_adds_up():
    parts = overview.question_bar({"answered": 3, "expired": 1, "waiting": 4})
    assert [part["name"] for part in parts] == ["answered", "expired", "waiting"]
    assert sum(part["width"] for part in parts) == pytest.approx(100.0)
    assert overview.question_bar({})[0]["width"] == 0.0
