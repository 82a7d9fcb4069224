"""`Ledger`: what became of the questions."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from evolabel.active.query import Query
from evolabel.core.stored.fact_checks import StoredFacts
from evolabel.typing import BoolArray


@dataclass
class Ledger:
    """Counts of questions and answers.

    Attributes
    ----------
    questions : int
        Questions asked, whatever they cost.
    refused : int
        Questions that came back without any answer.
    answered : int
        Labels that were asked for and answered.
    volunteered : int
        Labels that were answered though nobody asked; they cost nothing.
    reasons : Counter
        How often each criterion fired for a question.
    """

    questions: int = 0
    refused: int = 0
    answered: int = 0
    volunteered: int = 0
    reasons: Counter[str] = field(default_factory=Counter)

    def ask(self, query: Query) -> None:
        """A question is on its way."""
        if query.asked:
            self.questions += 1
            self.reasons.update(query.reasons)

    def answer(self, query: Query, told: BoolArray | None) -> None:
        """Labels that were answered, of all labels there are by now; None: there is no answer."""
        if told is None:
            self.refused += query.asked
            return
        wanted = np.zeros(len(told), bool)
        wanted[: len(query.labels)] = query.labels
        self.answered += int((told & wanted).sum())
        self.volunteered += int((told & ~wanted).sum())
        self.refused += int(query.asked and not (told & wanted).any())

    def facts(self) -> dict[str, Any]:
        """The counts as values that JSON can hold."""
        return {**vars(self), "reasons": dict(self.reasons)}

    @classmethod
    def from_facts(cls, facts: StoredFacts) -> "Ledger":
        """The ledger from what `facts` gave; DataError if they are no counts."""
        facts.only("questions", "refused", "answered", "volunteered", "reasons")
        counts = {name: facts.whole(name) for name in ("questions", "refused", "answered", "volunteered")}
        return cls(**counts, reasons=Counter(facts.counts("reasons")))
