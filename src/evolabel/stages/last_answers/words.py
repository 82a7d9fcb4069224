"""The last answers to the labels of a row in words, for explanations."""

from typing import NamedTuple

import numpy as np

from evolabel.core.rows import Rows
from evolabel.stages.last_answers.stage import LastAnswers


class LastAnswer(NamedTuple):
    """The last known `answer` to a label, and its `age`: how many rows before the explained one it came."""

    answer: bool
    age: int

    def __str__(self) -> str:
        which = "the last answer" if self.age == 1 else f"the answer {self.age} rows before"
        return f"because {which} was {'yes' if self.answer else 'no'}"


def answers_last_known(memory: LastAnswers, rows: Rows) -> tuple[LastAnswer | None, ...]:
    """Return the last answer to each label that `memory` has for the first of `rows`; None where it is too old."""
    at, answers = memory.arrays.at, memory.arrays.answers
    ages = int(memory.arrays.row[0]) + int(rows.follows[0]) - at
    near = np.where((ages >= 1) & (ages <= at.shape[1]), ages, at.shape[1] + 1)
    places = near.argmin(axis=1)
    return tuple(
        LastAnswer(bool(answers[b, place]), int(near[b, place])) if near[b, place] <= at.shape[1] else None
        for b, place in enumerate(places.tolist())
    )
