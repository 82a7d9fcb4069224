"""The parameters of `PaperClassifier`, declared once, as those of the default classifier in `core.options`.

The defaults are the paper's own profile, as far as it is printed.
"""

from dataclasses import dataclass, field
from typing import Any, ClassVar

from evolabel._utils.validation import Choice, Range
from evolabel.core.options import LARGE_FACTOR, SMALL_FACTOR, Options, option


def _shared(name: str, default: object) -> Any:
    """Return the field `name` of `Options` with another `default`."""
    return field(default=default, metadata=Options.__dataclass_fields__[name].metadata)


@dataclass(frozen=True)
class PaperOptions(Options):
    """All parameters of `PaperClassifier`; `docs/reference/parameters.md` has the origin of each default."""

    classifier: ClassVar[str] = "PaperClassifier"

    # Stages that are not in the paper: never part of this model, so no parameters.
    follow_drift: ClassVar[bool] = False  # type: ignore[misc]
    threshold_rules: ClassVar[bool] = False  # type: ignore[misc]
    memory: ClassVar[None] = None  # type: ignore[misc]

    # shared with the default classifier; vigilance, alpha and beta are tuned in the paper
    max_rules: int = _shared("max_rules", 100_000)
    vigilance: float = option(0.4, Range(0), "factor fac of eq. (5): the larger, the farther a new rule is from others")
    scaling: str = _shared("scaling", "standard")
    ridge: float | str = _shared("ridge", "condition")
    temperature: float | str = _shared("temperature", 1.0)
    prior_count: float | str = _shared("prior_count", "2p")
    min_activation: float = _shared("min_activation", 0.0)
    local_ridge: float | str = _shared("local_ridge", 1.0)

    # the consequents, eqs. (7)-(14) and (25)-(28)
    alpha: float = option(0.1, Range(0), "L1 penalty on the weights, intercepts spared")
    beta: float = option(1.0, Range(0), "strength of the label coupling, intercepts spared")
    coupling: str = option(
        "shifted",
        Choice("signed_laplacian", "shifted", "ridge", "none", "paper"),
        "matrix of the label coupling, from the correlations inside a rule",
    )
    prox_steps: int = option(1, Range(0, 10_000, whole=True), "proximal gradient steps per sample")
    rls: bool = option(True, Choice(True, False), "whether a recursive least squares step comes first")
    lipschitz: str = option("safe", Choice("safe", "paper"), "step length of the proximal gradient")
    parent: str = option("nearest", Choice("global", "nearest", "none"), "model that a new rule starts from")

    # the rules, eqs. (3) and (5) and section 3.2
    covariance: str = option("full", Choice("diag", "full"), "axis-parallel or rotated rules")
    space: str = option(
        "product",
        Choice("input", "product"),
        "space in which rules are born and moved: features, or features and labels",
    )
    label_weight: float = option(
        1.0, Range(SMALL_FACTOR, LARGE_FACTOR), "length of a label in the product space, in units of a scaled feature"
    )
    novelty: str = option("paper", Choice("deviation", "paper"), "criterion by which a sample starts a rule")
    merging: str = option(
        "touching",
        Choice("room", "touching"),
        "whether rules are merged only to make space, or also when they touch and agree",
    )
    consistency: str = option(
        "output", Choice("output", "angle"), "how agreement of merged consequents is measured, eq. (29)"
    )

    @property
    def iterated(self) -> bool:
        """Whether weights are iterated (Algorithm 2); else they follow from the statistics in closed form."""
        return self.alpha > 0.0 or self.beta > 0.0 or self.parent == "nearest"

    @property
    def chooses_local_ridge(self) -> bool:
        """Whether the ridge of the rules is chosen by leave-one-out; it must pull towards the global model."""
        return super().chooses_local_ridge and self.parent == "global"
