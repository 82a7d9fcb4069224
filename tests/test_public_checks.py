"""Public checks pass what is right, and name what is broken."""

import copy
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Annotated, ClassVar, NamedTuple

import numpy as np
import pytest
from choices import all_but, examples, first_quick, only_quick
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError

from evolabel import EvolvingFuzzyClassifier
from evolabel.active import CRITERIA, SELECTORS, Criterion, FirstCome, register
from evolabel.checks import check_criterion, check_learner, check_selector, check_stage
from evolabel.learners import make_learner
from evolabel.stages import OwnStage, Schema, StagePart, array
from evolabel.typing import FloatArray

BUILT_IN = [name for name, kind in CRITERIA.items() if kind.__module__.startswith("evolabel.")]


@pytest.mark.parametrize("name", all_but(["evolabel", "macro-f1", "rfwls"], "macro-f1"))  # the rivals: tests/baselines
def test_classifiers_pass(name):
    check_learner(make_learner(name))


@pytest.mark.parametrize("way", first_quick({"optimise": "subset_accuracy"}, {"optimise": "balanced"}), ids=str)
def test_classifiers_that_decide_otherwise_pass(way):
    check_learner(EvolvingFuzzyClassifier(max_rules=4, **way))


# One criterion that scores labels and one that scores whole rows, a selector with a threshold and one without; the
# examples of `check_criterion` and `check_selector` check another one of each.
@pytest.mark.parametrize("name", only_quick(BUILT_IN, "ambiguity", "variance_reduction"))
def test_criteria_pass(name):
    check_criterion(CRITERIA[name]())


@pytest.mark.parametrize("name", only_quick(SELECTORS, "quantile", "tokens", "random"))
def test_selectors_pass(name):
    check_selector(SELECTORS[name]())


# ---------------------------------------------------------------------- learners


class Shares:
    """Share of each label so far: the smallest learner that passes."""

    def fit(self, X, Y):
        self.on, self.n = np.zeros(Y.shape[1]), np.ones(Y.shape[1])
        return self.partial_fit(X, Y)

    def partial_fit(self, X, Y):
        if not hasattr(self, "n"):
            return self.fit(X, Y)
        self.on = self.on + np.nansum(Y, axis=0)
        self.n = self.n + (~np.isnan(Y)).sum(axis=0)
        return self

    def decision_function(self, X):
        if not hasattr(self, "n"):
            raise NotFittedError("call fit first")
        return np.tile(self.on / self.n, (len(X), 1))


class OneScore(Shares):
    def decision_function(self, X):
        return super().decision_function(X)[:, 0]


class NoNumber(Shares):
    def decision_function(self, X):
        return np.log(super().decision_function(X) - 1.0)


class Eager(Shares):
    on, n = np.zeros(3), np.ones(3)


class NeedsFit(Shares):
    def partial_fit(self, X, Y):
        self.on = self.on + np.nansum(Y, axis=0)
        return self


class Counting(Shares):
    def decision_function(self, X):
        scores = super().decision_function(X)
        self.n = self.n + 1
        return scores


class Overwriting(Shares):
    def partial_fit(self, X, Y):
        super().partial_fit(X, Y)
        X[:] = 0.0
        return self


class Keeping(Shares):
    def fit(self, X, Y):
        self.Y = Y
        return super().fit(X, Y)

    def decision_function(self, X):
        return super().decision_function(X) + getattr(self, "Y", np.zeros(1)).mean()


class LookingAhead(Shares):
    def test_then_train(self, X, Y):
        first = np.zeros((1, Y.shape[1])) if not hasattr(self, "n") else self.decision_function(X[:1])
        scores = self.partial_fit(X, Y).decision_function(X)
        scores[:1] = first
        return scores


class Batchwise(Shares):
    def partial_fit(self, X, Y):
        super().partial_fit(X, Y)
        self.n = self.n + 1
        return self


class Drawing(Shares):
    def test_then_train(self, X, Y):
        known = hasattr(self, "n")
        self.partial_fit(X, Y)
        return np.random.default_rng().random(Y.shape) if known else np.zeros(Y.shape)


class Remembering(Shares):
    def fit(self, X, Y):
        self.fits = getattr(self, "fits", 0) + 1
        return super().fit(X, Y)

    def decision_function(self, X):
        return super().decision_function(X) + self.fits if hasattr(self, "fits") else super().decision_function(X)


