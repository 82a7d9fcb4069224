"""One label of one sample explained by the model now: parts that add up to its output, and changes that turn it."""

import math

import numpy as np

from evolabel.errors import StateError
from evolabel.explain.counterfactuals import Counterfactual
from evolabel.explain.prediction import Explanation
from evolabel.server.project.settings import Feature
from evolabel.server.project.state import Facts, ProjectState
from evolabel.server.project.verbs import ConflictError, UnknownError

MOST_TURNS = 3


def explain_label(state: ProjectState, cells: list[float | str | None], label: str) -> Facts:
    """Return the output of `label` for a sample of these `cells` by the model in `state`, in parts, and what turns it.

    `base`, what the `parts` give, and `feedback` add up to `output`. `answered_by` has the shares of rules, linear
    part, threshold rules and written rules in the answers of the label. ConflictError while the model has no rules.
    """
    if label not in state.label_names:
        raise UnknownError(f"there is no label {label!r}; ask for the project to see its labels")
    try:
        why = state.explain(cells, MOST_TURNS)
    except StateError:
        detail = "the model has no rules yet; they come with the first ten answered samples"
        raise ConflictError("no-rules-yet", detail) from None
    c = state.label_names.index(label)
    border = float(why.borders[c])
    return {
        "label": label,
        "base": float(why.by_feature[-1, c]),
        "parts": [*_feature_parts(state, cells, why, c), *_rule_parts(why, c)],
        "feedback": 0.0 if why.feedback is None else float(why.feedback[c]),
        "output": float(why.total[c]),
        "threshold": border if math.isfinite(border) else None,
        "positive": bool(why.predicted[c]),
        "probability": None if why.probabilities is None else float(why.probabilities[c]),
        "rules": [int(why.rules[i]) for i in np.argsort(-why.memberships, kind="stable")],
        "answered_by": state.learner.classifier.parts_[label].to_dict(),
        "turns": [_turn(state.features, cells, change) for change in why.turns[c]],
    }


def _feature_parts(state: ProjectState, cells: list[float | str | None], why: Explanation, c: int) -> list[Facts]:
    """Return what each feature gives to label `c`; a text gives what all of its 0/1 columns do."""
    gives = dict(zip(why.feature_names, why.by_feature[:-1, c].tolist(), strict=True))
    return [
        {"kind": "feature", "name": feature.name, "value": cell, "gives": sum(gives[name] for name in feature.columns)}
        for feature, cell in zip(state.features, cells, strict=True)
    ]


def _rule_parts(why: Explanation, c: int) -> list[Facts]:
    """Return what threshold rules and written rules give to label `c`, where they give anything."""
    parts = (("threshold_rules", float(why.thresholds[c])), ("written_rules", float(why.written[c])))
    return [{"kind": kind, "name": None, "value": None, "gives": gives} for kind, gives in parts if gives != 0.0]


def _turn(features: list[Feature], cells: list[float | str | None], change: Counterfactual) -> Facts:
    """Return a `change` of one of `features`, from its cell to a number or a text."""
    place = next(i for i, feature in enumerate(features) if change.feature in feature.columns)
    feature = features[place]
    after = change.feature.removeprefix(f"{feature.name}=") if feature.choices else change.after
    return {"feature": feature.name, "before": cells[place], "after": after, "turns_on": change.turns_on}
