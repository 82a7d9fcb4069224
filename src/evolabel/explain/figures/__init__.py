"""Figures of a trained classifier, drawn with matplotlib on Axes that are returned.

Every function takes optional Axes `ax`; without them it draws on a new figure that belongs to no window. `evolabel
figures MODEL` writes all of them, docs/reference/figures.md shows them. Trend lines are in `evolabel.report.figures`.

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

from evolabel._utils.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "budget": ["budget_use"],
        "evolabel.stages.rules.figures.consequents": ["consequent_map"],
        "correlations": ["label_correlations"],
        "evolabel.stages.threshold_rules.figures.edges": ["feature_edges"],
        "evolabel.stages.threshold_rules.figures.label_trees": ["threshold_tree"],
        "evolabel.stages.rules.figures.lives": ["life_lines"],
        "evolabel.stages.drift.figures.member_lines": ["member_weights"],
        "evolabel.stages.rules.figures.memberships": ["membership_functions"],
        "novelty": ["novelty_map"],
        "paths": ["sample_path"],
        "evolabel.stages.rules.figures.regions": ["rule_map"],
        "evolabel.stages.drift.figures.weight_trace": ["WeightTrace", "follow_weights"],
    },
)
