"""All figures of a classifier that apply to it, each with a caption."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from evolabel.errors import DataError
from evolabel.explain import figures
from evolabel.explain.figures.figure_data import Drawable, FigureData
from evolabel.stages.threshold_rules.figures.edges import split_features
from evolabel.words.figures.canvas import Axes

_N_FEATURES = 3  # whose membership functions are drawn; of each label whose edges are
_N_TREES = 6  # labels whose threshold rules are drawn
MOST_FIGURES = _N_TREES * (1 + _N_FEATURES)  # of threshold rules, without paths
_MAX_FILE_NAME = 60  # letters of a feature's name in the name of a file


class CaptionedFigure(NamedTuple):
    """The Axes of a figure, with the `name` of its file and a `caption`."""

    name: str
    caption: str
    axes: "Axes"


def all_figures(
    classifier: Drawable, X: object = None, Y: object = None, *, sample: object = None
) -> Iterator[CaptionedFigure]:
    """Yield all figures that apply to `classifier`; the samples `X` with labels `Y`, if given, are drawn on maps.

    Of one raw `sample`, if given, the path through the trees of threshold rules is drawn.
    """
    if (X is None) != (Y is None):
        raise DataError("samples and their labels belong together; pass both X and Y, or none")
    data = classifier.figure_data()
    yield from threshold_figures(classifier, sample)
    if data.model.n_features > 1:
        yield from _maps(classifier, data, X, Y)
    files = file_names(data.feature_names)
    for j in data.most_relevant(_N_FEATURES):
        caption = "The rules along one feature. Bands are the terms of the rules: fifths of the stream."
        yield CaptionedFigure(f"memberships-{files[j]}", caption, figures.membership_functions(classifier, j))
    if data.model.n_labels > 1 and (X is not None or data.rules.label_moments is not None):
        caption = (
            "Labels that go together (red) or exclude each other (blue): in the rule that differs most, and in all."
        )
        yield CaptionedFigure("label-correlations", caption, figures.label_correlations(classifier, X=X, Y=Y))
    caption = "Which feature raises (red) or lowers (blue) which label over the whole stream."
    yield CaptionedFigure("weights-global-model", caption, figures.consequent_map(classifier))
    best = int(data.rules.arrays.identity[data.best_supported(1)[0]])
    caption = "The same inside the best supported rule."
    yield CaptionedFigure(f"weights-rule-{best}", caption, figures.consequent_map(classifier, best))
    yield CaptionedFigure(
        "life-lines-of-rules",
        "When rules were born, merged, changed by hand and removed.",
        figures.life_lines(classifier),
    )


def threshold_figures(classifier: Drawable, sample: object = None) -> Iterator[CaptionedFigure]:
    """Yield the tree, the edges and the path of a raw `sample`, if given, of labels with threshold rules.

    There are none where threshold rules of `classifier` are not used; of many labels the first few are drawn.
    """
    data = classifier.figure_data()
    trees = data.trees
    labels, features = file_names(data.label_names), file_names(data.feature_names)
    for k in [] if trees is None else trees.open_labels[:_N_TREES]:
        assert trees is not None
        label = data.label_names[k]
        caption = f"The threshold rules of {label}: questions, shares and numbers of samples."
        yield CaptionedFigure(f"threshold-tree-{labels[k]}", caption, figures.threshold_tree(classifier, k))
        if sample is not None:
            caption = f"How the threshold rules of {label} answer for the sample: the conditions that hold for it."
            yield CaptionedFigure(f"sample-path-{labels[k]}", caption, figures.sample_path(classifier, sample, k))
        asked = [name for name in split_features(trees.label_rules(k)) if name in data.feature_names]
        for j in map(data.feature_names.index, asked[:_N_FEATURES]):
            caption = f"Where the edges of {label} stand among recent values of {data.feature_names[j]}."
            name = f"threshold-edges-{labels[k]}-{features[j]}"
            yield CaptionedFigure(name, caption, figures.feature_edges(classifier, j, k))


def _maps(classifier: Drawable, data: FigureData, X: object, Y: object) -> Iterator[CaptionedFigure]:
    label = None if Y is None else _most_balanced(data, Y)
    caption = "Where the rules are, along the two directions that separate the labels best."
    yield CaptionedFigure("rule-map-separating-plane", caption, figures.rule_map(classifier, X=X, Y=Y, label=label))
    pair = data.most_relevant(2)
    caption = "The same rules over the two features that explain most of some label."
    features = file_names(data.feature_names)
    over = "-".join(features[j] for j in pair)
    yield CaptionedFigure(f"rule-map-{over}", caption, figures.rule_map(classifier, pair, X=X, Y=Y, label=label))
    caption = "How far a sample would be from the nearest rule, and where it would count as novel."
    yield CaptionedFigure(f"novelty-map-{over}", caption, figures.novelty_map(classifier, pair))


def _most_balanced(data: FigureData, Y: object) -> int:
    """Return the label that is on about as often as off."""
    labels = data.read_labels(Y, len(np.asarray(Y)))
    known = np.maximum((~np.isnan(labels)).sum(axis=0), 1)
    return int(np.abs(np.nansum(labels, axis=0) / known - 0.5).argmin())


def file_names(features: Sequence[str]) -> list[str]:
    """Return names of features as parts of file names, all different and none too long for a file."""
    plain = ["".join(letter if letter.isalnum() else "-" for letter in name)[:_MAX_FILE_NAME] for name in features]
    return [name if plain.count(name) == 1 else f"{name}-{j}" for j, name in enumerate(plain)]
