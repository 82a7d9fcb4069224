"""`Explanation`: one prediction as a sum of what rules, features, threshold and written rules, and recent errors add.

It is printed as plain text, Markdown, HTML and JSON.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from evolabel._utils.text import counted, one_line
from evolabel.explain.counterfactuals import Counterfactual, change_texts
from evolabel.explain.sample_words import START_VALUE, SampleWords
from evolabel.explain.shortening import Threshold, labels_on
from evolabel.explain.unfamiliar import NoveltyCheck
from evolabel.stages.answered_forest.words import SimilarSample
from evolabel.stages.last_answers.words import LastAnswer
from evolabel.stages.threshold_rules.path import ThresholdPath
from evolabel.stages.written_rules.words import WrittenRule
from evolabel.typing import BoolArray, FloatArray, IntArray
from evolabel.words.markup import bold, code, escape, page
from evolabel.words.names import Corrections, correction_note, correction_values, printed_name
from evolabel.words.sections import Style
from evolabel.words.terms import Vocabulary
from evolabel.words.text_columns import value_words

_CLASS_THRESHOLD = 0.5  # stands in for the threshold where the largest output is predicted
_AMBIGUOUS_WITHIN = 0.6 - 0.5  # thresh2 of eq. (30), minus 0.5

_MAX_FACTS = 4
_LEAST_SHOWN = 0.001  # smaller probabilities, and those above 1 minus this, are not printed as numbers
_SHOWN_PART = 0.0005  # smallest part of linear member or threshold rules in an output that is shown
_MAX_LABELS = 10
THRESHOLDS = "from the threshold rules"
FIRST_TREE = "from the tree of the first rows"
LAST_ANSWERS = "from the last answers"
SIMILAR = "from similar answered samples"
WRITTEN = "from a written rule"
FEEDBACK = "from the errors of recent answers"
NO_FEATURE = "no feature at all"
BY_SETS, BY_WEIGHTS = "in the most likely label set", "of the largest weighted probability"
_NO_CHANGE = {
    BY_SETS: 'the label set is decided as a whole (optimise="subset_accuracy")',
    BY_WEIGHTS: "classes are compared by their weighted probabilities",
}


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
    threshold_rules : array of shape (n_labels,)
        What the threshold rules add to each label; 0 where they are not used.
    first_tree : array of shape (n_labels,)
        What the tree of the first rows adds to that; 0 once it is over.
    answered_forest : array of shape (n_labels,)
        What answered samples that are similar add to that; 0 where an active learner has no use for them.
    written : array of shape (n_labels,)
        What written rules add to that: the difference between their answer and the output without them.
    feature_names, label_names : list of str
    x : array of shape (n_features,)
        The raw sample.
    novelty : NoveltyCheck
        Distance of the sample to the nearest rule.
    changes : tuple of tuple of Counterfactual
        For each label the smallest changes found that turn it, each of another feature, the smallest first.
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
    paths : tuple of ThresholdPath or None
        For each label the path of the sample through the tree of thresholds; None where it is not used. May be empty.
    unfamiliar : tuple of str
        Values of the sample far outside the range seen, and texts never seen, in words.
    deciding : tuple of WrittenRule or None
        For each label the written rule that decides; None where none does. Empty without written rules.
    probabilities : array of shape (n_labels,), optional
        The probability of each label, which follows from its output (docs/explanations/trust.md).
    together : str
        What labels that are on have in common where all are decided together, as whole sets, or classes by weights;
        `threshold` is infinite then. Empty where each label is decided by its own output.
    own : dict of str to array of shape (n_labels,)
        What stages of the user's own add to each label, by their names; empty without any.
    last_answers : array of shape (n_labels,), optional
        What the last answers add to each label, where it is given that the sample follows them.
    similar : tuple of tuple of SimilarSample
        The three answered samples that are most similar, for each label; empty without `answered_forest`.
    answers : tuple of LastAnswer or None
        The last answer to each label, and how many rows before it came; empty without `last_answers`.
    drifts : dict of str to int
        Labels that have changed their meaning and not recovered yet, each with the row at which this was noticed.
    warm_up : bool
        Whether the warm-up lasts: `rules` are those of a first model, which is replaced when it ends.
    """

    rules: IntArray
    memberships: FloatArray
    contributions: FloatArray
    distances: FloatArray
    threshold_rules: FloatArray
    first_tree: FloatArray
    answered_forest: FloatArray
    written: FloatArray
    feature_names: list[str] = field(repr=False)
    label_names: list[str] = field(repr=False)
    x: FloatArray = field(repr=False)
    novelty: NoveltyCheck
    changes: tuple[tuple[Counterfactual, ...], ...] = field(repr=False)
    words: Vocabulary = field(repr=False)
    threshold: Threshold = 0.5
    linear: FloatArray | None = None
    feedback: FloatArray | None = None
    n_seen: int = 0
    corrections: Corrections = field(default_factory=dict, repr=False)
    paths: tuple[ThresholdPath | None, ...] = field(default=(), repr=False)
    deciding: tuple[WrittenRule | None, ...] = field(default=(), repr=False)
    probabilities: FloatArray | None = field(default=None, repr=False)
    unfamiliar: tuple[str, ...] = ()
    together: str = ""
    own: Mapping[str, FloatArray] = field(default_factory=dict)
    last_answers: FloatArray | None = None
    similar: tuple[tuple[SimilarSample, ...], ...] = field(default=(), repr=False)
    answers: tuple[LastAnswer | None, ...] = field(default=(), repr=False)
    drifts: Mapping[str, int] = field(default_factory=dict)
    warm_up: bool = False

    @property
    def total(self) -> FloatArray:
        """The output per label: the sum of all contributions and of what stages and recent errors add to them."""
        built_in = self.threshold_rules + self.first_tree + self.answered_forest
        total = sum(self.own.values(), self.by_feature.sum(axis=0) + built_in)
        for part in (self.last_answers, self.written, self.feedback):
            total = total if part is None else total + part
        return np.asarray(total)

    @property
    def by_feature(self) -> FloatArray:
        """What each feature (the last: the start value) adds to each label, (n_features + 1, n_labels)."""
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
    def counterfactuals(self) -> tuple[Counterfactual | None, ...]:
        """For each label the smallest change of one feature found that turns it; None where none was found."""
        return tuple(changes[0] if changes else None for changes in self.changes)

    @property
    def ambiguous(self) -> BoolArray:
        """Labels whose output is within 0.1 of the threshold; eq. (30) where that is 0.5."""
        return np.asarray(np.abs(self.total - self.borders) < _AMBIGUOUS_WITHIN)

    @property
    def borders(self) -> FloatArray:
        """The threshold of the output of each label, (n_labels,); 0.5 where the largest output is predicted."""
        return np.broadcast_to(_CLASS_THRESHOLD if self.threshold is None else self.threshold, self.total.shape)

    @property
    def text(self) -> str:
        """The explanation in words: each label with what would turn it, then the rules and the novelty."""
        lines = []
        for c in _shown(self):
            lines.append(f"{one_line(self.label_names[c])}: {_verdict(self, c)} = {_parts(self, c, one_line)}")
            lines += [f"    {line}" for line in _below(self, c, one_line, printed_name)]
        return "\n".join([*lines, *_last_lines(self, one_line)])

    def markdown(self) -> str:
        """Return the explanation in Markdown."""
        lines = []
        for c in _shown(self):
            lines.append(f"- {code(self.label_names[c])}: {bold(_verdict(self, c))} = {_parts(self, c, code)}")
            lines += [f"  - {line}" for line in _below(self, c, code, code)]
        return "\n".join([*lines, "", *(f"{line}\n" for line in _last_lines(self, code))])

    def html(self) -> str:
        """Return the explanation as a whole HTML page."""
        items = "".join(
            f"<li><code>{escape(self.label_names[c])}</code>: <b>{escape(_verdict(self, c))}</b> = "
            f"{_parts(self, c, escape)}<br>{'<br>'.join(_below(self, c, escape, escape))}</li>"
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
                "threshold": None if self.threshold is None else _finite(float(self.borders[c])),
                "on": bool(self.predicted[c]),
                "ambiguous": bool(self.ambiguous[c]),
                "contributions": self.contributions[:, :, c].tolist(),
                "linear": None if self.linear is None else self.linear[:, c].tolist(),
                "threshold_rules": float(self.threshold_rules[c]),
                "first_tree": float(self.first_tree[c]),
                "answered_forest": float(self.answered_forest[c]),
                "similar": [sample._asdict() for sample in self.similar[c]] if self.similar else [],
                "path": None if (path := _path(self, c)) is None else path.to_dict(),
                "own": {name: float(part[c]) for name, part in self.own.items()},
                "last_answers": 0.0 if self.last_answers is None else float(self.last_answers[c]),
                "written": float(self.written[c]),
                "decided_by": None if (rule := _decided_by(self, c)) is None else rule.number,
                "feedback": 0.0 if self.feedback is None else float(self.feedback[c]),
                "drift_since": self.drifts.get(name),
                "changes": [asdict(change) for change in self.changes[c]],
            }
            for c, name in enumerate(self.label_names)
        ]
        active = zip(self.rules.tolist(), self.memberships.tolist(), self.distances.tolist(), strict=True)
        return {
            "features": [*self.feature_names, START_VALUE],
            "values": [_finite(value) for value in self.x.tolist()],
            "rules": [{"rule": rule, "membership": psi, "distance": D} for rule, psi, D in active],
            "labels": labels,
            "novelty": {**asdict(self.novelty), "border": _finite(self.novelty.border)},
            "unfamiliar": list(self.unfamiliar),
            "learned_from": self.n_seen,
            "warm_up": self.warm_up,
            "corrections": correction_values(self.corrections),
        }

    def __str__(self) -> str:
        return self.text


