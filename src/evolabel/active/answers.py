"""Answers of people: how far annotators are believed, what an answer is read as, and what became of the questions."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from evolabel._utils.text import counted, one_line
from evolabel._utils.validation import check_number
from evolabel.active.query import Query
from evolabel.classifier.samples import LABEL, as_array, as_matrix, checked_labels, column_names
from evolabel.classifier.targets import are_generated
from evolabel.core.stored_checks import StoredFacts
from evolabel.errors import DataError, DataTypeError, ParameterError
from evolabel.evaluate.worth import NONE_MET, ErrorsMet
from evolabel.typing import AnyArray, BoolArray, FloatArray

_PRIOR_AGREEMENTS = 10.0  # agreements that every annotator starts with


class AnnotatorPool:
    """Weights in [0, 1] by annotator, set by hand or estimated from how often annotators agree with each other.

    Where several annotators have answered the same label, each is compared with the weighted vote of the others. The
    share of agreements a has mean (10 + agreed) / (10 + compared), that of a Beta distribution that starts at ten
    agreements; the weight is 2a - 1, so who agrees as often as a coin counts for nothing.

    Parameters
    ----------
    weights : dict of str to float, optional
        Weights set by hand; they are never estimated.

    Examples
    --------
    >>> from evolabel.active import AnnotatorPool
    >>> pool = AnnotatorPool({"anna": 1.0})
    >>> y, confidence = pool.vote([[1, 0], [1, 1]], ["anna", "bob"])
    >>> print(y, confidence, round(pool.weight("bob"), 2))
    [ 1. nan] [1. 0.] 0.83
    """

    def __init__(self, weights: Mapping[str, float] | None = None) -> None:
        self.fixed: dict[str, float] = {}
        self.agreed: dict[str, int] = {}
        self.compared: dict[str, int] = {}
        if not isinstance(weights, Mapping | None):
            raise DataTypeError(
                f"weights are a dictionary of names to numbers, got {type(weights).__name__}; pass {{'anna': 1.0}}"
            )
        for name, weight in (weights or {}).items():
            self.set_weight(name, weight)

    def set_weight(self, annotator: str, weight: float | None) -> None:
        """Set the `weight` of `annotator` by hand; None: it is estimated from agreements again."""
        read_names(annotator)
        if weight is None:
            self.fixed.pop(annotator, None)
            return
        check_number(f"weight of {annotator!r}", weight, 0, 1)
        self.fixed[annotator] = float(weight)

    def weight(self, annotator: str) -> float:
        """The weight of `annotator` in [0, 1]; 1 for one who was never compared."""
        if annotator in self.fixed:
            return self.fixed[annotator]
        share = (_PRIOR_AGREEMENTS + self.agreed.get(annotator, 0)) / (
            _PRIOR_AGREEMENTS + self.compared.get(annotator, 0)
        )
        return max(2.0 * share - 1.0, 0.0)

    def vote(self, answers: object, annotators: Sequence[str]) -> tuple[FloatArray, FloatArray]:
        """One answer and its confidence per label, from a row of `answers` for each of the `annotators`.

        The pool counts their agreements.

        The confidence is the weight by which the winning side is ahead, at most 1; a draw counts as not answered.
        """
        names, table = read_names(annotators), checked_labels(as_matrix(answers, "answers"))
        if len(set(names)) < len(names):
            raise ParameterError(f"annotators={list(names)} names one twice; pass one row of answers for each")
        if len(table) != len(names):
            raise DataError(f"answers has {len(table)} rows for {len(names)} annotators; pass one row for each")
        sides = np.nan_to_num(2.0 * table - 1.0)  # -1, 1, and 0 for no answer
        votes = sides * np.array([self.weight(name) for name in names])[:, None]
        total = votes.sum(axis=0)
        self._compare(sides, votes, names)
        answered = (sides != 0.0).any(axis=0)
        return np.where(answered & (total != 0.0), total > 0.0, np.nan), np.minimum(np.abs(total), 1.0)

    def _compare(self, sides: FloatArray, votes: FloatArray, annotators: Sequence[str]) -> None:
        """Count each annotator's agreements with the vote of the others."""
        for i, annotator in enumerate(annotators):
            own, others = sides[i], np.sign(np.delete(votes, i, axis=0).sum(axis=0))
            judged = (own != 0.0) & (others != 0.0)
            self.agreed[annotator] = self.agreed.get(annotator, 0) + int((own[judged] == others[judged]).sum())
            self.compared[annotator] = self.compared.get(annotator, 0) + int(judged.sum())

    def facts(self) -> dict[str, Any]:
        """The pool as values that JSON can hold."""
        return {"fixed": self.fixed, "agreed": self.agreed, "compared": self.compared}

    @classmethod
    def from_facts(cls, facts: StoredFacts) -> "AnnotatorPool":
        """The pool whose values are in `facts`; DataError if they are not those of a pool."""
        facts.only("fixed", "agreed", "compared")
        pool = cls(facts.value("fixed"))
        pool.agreed, pool.compared = facts.counts("agreed"), facts.counts("compared")
        if any(count > pool.compared.get(name, 0) for name, count in pool.agreed.items()):
            raise facts.refuse("agreed", "no more agreements than comparisons")
        return pool

    def __repr__(self) -> str:
        names = sorted({*self.fixed, *self.compared})
        return f"AnnotatorPool({'; '.join(map(self._described, names))})"

    def _described(self, annotator: str) -> str:
        """The weight of `annotator` in a few words, and where it comes from."""
        agreed, compared = self.agreed.get(annotator, 0), self.compared.get(annotator, 0)
        why = "set by hand" if annotator in self.fixed else f"agreed on {agreed} of {counted(compared, 'label')}"
        return f"{one_line(annotator)}: weight {self.weight(annotator):.2f}, {why}"


