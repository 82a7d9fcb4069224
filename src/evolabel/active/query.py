"""`Query`: a sample, its prediction, and the labels a person is asked for; as text that an annotator can read."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, NamedTuple

import numpy as np

from evolabel._utils.text import one_line
from evolabel.core.schema import Schema, array
from evolabel.explain.prediction import NO_FEATURE
from evolabel.model.empty_rows import base_probabilities
from evolabel.model.protocols import Model
from evolabel.streams.tabular.column_coding import ColumnCoding
from evolabel.streams.tabular.time_columns import timestamp_at
from evolabel.typing import BoolArray, FloatArray

WARM_UP = "warm_up"
"""Reason of a question that is asked before there is a model."""

RANKING = "ranking"
"""Reason of a question about a row that ranks high although no criterion exceeds its own threshold."""

RANDOM = "random"
"""Reason of a question that a selector has drawn at random."""

PROBE = "probe"
"""Reason of a label or sample drawn at random beside those that criteria choose, so that a drift is noticed."""

CONFIRM = "confirm"
"""Reason of a label asked for to show whether an earlier answer, which contradicted a sure output, was a drift."""

Scores = Mapping[str, FloatArray]

_MOST_VALUES = 20  # values of the sample and labels that are printed

_REASONS = {
    WARM_UP: "the first samples are all asked about",
    RANKING: "an answer helps more here than for most samples",
    RANDOM: "the sample was drawn at random",
    PROBE: "drawn at random, to notice drift",
    CONFIRM: "an earlier answer contradicted a sure output; this one shows whether the label has drifted",
    "novelty": "the sample is far from all rules",
    "ambiguity": "the outputs are ambiguous",
    "uncertainty": "the outputs are uncertain",
    "soft_count": "several labels are ambiguous",
    "instability": "the rules near the sample rest on few samples",
    "leverage": "the rules near the sample rest on few samples",
    "variance_reduction": "the answer makes the outputs of the whole stream more certain",
}


class PendingArrays(NamedTuple):
    """What belongs to a question in a file until it is answered, besides scores."""

    x: Annotated[FloatArray, array("feature", missing=True)]
    """The sample."""
    prediction: Annotated[FloatArray, array("label")]
    """Its outputs."""
    labels: Annotated[BoolArray, array("label")]
    """Labels that a person is asked for."""
    probabilities: Annotated[FloatArray, array("label", low=0.0, high=1.0)]
    """Probabilities of the labels."""


class DrawnLabels(NamedTuple):
    """What belongs to a question in a file if labels were drawn at random."""

    drawn: Annotated[BoolArray, array("label")]
    """Labels that were drawn at random; only where some were."""


class ScoresOfLabels(NamedTuple):
    """The scores of a question by one criterion of labels."""

    criterion: Annotated[FloatArray, array("label", low=0.0, high=np.inf)]
    """Scores by the criterion of this name."""


class ScoreOfSample(NamedTuple):
    """The score of a question by one criterion of whole samples."""

    criterion: Annotated[FloatArray, array(low=0.0, high=np.inf)]
    """Score by the criterion of this name."""


PENDING_ARRAYS, DRAWN_LABELS = Schema(PendingArrays), Schema(DrawnLabels)
LABEL_SCORES, SAMPLE_SCORE = Schema(ScoresOfLabels), Schema(ScoreOfSample)


class QueryNames(NamedTuple):
    """Names of the columns and of the labels of a query; `columns` is None where the features have no names."""

    columns: ColumnCoding | None
    labels: list[str]


@dataclass(eq=False)
class Query:
    """A sample, its prediction, and the question about it, if there is one; `print` shows it to an annotator.

    Attributes
    ----------
    x : array (p,)
        The sample.
    prediction : array (K,)
        Continuous outputs at the time of the query, by which is asked; last answers do not count in them.
    labels : bool array (K,)
        Labels a person is asked for; none where the sample is not asked about.
    reasons : tuple of str
        Criteria whose score exceeds their threshold; ("ranking",) if none does.
    scores : dict
        Score by each criterion: a number, or one per label.
    cost : int
        What the question costs: 1, or the number of labels asked for; 0 if nothing is asked.
    values : array or None
        What the selector compares the sample by; None before there is a model.
    unfamiliar : tuple of str
        Values of the sample far outside the range seen, and texts never seen, in words.
    number : int or None
        Number of the sample in the stream, once the learner has counted it.
    probabilities : array (K,) or None
        Probability of each label at the time of the query; None if nothing is asked and the sample has a feature.
    drawn : bool array (K,) or None
        Labels that were drawn at random; None if none was.
    names : QueryNames or None
        Names of the columns and labels.
    label_reasons : tuple of tuples of str
        The reasons of each label asked for, in the order of the labels.
    """

    x: FloatArray
    prediction: FloatArray
    labels: BoolArray
    reasons: tuple[str, ...]
    scores: Scores
    cost: int
    values: FloatArray | None = field(default=None, repr=False)
    number: int | None = None
    unfamiliar: tuple[str, ...] = ()
    probabilities: FloatArray | None = None
    drawn: BoolArray | None = field(default=None, repr=False)
    names: QueryNames | None = field(default=None, repr=False)
    label_reasons: tuple[tuple[str, ...], ...] = ()

    @property
    def asked(self) -> bool:
        """Whether a person is asked for any label of the sample."""
        return self.cost > 0

    def __str__(self) -> str:
        return question_text(self)


def question_text(query: Query) -> str:
    """Return `query` in lines: sample, values, what is unfamiliar, labels asked for with probabilities, reasons."""
    sample = "a sample" if query.number is None else f"sample {query.number}"
    kind = "Question about" if query.asked else "No question about"
    lines = [f"{kind} {sample}: {_values(query)}", *(f"Note: {text}" for text in query.unfamiliar)]
    if query.asked:
        lines += [f"Asked for: {_labels(query)}", f"Reason: {_why(query)}"]
    return "\n".join(one_line(line) for line in lines)


def _values(query: Query) -> str:
    """Return the values of the sample by the names of their columns; what is missing is left out."""
    columns = None if query.names is None else query.names.columns
    if columns is None:
        return _shortened([f"x{j} = {value:,.6g}" for j, value in enumerate(query.x) if not np.isnan(value)])
    parts = []
    for column, texts, span in zip(columns.columns, columns.categories, columns.spans, strict=True):
        values = query.x[span]
        if np.isnan(values).any():
            continue
        if column in columns.times:
            parts.append(f"{column} = {timestamp_at(columns.times[column], values[-1])}")
        elif texts is None:
            parts.append(f"{column} = {values[0]:,.6g}")
        elif values.any():
            parts.append(f"{column} = {texts[int(values.argmax())]}")
    return _shortened(parts)


def _labels(query: Query) -> str:
    """Return the labels asked for with their probabilities."""
    asked = np.flatnonzero(query.labels)
    names = [f"label{k}" for k in range(len(query.labels))] if query.names is None else query.names.labels
    if query.probabilities is None:
        return _shortened([names[k] for k in asked])
    return _shortened([f"{names[k]} (probability {_chance(query.probabilities[k])})" for k in asked])


def _chance(p: float) -> str:
    """Return the probability `p` with two digits, which are never those of 0 or 1."""
    text = f"{p:.2f}"
    return {"0.00": "under 0.01", "1.00": "over 0.99"}.get(text, text)


def _why(query: Query) -> str:
    """Return the reasons in words, each once."""
    return "; ".join(dict.fromkeys(_REASONS.get(reason, reason) for reason in query.reasons))


def _shortened(texts: list[str]) -> str:
    """Return the first of `texts` as one text, with the number of those left out."""
    more = len(texts) - _MOST_VALUES
    return ", ".join(texts[:_MOST_VALUES]) + (f" and {more} more" if more > 0 else "")


def is_empty(x: FloatArray) -> bool:
    """Return whether the sample `x`, (p,), has no feature at all."""
    return bool(x[0] != x[0]) and bool(np.isnan(x).all())


def empty_query(model: Model, x: FloatArray) -> Query:
    """Return the query about the sample `x`, (p,), without any feature: its outputs by `model`, and no question."""
    rates, none, shares = model.base_rates(), np.zeros(model.n_labels, np.bool_), base_probabilities(model)
    return Query(x.copy(), rates, none, (), {}, 0, unfamiliar=(NO_FEATURE,), probabilities=shares)
