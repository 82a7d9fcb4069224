"""The paper's way to ask, for all who compare with it."""

from typing import Any

from evolabel.active.scoring.criteria import PAPER
from evolabel.active.selection import VariableThresholds


def paper_asking(step: float = 0.01) -> dict[str, Any]:
    """Options of an `ActiveLearner`: the paper's three criteria with its thresholds, which vary by `step` per sample.

    Answers move rules as any sample does (`mobility`), errors do not correct the samples that follow (`echo`), and what
    is not spent is saved for good (`burst`).
    """
    return {"criteria": PAPER, "selection": VariableThresholds(step), "mobility": 1.0, "echo": False, "burst": None}
