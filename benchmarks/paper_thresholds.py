"""Budgets in the paper's profile: thresholds that follow the budget that is left, beside those that count questions.

    EVOLABEL_DATA=folder python benchmarks/paper_thresholds.py       # writes benchmarks/results/paper_thresholds.json

Points of PA and AP against a full update, and the share that was asked for, in the paper's protocol (its split, or the
first third), with 30, 20 and 10 % of the labels or samples. "per question" tightens by a hundredth with every question,
whatever it costs, and eases by as much with every other row, as the strategy for whole samples that the paper cites.
"""

from collections.abc import Iterator
from typing import Any
from unittest.mock import patch

from shared import result_files
from threadpoolctl import threadpool_limits

from evolabel.active import BudgetedLearner
from evolabel.active.presets import paper_settings
from evolabel.active.scoring.criteria import PAPER_CRITERIA
from evolabel.active.selection import VariableThresholds
from evolabel.evaluate import average_precision, partial_accuracy
from evolabel.paper import PaperClassifier
from evolabel.streams import load_dataset

PARAMETERS = {
    "water-quality": {"vigilance": 0.35, "alpha": 0.01, "beta": 10.0},
    "emotions": {"vigilance": 0.8, "alpha": 1.0, "beta": 100.0},
    "yeast": {"vigilance": 0.6, "alpha": 1.0, "beta": 100.0},
}
BUDGETS = (0.3, 0.2, 0.1)


def per_question(self: Any, value: Any, limit: int, *, cost: int) -> None:
    """Tighten with a question, and ease with a row that could have been asked about."""
    if limit >= self.least:
        ease = self.state.ease
        ease[0] = min(max(ease[0] * (0.99 if cost else 1.01), 0.1), 5.0)


def scored(learner: Any, rows: Any) -> dict[str, float]:
    """PA and AP of a `learner` on the stream of `rows`, in points."""
    split = rows.split if rows.split is not None else round(len(rows) / 3)
    outputs = learner.fit(rows.X[:split], rows.Y[:split]).test_then_train(rows.X[split:], rows.Y[split:])
    truth = rows.Y[split:]
    return {"pa": 100.0 * partial_accuracy(truth, outputs), "ap": 100.0 * average_precision(truth, outputs)}


def measured(name: str) -> Iterator[tuple[str, dict[str, float]]]:
    """Differences to a full update of every budget on the set `name`."""
    rows = load_dataset(name, nominal="codes")
    full = scored(PaperClassifier(**PARAMETERS[name]), rows)
    for per in ("labels", "samples"):
        for budget in BUDGETS:
            settings = paper_settings() | {"criteria": PAPER_CRITERIA[:2]}
            learner = BudgetedLearner(PaperClassifier(**PARAMETERS[name]), budget, per, **settings)
            found = scored(learner, rows)
            loss = {metric: round(found[metric] - full[metric], 2) for metric in full}
            yield f"{per} {budget:g}", {**loss, "asked": round(learner.share_, 3)}


def main() -> None:
    """Run all sets with both thresholds, print the differences and write JSON."""
    result: dict[str, dict[str, dict[str, dict[str, float]]]] = {}
    for name in PARAMETERS:
        with threadpool_limits(1):
            of_set = result[name] = {"budget left": dict(measured(name))}
            with patch.object(VariableThresholds, "record", per_question):
                of_set["per question"] = dict(measured(name))
        for title, found in of_set.items():
            print(name, title, *(f"{case}: {numbers}" for case, numbers in found.items()), sep="\n  ", flush=True)
    result_files.write("paper_thresholds", result)


if __name__ == "__main__":
    main()
