"""The paper's profile beside the default and a global least squares model on the five data sets, benchmark protocol.

    EVOLABEL_DATA=folder python benchmarks/paper_profile.py       # writes benchmarks/results/paper_profile.json

"paper" is `EvolvingFuzzyClassifier.paper()` unchanged: hardly any ridge, as printed. "paper, hand-set" changes three
parameters by hand, the same for all sets: `ridge="press", local_ridge=0.5, vigilance=0.6`. "global" is the recursive
least squares model towards which the default's rules are penalised, alone (one rule). Seed 0; nothing is tuned.
"""

import time

from shared import datasets, result_files

from evolabel import EvolvingFuzzyClassifier
from evolabel.evaluate import average_precision, partial_accuracy

HAND_SET = {"ridge": "press", "local_ridge": 0.5, "vigilance": 0.6}

LEARNERS = {
    "default": lambda: EvolvingFuzzyClassifier(),
    "global": lambda: EvolvingFuzzyClassifier(max_rules=1, local_ridge=1e6),
    "paper": lambda: EvolvingFuzzyClassifier.paper(),
    "paper, hand-set": lambda: EvolvingFuzzyClassifier.paper(**HAND_SET),
}


def score(name: str, learner: str, seed: int = 0) -> dict[str, float]:
    """PA, AP, rules and time of one run."""
    X, Y, initial = datasets.load(name, seed)
    classifier = LEARNERS[learner]().fit(X[:initial], Y[:initial])
    start = time.perf_counter()
    scores = classifier.test_then_train(X[initial:], Y[initial:])
    seconds = time.perf_counter() - start
    return {
        "pa": partial_accuracy(Y[initial:], scores),
        "ap": average_precision(Y[initial:], scores),
        "majority_pa": partial_accuracy(Y[initial:], (0.0 * scores + Y[:initial].mean(axis=0))),
        "rules": classifier.n_rules_,
        "us_per_sample": round(seconds / (len(X) - initial) * 1e6, 1),
    }


def main() -> None:
    """Score every set and learner, print a table and write JSON."""
    result: dict[str, dict[str, dict[str, float]]] = {}
    print(f"{'set':<14} {'learner':<16} {'PA':>7} {'AP':>7} {'rules':>6} {'us':>8}   (majority PA)")
    for name in datasets.NAMES:
        result[name] = {}
        for learner in LEARNERS:
            run = result[name][learner] = score(name, learner)
            scores_text = f"{name:<14} {learner:<16} {run['pa']:7.4f} {run['ap']:7.4f} {run['rules']:6.0f}"
            print(f"{scores_text} {run['us_per_sample']:8.1f}   ({run['majority_pa']:.4f})", flush=True)
    result_files.write("paper_profile", result)


if __name__ == "__main__":
    main()
