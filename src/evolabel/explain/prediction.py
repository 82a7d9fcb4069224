"""One prediction in parts that add up: rules, features, labels, and the feedback of recent errors."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from evolabel.core.members.feedback.error_feedback import Correction
from evolabel.core.model import StreamModel
from evolabel.errors import StateError
from evolabel.explain import prediction_text
from evolabel.explain.counterfactuals import Flip, smallest_flips
from evolabel.explain.novelty_check import Territory, locate
from evolabel.explain.shortening import Threshold, decided
from evolabel.explain.terms import Vocabulary, stream_terms
from evolabel.typing import BoolArray, FloatArray, IntArray

UNDECIDED = 0.5
AMBIGUOUS = 0.6  # thresh2 of eq. (30)

Correct = Callable[[FloatArray], Correction | None]
"""The correction of the outputs of raw rows by recent errors; None where there is none."""


@dataclass(frozen=True)
class Explanation:
    """Why the model answers what it answers for one sample.

    `contributions[i, j, c]` is what feature j (the last: the intercept) gives label c through active rule i:
    psi_i r_j w_ijc. They sum to the output, eq. (2). `territory` says how far the sample is from what is known,
    `flips` which smallest change of one feature would turn each label within the active rules (None: no feature can).
    `threshold` None: the label of the largest output is predicted.

    `feedback[c]` is what the errors of recent answers add to label c, of an `ActiveLearner` in a stream where errors
    repeat: (scale - 1) times the sum of the contributions, plus the offset. None where outputs are not corrected.
    """

    rules: IntArray
    memberships: FloatArray
    contributions: FloatArray
    distances: FloatArray
    feature_names: list[str] = field(repr=False)
    label_names: list[str] = field(repr=False)
    x: FloatArray = field(repr=False)
    territory: Territory
    flips: tuple[Flip | None, ...] = field(repr=False)
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
        """What each feature (the last: the base rate) gives each label, (n_features + 1, n_labels)."""
        return np.asarray(self.contributions.sum(axis=0))

    @property
    def by_rule(self) -> FloatArray:
        """What each active rule gives each label, (rules, n_labels)."""
        return np.asarray(self.contributions.sum(axis=1))

    @property
    def predicted(self) -> BoolArray:
        """Labels that are on, eq. (4)."""
        return np.asarray(decided(self.total[None], self.threshold)[0])

    @property
    def ambiguous(self) -> BoolArray:
        """Labels whose output is too close to call: within 0.1 of the threshold; eq. (30) where that is 0.5."""
        border = UNDECIDED if self.threshold is None else self.threshold
        return np.asarray(np.abs(self.total - border) < AMBIGUOUS - UNDECIDED)

    @property
    def text(self) -> str:
        """The explanation in words."""
        return prediction_text.plain(self)

    def markdown(self) -> str:
        """The explanation in Markdown."""
        return prediction_text.markdown(self)

    def html(self) -> str:
        """The explanation as a whole HTML page."""
        return prediction_text.html(self)

    def to_dict(self) -> dict[str, Any]:
        """The explanation as values that JSON can hold, every contribution included."""
        return prediction_text.document(self)

    def __str__(self) -> str:
        return self.text


def explain_sample(
    model: StreamModel,
    x: FloatArray,
    feature_names: list[str],
    label_names: list[str],
    threshold: Threshold = 0.5,
    correct: Correct | None = None,
) -> Explanation:
    """Explanation of one raw sample, x of shape (1, p); a missing feature takes each rule's mean.

    `correct` gives the correction of outputs by recent errors, which becomes the `feedback` of the explanation.
    """
    rules = model.trained()
    if rules.n_rules == 0:
        raise StateError("there are no rules yet that could explain anything; let the classifier learn first")
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
    names = feature_names, label_names
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

    return Explanation(
        rules=rules.arrays.identity[active + 1].copy(),
        memberships=psi[0, active],
        contributions=parts,
        distances=distance[0, active],
        feature_names=feature_names,
        label_names=label_names,
        x=x[0].copy(),
        territory=locate(model, distance[0]),
        flips=tuple(smallest_flips(model, x[0], slopes, outputs, names, threshold, answer)),
        words=stream_terms(model, feature_names),
        threshold=threshold,
        feedback=feedback,
    )
