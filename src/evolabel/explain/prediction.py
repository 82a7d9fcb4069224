"""`Explanation`: one prediction as a sum of contributions of rules and features, and of the recent errors."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from evolabel.core.members.feedback.error_feedback import Correction
from evolabel.core.protocols import Model
from evolabel.errors import StateError
from evolabel.explain import prediction_text
from evolabel.explain.counterfactuals import Counterfactual, find_counterfactuals
from evolabel.explain.novelty_check import NoveltyCheck, check_novelty
from evolabel.explain.shortening import Threshold, labels_on
from evolabel.explain.terms import Vocabulary, stream_terms
from evolabel.typing import BoolArray, FloatArray, IntArray

_CLASS_THRESHOLD = 0.5  # stands in for the threshold where the largest output is predicted
_AMBIGUOUS_WITHIN = 0.6 - 0.5  # thresh2 of eq. (30), minus 0.5

Correct = Callable[[FloatArray], Correction | None]
"""The correction of the outputs of raw rows by recent errors; None where there is none."""


@dataclass(frozen=True)
class Explanation:
    """The parts of one prediction, which add up to its outputs.

    Attributes
    ----------
    rules : array of shape (n_active,)
        Numbers of the active rules.
    memberships, distances : arrays of shape (n_active,)
        Their memberships psi_i and mean squared distances.
    contributions : array of shape (n_active, n_features + 1, n_labels)
        `contributions[i, j, c]` is what feature j (the last: the intercept) adds to label c through active rule i:
        psi_i r_j w_ijc. They sum to the output, eq. (2).
    feature_names, label_names : list of str
    x : array of shape (n_features,)
        The raw sample.
    novelty : NoveltyCheck
        Distance of the sample to the nearest rule.
    counterfactuals : tuple of Counterfactual or None
        For each label the smallest change of one feature that would turn it within the active rules (None: no feature
        can).
    words : Vocabulary
        Terms of the features.
    threshold : array, float or None
        Outputs of at least this much are on; None: the label of the largest output is predicted.
    feedback : array of shape (n_labels,), optional
        What the errors of recent answers add to each label, of an `ActiveLearner` in a stream where errors repeat:
        (scale - 1) times the sum of the contributions, plus the offset. None where outputs are not corrected.
    """

    rules: IntArray
    memberships: FloatArray
    contributions: FloatArray
    distances: FloatArray
    feature_names: list[str] = field(repr=False)
    label_names: list[str] = field(repr=False)
    x: FloatArray = field(repr=False)
    novelty: NoveltyCheck
    counterfactuals: tuple[Counterfactual | None, ...] = field(repr=False)
    words: Vocabulary = field(repr=False)
    threshold: Threshold = 0.5
    feedback: FloatArray | None = None

    @property
    def total(self) -> FloatArray:
        """The output per label: the sum of all contributions, and the feedback if there is one."""
        plain = self.contributions.sum(axis=(0, 1))
        return np.asarray(plain if self.feedback is None else plain + self.feedback)

    @property
    def by_feature(self) -> FloatArray:
        """What each feature (the last: the base rate) adds to each label, (n_features + 1, n_labels)."""
        return np.asarray(self.contributions.sum(axis=0))

    @property
    def by_rule(self) -> FloatArray:
        """What each active rule adds to each label, (n_active, n_labels)."""
        return np.asarray(self.contributions.sum(axis=1))

    @property
    def predicted(self) -> BoolArray:
        """Labels that are on, eq. (4)."""
        return np.asarray(labels_on(self.total[None], self.threshold)[0])

    @property
    def ambiguous(self) -> BoolArray:
        """Labels whose output is within 0.1 of the threshold; eq. (30) where that is 0.5."""
        border = _CLASS_THRESHOLD if self.threshold is None else self.threshold
        return np.asarray(np.abs(self.total - border) < _AMBIGUOUS_WITHIN)

    @property
    def text(self) -> str:
        """The explanation in words."""
        return prediction_text.explanation_to_text(self)

    def markdown(self) -> str:
        """Return the explanation in Markdown."""
        return prediction_text.explanation_to_markdown(self)

    def html(self) -> str:
        """Return the explanation as a whole HTML page."""
        return prediction_text.explanation_to_html(self)

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation as values that JSON can hold, with every contribution."""
        return prediction_text.explanation_to_dict(self)

    def __str__(self) -> str:
        return self.text


def explain_sample(
    model: Model,
    x: FloatArray,
    feature_names: list[str],
    label_names: list[str],
    *,
    threshold: Threshold = 0.5,
    correct: Correct | None = None,
) -> Explanation:
    """Return the explanation of one raw sample.

    Parameters
    ----------
    model : Model
    x : array of shape (1, n_features)
        The sample; a missing feature takes each rule's mean.
    feature_names, label_names : list of str
    threshold : array, float or None
        Outputs of at least this much are on; None: the largest output is.
    correct : function, optional
        Correction of outputs by recent errors, which becomes the `feedback` of the explanation.
    """
    rules = model.trained()
    if rules.n_rules == 0:
        raise StateError("there are no rules yet, so nothing can be explained; call fit or partial_fit first")
    z = model.scale(x)
    psi, distance = rules.memberships(z)
    active = np.flatnonzero(psi[0])
    parts = np.empty((len(active), model.n_features + 1, model.n_labels))
    slopes = np.zeros((model.n_features, model.n_labels))
    for i, rule in enumerate(active):
        slot = int(rule) + 1
        weights = psi[0, rule] * rules.weights(slot)
        parts[i] = rules.regressor(z[0], slot)[:, None] * weights
        slopes += weights[:-1]
    plain = parts.sum(axis=(0, 1))
    correction = None if correct is None else correct(x)
    feedback, outputs = None, plain
    if correction is not None:
        outputs = correction.of(plain[None])[0]
        slopes *= correction.scale
        feedback = (correction.scale - 1.0) * plain + correction.offset[0]

    def answer(rows: FloatArray) -> FloatArray:
        found = None if correct is None else correct(rows)
        return model.outputs(rows) if found is None else found.of(model.outputs(rows))

    counterfactuals = find_counterfactuals(
        model,
        x[0],
        slopes,
        outputs,
        feature_names=feature_names,
        label_names=label_names,
        threshold=threshold,
        answer=answer,
    )
    return Explanation(
        rules=rules.arrays.identity[active + 1].copy(),
        memberships=psi[0, active],
        contributions=parts,
        distances=distance[0, active],
        feature_names=feature_names,
        label_names=label_names,
        x=x[0].copy(),
        novelty=check_novelty(model, distance[0]),
        counterfactuals=tuple(counterfactuals),
        words=stream_terms(model, feature_names),
        threshold=threshold,
        feedback=feedback,
    )