def read_names(annotators: object) -> tuple[str, ...]:
    """Names of one annotator or several in `annotators`; text only, because files keep them as text."""
    alone = isinstance(annotators, str) or not isinstance(annotators, Iterable)
    names = (annotators,) if alone else tuple(annotators)  # type: ignore[arg-type]
    for name in names:
        if not isinstance(name, str):
            raise DataTypeError(f"an annotator is called {name!r}; use text as names")
    return names  # type: ignore[return-value]


class Answer(NamedTuple):
    """Checked rows of 0, 1 and NaN, one per annotator, a column per label; names of the annotators, if any.

    The last columns are those of `new_labels`, names of labels that the classifier does not have yet.
    """

    rows: FloatArray
    names: tuple[str, ...]
    new_labels: tuple[str, ...] = ()

    @property
    def answered(self) -> BoolArray:
        """Labels that any annotator has answered."""
        missing = np.isnan(self.rows)
        return np.logical_not(missing[0] if len(missing) == 1 else missing.all(axis=0))

    def combined(self, pool: AnnotatorPool) -> tuple[FloatArray, FloatArray | None]:
        """One answer and the confidence of its labels, by the votes of `pool`, which also counts the agreements."""
        if not self.names:
            return self.rows[0], None
        y, confidence = pool.vote(self.rows, self.names)
        return np.where(confidence > 0.0, y, np.nan), confidence


def read_answer(
    y: object, annotator: str | Sequence[str] | None, query: Query, label_names: Sequence[str]
) -> Answer | None:
    """The answer `y` to a `query`, checked; None if it answers no label.

    `annotator`: name or names of those who have answered; `label_names`: names of all labels known by now.
    """
    names = () if annotator is None else read_names(annotator)
    table, new_labels = _table(y, label_names)
    rows = checked_labels(table)
    if len(rows) != max(len(names), 1):
        raise DataError(f"y has {len(rows)} rows for {len(names)} annotators; pass one row of answers for each")
    if len(set(names)) < len(names):
        raise DataError(f"annotator={list(names)} has a name twice; pass each annotator once, with one row of answers")
    if rows.shape[1] < len(query.labels):
        given = counted(rows.shape[1], "label")
        raise DataError(
            f"y answers {given}, but there are {len(query.labels)}; use NaN for those not answered, or pass a "
            "dictionary {label: 0 or 1}"
        )
    if np.isnan(rows).all():
        return None
    missing = len(label_names) - rows.shape[1]  # labels that have appeared since the question was asked
    if missing > 0:
        rows = np.pad(rows, ((0, 0), (0, missing)), constant_values=np.nan)
    return Answer(rows, names, new_labels)


def _table(y: object, label_names: Sequence[str]) -> tuple[FloatArray, tuple[str, ...]]:
    """One row per annotator, in the order of the labels, and the names of new labels, whose columns come last.

    Answers that carry names are placed by them.
    """
    if isinstance(y, Mapping):
        return _placed(np.array([list(y.values())], dtype=object), list(map(str, y)), label_names)
    table = as_array(y, "y")
    if table.ndim == 0:
        raise DataError(f"y is {y!r}; pass one answer per label: 0, 1, or NaN where it is not answered")
    given, rows = _names_of(y), table[None] if table.ndim == 1 else table
    # Labels with generated names are matched by order, unless the answer uses these names.
    if given is None or (are_generated(label_names) and set(given).isdisjoint(label_names)):
        return as_matrix(rows, "y", LABEL), ()
    return _placed(rows, given, label_names)


def _names_of(y: object) -> list[str] | None:
    """Names of the labels in a frame or a row of a frame; None for anything without names."""
    index = getattr(y, "index", None)  # of a pandas series; a list has a method of that name
    names = column_names(y) if index is None or callable(index) or hasattr(y, "columns") else list(index)
    return names if names and all(isinstance(name, str) for name in names) else None