def _shown(why: Explanation) -> list[int]:
    """Return the labels to show: all if they are few, else those with the largest outputs, in their own order."""
    if len(why.label_names) <= _MAX_LABELS:
        return list(range(len(why.label_names)))
    return sorted(np.argsort(-why.total, kind="stable")[:_MAX_LABELS].tolist())


def _verdict(why: Explanation, c: int) -> str:
    """Return whether label `c` is on, with its probability, its output, and the threshold, or the largest output."""
    probability = "" if why.probabilities is None else f"probability {_probability(why.probabilities[c])}; "
    if why.together:
        border = why.together if why.predicted[c] else f"not {why.together}"
    elif why.threshold is not None:
        border = f"threshold {why.borders[c]:.3g}"
    else:
        border = "the largest" if why.predicted[c] else f"the largest is {why.total.max():.3f}"
    doubt = ", too close to call" if why.ambiguous[c] else ""
    return f"{'yes' if why.predicted[c] else 'no'} ({probability}output {why.total[c]:.3f}, {border}{doubt})"


def _probability(value: float) -> str:
    """Return a probability with three digits, which are never those of 0 or 1."""
    if value < _LEAST_SHOWN:
        return f"under {_LEAST_SHOWN}"
    return f"over {1.0 - _LEAST_SHOWN}" if value > 1.0 - _LEAST_SHOWN else f"{value:.3f}"


