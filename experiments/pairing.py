"""Paired differences of a variant to the default over the same shuffles, and how they are shown."""

from typing import Any

import numpy as np

METRICS = ("pa", "ap")
STAR = 2.5  # standard errors beyond which a difference is starred

Scores = dict[str, dict[str, list[float]]]  # set: metric: one number per seed


class Gap:
    """Mean difference over seeds, its standard error, and whether that is beyond noise."""

    def __init__(self, variant: list[float], default: list[float]) -> None:
        seeds = min(len(variant), len(default))
        gaps = np.subtract(variant[:seeds], default[:seeds])
        self.seeds = seeds
        self.mean = float(gaps.mean())
        self.error = float(gaps.std(ddof=1) / seeds**0.5) if seeds > 1 else float("inf")
        self.starred = bool(abs(self.mean) > STAR * self.error)

    def __str__(self) -> str:
        return f"{short(self.mean)}{'*' if self.starred else ''}"


def short(number: float) -> str:
    """A difference in four decimals without the leading zero."""
    return f"{number:+.4f}".replace("0.", ".", 1)


def default_row(default: Scores, sets: list[str]) -> list[str]:
    """Absolute means of the default, and their mean over the sets."""
    means = [[float(np.mean(default[name][metric])) for metric in METRICS] for name in sets]
    return [" / ".join(f"{value:.4f}".lstrip("0") for value in pair) for pair in [*means, np.mean(means, axis=0)]]


def gap_row(variant: Scores, default: Scores, sets: list[str]) -> list[str]:
    """Differences of a variant per set, and their mean over the sets it was run on (marked if some are missing)."""
    pairs = {
        name: [Gap(variant[name][metric], default[name][metric]) for metric in METRICS]
        for name in sets
        if name in variant
    }
    cells = [" / ".join(map(str, pairs[name])) if name in pairs else "not run" for name in sets]
    mean = [short(float(np.mean([pair[place].mean for pair in pairs.values()]))) for place in range(len(METRICS))]
    return [*cells, " / ".join(mean) + ("" if len(pairs) == len(sets) else f" ({len(pairs)} sets)")]


def verdict(variant: Scores, default: Scores, sets: list[str]) -> dict[str, Any]:
    """Where a variant is better or worse beyond noise, and its mean differences."""
    gaps = {
        (name, metric): Gap(variant[name][metric], default[name][metric])
        for name in sets
        if name in variant
        for metric in METRICS
    }
    return {
        "better": [" ".join(key) for key, gap in gaps.items() if gap.starred and gap.mean > 0],
        "worse": [" ".join(key) for key, gap in gaps.items() if gap.starred and gap.mean < 0],
        "mean": [float(np.mean([gap.mean for (_, m), gap in gaps.items() if m == metric])) for metric in METRICS],
    }
