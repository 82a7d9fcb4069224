"""What the study compares: named variants, each one change from the default, in parts."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from committees import Bag, Committee
from kernel_ridge import KernelRidge
from local_press import ANY, LocalPress
from low_rank import LowRank
from other_structures import Seeded, SinglePass, Splitting, TwiceMoved, farthest_first, k_means, k_means_plus_plus
from studied import classifier

from evolabel.baselines import StaticClassifier, make_learner

DEFAULT = "default"


@dataclass(frozen=True)
class Variant:
    """A learner for a seed, and the split of the data; `cold`: no initial batch, the stream starts at its first row."""

    make: Callable[[int], Any]
    cold: bool = False
    nominal: str = "codes"
    seeds: int = 5


def changed(seeds: int = 5, **parameters: Any) -> Variant:
    """The default of the study with other parameters."""
    return Variant(lambda seed: classifier(**parameters), seeds=seeds)


def parameter_text(parameters: dict[str, Any]) -> str:
    """Parameters as one writes them, the name of a variant."""
    return ", ".join(f"{name}={value!r}" for name, value in parameters.items())


def named(*changes: dict[str, Any]) -> dict[str, Variant]:
    """One variant per change, named by it."""
    return {parameter_text(change): changed(**change) for change in changes}


def rivals(*names: str) -> dict[str, Variant]:
    """Other learners of the package, by their short names."""
    return {name: Variant(lambda seed, name=name: make_learner(name, seed)) for name in names}  # type: ignore[misc]


ABLATION = {
    **named(
        {"max_rules": 1},
        {"max_rules": 5},
        {"max_rules": 10},
        {"max_rules": 20},
        {"max_rules": 40},
        {"scaling": "minmax"},
        {"scaling": "standard"},
        {"n_knots": 8},
        {"n_knots": 64},
        {"ridge": 100.0},
        {"ridge": 1.0},
        {"global_ridge": 1.0},
        {"global_ridge": 2.0},
        {"local_ridge": 0.04},
        {"local_ridge": 0.1},
        {"local_ridge": 0.5},
        {"local_ridge": 1.0},
        {"intercept_ridge": 0.001},
        {"intercept_ridge": 0.1},
        {"temperature": 1.0},
        {"temperature": "sqrt"},
        {"temperature": "0.06p"},
        {"temperature": "0.3p"},
        {"temperature": "1p"},
        {"min_activation": 0.001},
        {"min_activation": 0.1},
        {"parent": "none"},
        {"parent": "nearest"},
        {"covariance": "full", "prior_count": "1p"},
        {"prior_count": 10.0},
        {"prior_count": 50.0},
        {"prior_count": 1e6},
        {"prior_variance": 0.5},
        {"prior_variance": 2.0},
        {"space": "product", "label_weight": 0.1},
        {"space": "product", "label_weight": 1.0},
        {"vigilance": 0.1},
        {"vigilance": 1.0},
        {"novel_z": 3.0},
        {"novel_z": 1e6},
        {"novelty": "paper"},
        {"merging": "touching"},
    ),
    **rivals("rls"),
}

STRUCTURE = {
    "consequents in the same pass": Variant(lambda seed: SinglePass()),
    "rules pass the batch twice": Variant(lambda seed: TwiceMoved()),
    "seeds: k-means": Variant(lambda seed: Seeded(k_means, seed)),
    "seeds: k-means++": Variant(lambda seed: Seeded(k_means_plus_plus, seed)),
    "seeds: farthest first": Variant(lambda seed: Seeded(farthest_first, seed)),
    "split if 2 x mean support": Variant(lambda seed: Splitting(100, 2.0)),
    "split if 4 x mean support": Variant(lambda seed: Splitting(100, 4.0)),
}

TEMPERATURES: tuple[dict[str, Any], ...] = ({"temperature": "0.06p"}, {"temperature": "0.15p"})
RIDGES: tuple[dict[str, Any], ...] = ({"local_ridge": 0.08}, {"local_ridge": 0.5})

MARKS = {
    "mean of 3 rule bases": Variant(lambda seed: Bag(3, seed)),
    "mean of 5 rule bases": Variant(lambda seed: Bag(5, seed)),
    "mean of T = .06p, .1p, .15p": Variant(lambda seed: Committee(*TEMPERATURES, leader=False)),
    "leader of T = .06p, .1p, .15p": Variant(lambda seed: Committee(*TEMPERATURES, leader=True)),
    "leader of local_ridge = .08, .2, .5": Variant(lambda seed: Committee(*RIDGES, leader=True)),
    "kernel ridge, all rows, 10 fits": Variant(lambda seed: KernelRidge()),
}

LOCAL_PRESS = {
    "local ridge by LOO": Variant(lambda seed: LocalPress()),
    "local ridge by LOO, up to .8": Variant(lambda seed: LocalPress(ANY)),
    "local ridge and T by LOO": Variant(lambda seed: LocalPress(temperatures=(0.06, 0.1, 0.16))),
    "global ridge by LOO": Variant(lambda seed: LocalPress((0.2,), globals_=(1.0, 1.5, 2.0, 3.0, 6.0))),
}


def on_local_press(*changes: dict[str, Any]) -> dict[str, Variant]:
    """One change from the default with its local ridge chosen by leave-one-out."""
    return {f"LOO, {parameter_text(change)}": Variant(lambda seed, c=change: LocalPress(**c)) for change in changes}  # type: ignore[misc]


LOCAL_PRESS_NEIGHBOURS = {
    "local ridge by LOO": LOCAL_PRESS["local ridge by LOO"],
    **on_local_press(
        {"novel_z": 3.0},
        {"novel_z": 1e6},
        {"max_rules": 20},
        {"max_rules": 60},
        {"temperature": "0.06p"},
        {"temperature": "0.15p"},
        {"prune_after": 500},
    ),
}

LOW_RANK = {
    f"local rank {rank}, {directions}": Variant(lambda seed, rank=rank, d=directions: LowRank(rank, d))  # type: ignore[misc]
    for rank, directions in ((16, "pca"), (32, "pca"), (64, "pca"), (16, "global"), (16, "both"), (32, "both"))
}

KERNEL_LIKE = named(
    {"max_rules": 60},
    {"max_rules": 60, "local_ridge": 0.5},
    {"max_rules": 60, "temperature": "0.06p"},
    {"max_rules": 60, "temperature": "0.06p", "local_ridge": 0.4},
    {"max_rules": 60, "temperature": "0.06p", "local_ridge": 0.4, "min_activation": 0.01},
    {"max_rules": 100, "local_ridge": 0.5},
    {"max_rules": 100, "temperature": "0.05p", "local_ridge": 0.4, "min_activation": 0.01},
)

PENALTIES = named(
    {"alpha": 1e-6},
    {"alpha": 0.1},
    {"alpha": 1.0},
    {"beta": 1.0},
    {"beta": 10.0},
    {"beta": 10.0, "coupling": "shifted"},
)

COLD = {
    f"no batch, warm_up={size}": Variant(lambda seed, size=size: classifier(warm_up=size), cold=True)  # type: ignore[misc]
    for size in (20, 40, 80)
} | {
    f"LOO, no batch, warm_up={size}": Variant(lambda seed, size=size: LocalPress(warm_up=size), cold=True)  # type: ignore[misc]
    for size in (20, 40, 80)
}

DRIFT = named(
    {"novel_z": 3.0},
    {"max_rules": 60},
    {"prune_after": 500},
)

# Values next to the defaults, for sets that were not used to choose them.
NEIGHBOURS = named(
    {"max_rules": 10},
    {"max_rules": 20},
    {"max_rules": 40},
    {"max_rules": 60},
    {"temperature": "0.06p"},
    {"temperature": "0.15p"},
    {"temperature": "0.3p"},
    {"local_ridge": 0.1},
    {"local_ridge": 0.5},
    {"global_ridge": 1.0},
    {"global_ridge": 2.0},
    {"scaling": "standard"},
    {"prior_variance": 0.5},
    {"prior_variance": 2.0},
    {"prior_count": 10.0},
    {"min_activation": 0.001},
    {"novel_z": 1e6},
    {"merging": "touching"},
)

PARTS: dict[str, dict[str, Variant]] = {
    "ablation": ABLATION,
    "structure": STRUCTURE,
    "local-press": LOCAL_PRESS,
    "local-press-neighbours": LOCAL_PRESS_NEIGHBOURS,
    "low-rank": LOW_RANK,
    "kernel-like": KERNEL_LIKE,
    "marks": MARKS,
    "penalties": PENALTIES,
    "cold": COLD,
    "nominal": {"nominal one-hot": Variant(lambda seed: classifier(), nominal="one-hot")},
    "drift": DRIFT,
    "neighbours": NEIGHBOURS,
    "rivals": {
        **rivals("rls", "knn"),
        "static": Variant(lambda seed: StaticClassifier(classifier())),
        **rivals("forest"),
    },
}

VARIANTS: dict[str, Variant] = {DEFAULT: changed()}
for _part in PARTS.values():
    VARIANTS |= _part
