"""The methods the paper compares, in both profiles, and the values each of them is tuned over."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from evolabel.active import BudgetedLearner, Instability, RandomSelection
from evolabel.active.presets import paper_settings
from evolabel.active.scoring.criteria import DEFAULT_CRITERIA, PAPER_CRITERIA
from evolabel.baselines import EvolvingChain, EvolvingOneVsRest, StaticClassifier
from evolabel.classifier.estimator import EvolvingFuzzyClassifier
from evolabel.evaluate import Learner

Profile = Literal["paper", "default"]
PROFILES: tuple[Profile, ...] = ("paper", "default")

Values = dict[str, tuple[Any, ...]]

RLS_ALONE = {"alpha": 0.0, "beta": 0.0, "prox_steps": 0}  # what the paper's rivals learn by: eqs. (25)-(27) only


@dataclass(frozen=True)
class Method:
    """One line of a figure.

    Parameters
    ----------
    title : str
        As in a legend.
    tuned_as : str
        The method whose search finds its parameters: those that differ only in what they do later share one.
    learner : function of a classifier, a profile and a seed
        Makes the learner out of the tuned classifier.
    profiles : tuple
        Where the method makes sense.
    """

    title: str
    tuned_as: str
    learner: Callable[[EvolvingFuzzyClassifier, Profile, int], Learner]
    profiles: tuple[Profile, ...] = PROFILES


def _asking(per: str, budget: float, *, instability: bool = False) -> Callable[..., Learner]:
    """Active learning with the paper's criteria and variable thresholds, or with what was measured to be best.

    Without error feedback: the claims are about what is asked, not about what else answers tell.
    """

    def make(classifier: EvolvingFuzzyClassifier, profile: Profile, seed: int) -> Learner:
        paper = profile == "paper"
        criteria = PAPER_CRITERIA[:2] if paper else DEFAULT_CRITERIA[per]
        options = {
            **(paper_settings() if paper else {"error_feedback": False}),
            "criteria": (*criteria, Instability()) if instability else criteria,
        }
        return BudgetedLearner(classifier, budget, per, **options)

    return make


METHODS: dict[str, Method] = {
    "ours": Method("EFC-ML (ours)", "ours", lambda classifier, profile, seed: classifier),
    "ovr": Method("one-versus-rest", "ovr", lambda classifier, profile, seed: EvolvingOneVsRest(classifier)),
    "chain": Method("classifier chain", "chain", lambda classifier, profile, seed: EvolvingChain(classifier)),
    "static": Method("static", "ours", lambda classifier, profile, seed: StaticClassifier(classifier)),
    "rfwls": Method(  # the default profile has no correlation step to leave away
        "RFWLS only", "rfwls", lambda classifier, profile, seed: classifier, ("paper",)
    ),
    "labels-30": Method("30 % of the labels", "ours", _asking("labels", 0.3)),
    "labels-20": Method("20 % of the labels", "ours", _asking("labels", 0.2)),
    "labels-10": Method("10 % of the labels", "ours", _asking("labels", 0.1)),
    "labels-10-instability": Method("10 %, with instability", "ours", _asking("labels", 0.1, instability=True)),
    "samples-30": Method("30 % of the samples", "ours", _asking("samples", 0.3)),
    "samples-20": Method("20 % of the samples", "ours", _asking("samples", 0.2)),
    "samples-10": Method("10 % of the samples", "ours", _asking("samples", 0.1)),
    "random-10": Method(
        "10 % by chance",
        "ours",
        lambda classifier, profile, seed: RandomSelection(classifier, 0.1, seed=seed, error_feedback=False),
    ),
}


def classifier_of(profile: Profile, tuned_as: str, params: dict[str, Any]) -> EvolvingFuzzyClassifier:
    """The classifier inside a method, with tuned parameters."""
    if profile == "default":
        return EvolvingFuzzyClassifier(**params)
    return EvolvingFuzzyClassifier.paper(**{**({} if tuned_as == "ours" else RLS_ALONE), **params})


def grid_of(profile: Profile, tuned_as: str, grids: dict[Profile, Values]) -> Values:
    """What a method is tuned over: the same values for all; those of alpha and beta only where they do something."""
    grid = grids[profile]
    if profile == "default" or tuned_as == "ours":
        return grid
    return {"vigilance": grid["vigilance"]}
