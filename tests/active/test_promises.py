"""The budget holds at every moment, for any stream, any scores and any answers."""

import copy

import numpy as np
import pytest
from choices import examples
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, rule

from evolabel import EvolvingFuzzyClassifier
from evolabel.active import ActiveLearner, Ambiguity, QuantileSelector, TokenSelector
from evolabel.errors import BudgetError, StateError
from evolabel.streams import DriftingStream

X, Y = DriftingStream(n_features=3, n_labels=3, n_regions=2, drift_every=0, seed=4).take(60)
READY = EvolvingFuzzyClassifier(max_rules=3).fit(X[:50], Y[:50])
ROW = st.lists(st.floats(-50, 50), min_size=3, max_size=3).map(np.array)
LABEL = st.sampled_from([0.0, 1.0, np.nan])


class AnyStream(RuleBasedStateMachine):
    """Questions are made ahead, dropped, pending, refused, answered late, in part, twice; labels appear."""

    queries = Bundle("queries")
    sent = Bundle("sent")

    @initialize(
        per=st.sampled_from(["samples", "labels"]),
        budget=st.sampled_from([0.1, 0.29, 0.5, 1.0]),
        way=st.sampled_from(
            [
                {},
                {"criteria": ("first_feature",), "selection": "first_come"},
                {"criteria": ("first_feature", "every_label"), "selection": "variable", "min_labels": 2},
                {"criteria": "every_label", "selection": QuantileSelector(tau=0.01)},
                {"criteria": "first_feature", "selection": TokenSelector(generosity=100.0)},
                {"criteria": "ambiguity", "selection": "random"},
            ]
        ),
        warm=st.booleans(),
    )
    def begin(self, per, budget, way, warm):
        classifier = copy.deepcopy(READY) if warm else EvolvingFuzzyClassifier(warm_up=4).partial_fit(X[:1], Y[:1])
        if per == "samples":
            way = {name: value for name, value in way.items() if name != "min_labels"}  # refused there
        self.learner = ActiveLearner(classifier, budget, per, **way)

    @rule(target=queries, x=ROW)
    def make_a_question(self, x):
        return self.learner.query(x)

    @rule(query=consumes(queries), answered=st.booleans(), labels=st.lists(LABEL, min_size=3, max_size=5))
    def count(self, query, answered, labels):
        self._allowed(lambda: self.learner.update(query, self._answer(labels) if answered else None))

    @rule(target=sent, query=consumes(queries))
    def send(self, query):
        if query.asked:
            self._allowed(lambda: self.learner.mark_pending(query))
        return query

    @rule(query=sent, answered=st.booleans(), labels=st.lists(LABEL, min_size=3, max_size=3))
    def answer(self, query, answered, labels):
        before = self.learner.bucket.seen, self.learner.bucket.asked
        if query.number in self.learner.pending:
            self.learner.update(query, self._answer(labels) if answered else None)
            assert (self.learner.bucket.seen, self.learner.bucket.asked) == before
        elif query.number is not None:
            with pytest.raises(StateError, match="not pending"):
                self.learner.update(query, None)

    @rule(target=sent, rows=st.integers(1, 12), x=ROW)
    def next_query(self, rows, x):
        query, _ = self.learner.next_query(np.tile(x, (rows, 1)))
        if query is not None:
            self.learner.mark_pending(query)  # it was found at this very moment: it can be paid
            return query
        return self.learner.query(x)

    @invariant()
    def never_beyond_the_budget(self):
        if "learner" in vars(self):
            bucket = self.learner.bucket
            K = self.learner.classifier.inner.any_model.n_labels if bucket.per == "labels" else 1
            assert bucket.asked <= bucket.budget * bucket.seen * K

    def _answer(self, labels):
        K = self.learner.classifier.inner.any_model.n_labels
        return np.array(labels + [np.nan] * max(K - len(labels), 0))

    def _allowed(self, act):
        """Run `act`; BudgetError for a question made too early is allowed if it changes nothing."""
        bucket, n = self.learner.bucket, self.learner.ledger.questions
        before = bucket.seen, bucket.asked
        try:
            act()
        except BudgetError:
            assert (bucket.seen, bucket.asked, self.learner.ledger.questions) == (*before, n)


TestAnyStream = AnyStream.TestCase
TestAnyStream.settings = settings(max_examples=examples(40), stateful_step_count=40, deadline=None)