def _placed(rows: AnyArray, given: list[str], label_names: Sequence[str]) -> tuple[FloatArray, tuple[str, ...]]:
    """Columns in the order of the labels, NaN for labels that are not given, then those of new labels; their names."""
    values = as_matrix(rows, "y", LABEL)
    known = {name: k for k, name in enumerate(label_names)}
    if given and known.keys().isdisjoint(given) and are_generated(label_names):
        raise DataError(
            f"y answers {given[0]!r}, but the labels have no names; call name_columns of the classifier first, or "
            f"answer {label_names[0]!r} and so on"
        )
    new = [
        name for name, column in zip(given, values.T, strict=True) if name not in known and not np.isnan(column).all()
    ]
    place = known | {name: len(known) + i for i, name in enumerate(new)}
    placed = np.full((len(rows), len(place)), np.nan)
    for name, column in zip(given, values.T, strict=True):
        if name in place:
            placed[:, place[name]] = column
    return placed, tuple(new)


_COUNTS = ("questions", "questions_refused", "labels_asked", "labels_answered", "labels_volunteered", "questions_held")


@dataclass(repr=False)
class Ledger:
    """Counts of questions, and of labels asked for and answered; printed as a sentence.

    Attributes
    ----------
    questions : int
        Questions asked, whatever they cost.
    questions_refused : int
        Questions that came back without an answer to any label asked for.
    labels_asked : int
        Labels asked for, in all questions.
    labels_answered : int
        Labels that were asked for and answered.
    labels_volunteered : int
        Labels that were answered without being asked for; they cost nothing.
    questions_held : int
        Questions that were worth asking and were not asked, because a limit other than the budget stopped them.
    reasons : Counter
        Number of questions for which each criterion exceeded its threshold.
    met : ErrorsMet
        In how many of the labels answered the prediction was wrong, and in how many of those drawn at random;
        `met.worth` is how many random answers would have met as many errors. Those of the warm-up do not count.
    """

    questions: int = 0
    questions_refused: int = 0
    labels_asked: int = 0
    labels_answered: int = 0
    labels_volunteered: int = 0
    questions_held: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    met: ErrorsMet = NONE_MET

    @property
    def has_no_answer(self) -> bool:
        """Whether no label was answered yet."""
        return self.labels_answered + self.labels_volunteered == 0

    def ask(self, query: Query) -> None:
        """Count the question of `query`, if it has one."""
        if query.asked:
            self.questions += 1
            self.labels_asked += int(np.count_nonzero(query.labels))
            self.reasons.update(query.reasons)

    def answer(self, query: Query, answered: BoolArray | None) -> None:
        """Count the labels `answered`, of all labels known by now, to the question of `query`; None: no answer."""
        if answered is None:
            self.questions_refused += query.asked
            return
        on_request = int(np.count_nonzero(answered[: len(query.labels)] & query.labels))
        self.labels_answered += on_request
        self.labels_volunteered += int(np.count_nonzero(answered)) - on_request
        self.questions_refused += query.asked and not on_request

    def meet(self, query: Query, y: FloatArray, drawn: BoolArray) -> None:
        """Count the labels of `query` that `y` answers, NaN: not, and those of which the prediction was wrong.

        `drawn` are the labels that were drawn at random.
        """
        labels = query.labels & ~np.isnan(y[: len(query.labels)])
        wrong = labels & ((query.prediction >= 0.5) != (y[: len(labels)] >= 0.5))
        parts = labels, wrong, labels & drawn, wrong & drawn
        self.met = self.met.plus(map(int, map(np.count_nonzero, parts)))

    def facts(self) -> dict[str, Any]:
        """The counts as values that JSON can hold."""
        return {**vars(self), "reasons": dict(self.reasons), "met": self.met._asdict()}

    @classmethod
    def from_facts(cls, facts: StoredFacts) -> "Ledger":
        """The ledger whose counts are in `facts`; DataError if they are no counts."""
        facts.only(*_COUNTS, "reasons", *(["met"] if "met" in facts else []))  # files of 0.1 have none
        counts = {name: facts.whole(name) for name in _COUNTS}
        return cls(**counts, reasons=Counter(facts.counts("reasons")), met=_read_met(facts))

    def __repr__(self) -> str:
        asked = f"{counted(self.questions, 'question')} asked for {counted(self.labels_asked, 'label')}"
        outcome = (
            f"{self.labels_answered} of these labels answered, {counted(self.questions_refused, 'question')} refused"
        )
        free = f"{counted(self.labels_volunteered, 'label')} answered without being asked for"
        stopped = f"; {counted(self.questions_held, 'question')} held back" if self.questions_held else ""
        why = ", ".join(f"{name} {number}" for name, number in self.reasons.most_common())
        worth = f"; {self.met}" if self.met.drawn and self.met.drawn < self.met.answered else ""
        return f"{asked}; {outcome}; {free}{stopped}" + (f"; reasons: {why}" if why else "") + worth


def _read_met(facts: StoredFacts) -> ErrorsMet:
    """The errors met in the `facts` of a ledger; DataError if they are not those of one."""
    if "met" not in facts:
        return NONE_MET
    stored = facts.part("met")
    stored.only(*ErrorsMet._fields)
    met = ErrorsMet(*(stored.whole(name) for name in ErrorsMet._fields))
    if met.answered < met.wrong + met.drawn - met.drawn_wrong or met.drawn_wrong > min(met.wrong, met.drawn):
        raise facts.refuse("met", "parts of the labels answered")
    return met