def _parts(why: Explanation, c: int, style: Style) -> str:
    """Return the largest contributions, the sum of the rest, and the feedback of recent errors, which add up."""
    sample = SampleWords(why.feature_names, why.x, why.words)
    facts = sample.facts()
    parts = np.array([why.by_feature[fact, c].sum() for fact in facts])
    order = [i for i in np.argsort(-np.abs(parts), kind="stable").tolist() if parts[i] != 0.0] or [len(facts) - 1]
    texts = [f"{parts[i]:+.3f} {sample.named(facts[i], style)}" for i in order[:_MAX_FACTS]]
    if rest := order[_MAX_FACTS:]:
        texts.append(f"{parts[rest].sum():+.3f} from {len(rest)} other{'s' * (len(rest) > 1)}")
    named = ", ".join(map(str, why.similar[c])) if why.similar else ""
    stages = (
        (why.threshold_rules, THRESHOLDS),
        (why.first_tree, FIRST_TREE),
        (why.answered_forest, SIMILAR + (f" ({named})" if named else "")),
        *((part, f"from {style(name)}") for name, part in why.own.items()),
        (why.last_answers, (why.answers[c] if why.answers else None) or LAST_ANSWERS),
        (why.written, WRITTEN),
    )
    texts += [f"{x[c]:+.3f} {words}" for x, words in stages if x is not None and abs(x[c]) >= _SHOWN_PART]
    if why.feedback is not None and why.feedback[c] != 0.0:
        texts.append(f"{why.feedback[c]:+.3f} {FEEDBACK}")
    return ", ".join(texts)


