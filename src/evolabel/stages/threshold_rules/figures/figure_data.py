"""`TreeFigureData`: the trained model that figures of threshold rules draw, with the names of its columns."""

from dataclasses import dataclass
from typing import Protocol

from evolabel._utils.text import first_names
from evolabel.errors import DataError
from evolabel.stages.rules.figures.figure_data import RuleFigureData
from evolabel.stages.threshold_rules.event_words import rule_texts
from evolabel.stages.threshold_rules.read_trees import TreeModel, TreeReader, tree_reader
from evolabel.words.figures import canvas

_LONGEST = 70  # letters of a threshold rule at its line


class TreeDrawable(Protocol):
    """A classifier with threshold rules that can be drawn, such as `EvolvingFuzzyClassifier`."""

    def figure_data(self) -> "TreeFigureData": ...  # noqa: D102


@dataclass(frozen=True)
class TreeFigureData(RuleFigureData):
    """A trained `model` with at least one rule, and the names of its features and labels."""

    model: TreeModel

    @property
    def trees(self) -> TreeReader | None:
        """The trees of threshold rules; None where the model has none."""
        return tree_reader(self.model, self.feature_names, self.label_names)

    def tree_of_label(self, label: int | str | None) -> tuple[TreeReader, int]:
        """Return the trees, and the number of the one that is used for `label`, a name or a column number.

        None: the first label for which threshold rules are used; DataError where there is none.
        """
        trees = self.trees
        if trees is None or not trees.open_labels:
            raise DataError("threshold rules are not used for any label, so there is no tree to draw")
        k = trees.open_labels[0] if label is None else trees.tree_of(self.label_index(label))
        if k is None:
            names = first_names([self.label_names[k] for k in trees.open_labels])
            raise DataError(f"threshold rules are not used for label {label!r}, only for {names}")
        return trees, k

    def words_at_lines(self) -> dict[int, str]:
        """Return numbers, labels and conditions of threshold rules, as far as they fit at a tick, by number."""
        texts = {}
        for number, rule in rule_texts(self.rules.events, self.trees).items():
            conditions = ", ".join(condition.words() for condition in rule.conditions)
            texts[number] = canvas.plain(f"{number}: {rule.then()} if {conditions}", _LONGEST)
        return texts
