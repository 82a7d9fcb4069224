"""`Explanation`: one prediction as a sum of what rules, features, threshold and written rules, and recent errors add.

It is printed as plain text, Markdown, HTML and JSON.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any

import numpy as np

from evolabel._utils.text import counted, one_line
from evolabel.core.members.feedback.error_feedback import Correction
from evolabel.core.members.mixture import corrected
from evolabel.core.members.sensor_corrections import sensor_corrections
from evolabel.core.protocols import Model
from evolabel.errors import StateError
from evolabel.explain.corrected_names import Corrections, correction_values, note_on
from evolabel.explain.counterfactuals import Counterfactual, find_counterfactuals
from evolabel.explain.linear_part import linear_part
from evolabel.explain.markup import bold, code, escape, page
from evolabel.explain.novelty_check import NoveltyCheck, check_novelty
from evolabel.explain.read_thresholds import tree_reader
from evolabel.explain.rule_part import rule_part
from evolabel.explain.shortening import Threshold, labels_on
from evolabel.explain.terms import Vocabulary, stream_terms
from evolabel.explain.text_columns import column_and_value
from evolabel.explain.threshold_path import ThresholdPath, threshold_paths
from evolabel.explain.threshold_rules import Style
from evolabel.explain.written_rules import WrittenRule, deciding_rules, edges_to_cross, refined_parts
from evolabel.typing import BoolArray, FloatArray, IntArray

_CLASS_THRESHOLD = 0.5  # stands in for the threshold where the largest output is predicted
_AMBIGUOUS_WITHIN = 0.6 - 0.5  # thresh2 of eq. (30), minus 0.5

_MAX_FEATURES = 4
_SHOWN_PART = 0.0005  # smallest part of linear rule or threshold rules in an output that is shown
_MAX_LABELS = 10
_BASE_RATE = "base rate"
THRESHOLDS = "from the threshold rules"
WRITTEN = "from a written rule"
FEEDBACK = "from the errors of recent answers"
NO_FEATURE = "no feature at all"

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
        psi_i r_j w_ijc. They sum to the output, eq. (2); where drift is followed, with `linear`, w_ijc being the mean
        of slow and fast member, times the weight of both.
    thresholds : array of shape (n_labels,)
        What the threshold rules add to each label; 0 where they have no say.
    written : array of shape (n_labels,)
        What written rules add to that: the difference between their answer and the output without them.
    feature_names, label_names : list of str
    x : array of shape (n_features,)
        The raw sample.
    novelty : NoveltyCheck
        Distance of the sample to the nearest rule.
    counterfactuals : tuple of Counterfactual or None
        For each label the smallest change of one feature that would turn it (None: no feature can).
    words : Vocabulary
        Terms of the features.
    threshold : array, float or None
        Outputs of at least this much are on; None: the label of the largest output is predicted.
    linear : array of shape (n_features + 1, n_labels), optional
        What each feature (the last: the intercept) adds through the linear member; None where drift is not followed.
    feedback : array of shape (n_labels,), optional
        What errors of recent answers add: (scale - 1) times the sum of other parts, plus the offset; None: nothing.
    n_seen : int
        Samples that the model had learned.
    corrections : dict of str to SensorCorrection
        Sensors that have moved, by the names of their features; `x` has their readings as they came.
    corrected : array of shape (n_features,), optional
        The sample after these corrections; None where nothing was corrected.
    paths : tuple of ThresholdPath or None
        For each label the path of the sample through the tree of thresholds; None where it has no say. May be empty.
    unfamiliar : tuple of str
        Values of the sample far outside the range seen, and texts never seen, in words.
    deciding : tuple of WrittenRule or None
        For each label the written rule that decides; None where none does. Empty without written rules.
    probabilities : array of shape (n_labels,), optional
        The probability of each label, which follows from its output (docs/trust.md).
    """

    rules: IntArray
    memberships: FloatArray
    contributions: FloatArray
    distances: FloatArray
    thresholds: FloatArray
    written: FloatArray
    feature_names: list[str] = field(repr=False)
    label_names: list[str] = field(repr=False)
    x: FloatArray = field(repr=False)
    novelty: NoveltyCheck
    counterfactuals: tuple[Counterfactual | None, ...] = field(repr=False)
    words: Vocabulary = field(repr=False)
    threshold: Threshold = 0.5
    linear: FloatArray | None = None
    feedback: FloatArray | None = None
    n_seen: int = 0
    corrections: Corrections = field(default_factory=dict, repr=False)
    corrected: FloatArray | None = field(default=None, repr=False)
    paths: tuple[ThresholdPath | None, ...] = field(default=(), repr=False)
    deciding: tuple[WrittenRule | None, ...] = field(default=(), repr=False)
    probabilities: FloatArray | None = field(default=None, repr=False)
    unfamiliar: tuple[str, ...] = ()

    @property
    def total(self) -> FloatArray:
        """The output per label: the sum of all contributions, threshold rules, written rules, and feedback, if any."""
        plain = self.by_feature.sum(axis=0) + self.thresholds + self.written
        return np.asarray(plain if self.feedback is None else plain + self.feedback)

    @property
    def by_feature(self) -> FloatArray:
        """What each feature (the last: the base rate) adds to each label, (n_features + 1, n_labels)."""
        by_rules = np.asarray(self.contributions.sum(axis=0))
        return by_rules if self.linear is None else by_rules + self.linear

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
        """The explanation in words: each label with its counterfactual, then the rules and the novelty."""
        lines = []
        for c in _shown(self):
            lines.append(f"{one_line(self.label_names[c])}: {_verdict(self, c)} = {_parts(self, c, one_line)}")
            lines += [f"    {line}" for line in _below(self, c, one_line)]
        return "\n".join([*lines, *_last_lines(self, one_line)])

    def markdown(self) -> str:
        """Return the explanation in Markdown."""
        lines = []
        for c in _shown(self):
            lines.append(f"- {code(self.label_names[c])}: {bold(_verdict(self, c))} = {_parts(self, c, code)}")
            lines += [f"  - {line}" for line in _below(self, c, code)]
        return "\n".join([*lines, "", *(f"{line}\n" for line in _last_lines(self, code))])

    def html(self) -> str:
        """Return the explanation as a whole HTML page."""
        items = "".join(
            f"<li><code>{escape(self.label_names[c])}</code>: <b>{escape(_verdict(self, c))}</b> = "
            f"{_parts(self, c, escape)}<br>{'<br>'.join(_below(self, c, escape))}</li>"
            for c in _shown(self)
        )
        rest = "".join(f"<p>{line}</p>" for line in _last_lines(self, escape))
        return page("One prediction explained", f"<ul>{items}</ul>{rest}")

    def to_dict(self) -> dict[str, Any]:
        """Return all parts as values that JSON can hold; a missing value or an infinite border is None."""
        labels = [
            {
                "label": name,
                "output": float(self.total[c]),
                "probability": None if self.probabilities is None else float(self.probabilities[c]),
                "on": bool(self.predicted[c]),
                "ambiguous": bool(self.ambiguous[c]),
                "contributions": self.contributions[:, :, c].tolist(),
                "linear": None if self.linear is None else self.linear[:, c].tolist(),
                "thresholds": float(self.thresholds[c]),
                "path": None if (path := _path(self, c)) is None else path.to_dict(),
                "written": float(self.written[c]),
                "decided_by": None if (rule := _decided_by(self, c)) is None else rule.number,
                "feedback": 0.0 if self.feedback is None else float(self.feedback[c]),
                "counterfactual": None if (change := self.counterfactuals[c]) is None else asdict(change),
            }
            for c, name in enumerate(self.label_names)
        ]
        active = zip(self.rules.tolist(), self.memberships.tolist(), self.distances.tolist(), strict=True)
        return {
            "features": [*self.feature_names, _BASE_RATE],
            "values": [_finite(value) for value in self.x.tolist()],
            "rules": [{"rule": rule, "membership": psi, "distance": D} for rule, psi, D in active],
            "labels": labels,
            "novelty": {**asdict(self.novelty), "border": _finite(self.novelty.border)},
            "unfamiliar": list(self.unfamiliar),
            "learned_from": self.n_seen,
            "corrections": correction_values(self.corrections),
        }

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
    unfamiliar: tuple[str, ...] = (),
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
    unfamiliar : tuple of str
        Values that the model has never seen, in words (`describe_unfamiliar`).
    """
    rules = model.trained()
    if rules.n_rules == 0:
        raise StateError("there are no rules yet, so nothing can be explained; call fit or partial_fit first")
    z = model.scale(x)
    psi, distance = rules.memberships(z)
    active = np.flatnonzero(psi[0])
    parts, slopes = rule_part(model, z[0], psi[0], active)
    plain, linear = parts.sum(axis=(0, 1)), linear_part(model, x)
    if linear is not None:
        parts *= linear.rules_share
        slopes = linear.rules_share * slopes + linear.slopes
        plain = (parts.sum(axis=0) + linear.contributions).sum(axis=0)
    real = corrected(rules, x)
    added, said = refined_parts(model, real, plain)
    correction, outputs, feedback = None if correct is None else correct(x), plain + added + said, None
    if correction is not None:
        feedback = (correction.scale - 1.0) * outputs + correction.offset[0]
        outputs = correction.of(outputs[None])[0]
        slopes *= correction.scale
    names = feature_names, label_names
    deciding = deciding_rules(model, real[0], names)
    paths = threshold_paths(tree_reader(model, *names), real[0], deciding)
    edges, answer = edges_to_cross(model, paths), partial(_answers, model, correct)
    changes = find_counterfactuals(
        model, x[0], slopes, outputs, names=names, threshold=threshold, answer=answer, edges=edges
    )
    return Explanation(
        rules=rules.arrays.identity[active + 1].copy(),
        memberships=psi[0, active],
        contributions=parts,
        distances=distance[0, active],
        thresholds=added,
        written=said,
        feature_names=feature_names,
        label_names=label_names,
        x=x[0].copy(),
        novelty=check_novelty(model, distance[0]),
        counterfactuals=tuple(changes),
        words=stream_terms(model, feature_names),
        threshold=threshold,
        linear=None if linear is None else linear.contributions,
        feedback=feedback,
        n_seen=rules.n_seen,
        corrections=(corrections := sensor_corrections(rules, feature_names)),
        corrected=real[0].copy() if corrections else None,
        paths=paths,
        deciding=deciding,
        probabilities=model.calibration.probabilities(outputs[None])[0],
        unfamiliar=unfamiliar,
    )


def _answers(model: Model, correct: Correct | None, rows: FloatArray) -> FloatArray:
    """Return the outputs of `model` for raw `rows`, corrected by recent errors if there is a function to `correct`."""
    found = None if correct is None else correct(rows)
    return model.outputs(rows) if found is None else found.of(model.outputs(rows))


def _shown(why: Explanation) -> list[int]:
    """Return the labels to show: all if they are few, else those with the largest outputs, in their own order."""
    if len(why.label_names) <= _MAX_LABELS:
        return list(range(len(why.label_names)))
    return sorted(np.argsort(-why.total, kind="stable")[:_MAX_LABELS].tolist())


def _verdict(why: Explanation, c: int) -> str:
    doubt = ", too close to call" if why.ambiguous[c] else ""
    return f"{'yes' if why.predicted[c] else 'no'} ({why.total[c]:.3f}{doubt})"


def _parts(why: Explanation, c: int, style: Style) -> str:
    """Return the largest contributions, the sum of the rest, and the feedback of recent errors, which add up."""
    parts = why.by_feature[:, c]
    strongest = np.argsort(-np.abs(parts), kind="stable")[:_MAX_FEATURES]
    texts = [f"{parts[j]:+.3f} {_named(why, int(j), style)}" for j in strongest]
    rest = len(parts) - len(strongest)
    if rest:
        texts.append(f"{parts.sum() - parts[strongest].sum():+.3f} from {rest} other{'s' * (rest > 1)}")
    if abs(why.thresholds[c]) >= _SHOWN_PART:
        texts.append(f"{why.thresholds[c]:+.3f} {THRESHOLDS}")
    if abs(why.written[c]) >= _SHOWN_PART:
        texts.append(f"{why.written[c]:+.3f} {WRITTEN}")
    if why.feedback is not None and why.feedback[c] != 0.0:
        texts.append(f"{why.feedback[c]:+.3f} {FEEDBACK}")
    return ", ".join(texts)


def _named(why: Explanation, j: int, style: Style) -> str:
    """Return feature `j` with its value in words."""
    if j == len(why.feature_names):
        return _BASE_RATE
    name, value = why.feature_names[j], float(why.x[j])
    note = note_on(name, why.corrections)
    if np.isnan(value):
        return f"{style(name)}{note} (missing)"
    if name in why.words.texts and value in (0.0, 1.0):
        column, text = column_and_value(name)
        return f"{style(column)} is {'' if value else 'not '}{style(text)}"
    used = value if why.corrected is None else float(why.corrected[j])
    return f"{style(name)}{note} ({value:.4g}, {why.words.term_for(name, used, used)})"


def _path(why: Explanation, c: int) -> ThresholdPath | None:
    """Return the path of the sample through the tree of label `c`; None where it has no say."""
    return why.paths[c] if why.paths else None


def _decided_by(why: Explanation, c: int) -> WrittenRule | None:
    """Return the written rule that decides on label `c`; None where none does."""
    return why.deciding[c] if why.deciding else None


def _below(why: Explanation, c: int, style: Style) -> list[str]:
    """Return the lines below label `c`: the written or threshold rule that decided, if any, and what would turn it."""
    if not len(why.rules):
        return []
    path, rule = _path(why, c), _decided_by(why, c)
    decided = [] if rule is None else [f"decided by: {rule.words(style)}"]
    return [*decided, *([] if path is None else [path.words(style)]), _counterfactual(why, c, style)]


def _counterfactual(why: Explanation, c: int, style: Style) -> str:
    change = why.counterfactuals[c]
    if change is None:
        where = " within the active rules" if _path(why, c) is None and not why.deciding else ""
        return f"no change of a single feature would turn it{where}"
    sure = "the whole model agrees" if change.confirmed else "the whole model disagrees, as other rules come in"
    sure = f"{'across a threshold' if change.across_threshold else 'within the active rules'}; {sure}"
    name = style(change.feature) + note_on(change.feature, why.corrections)
    if_text = f"{name} went from {change.before:.4g} to {change.after:.4g}"
    if change.feature in why.words.texts:
        column, text = column_and_value(change.feature)
        if_text = f"{style(column)} were {style(text)}"
    return f"would turn {'on' if change.turns_on else 'off'} if {if_text} ({sure})"


def _last_lines(why: Explanation, style: Style) -> list[str]:
    """Return how many labels are not shown, if any, the active rules, the novelty of the sample, the rows learned."""
    hidden = len(why.label_names) - _MAX_LABELS
    texts = []
    if hidden > 0:
        labels = "1 label with a smaller output is" if hidden == 1 else f"{hidden} labels with smaller outputs are"
        texts.append(f"{labels} not shown.")
    if not len(why.rules):
        return [*texts, f"No rule is active ({NO_FEATURE}): the outputs are the base rates of the labels."]
    order = np.argsort(-why.memberships, kind="stable")
    texts.append(f"Active rules: {', '.join(f'{why.rules[i]} ({why.memberships[i]:.0%})' for i in order)}.")
    if why.linear is not None:
        sums = why.linear.sum(axis=0)
        parts = [f"{sums[c]:+.3f} to {style(why.label_names[c])}" for c in _shown(why) if sums[c] >= _SHOWN_PART]
        texts += [f"The linear rule, which holds everywhere, adds {', '.join(parts)}."] if parts else []
    near = why.novelty
    verdict = "novel" if near.novel else "near a rule" if why.unfamiliar else "known territory"
    border = f"novel beyond {near.border:.2f}" if np.isfinite(near.border) else "too early to call anything novel"
    texts.append(f"Distance to rule {near.rule}: {near.distance:.2f} spreads ({border}): {verdict}.")
    texts += [f"{style(text)}: the answer is a guess there." for text in why.unfamiliar]
    texts.append(f"Learned from {counted(why.n_seen, 'row')}.")
    return texts


def _finite(value: float) -> float | None:
    return value if np.isfinite(value) else None