class NoGaps(Shares):
    def partial_fit(self, X, Y):
        if np.isnan(Y).any():
            raise ValueError("Y contains NaN")
        return super().partial_fit(X, Y)


class Answering(Shares):
    """Shares with `answer_then_train`; what is broken is a change of its answers."""

    def predict(self, X):
        return (self.decision_function(X) >= 0.5).astype(int)

    def answer_then_train(self, X, Y):
        scores = np.empty(Y.shape)
        for row in range(len(X)):
            scores[row] = self.decision_function(X[[row]])[0]
            self.partial_fit(X[[row]], Y[[row]])
        return self.answers(scores, Y)

    def answers(self, scores, Y):
        return SimpleNamespace(outputs=scores, probabilities=scores, decisions=scores >= 0.5)


class NoDecisions(Answering):
    def answers(self, scores, Y):
        return SimpleNamespace(outputs=scores, probabilities=scores)


class BeyondOne(Answering):
    def answers(self, scores, Y):
        return SimpleNamespace(outputs=scores, probabilities=scores + 1.0, decisions=scores >= 0.5)


class KnowingAnswers(Answering):
    def answers(self, scores, Y):
        return SimpleNamespace(outputs=scores, probabilities=scores, decisions=Y > 0.5)


BROKEN_LEARNERS = {
    NoDecisions: "answer_then_train returned no decisions",
    BeyondOne: "answer_then_train returned probabilities from .* expected 0 to 1",
    KnowingAnswers: "answer_then_train differs from predict row by row",
    OneScore: r"returned shape \(120,\); expected \(120, 3\)",
    NoNumber: "returned nan .*finite",
    Eager: "returned scores before any training",
    NeedsFit: "partial_fit as the very first call raised AttributeError",
    Counting: "decision_function changes the learner",
    Overwriting: "partial_fit writes into its input",
    Keeping: "keeps the arrays it was given",
    LookingAhead: "looks ahead: scores up to row 30",
    Batchwise: "partial_fit of many rows differs from row by row",
    Drawing: "looks ahead|twice gives other scores",
    Remembering: "fit of a trained learner differs",
    NoGaps: "with NaN in X and Y raised ValueError: Y contains NaN",
}


def test_a_small_learner_passes():
    check_learner(Shares(), n_features=2, n_labels=5)
    check_learner(Answering(), n_features=2, n_labels=5)


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning", "ignore:divide by zero:RuntimeWarning")
@pytest.mark.parametrize("broken", BROKEN_LEARNERS)
def test_what_is_broken_in_a_learner_is_named(broken):
    with pytest.raises(AssertionError, match=f"{broken.__name__}.*({BROKEN_LEARNERS[broken]})"):
        check_learner(broken())


def test_things_that_are_no_learners_are_refused():
    with pytest.raises(AssertionError, match="object has no method fit, partial_fit, decision_function"):
        check_learner(object())
    with pytest.raises(AssertionError, match="is a class; pass an object"):
        check_learner(Shares)


# ---------------------------------------------------------------------- members


class Counts(NamedTuple):
    on: Annotated[FloatArray, array("label")]
    n: Annotated[FloatArray, array("label")]


class StageShares(OwnStage):
    """Half of the answer is the share of each label so far: a small stage that passes."""

    name, schema = "shares", Schema(Counts)

    def answer(self, rows):
        rows.outputs[:] = 0.5 * rows.outputs + 0.5 * self.arrays.on / (1.0 + self.arrays.n)

    def learn_row(self, row, log):
        self.arrays.on[:] += np.nan_to_num(row.Y[0])
        self.arrays.n[:] += ~np.isnan(row.Y[0])

    def merge(self, other, labels):
        for mine, theirs in zip(self.arrays, self.placed(other, labels), strict=True):
            mine += theirs


class Spoilt(StageShares):
    def learn_row(self, row, log):
        self.arrays.on[:] += row.Y[0]


class CountingAnswers(StageShares):
    def answer(self, rows):
        self.arrays.n[:] += 1.0
        super().answer(rows)


class Cheating(StageShares):
    def answer(self, rows):
        super().answer(rows)
        if len(rows.Y):
            rows.outputs += 0.1 * np.nan_to_num(rows.Y)


class Mean(StageShares):
    def learn(self, rows, log):
        self.answer(rows)
        self.arrays.on[:] += np.nan_to_num(rows.Y).mean(axis=0)


