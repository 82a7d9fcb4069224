"""The paper's settings of an `ActiveLearner`."""

from typing import Any

from evolabel.active.scoring.criteria import PAPER_CRITERIA
from evolabel.active.selection import VariableThresholds


def paper_settings(step: float = 0.01) -> dict[str, Any]:
    """Keyword arguments of an `ActiveLearner`: the paper's three criteria with thresholds that vary.

    Parameters
    ----------
    step : float
        Relative change of the thresholds per sample; 0 keeps them fixed.

    Returns
    -------
    dict
        Criteria and selector; answered samples move rules as far as any sample (`antecedent_rate`), recent errors do
        not correct outputs (`error_feedback`), and the unspent budget is kept without limit (`burst`).
    """
    return {
        "criteria": PAPER_CRITERIA,
        "selection": VariableThresholds(step),
        "antecedent_rate": 1.0,
        "error_feedback": False,
        "burst": None,
    }
