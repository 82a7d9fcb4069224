"""Length of rules: antecedents before and after shortening, and the share of predicted labels that stay the same.

Shuffle 0 of every set, the default classifier after the whole stream; fidelity is measured on the stream's rows, which
the shortening does not use (it draws rows from the rules). Written to results/rule_shortening.json. The paper's
profile runs on the three smaller sets.
"""

from typing import Any

import numpy as np
from shared import datasets, result_files

from evolabel import EvolvingFuzzyClassifier
from evolabel.explain.shortening import FIDELITY, ShortRules, measure_fidelity, rank_features, reference_rows, shorten
from evolabel.model.stream_model import StreamModel
from evolabel.stages.rules.stream_terms import stream_terms
from evolabel.typing import FloatArray
from evolabel.words.terms import SHARES

LENGTHS = (1, 2, 3, 5, 8, 12, 20, 40)
ROWS = 2000  # of the stream, for the fidelity
SMALL = ("emotions", "yeast", "water-quality")


def main() -> None:
    found: dict[str, Any] = {"seed": 0, "target": FIDELITY, "default": {}, "paper": {}}
    for profile, names in (("default", datasets.NAMES), ("paper", SMALL)):
        for name in names:
            found[profile][name] = study(name, profile)
    result_files.write("rule_shortening", found)


def study(name: str, profile: str) -> dict[str, Any]:
    split = datasets.load(name, 0)
    make = EvolvingFuzzyClassifier.paper if profile == "paper" else EvolvingFuzzyClassifier
    clf = make().fit(split.X[: split.initial], split.Y[: split.initial])
    clf.partial_fit(split.X[split.initial :], split.Y[split.initial :])
    model: StreamModel = clf.inner.any_model
    Z = model.scale(split.X[split.initial :][:ROWS])
    Z = np.where(np.isnan(Z), model.trained().arrays.c[0, : model.n_features], Z)
    order = rank_features(model, reference_rows(model))
    outcome = {
        "rules": clf.n_rules_,
        "antecedents": model.n_features,
        "shortened": judged(shorten(model), Z),
        "curve": [judged(ShortRules(model, order, m), Z) for m in LENGTHS if m < model.n_features],
        "terms": rank_errors(model, split.X),
    }
    short = outcome["shortened"]
    print(f"{name:<14} {profile:<8} {model.n_features:>4} -> {short['antecedents']:>3} antecedents", end=" ")
    print(f"labels alike {short['labels']:.4f}, of those that are on {short['positives']:.4f}", flush=True)
    return outcome


def judged(short: ShortRules, Z: FloatArray) -> dict[str, float]:
    fidelity = measure_fidelity(short, Z)
    return {"antecedents": short.length, "labels": fidelity.labels, "positives": fidelity.positives}


def rank_errors(model: StreamModel, X: FloatArray) -> dict[str, float]:
    """How far the borders of the terms are from the true quintiles of the stream, as shares of the stream."""
    edges = stream_terms(model, [str(j) for j in range(X.shape[1])]).edges[:, 1:-1]
    below = np.array([np.nanmean(x[:, None] < edge, axis=0) for x, edge in zip(X.T, edges, strict=True)])
    until = np.array([np.nanmean(x[:, None] <= edge, axis=0) for x, edge in zip(X.T, edges, strict=True)])
    error = np.maximum(np.maximum(below - SHARES[1:-1], SHARES[1:-1] - until), 0.0)
    return {"mean": float(error.mean()), "median": float(np.median(error)), "worst": float(error.max())}


if __name__ == "__main__":
    main()
