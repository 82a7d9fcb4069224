"""Figures of a trained classifier, drawn with matplotlib on Axes that are returned.

Every function takes optional Axes `ax`; without them it draws on a new figure that belongs to no window. `evolabel
figures MODEL` writes all of them, docs/gallery.md shows them. Trend lines are in `evolabel.report.figures`.

Examples
--------
>>> from evolabel import EvolvingFuzzyClassifier
>>> from evolabel.explain import figures
>>> from evolabel.streams import DriftingStream
>>> X, Y = DriftingStream(seed=0).take(200)
>>> clf = EvolvingFuzzyClassifier(max_rules=4).fit(X, Y)
>>> ax = figures.rule_map(clf, ("x0", "x1"))
>>> ax.get_xlabel(), len(ax.patches)
('x0', 4)
"""

from typing import TYPE_CHECKING

from evolabel._utils.lazy import loader

if TYPE_CHECKING:
    from evolabel.explain.figures.budget import budget_use
    from evolabel.explain.figures.consequents import consequent_map
    from evolabel.explain.figures.correlations import label_correlations
    from evolabel.explain.figures.lives import life_lines
    from evolabel.explain.figures.memberships import membership_functions
    from evolabel.explain.figures.novelty import novelty_map
    from evolabel.explain.figures.regions import rule_map

__all__ = [
    "budget_use",
    "consequent_map",
    "label_correlations",
    "life_lines",
    "membership_functions",
    "novelty_map",
    "rule_map",
]

_HOMES = {
    "budget_use": "evolabel.explain.figures.budget",
    "consequent_map": "evolabel.explain.figures.consequents",
    "label_correlations": "evolabel.explain.figures.correlations",
    "life_lines": "evolabel.explain.figures.lives",
    "membership_functions": "evolabel.explain.figures.memberships",
    "novelty_map": "evolabel.explain.figures.novelty",
    "rule_map": "evolabel.explain.figures.regions",
}

__getattr__ = loader(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted(__all__)