def _path(why: Explanation, c: int) -> ThresholdPath | None:
    """Return the path of the sample through the tree of label `c`; None where it is not used."""
    return why.paths[c] if why.paths else None


def _decided_by(why: Explanation, c: int) -> WrittenRule | None:
    """Return the written rule that decides on label `c`; None where none does."""
    return why.deciding[c] if why.deciding else None


def _below(why: Explanation, c: int, style: Style, of_rule: Style) -> list[str]:
    """Return the lines below label `c`: the written or threshold rule that decided, if any, and what would turn it.

    Names in a threshold rule are in the style `of_rule`.
    """
    if not len(why.rules):
        return []
    path, rule = _path(why, c), _decided_by(why, c)
    decided = [] if rule is None else [f"decided by: {rule.words(style)}"]
    return [*decided, *([] if path is None else [path.words(of_rule)]), *_change_lines(why, c, style)]


def _change_lines(why: Explanation, c: int, style: Style) -> list[str]:
    """Return a line for each change that turns label `c`, or one with the reason why there is none."""
    if why.together:
        return [f"no change is offered: {_NO_CHANGE[why.together]}"]
    return [_change_line(why, change, style) for change in why.changes[c]] or [
        "no change of a single feature was found that turns it"
    ]


def _change_line(why: Explanation, change: Counterfactual, style: Style) -> str:
    before, after = change_texts(change.before, change.after)
    if_text = f"{style(change.feature)} went from {before} to {after}"
    if change.feature in why.words.worded:
        if_text = " were ".join(value_words(change.feature, on=change.after == 1.0, style=style))
    across = " (across a threshold)" if change.across_threshold else ""
    return f"would turn {'on' if change.turns_on else 'off'} if {if_text}{across}"


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
        texts += [f"The linear part, which holds everywhere, adds {', '.join(parts)}."] if parts else []
    near = why.novelty
    verdict = "novel" if near.novel else "near a rule" if why.unfamiliar else "known territory"
    border = f"novel beyond {near.border:.2f}" if np.isfinite(near.border) else "too early to call anything novel"
    texts.append(f"Distance to rule {near.rule}: {near.distance:.2f} spreads ({border}): {verdict}.")
    texts += [f"{style(text)}: the answer is a guess there." for text in why.unfamiliar]
    texts += _drift_texts(why.drifts, style)
    warm_up = "; rules are formed anew when the warm-up ends, with other numbers" if why.warm_up else ""
    note = correction_note(why.corrections, why.feature_names, style)
    texts += [note] if note else []
    texts.append(f"Learned from {counted(why.n_seen, 'row')}{warm_up}.")
    return texts


def _drift_texts(drifts: Mapping[str, int], style: Style) -> list[str]:
    """Return one sentence for each row of `drifts`, {label: row}, with the labels that have drifted there."""
    texts = []
    for row in sorted(set(drifts.values())):
        *others, last = (style(label) for label, since in drifts.items() if since == row)
        labels, have, their = (f"{', '.join(others)} and {last}", "have", "their") if others else (last, "has", "its")
        texts.append(f"{labels} {have} been in a drift since row {row:,}: {their} answers are less certain than usual.")
    return texts


def _finite(value: float) -> float | None:
    return value if np.isfinite(value) else None