def test_a_question_that_cannot_be_paid_any_more_is_refused(classifier, stream):
    learner = ActiveLearner(classifier, 0.1, criteria="first_feature", selection="first_come")
    x = np.array([9.0, 0.0, 0.0, 0.0])
    for _ in range(9):
        learner.update(learner.query(x))
    first, second = learner.query(x), learner.query(x)
    assert first.asked
    assert second.asked
    learner.mark_pending(first)
    with pytest.raises(BudgetError, match="query the sample again"):
        learner.mark_pending(second)
    assert (learner.bucket.seen, learner.bucket.asked, len(learner.pending)) == (10, 1, 1)


def test_a_refused_question_counts_as_asked(classifier):
    learner = ActiveLearner(classifier, 1.0, criteria="first_feature", selection="first_come")
    learner.update(learner.query([9.0, 0.0, 0.0, 0.0]), None)
    assert (learner.bucket.asked, learner.ledger.questions_refused, learner.ledger.labels_answered) == (1, 1, 0)


@pytest.mark.parametrize("budget", [0.05, 0.25, 0.5, 1.0])
def test_variable_thresholds_follow_the_budget_that_is_left(classifier, budget):
    learner = ActiveLearner(classifier, budget, criteria="first_feature", selection="variable", burst=None)
    ease, eases = 1.0, []
    for value in [9.0] * 400 + [0.0] * 800:
        query = learner.query([value, 0.0, 0.0, 0.0])
        if learner.bucket.affordable(3):
            ease = np.clip(ease * 1.01 ** (1.0 - query.cost / budget), 0.1, 5.0)
        learner.update(query)
        eases.append(learner.strategy.selector.ease)
        assert eases[-1] == pytest.approx(ease)
        assert learner.bucket.asked <= budget * learner.bucket.seen
    assert min(eases) < 0.2 if budget < 1.0 else min(eases) == 1.0
    assert eases[-1] == max(eases) == 5.0


def test_questions_that_cost_less_than_a_row_earns_do_not_tighten(classifier, stream):
    learner = ActiveLearner(classifier, 1.0, "labels", criteria=Ambiguity(threshold=0.99), selection="variable")
    for x in stream[0][60:100]:
        query = learner.query(x)
        before = learner.strategy.selector.ease
        learner.update(query)
        assert learner.strategy.selector.ease == pytest.approx(before * 1.01 ** (1.0 - query.cost / 3))


def test_the_papers_thresholds_ask_little_at_the_start(classifier, stream):
    learner = ActiveLearner.paper(classifier, 0.1)
    for x in stream[0][60:100]:
        learner.update(learner.query(x))
        assert learner.bucket.asked <= 0.1 * learner.bucket.seen


@pytest.mark.parametrize("way", [{"criteria": "first_feature", "selection": "first_come"}, {"selection": "random"}])
@pytest.mark.parametrize("many", [False, True])
def test_a_pause_is_not_followed_by_questions_about_every_row(way, many):
    def longest_run(burst):
        learner = ActiveLearner(copy.deepcopy(READY), 0.1, burst=burst, **way)
        learner.bucket.skip(3, 10_000)  # a pause: rows are counted, and nothing is asked
        asked = []
        for x in np.full((60, 3), 9.0):
            query = learner.next_query(x[None])[0] if many else learner.query(x)
            if query is not None:
                learner.update(query)
            asked.append(query is not None and query.asked)
        assert learner.bucket.asked == sum(asked)
        return "".join("x" if one else " " for one in asked).split(" ")[0]

    if way["selection"] == "first_come":
        assert len(longest_run(None)) == 60
        assert len(longest_run(200)) == 22, "20 that were saved, and what 22 rows earn meanwhile"
        assert len(longest_run(1)) == 1
    else:
        assert len(longest_run(200)) <= 22


def test_the_cap_is_saved_and_loaded_with_the_learner(tmp_path):
    learner = ActiveLearner(copy.deepcopy(READY), 0.29, "labels", burst=10, credit=3)
    learner.bucket.skip(3, 1000)
    learner.save(tmp_path / "learner")
    loaded = ActiveLearner.load(tmp_path / "learner")
    assert vars(loaded.bucket) == vars(learner.bucket)
    assert loaded.bucket.lost > 0
    unlimited = ActiveLearner(copy.deepcopy(READY), burst=None)
    unlimited.save(tmp_path / "learner")
    assert ActiveLearner.load(tmp_path / "learner").bucket.burst is None


def test_the_paper_saves_everything():
    assert ActiveLearner.paper(copy.deepcopy(READY)).bucket.burst is None