class LearningFirst(StageShares):
    def learn(self, rows, log):
        for row in rows.each():
            self.learn_row(row, log)
            self.answer(row)


class Centred(StageShares):
    def answer(self, rows):
        super().answer(rows)
        rows.outputs -= rows.outputs.mean(axis=0)


class OverwritingRows(StageShares):
    def learn(self, rows, log):
        super().learn(rows, log)
        rows.weights[:] = 0.0


class Drawing(StageShares):
    def learn_row(self, row, log):
        super().learn_row(row, log)
        self.arrays.on[:] += np.random.default_rng().random()


class OtherParts(StageShares):
    def explain(self, rows):
        part = super().explain(rows)
        return StagePart(2.0 * part.added)


class LearningParts(StageShares):
    def explain(self, rows):
        part = super().explain(rows)
        self.arrays.n[:] += 1.0
        return part


class SharedState(StageShares):
    memory: ClassVar[list[int]] = [0]

    def answer(self, rows):
        super().answer(rows)
        rows.outputs += self.memory[0]

    def learn_row(self, row, log):
        super().learn_row(row, log)
        self.memory[0] += 1


class ShallowCopies(StageShares):
    def __deepcopy__(self, memo):
        return copy.copy(self)


class Forgetful(StageShares):
    """Counts in a plain attribute, which its answers show."""

    learned = 0

    def answer(self, rows):
        super().answer(rows)
        rows.outputs += 0.1 * self.learned

    def learn_row(self, row, log):
        super().learn_row(row, log)
        self.learned += 1


class CountingRows(StageShares):
    """Counts in a plain attribute, which its answers do not show."""

    def __init__(self):
        self.n_rows, self.kept = 0, {"rows": []}

    def learn_row(self, row, log):
        super().learn_row(row, log)
        self.n_rows += 1


class KeepingRows(CountingRows):
    def learn_row(self, row, log):
        super(CountingRows, self).learn_row(row, log)
        self.kept["rows"].append(row.X[0].copy())


class CountingCalls(CountingRows):
    def answer(self, rows):
        super().answer(rows)
        self.n_rows += 1


class FirstRow(StageShares):
    """Answers by a row that it has kept beside its arrays."""

    first = None

    def answer(self, rows):
        super().answer(rows)
        rows.outputs += 0.0 if self.first is None else self.first

    def learn_row(self, row, log):
        super().learn_row(row, log)
        self.first = float(np.nansum(row.X)) if self.first is None else self.first


class WithTable(StageShares):
    """Makes what follows from its parameters when it is needed first, and keeps a function."""

    def __init__(self, share=0.5):
        self.share, self.rule, self.table = share, lambda x: x, None

    def answer(self, rows):
        self.table = np.full(3, self.share) if self.table is None else self.table
        self.names = ["a", "b"]
        rows.outputs[:] = rows.outputs + self.rule(self.table[0]) * self.arrays.on / (1.0 + self.arrays.n)


class FixedWidth(StageShares):
    def learn_row(self, row, log):
        self.start = getattr(self, "start", len(row.Y[0]))
        self.arrays.on[: self.start] += np.nan_to_num(row.Y[0]) @ np.eye(len(row.Y[0]), self.start)
        self.arrays.n[:] += np.ones(self.start)


class FixedFeatures(OwnStage):
    """Its weights have as many features as the first row that was learned."""

    class Weights(NamedTuple):
        w: Annotated[FloatArray, array("feature")]

    name, schema, width = "weights", Schema(Weights), 0

    def answer(self, rows):
        rows.outputs += (np.nan_to_num(rows.read) @ self.arrays.w)[:, None]

    def learn_row(self, row, log):
        self.width = self.width or row.read.shape[1]
        self.arrays.w[:] += 1e-3 * np.nan_to_num(row.read[0]).reshape(self.width)


class MergedInOrder(StageShares):
    def merge(self, other, labels):
        for mine, theirs in zip(self.arrays, other.arrays, strict=True):
            mine += theirs


class MergedTwice(StageShares):
    def merge(self, other, labels):
        super().merge(other, labels)
        self.arrays.n[:] += 1.0


class Unmerged(StageShares):
    merge = OwnStage.merge


class MergingNothing(StageShares):
    def merge(self, other, labels):
        pass


