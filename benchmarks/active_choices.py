"""Why queries for whole samples have their defaults: other settings, on shuffles that no published table shows.

    python benchmarks/active_choices.py                 # adds what benchmarks/results/active_choices.json lacks
    python benchmarks/active_choices.py --only-table    # the table of the last run

Shares of the gap between a static model and one that learns all labels, as in `active_learning.py`; mean over
the sets. Behind them the difference from the default, shuffle by shuffle, and its standard error.
"""

import argparse
from typing import Any

import numpy as np
import result_files
from active_learning import METRICS, asked, ends
from datasets import load
from threadpoolctl import threadpool_limits

from evolabel import EvolvingFuzzyClassifier
from evolabel.active import (
    Ambiguity,
    BudgetedLearner,
    QuantileSelector,
    SoftCount,
    TokenSelector,
    VarianceReduction,
)
from evolabel.words import markup

RESULTS = "active_choices"
BUDGETS = (0.1, 0.3)
SHUFFLES = {
    "emotions": range(10, 16),
    "water-quality": range(10, 16),
    "yeast": range(10, 13),
    "birds": range(10, 13),
    "mediamill-5k": range(10, 12),
}


class WithoutProbes(QuantileSelector):
    """A selector that draws no sample at random."""

    takes_priorities = False


RANKS = (Ambiguity(), SoftCount(weight=0.5), VarianceReduction())
DEFAULT = "soft count x variance reduction, tau = 10"
WAYS: dict[str, dict[str, Any]] = {
    DEFAULT: {},
    "tau = 5": {"selection": QuantileSelector(5.0)},
    "power 0.5 of the variance reduction": {"criteria": (SoftCount(), VarianceReduction(weight=0.5))},
    "soft count alone": {"criteria": "soft_count"},
    "ranks of ambiguity, soft count, variance reduction": {"criteria": RANKS, "selection": TokenSelector()},
    "no sample drawn at random": {"selection": WithoutProbes(10.0)},
    "antecedent_rate 1": {"antecedent_rate": 1.0},
}


def main() -> None:
    """Measure what is missing and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only-table", action="store_true")
    options = parser.parse_args()
    results: dict[str, Any] = result_files.read_if_any(RESULTS, {})
    if not options.only_table:
        measure(results)
    print(table(results))


def measure(results: dict[str, Any]) -> None:
    """Add what is missing to `results`, and write them after every shuffle."""
    for name, shuffles in SHUFFLES.items():
        for seed in shuffles:
            known = results.setdefault(name, {}).setdefault(str(seed), {})
            with threadpool_limits(1):
                add(known, name, seed)
            result_files.write(RESULTS, results, indent=None)
            print(f"{name} {seed} done", flush=True)


def add(known: dict[str, Any], name: str, seed: int) -> None:
    """Add to `known` what is missing on the set `name`, shuffled by `seed`."""
    split = load(name, seed)
    if "static" not in known:
        trained = EvolvingFuzzyClassifier().fit(split.X[: split.initial], split.Y[: split.initial])
        known |= {end: [found[metric][0] for metric in METRICS] for end, found in ends(split, trained).items()}
    for budget in BUDGETS:
        for way, options in WAYS.items():
            if way not in known.setdefault(str(budget), {}):
                found = asked(split, BudgetedLearner(budget=budget, **options))
                known[str(budget)][way] = [found[metric][0] for metric in METRICS]


def table(results: dict[str, Any]) -> str:
    """A line of `results` for every setting: shares in PA / AP, and differences from the default."""
    heads = ["", *(text for budget in BUDGETS for text in (f"{budget:.0%}", "difference"))]
    rows = [[way, *(text for budget in BUDGETS for text in share_text(results, str(budget), way))] for way in WAYS]
    return markup.table(heads, rows)


def share_text(results: dict[str, Any], budget: str, way: str) -> tuple[str, str]:
    """Mean share of the setting `way` at `budget` over the sets of `results`, and its difference from the default."""
    shares, gains, variances = [], [], []
    for runs in results.values():
        static, full = (np.array([run[end] for run in runs.values()]) for end in ("static", "full"))
        ours, default = (np.array([run[budget][name] for run in runs.values()]) for name in (way, DEFAULT))
        gap = (full - static).mean(axis=0)
        shares.append((ours - static).mean(axis=0) / gap)
        gains.append((ours - default).mean(axis=0) / gap)
        variances.append(((ours - default) / gap).var(axis=0, ddof=1) / len(runs))
    share, gain = np.mean(shares, axis=0), np.mean(gains, axis=0)
    error = np.sqrt(np.sum(variances, axis=0)) / len(variances)
    pairs = [f"{g:+.2f} ({e:.2f})" for g, e in zip(gain, error, strict=True)]
    return " / ".join(f"{one:.2f}" for one in share), "" if way == DEFAULT else " / ".join(pairs)


if __name__ == "__main__":
    main()
