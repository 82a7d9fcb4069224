"""What distances that count relevant features more inside the rules bring, to the default and the paper's profile.

    EVOLABEL_DATA=folder python benchmarks/feature_weights.py [--seeds 20 21]    # adds what is missing

Writes benchmarks/results/feature_weights.json. After the initial batch and every 128 rows, feature j gets the weight
1/4 + 3/4 s_j / mean(s) in squared distances, with s_j the root of the share of the labels that j explains alone, over
the whole stream and inside the rules, less what chance explains. "noisy-" sets have as many columns of noise as
features.
"""

import argparse
from typing import Any

import numpy as np
from concept_streams import SCORED_FROM, make_stream
from concepts import stream_scores
from shared import datasets, result_files
from threadpoolctl import threadpool_limits

from evolabel import EvolvingFuzzyClassifier
from evolabel.evaluate import average_precision, partial_accuracy
from evolabel.paper import PaperClassifier
from evolabel.stages.rules.loops.antecedents import derive_inverse_variance
from evolabel.stages.rules.relevance import squared_correlations
from evolabel.stages.rules.rule_state import regressor_sums
from evolabel.stages.rules.stage import RuleBase

RESULTS = "feature_weights"
EVERY, FLOOR, FEWEST = 128, 0.25, 3.0
SETS = ("emotions", "water-quality", "birds", "yeast", "mediamill-5k", "noisy-emotions", "noisy-water-quality")
STREAMS = ("led", "five", "xor", "agrawal0")
PAPER = {"water-quality": 0.5, "emotions": 0.35}


def explained(sums: Any, squares: Any, G: Any) -> Any:
    """Share of the variance of all labels that each feature explains alone in some slots, less that of chance."""
    n = sums[:, -1:]
    rate = np.clip(G[:, :, -1] / np.maximum(n, 1e-300), 0.0, 1.0)
    variance = rate * (1.0 - rate)
    total = variance.sum(axis=1, keepdims=True)
    alone = np.einsum("sk,skp->sp", variance, squared_correlations(sums, squares, G))
    known = n >= FEWEST
    found = np.where(known, n * (alone - (total - alone) / np.where(known, n - 2.0, 1.0)), 0.0)
    return np.maximum(found.sum(axis=0), 0.0) / max(float((n * total)[known].sum()), 1e-300)


def weigh(rules: RuleBase) -> None:
    """Set the weights of the features of `rules` from their statistics."""
    sums, squares = regressor_sums(rules)
    G = rules.arrays.G[: len(sums)]
    parts = [explained(sums[of], squares[of], G[of]) for of in (slice(0, 1), slice(1, None))]
    strength = np.sqrt((parts[0] + parts[1]) / 2.0)
    if not strength.any():
        return
    metric = rules.settings.metric.copy()
    metric[1, : rules.n_features] = FLOOR + (1.0 - FLOOR) * strength / strength.mean()
    rules.settings = rules.settings._replace(metric=metric)
    for slot in range(rules.n_rules + 1):
        derive_inverse_variance(slot, rules.arrays, rules.settings)


def outputs(clf: EvolvingFuzzyClassifier, X: Any, y: Any, first: int, *, weighs: bool) -> Any:
    """Outputs of `clf` for the rows from `first` on, which it learns."""
    clf.fit(X[:first], y[:first])
    found = []
    for start in range(first, len(X), EVERY):
        if weighs:
            weigh(clf.inner.any_model.rules)
        part = slice(start, start + EVERY)
        found.append(clf.test_then_train(X[part], y[part]))
    return np.vstack(found)


def set_rows(name: str, seed: int) -> Any:
    """Samples and labels of a set, shuffled by `seed`, and the length of its initial batch."""
    X, Y, n = datasets.load(name.removeprefix("noisy-"), seed)
    if name.startswith("noisy-"):
        X = np.hstack([X, np.random.default_rng(seed).normal(size=X.shape)])
    return X, Y, n


def on_set(name: str, seed: int, make: Any) -> list[list[float]]:
    """PA and AP of the learner without and with weights."""
    X, Y, n = set_rows(name, seed)
    answers = [outputs(make(), X, Y, n, weighs=weighs) for weighs in (False, True)]
    return [[partial_accuracy(Y[n:], f), average_precision(Y[n:], f)] for f in answers]


def on_stream(name: str, seed: int, make: Any) -> list[list[float]]:
    """Score of the learner without and with weights, over the stream and in the last quarter."""
    stream, both = make_stream(name, seed), []
    for weighs in (False, True):
        clf = make()
        f = outputs(clf, stream.X, stream.target, SCORED_FROM, weighs=weighs)
        f = np.vstack([np.zeros((SCORED_FROM, f.shape[1])), f])
        if stream.one_label:
            predicted = stream.of_classes(np.asarray(clf.classes_)[f.argmax(axis=1)])
        else:
            predicted = np.asarray(f >= 0.5, np.float64)
        both.append([*stream_scores(stream, predicted).values()])
    return both


def main() -> None:
    """Measure what is missing, print mean gains and write JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", nargs="+", type=int, default=[20, 21])
    parser.add_argument("--sets", nargs="+", default=[*PAPER, *SETS, *STREAMS])
    options = parser.parse_args()
    results: dict[str, Any] = result_files.read_if_any(RESULTS, {})
    cases: dict[str, Any] = {}
    for name, vigilance in PAPER.items():
        cases[f"paper, {name}"] = (
            on_set,
            name,
            lambda v=vigilance: PaperClassifier(vigilance=v, alpha=0.01, beta=10.0),
        )
    cases |= {f"default, {name}": (on_set, name, EvolvingFuzzyClassifier) for name in SETS}
    cases |= {f"default, {name}": (on_stream, name, EvolvingFuzzyClassifier) for name in STREAMS}
    for seed in options.seeds:
        for title, (measure, name, make) in cases.items():
            runs = results.setdefault(title, {})
            if name in options.sets and str(seed) not in runs:
                with threadpool_limits(1):
                    runs[str(seed)] = measure(name, seed, make)
                result_files.write(RESULTS, results)
                pairs = np.array([*runs.values()])
                print(
                    title,
                    seed,
                    np.round(pairs[:, 0].mean(0), 4),
                    np.round((pairs[:, 1] - pairs[:, 0]).mean(0), 4),
                    flush=True,
                )


if __name__ == "__main__":
    main()
