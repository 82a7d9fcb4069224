"""Rules of the paper's profile: how many there are, how many merge, and how many hold one or two samples.

    EVOLABEL_DATA=folder python benchmarks/paper_rules.py       # writes benchmarks/results/paper_rules.json

The paper's protocol (its split, or the first third), alpha = .01, beta = 10. "never" merges none, "joint" compares
rules in the product space, in which they are born, "any outputs" leaves out the test that consequents agree, "labels"
compares labels of centres in the batch, where rules have no consequents yet, "every 32nd" tests a rule after 32 samples
instead of each, "30 rules" has at most so many, "removed" removes rules below three samples that have not won for 100
rows.
"""

from collections import Counter
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import numpy as np
from shared import result_files
from threadpoolctl import threadpool_limits

from evolabel.evaluate import average_precision, partial_accuracy
from evolabel.paper import PaperClassifier
from evolabel.paper.rules import kind, merging
from evolabel.paper.rules.rule_state import PaperRuleState
from evolabel.streams import load_dataset

RUNS = (("water-quality", 0.35), ("water-quality", 0.5), ("emotions", 0.35))
VARIANTS: dict[str, dict[str, Any]] = {
    "never": {"merging": "room"},
    "as it is": {},
    "joint": {},
    "any outputs": {},
    "labels": {},
    "every 32nd": {},
    "30 rules": {"max_rules": 30},
    "removed": {"prune_after": 100},
}


def joint_similarity(a: int, b: int, base: PaperRuleState) -> float:
    """Bhattacharyya coefficient per dimension of rules `a` and `b`, over features and labels."""
    S = [base.shape(slot).scatter + np.diag(base.settings.prior_count * base.settings.prior) for slot in (a, b)]
    first, second = (S[i] / base.shape(slot).scale for i, slot in enumerate((a, b)))
    middle, apart = (first + second) / 2.0, base.arrays.c[b] - base.arrays.c[a]
    logs = [np.linalg.slogdet(each)[1] for each in (middle, first, second)]
    distance = apart @ np.linalg.solve(middle, apart) / 8.0 + (logs[0] - (logs[1] + logs[2]) / 2.0) / 2.0
    return float(np.exp(-distance / len(apart)))


_agrees = merging.agrees


def agrees_by_labels(a: int, b: int, base: PaperRuleState) -> bool:
    """Whether few enough labels disagree; while rules have no consequents, by the labels of their centres."""
    if base.arrays.H[[a, b]].any():
        return _agrees(a, b, base)
    gap = np.abs(base.arrays.c[a] - base.arrays.c[b])[base.n_features :]
    return bool((gap > merging.CONFLICT).mean() <= merging.MOST_CONFLICTS)


PATCHES: dict[str, tuple[Any, str, Any]] = {
    "joint": (merging, "similarity", joint_similarity),
    "any outputs": (merging, "agrees", lambda *_: True),
    "labels": (merging, "agrees", agrees_by_labels),
    "every 32nd": (kind, "MERGE_EVERY", 32),
}


def run(name: str, vigilance: float, variant: str) -> dict[str, float]:
    """Scores and counts of rules of one run."""
    rows = load_dataset(name, nominal="codes")
    split = rows.split if rows.split is not None else round(len(rows) / 3)
    classifier = PaperClassifier(vigilance=vigilance, alpha=0.01, beta=10.0, **VARIANTS[variant])
    classifier.fit(rows.X[:split], rows.Y[:split])
    in_batch = Counter(event.kind for event in classifier.events_)["merge"]
    scores, truth = classifier.test_then_train(rows.X[split:], rows.Y[split:]), rows.Y[split:]
    kinds = Counter(event.kind for event in classifier.events_)
    return {
        "pa": round(partial_accuracy(truth, scores), 4),
        "ap": round(average_precision(truth, scores), 4),
        "births": kinds["birth"],
        "merges": kinds["merge"],
        "in_batch": in_batch,
        "rules": classifier.n_rules_,
        "small": classifier.n_small_rules_,
    }


def patched(variant: str, call: Callable[[], dict[str, float]]) -> dict[str, float]:
    """What `call` returns with the change of `variant`."""
    if variant not in PATCHES:
        return call()
    with patch.object(*PATCHES[variant]):
        return call()


def main() -> None:
    """Run every set and variant, print a table and write JSON."""
    result: dict[str, dict[str, dict[str, float]]] = {}
    for name, vigilance in RUNS:
        of_set = result.setdefault(f"{name}, fac {vigilance:g}", {})
        for variant in VARIANTS:
            with threadpool_limits(1):
                of_set[variant] = patched(variant, lambda: run(name, vigilance, variant))  # noqa: B023
            print(f"{name} {vigilance} {variant:<12}", *of_set[variant].values(), flush=True)
    result_files.write("paper_rules", result)


if __name__ == "__main__":
    main()
