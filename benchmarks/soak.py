"""Stability over a million samples with drift, outliers, missing and constant features.

    python benchmarks/soak.py [--samples 1000000]      # writes benchmarks/results/soak.json

Checks every 50,000 samples: outputs and state are finite, the number of rules is bounded, P is still what it is
defined to be, (H + penalty)^-1 with H accumulated apart. Exits with 1 if a check fails.
"""

import argparse
import json
import sys
import time

import numpy as np
from shared import result_files

from evolabel import EvolvingFuzzyClassifier
from evolabel.stages.rules.inverses import ridge_inverse

P, K, STEP, MAX_DRIFT = 20, 8, 50_000, 1e-6


def chunk(rng: np.random.Generator, number: int) -> tuple[np.ndarray, np.ndarray]:
    """Samples whose centre moves and jumps, with 0.1 % outliers of 1000 sigma, 1 % missing, 2 constant features."""
    jump = np.random.default_rng(number // 4).normal(size=P) * 2.0
    wander = np.linspace(0.0, 1.0, STEP)[:, None]
    X = rng.normal(size=(STEP, P)) + jump + wander
    Y = (X[:, :K] + 0.5 * rng.normal(size=(STEP, K)) > jump[:K] + 0.5).astype(np.float64)
    X[rng.random(X.shape) < 0.01] = np.nan
    X[rng.random(X.shape) < 0.001] *= 1e3
    X[:, -2:] = 7.0, 0.0
    Y[rng.random(Y.shape) < 0.01] = np.nan
    Y[:, -1] = 0.0
    return X, Y


def drift_of_inverse(classifier: EvolvingFuzzyClassifier) -> float:
    """Largest relative distance of P from (H + penalty)^-1 over all slots."""
    rules = classifier.inner.any_model.trained()
    worst = 0.0
    for slot in range(rules.n_rules + 1):
        exact = ridge_inverse(rules.hessian(slot), rules.settings.penalty[min(slot, 1)])
        worst = max(worst, float(np.abs(rules.inverse(slot) - exact).max() / np.abs(exact).max()))
    return worst


def main() -> None:
    """Run, print a line per step, write JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=1_000_000)
    options = parser.parse_args()
    rng, rows = np.random.default_rng(0), []
    classifier = EvolvingFuzzyClassifier(prune_after=20_000, min_support=5.0)
    for number in range(options.samples // STEP):
        X, Y = chunk(rng, number)
        start = time.perf_counter()
        scores = classifier.test_then_train(X, Y)
        seconds = time.perf_counter() - start
        known = ~np.isnan(Y)
        rows.append(
            {
                "samples": classifier.n_samples_seen_,
                "finite": bool(
                    np.isfinite(scores).all() and np.isfinite(classifier.inner.any_model.trained().arrays.P).all()
                ),
                "rules": classifier.n_rules_,
                "drift_of_inverse": drift_of_inverse(classifier),
                "pa": float(((scores >= 0.5) == (Y == 1.0))[known].mean()),
                "us_per_sample": round(seconds / STEP * 1e6, 2),
            }
        )
        print(json.dumps(rows[-1]), flush=True)
    births = sum(event.kind == "birth" for event in classifier.events_)
    ok = all(r["finite"] and r["rules"] <= 30 and r["drift_of_inverse"] < MAX_DRIFT for r in rows)
    result_files.write("soak", {"ok": ok, "births_kept": births, "steps": rows})
    print("ok" if ok else "FAILED")
    sys.exit(0 if ok else 1)


if __name__ == "__main__":
    main()
