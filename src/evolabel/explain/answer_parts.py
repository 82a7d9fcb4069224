"""`AnswerParts`: which part of a model answers a label, and how much.

The mixer weighs the rules (slow and fast member) and the linear member label by label. Threshold rules replace a share
of that, their gate, for the first rows one tree a share of both, and where answers are few a forest one of all three.
A written rule replaces everything where it holds.
All pages and texts about rules read the shares from here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from evolabel.explain.shortening import reference_rows
from evolabel.model.protocols import Model
from evolabel.stages.threshold_rules.arrays import IS_OPEN, LEARNED, MAIN_ROWS, TREE_WEIGHT
from evolabel.typing import BoolArray, FloatArray, IntArray

CLAIMED_FROM = 0.5  # rules are printed for a label if more than this share of its answers is theirs
PART_NAMES = {
    "rules": "rules",
    "linear": "linear part",
    "threshold_rules": "threshold rules",
    "written": "written rules",
    "first_tree": "tree of the first rows",
    "answered_forest": "similar answered samples",
}
"""The parts, by their fields, as they are printed."""

_MAX_NAMES = 5
_NO_MODEL = "the shares of the labels so far, because there are no rules yet"


@dataclass(frozen=True)
class AnswerParts:
    """The shares of the parts in the answers of one label now; they sum to 1, and are 0 before the first model.

    Attributes
    ----------
    rules : float
        Rules that were learned: the slow and the fast member together.
    linear : float
        The linear member.
    threshold_rules : float
        Threshold rules.
    written : float
        Written rules: the share of recent rows for which one answers.
    first_tree : float
        The tree of the first rows.
    answered_forest : float
        The forest of answered rows.
    """

    rules: float = 0.0
    linear: float = 0.0
    threshold_rules: float = 0.0
    written: float = 0.0
    first_tree: float = 0.0
    answered_forest: float = 0.0

    @property
    def by_rules(self) -> bool:
        """Whether rules answer more than half, so that their answers are printed."""
        return self.rules > CLAIMED_FROM

    @property
    def text(self) -> str:
        """The shares in words, the largest first, as in "linear part 100 %, rules 0 %"."""
        shares = sorted(asdict(self).items(), key=lambda pair: -pair[1])
        if not shares[0][1]:
            return _NO_MODEL
        return ", ".join(
            f"{PART_NAMES[part]} {100.0 * share:.0f} %" for part, share in shares if share >= 0.005 or part == "rules"
        )

    def to_dict(self) -> dict[str, float]:
        """Return the shares by part."""
        return asdict(self)

    def __str__(self) -> str:
        return self.text


def answer_parts(model: Model | None, n_labels: int) -> list[AnswerParts]:
    """Return the shares of the answers of `model` for each of `n_labels` labels; all 0 where it is None."""
    if model is None or model.rules is None:
        return [AnswerParts()] * n_labels
    linear = model.drift.mixer_weights[-1]
    trees, written = _share_of_trees(model), _share_of_written(model)
    first = 0.0 if model.first_tree is None else model.first_tree.weight
    forest = np.zeros(n_labels) if model.forest is None else model.forest.weights
    refined = (1.0 - forest) * (1.0 - written)
    others = (1.0 - first) * refined
    members = (1.0 - trees) * others
    parts = (
        members * (1.0 - linear),
        members * linear,
        trees * others,
        written,
        first * refined,
        forest * (1.0 - written),
    )
    shares = np.stack(parts)
    return [AnswerParts(*column) for column in shares.T.tolist()]


def _share_of_trees(model: Model) -> FloatArray:
    """Return how far the trees of `model` replace the outputs of the members, by label."""
    share, trees = np.zeros(model.n_labels), model.trees
    if trees is not None:
        used = (trees.arrays.gate[:, IS_OPEN] > 0.0) & (trees.arrays.feature[:, 0] >= 0)
        share = np.where(used, trees.arrays.gate[:, TREE_WEIGHT], 0.0)
        share[: trees.first_tree] = share[trees.first_tree :][:1]  # two classes share a tree
    return np.asarray(share)


def _share_of_written(model: Model) -> FloatArray:
    """Return the share of recent rows for which a written rule of `model` answers, by label."""
    if not len(model.written):
        return np.zeros(model.n_labels)
    answering, a = model.written.answering, model.written.arrays
    rows = recent_rows(model)
    inside = (a.low[:, None] <= rows) & (rows <= a.high[:, None])
    holding: BoolArray = np.all(inside | ~model.written.named[:, None], axis=2)
    return np.asarray((holding[:, :, None] & answering[:, None]).any(axis=0).mean(axis=0), np.float64)


def recent_rows(model: Model) -> FloatArray:
    """Return up to 2,000 recent rows of `model`, with sensors corrected; rows drawn from its rules if none are kept."""
    places = _recent_places(model)
    if places.any():
        assert model.trees is not None
        return model.trees.arrays.X[places]
    assert model.scaler is not None
    return model.scaler.inverse(reference_rows(model))


def recent_shares(model: Model) -> tuple[FloatArray, int]:
    """Return the share of each label among the recent labelled rows of `model`, and how many rows these are.

    Labels without any have NaN; where no rows are kept there are 0 of them.
    """
    positives, known, n = recent_counts(model)
    return np.where(known > 0, positives / np.maximum(known, 1), np.nan), n


def recent_counts(model: Model) -> tuple[IntArray, IntArray, int]:
    """Return in how many of the recent labelled rows of `model` each label is true, in how many known, and all rows."""
    places = _recent_places(model)
    if not places.any():
        return np.zeros(model.n_labels, np.int64), np.zeros(model.n_labels, np.int64), 0
    assert model.trees is not None
    t = model.trees.arrays
    known = t.weights[places] > 0.0
    counts, positives = known.sum(axis=0), ((t.Y[places] > 0.0) & known).sum(axis=0)
    if model.trees.exclusive:  # rows from before a class was first seen are known not to be of it
        counts[:] = counts.max()
    return positives, counts, int(places.sum())


def _recent_places(model: Model) -> BoolArray:
    """Return which places of the ring of threshold rules hold one of the most recent rows."""
    if model.trees is None or not model.trees.arrays.clock[LEARNED]:
        return np.zeros(0, bool)
    rows = model.trees.arrays.rows
    return np.asarray((rows >= 0) & (np.arange(len(rows)) < MAIN_ROWS))


def some_names(names: Sequence[str]) -> str:
    """Return the first of the `names`, with commas between them, and how many more there are."""
    more = len(names) - _MAX_NAMES
    return ", ".join(names[:_MAX_NAMES]) + (f" and {more} more" if more > 0 else "")


def parts_values(parts: Mapping[str, AnswerParts]) -> dict[str, Any]:
    """Return `parts` as values that JSON can hold."""
    return {label: shares.to_dict() for label, shares in parts.items()}