class MergingOnce(StageShares):
    """Takes over what another one has learned only if it has learned nothing itself."""

    def merge(self, other, labels):
        if not self.arrays.n.any():
            super().merge(other, labels)


class FailingMerge(StageShares):
    def merge(self, other, labels):
        raise KeyError("no such place")


class NoAnswer(OwnStage):
    name, schema = "silent", Schema(Counts)


class OpeningRows(StageShares):
    """Makes its rows writeable, and writes into them before it answers."""

    def answer(self, rows):
        array = rows.X
        while array is not None:
            array.setflags(write=True)
            array[:] = 0.0
            array = array.base
        super().answer(rows)


class TakingAll(StageShares):
    def merge(self, other, labels):
        super().merge(other, labels)
        other.arrays.n[:] = 0.0


class Unstorable(StageShares):
    """Its counts grow beyond what a file may hold."""

    def learn_row(self, row, log):
        super().learn_row(row, log)
        self.arrays.n[:] = 1e200


class NoAxis(StageShares):
    class Hours(NamedTuple):
        on: Annotated[FloatArray, array("label", "hour")]

    schema = Schema(Hours)


BROKEN_STAGES = {
    Spoilt: "answer of row [0-9]+ left nan",
    CountingAnswers: "answer of row 0 raised ValueError: output array is read-only",
    Cheating: "answer reads the labels",
    Mean: "learn changes outputs otherwise|learn of many rows differs",
    LearningFirst: "learn changes outputs otherwise than answer",
    Centred: "learn changes outputs otherwise|answer of many rows differs",
    OverwritingRows: "writes into weights of its rows",
    OpeningRows: "writes into X of its rows",
    NoAnswer: "answer of row 0 raised NotImplementedError: write answer of NoAnswer",
    Drawing: "changes the object|twice give other outputs",
    SharedState: "a copy that learns changes the answers of the stage",
    ShallowCopies: "a copy that learns changes the (answers|arrays) of the stage",
    OtherParts: "explain returns something else than answer adds",
    LearningParts: "explain changes the arrays",
    Forgetful: "learn_row changes the attribute 'learned'",
    CountingRows: "learn_row changes the attribute 'n_rows'.*declare it in `schema`",
    KeepingRows: "learn_row changes the attribute 'kept'",
    CountingCalls: "answer changes the attribute 'n_rows'",
    FirstRow: "a stage with the stored arrays gives other outputs",
    FixedWidth: "after a label has come: learn_row of row 0 raised",
    FixedFeatures: "after a feature has come: learn_row of row 0 raised",
    Unmerged: r"has no merge; write merge\(other, labels\).*or pass merging=False",
    MergingNothing: "merge leaves the arrays as they were",
    MergingOnce: "merge leaves the arrays as they were",
    FailingMerge: "merge raised KeyError: 'no such place'",
    MergedInOrder: "merge mixes up the labels",
    MergedTwice: "with a stage that has learned nothing changes the outputs",
    TakingAll: "merge changes the other stage",
    Unstorable: "in a classifier: stage 'shares': learn of the initial batch left .*array n holds values",
    NoAxis: "as a stage of a classifier: .*axis 'hour'",
}


def test_a_small_stage_passes():
    check_stage(StageShares())
    check_stage(WithTable())
    check_stage(Unmerged(), merging=False)


class Alone:
    """A stage without a base class: it has what a classifier calls, and neither `explain` nor `merge`."""

    name, schema, learn = "alone", Schema(Counts), OwnStage.learn
    answer, learn_row = StageShares.answer, StageShares.learn_row


def test_a_stage_without_the_base_class_is_checked_as_any_other_of_a_user():
    check_stage(Alone(), merging=False)
    with pytest.raises(AssertionError, match="Alone has no merge; write merge"):
        check_stage(Alone())


@pytest.mark.parametrize("broken", [Unstorable, FailingMerge, NoAxis, Spoilt])
def test_the_message_of_a_broken_stage_names_one_error(broken):
    with pytest.raises(AssertionError) as raised:
        check_stage(broken())
    text = str(raised.value)
    assert text.count("raised") <= 1
    assert "Error: stage" not in text
    assert "unchanged" not in text
    assert "has the method" not in text


class NoSchema(OwnStage):
    name = "bare"


def test_a_stage_without_a_schema_is_named():
    with pytest.raises(AssertionError, match="NoSchema has no schema; write schema ="):
        check_stage(NoSchema())


