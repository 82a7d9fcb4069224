"""The overview: counts from the tables, checks, how often the model was right."""

import pytest

from evolabel.server.contexts import health, verbs
from evolabel.server.contexts.settings import DAY, HOUR, SECOND, Label
from evolabel.server.ops.backup import back_up
from evolabel.server.store.activity import read_activity
from evolabel.server.store.backups import last_backup
from evolabel.server.store.statistics import Judgement, count_since, judged_since
from evolabel.server.web import overview
from evolabel.server.web.charts import Bar, bar_chart, ticks
from evolabel.server.web.label_rows import Drift, label_rows
from server.conftest import on_sqlite
from server.people import add_person, browser, post
from server.pumps import ANNA, call, run, samples, send


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
    call(worker, verbs.set_paused, ANNA, paused=True)
    with service.reader.connect() as connection:
        counts = count_since(connection, worker.project.id, 0)
        judged = judged_since(connection, worker.project.id, 0)
        acts = read_activity(connection, worker.project.id, 3)
        assert count_since(connection, worker.project.id, 2**60).samples == 0
    assert counts.samples == 60
    assert set(counts.causes) == {"answered"}
    assert counts.oldest_waiting is None
    assert len(judged) >= counts.causes["answered"]
    assert {j.label for j in judged} <= {"leak", "wear"}
    assert acts[0].kind == "paused"
    shown = browser(service, person).get("/p/pumps").text
    assert "All is well" in shown
    assert "Asking is paused" in shown
    assert f"<b>{counts.causes['answered']}</b> answered" in shown


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


def test_the_heading_is_the_first_check_that_fails(sqlite, start, monkeypatch):
    service = start(sqlite, max_open=1)
    worker = service.workers["pumps"]
    call(worker, verbs.send_samples, [sample for sample, _ in samples(60)], ANNA)
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
    call(worker, verbs.send_samples, [sample for sample, _ in samples(3)], ANNA)
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
