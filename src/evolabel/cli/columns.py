"""Options on the columns of a file: labels by name in one column, timestamps; and messages on how columns are used."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from cyclopts import Group, Parameter

from evolabel._utils.text import counted, first_names
from evolabel.cli.output import print_message
from evolabel.errors import ParameterError
from evolabel.stages.threshold_rules.loops.ring import LEAST_RISES
from evolabel.streams import Dataset, LabelColumn
from evolabel.streams.tabular.column_coding import ColumnCoding
from evolabel.typing import FloatArray
from evolabel.words.text_columns import text_features

_MAX_SHARE = 0.5  # of the columns; if more of them are 0 and 1, they are the features of this file


@Parameter(name="*", group=Group("Columns of a file", sort_key=2))  # its fields are options of the command itself
@dataclass(frozen=True)
class ColumnOptions:
    """Options on the columns of a file.

    Parameters
    ----------
    label_list
        Column that holds the labels of each row by their names, as in leak;bearing, instead of --labels. Each name
        becomes a label; an empty cell means none of them, NA that they are not known.
    class_column
        Column that holds the class of each row, a text or a whole number, instead of --labels. The classes exclude
        each other: one of them is predicted. With --budget each is a label of its own.
    time
        Columns of timestamps, separated by commas. The hour of the day, the weekday (Monday is 0) and the days since
        the first row become features; the model file has the first timestamp.
    """

    label_list: str = ""
    class_column: str = ""
    time: str = ""

    def label_column(self, labels: Sequence[str]) -> LabelColumn | None:
        """Return the column with the names of the labels, None without one; ParameterError if `labels` come, too."""
        given = [name for name in (self.label_list, self.class_column, ",".join(labels)) if name]
        if len(given) > 1:
            raise ParameterError(
                f"labels are given twice ({' and '.join(given)}); use one of --labels, --label-list and --class-column"
            )
        name = self.label_list or self.class_column
        return LabelColumn(name, one_per_row=not self.label_list) if name else None


NO_OPTIONS = ColumnOptions()
"""Labels are columns of 0 and 1, and there are no timestamps."""


def print_columns(dataset: Dataset, drop: Sequence[str]) -> None:
    """Print which columns of a file are features and labels of `dataset`, which are not used (`drop`), and doubts."""
    coding = coding_of(dataset)
    columns = [
        f"{column} (hour, weekday, days)"
        if column in coding.times
        else column
        if categories is None
        else f"{column} ({counted(len(categories), 'text')})"
        for column, categories in zip(coding.columns, coding.categories, strict=True)
    ]
    parts = [f"features: {counted(len(columns), 'column')} ({first_names(columns, 12)})"]
    parts += [f"{'classes' if dataset.one_per_row else 'labels'}: {first_names(dataset.label_names, 12)}"]
    parts += [f"not used: {first_names(drop, 12)}"] if drop else []
    print_message("; ".join(parts))
    doubtful = [
        column
        for column, categories, span in zip(coding.columns, coding.categories, coding.spans, strict=True)
        if categories is None and column not in (*coding.times, *coding.flags) and _is_binary(dataset.X[:, span.start])
    ]
    if 0 < len(doubtful) <= _MAX_SHARE * len(columns):
        print_message(
            f"features that are only 0 and 1, as labels are: {first_names(doubtful)}; add labels to --labels, "
            f"or leave a column out by --drop {doubtful[0]}"
        )
    rising = [name for name, values in zip(dataset.feature_names, dataset.X.T, strict=True) if _only_rises(values)]
    if rising:
        print_message(
            f"features that only rise or only fall row by row: {first_names(rising)}; threshold rules leave them out, "
            "--set threshold_rules=counters splits on them, too"
        )


def coding_of(dataset: Dataset) -> ColumnCoding:
    """Return the columns that the features of `dataset` were made of."""
    binary = np.array([set(np.unique(values[~np.isnan(values)]).tolist()) <= {0.0, 1.0} for values in dataset.X.T])
    texts = text_features(dataset.names_with_kinds, binary)
    return ColumnCoding.of_features(dataset.feature_names, dataset.kinds._replace(texts=tuple(texts)))


def _only_rises(values: FloatArray) -> bool:
    """Return whether `values` only rise, or only fall, from row to row, and do so in at least 10 rows."""
    steps = np.diff(values[~np.isnan(values)])
    return bool(np.count_nonzero(steps) >= LEAST_RISES and ((steps >= 0.0).all() or (steps <= 0.0).all()))


def _is_binary(values: FloatArray) -> bool:
    """Return whether `values` are 0 and 1, both of them, and nothing else but NaN."""
    return set(np.unique(values[~np.isnan(values)]).tolist()) == {0.0, 1.0}
