"""Short names of all learners, for command lines and tables."""

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import evolabel
from evolabel import baselines, paper
from evolabel.errors import ParameterError

if TYPE_CHECKING:
    from evolabel.baselines.base import StreamLearner
    from evolabel.classifier.estimator import EvolvingFuzzyClassifier
    from evolabel.paper import TunedClassifier

__all__ = ["LEARNERS", "make_learner"]

RegisteredLearner: TypeAlias = "EvolvingFuzzyClassifier | StreamLearner | TunedClassifier"


class LearnerKind(NamedTuple):
    """A registered learner; `make` takes a seed, which most learners do not use."""

    description: str
    make: Callable[[int], RegisteredLearner]


LEARNERS: dict[str, LearnerKind] = {
    "evolabel": LearnerKind(
        "evolving fuzzy classifier with the default parameters",
        lambda seed: evolabel.EvolvingFuzzyClassifier(),
    ),
    "macro-f1": LearnerKind(
        "evolving fuzzy classifier with thresholds learned for macro-F1",
        lambda seed: evolabel.EvolvingFuzzyClassifier(optimise="macro_f1"),
    ),
    "feedback": LearnerKind(
        "evolving fuzzy classifier, outputs corrected by recent errors where errors repeat",
        lambda seed: baselines.FeedbackClassifier(),
    ),
    "paper": LearnerKind(
        "evolving fuzzy classifier with the paper's profile",
        lambda seed: paper.PaperClassifier(),
    ),
    "tuned": LearnerKind(
        "evolving fuzzy classifier, tuned on the initial batch (27 points)",
        lambda seed: paper.TunedClassifier(seed=seed),
    ),
    "paper-tuned": LearnerKind(
        "the paper's profile, tuned on the initial batch (48 points)",
        lambda seed: paper.TunedClassifier(paper.PaperClassifier(), paper.SMALL_PAPER_GRID, seed=seed),
    ),
    "ovr": LearnerKind(
        "one evolving fuzzy classifier per label",
        lambda seed: paper.EvolvingOneVsRest(),
    ),
    "chain": LearnerKind(
        "chain of evolving fuzzy classifiers, each uses the labels before it",
        lambda seed: paper.EvolvingChain(seed=seed),
    ),
    "static": LearnerKind(
        "evolving fuzzy classifier that learns the initial batch only",
        lambda seed: baselines.StaticClassifier(),
    ),
    "rfwls": LearnerKind(
        "the paper's profile with recursive least squares alone: no L1, no label coupling",
        lambda seed: paper.PaperClassifier(alpha=0.0, beta=0.0, prox_steps=0),
    ),
    "rls": LearnerKind(
        "global recursive least squares",
        lambda seed: baselines.GlobalRLS(),
    ),
    "knn": LearnerKind(
        "10 nearest neighbours among the last 1000 rows",
        lambda seed: baselines.SlidingKNN(),
    ),
    "prior": LearnerKind(
        "share of each label so far",
        lambda seed: baselines.RunningPrior(),
    ),
    "no-change": LearnerKind(
        "the last answer to each label",
        lambda seed: baselines.NoChange(),
    ),
    "river-br-lr": LearnerKind(
        "river: one logistic regression per label",
        lambda seed: baselines.RiverLearner(baselines.river_model("per_output", "logistic")),
    ),
    "river-cc-lr": LearnerKind(
        "river: chain of logistic regressions",
        lambda seed: baselines.RiverLearner(baselines.river_model("chain", "logistic")),
    ),
    "river-br-ht": LearnerKind(
        "river: one Hoeffding tree per label",
        lambda seed: baselines.RiverLearner(baselines.river_model("per_output", "hoeffding")),
    ),
    "river-cc-ht": LearnerKind(
        "river: chain of Hoeffding trees",
        lambda seed: baselines.RiverLearner(baselines.river_model("chain", "hoeffding")),
    ),
    "forest": LearnerKind(
        "random forest, refitted along the stream on all rows so far",
        lambda seed: baselines.RefittedForest(seed=seed),
    ),
}


def make_learner(name: str, seed: int = 0) -> RegisteredLearner:
    """Return a new learner.

    Parameters
    ----------
    name : str
        One of `LEARNERS`.
    seed : int
        Seed of learners that use random numbers.

    Raises
    ------
    ParameterError
        If there is no learner `name`.

    Examples
    --------
    >>> from evolabel.learners import make_learner
    >>> make_learner("knn")
    SlidingKNN()
    """
    if name not in LEARNERS:
        raise ParameterError(f"learner {name!r} is unknown; use one of {', '.join(LEARNERS)}")
    return LEARNERS[name].make(seed)
