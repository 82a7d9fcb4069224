"""What the label coupling, L1 and the choice of questions bring in the paper's profile, on the same rules.

    EVOLABEL_DATA=folder python benchmarks/paper_controls.py [--sets emotions] [--seeds 0 1]    # adds what is missing

Writes benchmarks/results/paper_controls.json. Rows are shuffled by the seed; the first third is the initial batch, on
which alpha and beta are searched by 3 folds over the same values for each control, with one vigilance per set. Rules
do not depend on the consequents, so they are the same in all runs of a seed, which is checked. "coupling" has the
matrix of eq. (10), mended; "ridge" the identity in its place, "none" L1 alone, "rfwls" recursive least squares alone.
With a tenth of the labels, "asked" and "random" have the same classifier, limit, savings and rates. "zeros" are
shares of the weights that are zero after the batch and at the end, at alpha = .1, with and without a least squares
step before the L1 steps.
"""

import argparse
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.stats import t as student
from shared import result_files
from threadpoolctl import threadpool_limits

from evolabel.active import BudgetedLearner, RandomSelection
from evolabel.active.presets import paper_settings
from evolabel.active.scoring.criteria import PAPER_CRITERIA
from evolabel.evaluate import average_precision, partial_accuracy
from evolabel.paper import PaperClassifier, PaperGridSearch
from evolabel.streams import load_dataset

RESULTS = "paper_controls"
VIGILANCE = {"emotions": 0.45, "water-quality": 0.5, "birds": 0.45, "yeast": 0.6}
GRID = {"alpha": (0.0, 0.01, 0.1, 1.0, 10.0), "beta": (0.0, 1.0, 10.0, 100.0)}
CONTROLS = {"coupling": "shifted", "ridge": "ridge"}
STEPS = {"rls, 1": (True, 1), "rls, 10": (True, 10), "no rls, 1": (False, 1), "no rls, 10": (False, 10)}
PAIRS = (("coupling", "ridge"), ("coupling", "none"), ("ridge", "none"), ("none", "rfwls"), ("asked", "random"))
RATES = {name: value for name, value in paper_settings().items() if name not in ("criteria", "selection")}
Rows = tuple[Any, Any, int]


def rows_of(name: str, seed: int) -> Rows:
    """Samples and labels of the set `name`, shuffled by `seed`, and how many are in the initial batch."""
    rows = load_dataset(name, nominal="codes").shuffled(seed)
    return rows.X, rows.Y, round(len(rows) / 3)


def searched(name: str, rows: Rows) -> Iterator[tuple[str, dict[str, Any]]]:
    """Parameters of each control: the best alpha and beta of the initial batch; of "none" those at beta = 0."""
    X, Y, n = rows
    for control, coupling in CONTROLS.items():
        base = PaperClassifier(vigilance=VIGILANCE[name], coupling=coupling)
        points = PaperGridSearch(base, GRID, cv=3, seed=0, refit=False).fit(X[:n], Y[:n]).surface_
        for found, allowed in ((control, points), ("none", [point for point in points if point["beta"] == 0.0])):
            best = max(allowed, key=lambda point: point["score"])
            yield found, {"coupling": coupling, "alpha": best["alpha"], "beta": best["beta"]}
    yield "rfwls", {"alpha": 0.0, "beta": 0.0, "prox_steps": 0}


def scored(learner: Any, rows: Rows) -> dict[str, float]:
    """Scores of a `learner` fitted on the initial batch of `rows` along the rest."""
    X, Y, n = rows
    outputs = learner.test_then_train(X[n:], Y[n:])
    return {"pa": 100.0 * partial_accuracy(Y[n:], outputs), "ap": 100.0 * average_precision(Y[n:], outputs)}


def measured(name: str, seed: int) -> dict[str, Any]:
    """Scores and parameters of all controls on one shuffle."""
    rows = rows_of(name, seed)
    X, Y, n = rows
    found: dict[str, Any] = {}
    rules = set()
    for control, params in dict(searched(name, rows)).items():
        clf = PaperClassifier(vigilance=VIGILANCE[name], **params).fit(X[:n], Y[:n])
        found[control] = {**scored(clf, rows), **params}
        rules.add((clf.n_rules_, clf.n_small_rules_, len(clf.events_)))
    assert len(rules) == 1, "rules differ"
    found["rules"] = [*rules.pop()]
    best = {key: found["coupling"][key] for key in ("coupling", "alpha", "beta")}
    base = PaperClassifier(vigilance=VIGILANCE[name], **best)
    asked = BudgetedLearner(base, 0.1, "labels", **paper_settings() | {"criteria": PAPER_CRITERIA[:2]})
    found["asked"] = scored(asked.fit(X[:n], Y[:n]), rows)
    drawn = RandomSelection(base, 0.1, "labels", seed=seed, **RATES)
    found["random"] = scored(drawn.fit(X[:n], Y[:n]), rows)
    found["zeros"] = {title: zeros(name, rows, *steps) for title, steps in STEPS.items()} if seed == 0 else {}
    return found


def zeros(name: str, rows: Rows, rls: bool, steps: int) -> dict[str, float]:
    """Share of the weights, intercepts left out, that are zero after the initial batch and at the end, and scores."""
    X, Y, n = rows
    clf = PaperClassifier(vigilance=VIGILANCE[name], alpha=0.1, beta=0.0, rls=rls, prox_steps=steps).fit(X[:n], Y[:n])
    before = share_of_zeros(clf)
    return {"before": before, **scored(clf, rows), "after": share_of_zeros(clf)}


def share_of_zeros(clf: PaperClassifier) -> float:
    """Share of the weights of the rules of `clf` that are zero, each rule by its support."""
    rules = clf.inner.model.rules
    used = slice(1, clf.n_rules_ + 1)
    share = (rules.arrays.W[used, :, :-1] == 0.0).mean(axis=(1, 2))
    return float(np.average(share, weights=rules.arrays.k[used]))


def gains(runs: dict[str, Any]) -> Iterator[str]:
    """A line per pair: mean difference of PA and AP over the shuffles, with the 95 % interval."""
    for better, worse in PAIRS:
        texts = []
        for metric in ("pa", "ap"):
            d = np.array([run[better][metric] - run[worse][metric] for run in runs.values()])
            half = student.ppf(0.975, len(d) - 1) * d.std(ddof=1) / np.sqrt(len(d)) if len(d) > 1 else np.nan
            texts.append(f"{d.mean():+.2f} ± {half:.2f}")
        yield f"{better} - {worse}: {' / '.join(texts)}"


def main() -> None:
    """Measure what is missing, print the differences and write JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="+", default=list(VIGILANCE))
    parser.add_argument("--seeds", nargs="+", type=int, default=list(range(5)))
    options = parser.parse_args()
    results: dict[str, Any] = result_files.read_if_any(RESULTS, {})
    for seed in options.seeds:
        for name in options.sets:
            runs = results.setdefault(name, {})
            if str(seed) not in runs:
                with threadpool_limits(1):
                    runs[str(seed)] = measured(name, seed)
                result_files.write(RESULTS, results)
                print(name, seed, *gains(runs), sep="\n  ", flush=True)


if __name__ == "__main__":
    main()
