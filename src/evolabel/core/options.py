"""Every parameter of the default classifier, declared once: name, type, default, allowed values and a line of text.

The signature and the class docstring of `EvolvingFuzzyClassifier` and `docs/reference/parameters.md` repeat them by
hand; `tests/test_parameters.py` compares. Those of `PaperClassifier` are in `paper.options`.
"""

from dataclasses import dataclass, field, fields
from math import sqrt
from typing import Any, ClassVar, Self

from evolabel._utils.validation import Choice, Range, Weights
from evolabel.errors import ParameterError

# Best of the constants on the five data sets (docs/decisions/what-was-tried.md), and the most that "loo" may choose.
STRONGEST_LOCAL_RIDGE = 0.2

_LONGEST = 10**15  # samples to wait: loops count in 64 bits

# Of numbers that are divided by and multiplied with each other: products of some of them neither over- nor underflow.
SMALL_FACTOR, LARGE_FACTOR = 1e-30, 1e30


def option(default: object, allowed: Range | Choice | Weights, doc: str) -> Any:
    """Return a dataclass field with its `default`, the `allowed` values and one line of documentation, `doc`."""
    return field(default=default, metadata={"allowed": allowed, "doc": doc})


@dataclass(frozen=True)
class Options:
    """All parameters of `EvolvingFuzzyClassifier`; `docs/reference/parameters.md` has the origin of each default."""

    # what a user needs
    max_rules: int = option(30, Range(1, 100_000, whole=True), "most rules at a time")
    vigilance: float = option(
        0.5,
        Range(0),
        "mean squared distance to the nearest rule above which a sample starts a rule, while there is space",
    )
    scaling: str = option(
        "quantile",
        Choice("quantile", "standard", "minmax", "none"),
        "how features are scaled, learned from the initial batch",
    )
    ridge: float | str = option(
        "press",
        Range(SMALL_FACTOR, LARGE_FACTOR, words=("press", "condition")),
        "unit of `global_ridge` and `local_ridge`",
    )
    temperature: float | str = option(
        "0.1p",
        Range(SMALL_FACTOR, LARGE_FACTOR, words=("sqrt",), per_feature=True),
        "T of the memberships exp(-d²/2T)",
    )
    follow_drift: bool = option(True, Choice(True, False), "whether the model follows labels that change their meaning")
    threshold_rules: bool | str = option(
        True,
        Choice(True, False, "counters"),
        "whether thresholds and conjunctions that separate a label are found and used; counters: also of features that "
        "only rise or only fall",
    )
    memory: str | None = option(
        "answers",
        Choice("answers", None),
        "whether the last answers count in answers to the rows right after them",
    )
    prune_after: int | None = option(
        None,
        Range(1, _LONGEST, whole=True, optional=True),
        "samples without a win after which a rule below `min_support` is removed",
    )
    warm_up: int = option(
        80,
        Range(2, 1_000_000, whole=True),
        "samples `partial_fit` collects for the batch phase if `fit` was never called",
    )
    optimise: str = option(
        "accuracy",
        Choice("accuracy", "balanced", "macro_f1", "micro_f1", "subset_accuracy"),
        "measure that predicted labels are best at",
    )
    class_weight: dict[Any, float] | str | None = option(  # noqa: RUF009
        None, Weights(SMALL_FACTOR, LARGE_FACTOR), "weight of a label, or of a class, in decisions"
    )
    threshold: float = option(0.5, Range(0, 1), "outputs of at least this much are predicted as 1")

    # rarely changed
    novel_z: float = option(
        6.0,
        Range(0, open_low=True),
        "standard deviations above the recent mean distance at which a sample starts a rule in a full rule base",
    )
    prior_count: float | str = option(
        31.0, Range(SMALL_FACTOR, LARGE_FACTOR, per_feature=True), "samples that the prior spread of a rule counts for"
    )
    min_activation: float = option(0.03, Range(0, 1), "membership below which a rule neither answers nor learns")
    global_ridge: float = option(
        1.5, Range(SMALL_FACTOR, LARGE_FACTOR), "ridge of the global model, in units of `ridge`"
    )
    local_ridge: float | str = option(
        "loo",
        Range(SMALL_FACTOR, LARGE_FACTOR, words=("loo",)),
        "ridge of each rule towards the global model, in units of `ridge`",
    )
    intercept_ridge: float = option(0.01, Range(SMALL_FACTOR, LARGE_FACTOR), "share of the ridge put on the intercept")
    min_support: float = option(3.0, Range(0), "support below which `prune_after` removes a rule")

    classifier: ClassVar[str] = "EvolvingFuzzyClassifier"
    """The class of classifiers whose parameters these are."""

    def check(self) -> Self:
        """Raise ParameterError for the first value that is not allowed; returns itself."""
        for declared in fields(self):
            declared.metadata["allowed"].check(declared.name, getattr(self, declared.name))
        if self.class_weight is not None and self.optimise != "accuracy":
            reason = f"class_weight={self.class_weight!r} does not go with optimise={self.optimise!r}"
            raise ParameterError(f'{reason}; leave one of them out: weights are for optimise="accuracy"')
        return self

    @property
    def is_balanced(self) -> bool:
        """Whether labels and classes weigh more in decisions the rarer they are."""
        return self.optimise == "balanced" or self.class_weight == "balanced"

    @property
    def rule_of_decisions(self) -> tuple[object, ...]:
        """What decisions are learned for; models that agree in it can be merged."""
        weights = self.class_weight
        given = {str(name): float(w) for name, w in weights.items()} if isinstance(weights, dict) else None
        return ("balanced" if self.is_balanced else self.optimise), given

    @property
    def chooses_local_ridge(self) -> bool:
        """Whether the ridge of the rules is chosen by leave-one-out."""
        return self.local_ridge == "loo"

    @property
    def first_local_ridge(self) -> float:
        """The number given; for "loo" the one in use until another is chosen."""
        return STRONGEST_LOCAL_RIDGE if self.local_ridge == "loo" else float(self.local_ridge)

    def temperature_for(self, p: int) -> float:
        """T for `p` features: a number (1 is the paper), "sqrt" for sqrt(p), or a multiple of p such as "0.1p"."""
        return sqrt(p) if self.temperature == "sqrt" else _multiple(self.temperature, p)

    def prior_count_for(self, d: int) -> float:
        """nu0 in `d` dimensions: a number, or a multiple of d such as "2p"."""
        return _multiple(self.prior_count, d)


def _multiple(value: float | str, p: int) -> float:
    """A number, or text such as "0.1p" for that many times `p`."""
    return p * float(value[:-1]) if isinstance(value, str) else float(value)


def option_names(kind: type[Options] = Options) -> tuple[str, ...]:
    """Return the names of all parameters of `kind`, in the order of their declaration."""
    return tuple(declared.name for declared in fields(kind))
