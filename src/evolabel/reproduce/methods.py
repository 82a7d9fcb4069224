"""The methods the paper compares, in both profiles, and the values each of them is tuned over."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from evolabel.adapters.scikit_learn import EvolvingFuzzyClassifier
from evolabel.baselines import EvolvingChain, EvolvingOneVsRest, StaticClassifier
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
    learner : function of a classifier
        Makes the learner out of the tuned classifier.
    profiles : tuple
        Where the method makes sense.
    """

    title: str
    tuned_as: str
    learner: Callable[[EvolvingFuzzyClassifier], Learner]
    profiles: tuple[Profile, ...] = PROFILES


def _itself(classifier: EvolvingFuzzyClassifier) -> Learner:
    return classifier


METHODS: dict[str, Method] = {
    "ours": Method("EFC-ML (ours)", "ours", _itself),
    "ovr": Method("one-versus-rest", "ovr", EvolvingOneVsRest),
    "chain": Method("classifier chain", "chain", EvolvingChain),
    "static": Method("static", "ours", StaticClassifier),
    "rfwls": Method("RFWLS only", "rfwls", _itself, ("paper",)),  # the default profile has no correlation step
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
