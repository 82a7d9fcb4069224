"""The explanation of a sample without any feature: no rule is active, the outputs are the base rates of the labels."""

from math import inf

import numpy as np

from evolabel.explain.novelty_check import NoveltyCheck
from evolabel.explain.prediction import NO_FEATURE, Explanation
from evolabel.explain.shortening import Threshold
from evolabel.model.empty_rows import base_probabilities
from evolabel.stages.protocols import Model
from evolabel.stages.rules.stream_terms import stream_terms
from evolabel.typing import FloatArray


def explain_empty(
    model: Model,
    x: FloatArray,
    feature_names: list[str],
    label_names: list[str],
    *,
    threshold: Threshold,
    together: str = "",
) -> Explanation:
    """Return the explanation of the raw sample `x`, (p,), whose features are all missing, by `model`.

    `feature_names`, `label_names`, `threshold` and `together` are as in `explain_sample`. The base rates are the only
    contribution; the nearest rule has the number 0, which no rule has.
    """
    rates = model.base_rates()
    contributions = np.zeros((1, len(x) + 1, len(rates)))
    contributions[0, -1] = rates
    return Explanation(
        rules=np.empty(0, np.int64),
        memberships=np.empty(0),
        contributions=contributions,
        distances=np.empty(0),
        thresholds=np.zeros(len(rates)),
        written=np.zeros(len(rates)),
        feature_names=feature_names,
        label_names=label_names,
        x=x.copy(),
        novelty=NoveltyCheck(0, 0.0, inf, novel=False),
        turns=((),) * len(rates),
        words=stream_terms(model, feature_names),
        threshold=threshold,
        n_seen=model.n_seen,
        probabilities=base_probabilities(model),
        unfamiliar=(NO_FEATURE,),
        together=together,
    )
