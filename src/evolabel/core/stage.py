"""`Stage`: the interface of a part of a model. `model.pipeline` has the stages in their order.

A stage owns its arrays; no other stage writes them. Values that one stage needs of another pass through `Rows`, or
through events in the `EventLog`.
"""

from typing import Protocol

from evolabel.core.events import EventLog
from evolabel.core.rows import Rows


class Stage(Protocol):
    """A part of a model, which changes the outputs of the stages in front of it."""

    @property
    def name(self) -> str:
        """Prefix of its arrays in files, and its name in errors and explanations."""

    def answer(self, rows: Rows) -> None:
        """Change `rows`, above all their outputs, by what was learned so far; changes nothing else."""


class LearningStage(Stage, Protocol):
    """A stage behind the compiled loop of rules and drift, which learns from the outputs in front of it."""

    @property
    def rows_at_once(self) -> int:
        """How many further rows can be learned before other stages have to learn them, too."""

    def learn(self, rows: Rows, log: EventLog | None) -> None:
        """Learn `rows` one after the other, at most `rows_at_once`, and answer each before it is learned.

        Outputs are changed in place, as by `answer`. Events go to `log`, if it is given.
        """
