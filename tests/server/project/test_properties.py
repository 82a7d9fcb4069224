"""Any order of samples, answers, retries, pauses, changes and restarts: replay, limits, budget and status."""

import itertools
from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evolabel.errors import EvolabelError
from evolabel.server.log.engines import read_url
from evolabel.server.log.projects import find_project
from evolabel.server.log.records import FIRST_CHAIN, read_records
from evolabel.server.log.schema import QUESTION
from evolabel.server.log.times import HOUR, SECOND
from evolabel.server.project import operations, rule_edits
from evolabel.server.project.batch import Origin
from evolabel.server.project.learner_changes import RULE_KINDS
from evolabel.server.project.replay import apply_record
from evolabel.server.project.rule_edits import undo_act, undo_cost
from evolabel.server.project.rule_list import rule_list
from evolabel.server.project.service import Service
from evolabel.server.project.worker import Worker
from server.pumps import checksum, new_project, proven, samples

STREAM = [sample for sample, _ in samples(40)]
KNOWN = [{**sample, "id": f"known {sample['id']}", "y": y} for sample, y in samples(85, seed=2)]
_slugs = itertools.count()

people = st.integers(1, 3)
answers = st.dictionaries(st.sampled_from(["leak", "wear"]), st.sampled_from([True, False, None]), min_size=1)
places = st.integers(0, 30)
steps = st.one_of(
    st.tuples(st.just("samples"), st.integers(0, 30), st.integers(1, 9)),  # known ones are retries
    st.tuples(st.just("answer"), places, people, answers),
    st.tuples(st.just("refuse"), places, people),
    st.tuples(st.just("withdraw"), places, people),
    st.tuples(st.just("labels"), places, answers),
    st.tuples(st.just("pause"), st.booleans()),
    st.tuples(st.just("change"), st.sampled_from([{"budget": 0.2}, {"budget": 1.0}, {"max_open": 2}, {"max_open": 9}])),
    st.tuples(st.just("wait"), st.sampled_from([1, 30, 1900, 3700])),
    st.tuples(st.just("restart")),
)
rule_steps = st.one_of(
    st.tuples(st.just("rule"), st.sampled_from(RULE_KINDS), places, places),
    st.tuples(st.just("rule"), st.just("rule.added"), places, places),
    st.tuples(st.just("undo"), places),
    st.tuples(st.just("samples"), st.integers(0, 30), st.integers(1, 9)),
    st.tuples(st.just("answer"), places, people, answers),
    st.tuples(st.just("restart")),
)
FORMS = ["IF pressure BELOW -1 THEN leak LIKELY", "IF flow ABOVE 0.2 THEN wear 80%, leak UNLIKELY WITH WEIGHT 5"]


class Rig:
    """A project with a clock of its own."""

    def __init__(self, service, chosen):
        self.service, self.now = service, 10**15
        project = service.create_project(new_project(**chosen)._replace(slug=f"p{next(_slugs)}"))
        service.workers.pop(project.slug).stop()
        self.project = project
        self.checksums = {}
        self.start()

    def start(self):
        with self.service.reader.connect() as connection:
            self.project = find_project(connection, self.project.slug)
        self.worker = Worker(self.project, self.service.writer, self.service.reader, clock=lambda: self.now)
        self.worker.start()
        self.keep_seal()

    def keep_seal(self):
        sealed = checksum(self.worker)  # a job of its own, which also closes what is due
        self.checksums[self.worker.head.seq] = sealed

    def call(self, operation, *arguments, **named):
        try:
            return self.worker.submit(lambda batch: operation(batch, *arguments, **named)).result(30)
        except EvolabelError as error:
            return error

    def act(self, kind, *given):
        seen = max(self.worker.state.seen, 1)
        if kind == "samples":
            batch = STREAM[given[0] : given[0] + given[1]]
            first = self.call(operations.send_samples, batch, Origin(9))
            again = self.call(operations.send_samples, batch, Origin(9))
            assert again["results"] == first["results"]
        elif kind == "answer":
            self.call(operations.give_answer, given[0] % seen + 1, given[2], Origin(given[1]))
        elif kind == "refuse":
            self.call(operations.refuse, given[0] % seen + 1, None, Origin(given[1]))
        elif kind == "withdraw":
            self.call(operations.withdraw, given[0] % seen + 1, Origin(given[1]))
        elif kind == "labels":
            self.call(operations.late_labels, given[0] % seen + 1, given[1], Origin(9))
        elif kind == "pause":
            self.call(operations.set_paused, Origin(9), paused=given[0])
        elif kind == "change":
            self.call(operations.change_settings, given[0], Origin(9))
        elif kind == "wait":
            self.now += given[0] * SECOND
        elif kind == "rule":
            self.act_on_rule(*given)
        elif kind == "undo":
            known = self.worker.call(lambda batch: [record.seq for record in batch.of_kinds(RULE_KINDS)])
            if known:
                self.try_undo(known[given[0] % len(known)])
        elif kind == "restart":
            self.worker.stop()
            self.start()
        self.keep_seal()

    def act_on_rule(self, kind, number, other):
        """An act on one of the rules that there are; it may be refused."""
        known = self.worker.view.read(lambda copy: [rule["rule"] for rule in rule_list(copy.state)]).result(30) or [0]
        rule = {"rule": known[number % len(known)]}
        payload = {
            "rule.added": {"form": FORMS[number % 2]},
            "rule.edited": {**rule, "form": FORMS[other % 2]},
            "rule.renamed": {**rule, "name": f"name {other}"},
            "rule.merged": {"one": rule["rule"], "other": known[other % len(known)]},
        }.get(kind, rule)
        self.call(rule_edits.prepare_act, kind, payload, Origin(7))
        self.call(rule_edits.act, kind, payload, Origin(7))

    def try_undo(self, seq):
        try:
            cost = undo_cost(self.worker, seq)
            done = undo_act(self.worker, seq, Origin(7))
        except EvolabelError:
            return
        assert done["way"] == cost["way"]