@settings(max_examples=examples(5), deadline=None)
@given(p=st.integers(1, 6), K=st.integers(1, 4))
def test_a_small_stage_passes_whatever_the_widths(p, K):
    check_stage(StageShares(), n_features=p, n_labels=K)


@pytest.mark.parametrize("broken", BROKEN_STAGES)
@settings(max_examples=examples(5), deadline=None)
@given(p=st.integers(2, 6), K=st.integers(2, 4))
def test_what_is_broken_in_a_stage_is_named(broken, p, K):
    with pytest.raises(AssertionError, match=f"{broken.__name__}.*({BROKEN_STAGES[broken]})"):
        check_stage(broken(), n_features=p, n_labels=K)


# ---------------------------------------------------------------------- criteria


@dataclass(frozen=True)
class Unregistered(Criterion):
    name: ClassVar[str] = "unregistered"

    def score(self, rows):
        return rows.leverage


class Flat(Unregistered):
    def score(self, rows):
        return rows.outputs


class Negative(Unregistered):
    def score(self, rows):
        return -rows.leverage


class Relative(Unregistered):
    def score(self, rows):
        return rows.leverage / rows.leverage.max()


class Marking(Unregistered):
    def score(self, rows):
        scores = rows.leverage + 0.0
        rows.X[:, 0] = 0.0
        return scores


BROKEN_CRITERIA = {
    Unregistered: "not registered as 'unregistered'; write @register",
    Flat: r"returned shape \(120, 3\); expected \(120,\)",
    Negative: "negative score or NaN",
    Relative: "depends on the other rows",
    Marking: "writes into the rows",
}


@pytest.mark.parametrize("broken", BROKEN_CRITERIA)
def test_what_is_broken_in_a_criterion_is_named(broken, monkeypatch):
    if broken is not Unregistered:
        broken.name = broken.__name__
        monkeypatch.setitem(CRITERIA, broken.name, register(broken))
    with pytest.raises(AssertionError, match=BROKEN_CRITERIA[broken]):
        check_criterion(broken())


# ---------------------------------------------------------------------- selectors


class Unlisted(FirstCome):
    name: ClassVar[str] = "unlisted"


class Hidden(Unlisted):
    def __init__(self, share=0.5):
        super().__init__()
        self.share = share

    def __repr__(self):
        return f"Hidden(share={self.share})"


class Spender(Unlisted):
    def select(self, values, allowance, *, commit):
        return 0, np.ones(self.width, np.bool_)


class Restless(Unlisted):
    def select(self, values, allowance, *, commit):
        self.state.ease[0] = min(self.state.ease[0] + 0.01, 2.0)
        return super().select(values, allowance, commit=commit)


class Forgetful(Unlisted):
    """Asks about every other row, but does not store how many have come."""

    def reset(self, criteria, budget, width, least):
        super().reset(criteria, budget, width, least)
        self.rows = 0

    def record(self, value, limit, *, cost):
        self.rows += 1

    def select(self, values, allowance, *, commit):
        for row in range(len(values)):
            if (self.rows + row) % 2 and allowance.limit[row] >= self.width:
                break
        else:
            row = len(values)
        self.rows += row if commit else 0
        return row, np.ones(self.width, np.bool_)


BROKEN_SELECTORS = {
    Unlisted: r"not listed as SELECTORS\['unlisted'\]",
    Hidden: r"Hidden\(share=0.5\) is made from the parameters of Hidden\(share=0.1\)",
    Spender: "asks for 1 labels at row 0; expected 1 to 0",
    Restless: "changes its state without commit",
    Forgetful: "saved and loaded asks other questions",
}


@pytest.mark.parametrize("broken", BROKEN_SELECTORS)
def test_what_is_broken_in_a_selector_is_named(broken, monkeypatch):
    if broken is not Unlisted:
        broken.name = broken.__name__
        monkeypatch.setitem(SELECTORS, broken.name, broken)
    with pytest.raises(AssertionError, match=BROKEN_SELECTORS[broken]):
        check_selector(broken(0.1) if broken is Hidden else broken())


def test_things_that_are_no_criteria_or_selectors_are_refused():
    with pytest.raises(AssertionError, match="is no criterion"):
        check_criterion(Shares())
    with pytest.raises(AssertionError, match="is no selector"):
        check_selector(Shares())
