"""Reads, wherever they come between rows, answers and edits, leave every later output as it is, bit for bit."""

import copy
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evolabel import EvolvingFuzzyClassifier
from evolabel.active import ActiveLearner
from evolabel.errors import EvolabelError
from evolabel.streams import DriftingStream

pytestmark = pytest.mark.filterwarnings("ignore:X does not have valid feature names")
X, Y = DriftingStream(n_features=3, n_labels=2, drift_every=70, seed=3).take(500)
RULES = ("IF x0 IS above 0.2 THEN label0 LIKELY", "IF x1 IS below 0.5 THEN label0 UNLIKELY, label1 LIKELY")

READS_OF_A_CLASSIFIER = {
    "predict": lambda clf, tmp: clf.predict(X[:3]),
    "predict_proba": lambda clf, tmp: clf.predict_proba(X[:40]),
    "predict_set": lambda clf, tmp: clf.predict_set(X[:2]),
    "decision_function": lambda clf, tmp: clf.decision_function(X[5:6]),
    "explain": lambda clf, tmp: str(clf.explain(X[7])),
    "rules_": lambda clf, tmp: [str(rule) for rule in clf.rules_],
    "describe": lambda clf, tmp: clf.describe(),
    "drift_": lambda clf, tmp: clf.drift_,
    "events_": lambda clf, tmp: clf.events_,
    "form": lambda clf, tmp: str(clf.rulebook.form(1)),
    "save": lambda clf, tmp: clf.save(tmp),
    "copy": lambda clf, tmp: copy.deepcopy(clf).partial_fit(X[:9], clf.predict(X[:9])),
}
READS_OF_A_LEARNER = {
    **{
        name: (lambda read: lambda learner, tmp: read(learner.classifier, tmp))(r)
        for name, r in READS_OF_A_CLASSIFIER.items()
    },
    "query": lambda learner, tmp: learner.query(X[11]),
    "corrected outputs": lambda learner, tmp: learner.decision_function(X[:2]),
    "corrected probabilities": lambda learner, tmp: learner.predict_proba(X[:70]),
    "corrected explanation": lambda learner, tmp: str(learner.explain(X[12])),
    "learner file": lambda learner, tmp: learner.save(tmp),
    "checksum": lambda learner, tmp: learner.checksum(),
    "learner copy": lambda learner, tmp: copy.deepcopy(learner).next_query(X[:50]),
}


class Run:
    """One learner, or one classifier alone, and all that it has returned."""

    def __init__(self, per, budget):
        clf = EvolvingFuzzyClassifier(warm_up=40, max_rules=5)
        self.learner = ActiveLearner.start(["x0", "x1", "x2"], ["label0", "label1"], clf, per=per, budget=budget)
        self.clf, self.at, self.returned = self.learner.classifier, 0, []

    def labels(self, rows):
        """The labels of `rows`; those added meanwhile are unknown."""
        extra = self.clf.inner.any_model.n_labels - Y.shape[1] if self.clf.inner.is_fitted else 0
        return np.pad(Y[rows], ((0, 0), (0, extra)), constant_values=np.nan)

    def answer(self):
        """The answer about the present row."""
        return self.labels([self.at])[0]

    def rows(self, count):
        """Query `count` rows, and answer the questions."""
        for _ in range(count):
            query = self.learner.query(X[self.at])
            self.learner.update(query, self.answer() if query.asked else None)
            self.returned += [query.prediction.tobytes(), query.labels.tobytes(), query.reasons]
            self.at += 1

    def scanned(self, count):
        """Pass `count` rows to `next_query` until no question is left, and answer them."""
        end = self.at + count
        while self.at < end:
            query, passed = self.learner.next_query(X[self.at : end])
            self.at += passed
            if query is not None:
                self.learner.update(query, self.answer())
                self.returned += [query.prediction.tobytes(), query.labels.tobytes()]
                self.at += 1

    def waiting(self, count):
        """Ask about `count` rows whose answers come after all of them."""
        asked = []
        for _ in range(count):
            query = self.learner.query(X[self.at])
            if query.asked:
                self.learner.mark_pending(query)
                asked.append((query, self.answer()))
            else:
                self.learner.skip(query)
            self.at += 1
        for query, y in asked:
            self.learner.update(query, y)

    def attempt(self, edit):
        """Make an `edit`, which may be refused."""
        try:
            edit(self)
        except EvolabelError as error:
            self.returned.append(str(error))

    def finished(self):
        """All that was returned, with the state in the end."""
        return [*self.returned, self.learner.checksum(), self.clf.predict_proba(X).tobytes()]


STEPS = {
    "5 rows": lambda run: run.rows(5),
    "20 rows": lambda run: run.rows(20),
    "30 scanned": lambda run: run.scanned(30),
    "8 waiting": lambda run: run.waiting(8),
    "taught": lambda run: run.learner.learn(X[0], run.labels([0])[0]),
    "learned": lambda run: run.clf.partial_fit(X[:4], run.labels(range(4))),
    "add": lambda run: run.attempt(lambda run: run.clf.rulebook.add(RULES[0])),
    "add another": lambda run: run.attempt(lambda run: run.clf.rulebook.add(RULES[1])),
    "lock": lambda run: run.attempt(lambda run: run.clf.rulebook.lock(1)),
    "delete": lambda run: run.attempt(lambda run: run.clf.rulebook.delete(1)),
    "undo": lambda run: run.attempt(lambda run: run.clf.rulebook.undo()),
    "budget": lambda run: run.attempt(lambda run: setattr(run.learner, "budget", 0.7)),
    "retire": lambda run: run.learner.retire_label("label1"),
    "new label": lambda run: run.attempt(lambda run: run.learner.add_label("more")),
}


def read(run, name, tmp):
    with suppress(EvolabelError):  # a read may be refused, as `explain` is before the tenth row
        READS_OF_A_LEARNER[name](run.learner, tmp)


def run_with(steps, reads, per, budget, tmp):
    """Return what a run of these `steps` gives, with a list of `reads` before each and behind the last."""
    run = Run(per, budget)
    for step, before in zip(steps, reads, strict=True):
        for name in before:
            read(run, name, tmp)
        STEPS[step](run)
    return run.finished()


@st.composite
def interleavings(draw):
    steps = draw(st.lists(st.sampled_from(sorted(STEPS)), min_size=2, max_size=10))
    names = st.lists(st.sampled_from(sorted(READS_OF_A_LEARNER)), max_size=3)
    return ["20 rows", *steps, "20 rows"], [draw(names) for _ in range(len(steps) + 2)]


@given(interleavings(), st.sampled_from(["samples", "labels"]), st.sampled_from([0.3, 1.0]))
def test_reads_anywhere_leave_every_later_output_as_it_is(tmp_path_factory, plan, per, budget):
    steps, reads = plan
    tmp = tmp_path_factory.getbasetemp() / "read.model"
    assert run_with(steps, [[] for _ in reads], per, budget, tmp) == run_with(steps, reads, per, budget, tmp)


@pytest.mark.parametrize("name", sorted(READS_OF_A_LEARNER))
def test_a_read_before_an_edit_that_ends_the_warm_up_changes_nothing(name, tmp_path):
    steps = ["20 rows", "add", *["20 rows"] * 4]
    plain = run_with(steps, [[]] * 6, "samples", 1.0, tmp_path / "read.model")
    assert run_with(steps, [[], [name], [], [], [], []], "samples", 1.0, tmp_path / "read.model") == plain