class Fold:
    """What the records say, by the plainest reading of each: limits, open questions, status and responses."""

    def __init__(self):
        self.settings, self.paused = {}, False
        self.status, self.responses, self.asked_at, self.ids = {}, {}, [], Counter()

    def read(self, record):
        kind, payload, outcome, at = record.entry.kind, record.entry.payload, record.entry.outcome, record.entry.at
        number = outcome.get("number") or payload.get("number")
        if kind == "project.created":
            self.settings = dict(payload["settings"])
        elif kind == "settings.changed":
            self.settings |= payload["changed"]
        elif kind in ("paused", "resumed"):
            self.paused = kind == "paused"
        elif kind == "sample":
            self.ids[payload["id"]] += 1
            if outcome["question"]:
                self._asked(number, at)
        elif kind in ("answer", "refusal"):
            assert self.status[number] == "open"
            self.responses[number][payload["person"]] = payload.get("answers")
        elif kind == "withdrawal":
            del self.responses[number][payload["person"]]
        elif kind == "correction":
            assert number in self.status
        elif kind == "close":
            assert self.status[number] == "open"
            self.status[number] = payload["cause"]
        elif kind == "labels.late" and self.status.get(number) == "open":
            self.status[number] = "answered"

    def _asked(self, number, at):
        unanswered = [n for n, status in self.status.items() if status == "open" and not self.responses[n]]
        assert not self.paused
        assert len(unanswered) < self.settings["max_open"]
        limit = self.settings["questions_per_hour"]
        assert not limit or sum(at - HOUR < then for then in self.asked_at) < limit
        self.asked_at.append(at)
        self.status[number], self.responses[number] = "open", {}


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    service = Service(read_url(f"sqlite:///{tmp_path_factory.mktemp('properties')}/evolabel.db"))
    service.start()
    yield service
    service.stop()


@given(
    chosen=st.fixed_dictionaries(
        {
            "max_open": st.integers(1, 6),
            "questions_per_hour": st.sampled_from([0, 0, 3]),
            "hold_seconds": st.sampled_from([0, 20]),
            "min_answers": st.sampled_from([1, 1, 2]),
            "expire_after": st.sampled_from([5, 2000]),
            "snapshot_every": st.sampled_from([10, 5000]),
            "budget": st.sampled_from([0.3, 0.9]),
        }
    ),
    order=st.lists(steps, min_size=5, max_size=25),
)
@settings(
    max_examples=settings().max_examples // 3,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
def test_replay_limits_budget_and_status(service, chosen, order):
    rig = Rig(service, chosen)
    rig.act("samples", 0, 15)
    for act in order:
        rig.act(*act)
    check_log(service, rig)


@given(
    known=st.sampled_from([30, 85]),  # the warm-up has 80 rows, or is ended by the first act
    snapshot_every=st.sampled_from([10, 5000]),
    order=st.lists(rule_steps, min_size=8, max_size=20),
)
@settings(max_examples=settings().max_examples // 5, suppress_health_check=[HealthCheck.too_slow])
def test_replay_with_acts_on_rules(service, known, snapshot_every, order):
    rig = Rig(service, {"snapshot_every": snapshot_every})
    rig.call(operations.send_samples, KNOWN[:known], Origin(9))
    for act in order:
        rig.act(*act)
    check_log(service, rig)


def check_log(service, rig):
    """The log gives every state again that there was, and the tables and the plainest reading agree with it."""
    open_now = {number: set(question.responses) for number, question in rig.worker.state.open.items()}
    rig.worker.stop()
    fold, state = Fold(), None
    with service.reader.connect() as connection:
        project = find_project(connection, rig.project.slug)
        proven(connection, rig.project.slug)
        for record in read_records(connection, project.id, 0, FIRST_CHAIN):
            fold.read(record)
            state, _ = apply_record(state, record)
            assert rig.checksums.get(record.seq) in (None, state.checksum())  # cut here, the state is the one there was
        rows = connection.execute(QUESTION.select().where(QUESTION.c.project_id == project.id)).all()
    assert {row.number: row.cause or "open" for row in rows} == fold.status
    assert open_now == {n: set(fold.responses[n]) for n, status in fold.status.items() if status == "open"}
    assert set(fold.ids.values()) == {1}
