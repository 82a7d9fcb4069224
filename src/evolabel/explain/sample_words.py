"""`SampleWords`: the values of a sample in words, fact by fact."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from evolabel._utils.text import number_text
from evolabel.typing import FloatArray
from evolabel.words.sections import Style
from evolabel.words.terms import Vocabulary
from evolabel.words.text_columns import column_and_value, value_words

START_VALUE = "start value"


class SampleWords(NamedTuple):
    """A sample with the names of its features and their terms. A fact is a feature, or all that stand for a column."""

    feature_names: Sequence[str]
    x: FloatArray
    words: Vocabulary

    def facts(self) -> list[list[int]]:
        """Return the features of each fact, by number: one, or all that stand for texts of a column; then the start.

        A feature of a text that is neither 0, 1 nor missing is a fact of its own.
        """
        facts: dict[tuple[str, bool], list[int]] = {}
        for j, name in enumerate(self.feature_names):
            is_text = self._is_text(j)
            facts.setdefault((column_and_value(name)[0] if is_text else name, is_text), []).append(j)
        return [*facts.values(), [len(self.feature_names)]]

    def named(self, fact: list[int], style: Style) -> str:
        """Return the `fact`, features by number, with its value, and names in this `style`."""
        j = fact[0]
        if j == len(self.feature_names):
            return START_VALUE
        if self._is_text(j):
            return self._text_named(fact, style)
        name, value = self.feature_names[j], float(self.x[j])
        if np.isnan(value):
            return f"{style(name)} (missing)"
        if name in self.words.worded and value in (0.0, 1.0):
            return " is ".join(value_words(name, on=value == 1.0, style=style))
        term = self.words.term_for(name, value, value)
        return f"{style(name)} ({number_text(value, self.words.width_of(name))}, {term})"

    def _text_named(self, fact: list[int], style: Style) -> str:
        """Return the column whose texts the features `fact` stand for, with the text that it has."""
        column = style(column_and_value(self.feature_names[fact[0]])[0])
        if on := [style(column_and_value(self.feature_names[j])[1]) for j in fact if self.x[j] == 1.0]:
            return f"{column} is {' and '.join(on)}"
        return f"{column} (missing)" if np.isnan(self.x[fact]).any() else f"{column} is none of the texts seen"

    def _is_text(self, j: int) -> bool:
        """Return whether feature `j` stands for a text of a column, and its value for having it, or not, or missing."""
        return self.feature_names[j] in self.words.texts and (self.x[j] in (0.0, 1.0) or bool(np.isnan(self.x[j])))
