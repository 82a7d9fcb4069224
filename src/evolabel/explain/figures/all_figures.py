"""All figures of a classifier that apply to it, each with a caption."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from evolabel.errors import DataError
from evolabel.explain.figures.consequents import consequent_map
from evolabel.explain.figures.correlations import label_correlations
from evolabel.explain.figures.figure_data import Anatomy, Drawable
from evolabel.explain.figures.lives import life_lines
from evolabel.explain.figures.memberships import membership_functions
from evolabel.explain.figures.novelty import novelty_map
from evolabel.explain.figures.regions import rule_map

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FEATURES = 3  # whose membership functions are drawn
LONGEST_NAME = 60  # letters of a feature's name that a file is called by


class Picture(NamedTuple):
    """A figure, the name of its file, and what a person should know to read it."""

    name: str
    caption: str
    axes: "Axes"


def album(classifier: Drawable, X: object = None, Y: object = None) -> Iterator[Picture]:
    """Draw everything that can be drawn; samples X with labels Y, if given, are shown on the maps."""
    if (X is None) != (Y is None):
        raise DataError("samples and their labels belong together; pass both X and Y, or none")
    anatomy = classifier.figure_data()
    if anatomy.model.n_features > 1:
        yield from _maps(classifier, anatomy, X, Y)
    files = _files(anatomy.feature_names)
    for j in anatomy.most_relevant(FEATURES):
        told = "What the rules see of one feature. Bands are the terms the rules are told in: fifths of the stream."
        yield Picture(f"memberships-{files[j]}", told, membership_functions(classifier, j))
    if anatomy.model.n_labels > 1 and (X is not None or anatomy.rules.arrays.Q.shape[1]):
        told = "Labels that go together (red) or exclude each other (blue): in the rule that differs most, and in all."
        yield Picture("label-correlations", told, label_correlations(classifier, X=X, Y=Y))
    told = "Which feature raises (red) or lowers (blue) which label over the whole stream."
    yield Picture("weights-global", told, consequent_map(classifier))
    best = int(anatomy.rules.arrays.identity[anatomy.best_supported(1)[0]])
    told = "The same inside the best supported rule."
    yield Picture("weights-best-rule", told, consequent_map(classifier, best))
    yield Picture("life-lines", "When rules were born, merged, changed by hand and removed.", life_lines(classifier))


def _maps(classifier: Drawable, anatomy: Anatomy, X: object, Y: object) -> Iterator[Picture]:
    label = None if Y is None else _most_balanced(anatomy, Y)
    told = "Where the rules are, along the two directions that tell the labels apart best."
    yield Picture("rule-map", told, rule_map(classifier, X=X, Y=Y, label=label))
    pair = anatomy.most_relevant(2)
    told = "The same rules over the two features that explain most of some label."
    yield Picture("rule-map-features", told, rule_map(classifier, pair, X=X, Y=Y, label=label))
    told = "How far a sample would be from what the rules know, and where it would count as novel."
    yield Picture("novelty-map", told, novelty_map(classifier, pair))


def _most_balanced(anatomy: Anatomy, Y: object) -> int:
    """The label that is on about as often as off: the most to see."""
    labels = anatomy.answers(Y, len(np.asarray(Y)))
    known = np.maximum((~np.isnan(labels)).sum(axis=0), 1)
    return int(np.abs(np.nansum(labels, axis=0) / known - 0.5).argmin())


def _files(features: Sequence[str]) -> list[str]:
    """Names of features as parts of file names, all different and none too long for a file."""
    plain = ["".join(letter if letter.isalnum() else "-" for letter in name)[:LONGEST_NAME] for name in features]
    return [name if plain.count(name) == 1 else f"{name}-{j}" for j, name in enumerate(plain)]
