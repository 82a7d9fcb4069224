"""`Ledger`: what became of the questions."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from evolabel._utils.text import counted
from evolabel.active.query import Query
from evolabel.model.storage.fact_checks import StoredFacts
from evolabel.typing import BoolArray

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
    """

    questions: int = 0
    questions_refused: int = 0
    labels_asked: int = 0
    labels_answered: int = 0
    labels_volunteered: int = 0
    questions_held: int = 0
    reasons: Counter[str] = field(default_factory=Counter)

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

    def facts(self) -> dict[str, Any]:
        """The counts as values that JSON can hold."""
        return {**vars(self), "reasons": dict(self.reasons)}

    @classmethod
    def from_facts(cls, facts: StoredFacts) -> "Ledger":
        """The ledger whose counts are in `facts`; DataError if they are no counts."""
        facts.only(*_COUNTS, "reasons")
        return cls(**{name: facts.whole(name) for name in _COUNTS}, reasons=Counter(facts.counts("reasons")))

    def __repr__(self) -> str:
        asked = f"{counted(self.questions, 'question')} asked for {counted(self.labels_asked, 'label')}"
        outcome = (
            f"{self.labels_answered} of these labels answered, {counted(self.questions_refused, 'question')} refused"
        )
        free = f"{counted(self.labels_volunteered, 'label')} answered without being asked for"
        stopped = f"; {counted(self.questions_held, 'question')} held back" if self.questions_held else ""
        why = ", ".join(f"{name} {number}" for name, number in self.reasons.most_common())
        return f"{asked}; {outcome}; {free}{stopped}" + (f"; reasons: {why}" if why else "")
