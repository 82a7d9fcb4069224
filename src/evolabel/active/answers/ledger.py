"""`Ledger`: what became of the questions."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from evolabel.active.query import Query
from evolabel.core.stored.fact_checks import StoredFacts
from evolabel.typing import BoolArray

_COUNTS = ("questions", "refused", "answered", "volunteered", "held_back")


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
        Labels that were answered without being asked for; they cost nothing.
    held_back : int
        Questions that were worth asking and were not asked, because a limit other than the budget stopped them.
    reasons : Counter
        Number of questions for which each criterion exceeded its threshold.
    """

    questions: int = 0
    refused: int = 0
    answered: int = 0
    volunteered: int = 0
    held_back: int = 0
    reasons: Counter[str] = field(default_factory=Counter)

    def ask(self, query: Query) -> None:
        """Count the question of `query`, if it has one."""
        if query.asked:
            self.questions += 1
            self.reasons.update(query.reasons)

    def answer(self, query: Query, answered: BoolArray | None) -> None:
        """Count the labels `answered`, of all labels known by now, to the question of `query`; None: no answer."""
        if answered is None:
            self.refused += query.asked
            return
        on_request = int(np.count_nonzero(answered[: len(query.labels)] & query.labels))
        self.answered += on_request
        self.volunteered += int(np.count_nonzero(answered)) - on_request
        self.refused += query.asked and not on_request

    def facts(self) -> dict[str, Any]:
        """The counts as values that JSON can hold."""
        return {**vars(self), "reasons": dict(self.reasons)}

    @classmethod
    def from_facts(cls, facts: StoredFacts) -> "Ledger":
        """The ledger whose counts are in `facts`; DataError if they are no counts."""
        facts.only(*_COUNTS, "reasons")
        counts = {name: facts.whole(name) for name in _COUNTS}
        return cls(**counts, reasons=Counter(facts.counts("reasons")))
