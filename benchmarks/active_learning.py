"""Gain by active learning: the share of the gap between a static model and one with all labels that a budget closes.

    python benchmarks/active_learning.py                  # adds what benchmarks/results/active_learning.json lacks
    python benchmarks/active_learning.py --afresh         # measures everything again
    python benchmarks/active_learning.py --afresh --kinds samples    # only queries for samples; the rest is kept
    python benchmarks/active_learning.py --only-tables    # the tables of the last run

Benchmark protocol, shuffles 0-4; the budget counts from the first row after the initial batch. The defaults are
compared with random queries of exactly the same number (20 draws), whole samples or single labels; the paper's
criteria spend the same budget. Water quality in the paper's protocol (first third, then rows in their order) as well,
also started a few rows earlier or later, because the result of one start is random.

share   (strategy - static) / (full - static), of means over shuffles; the mean over the sets caps labels at 1
z       (strategy - mean of the draws) / (deviation of the draws / sqrt(shuffles)); over sets: sum / sqrt(sets)
"""

import argparse
import copy
from collections.abc import Iterator
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from shared import result_files
from shared.datasets import NAMES, Split, load, load_ordered
from shared.random_draws import drawn, learned
from threadpoolctl import threadpool_limits

from evolabel import EvolvingFuzzyClassifier
from evolabel.active import BudgetedLearner
from evolabel.active.presets import paper_settings
from evolabel.baselines import FeedbackClassifier
from evolabel.evaluate import average_precision, partial_accuracy
from evolabel.words import markup

RESULTS = "active_learning"
BUDGETS = (0.1, 0.2, 0.3)
SEEDS = range(5)
DRAWS = 20
KINDS = ("labels", "samples")
METRICS = ("pa", "ap")
ROWS = [f"{who}{per}" for per in KINDS for who in ("", "paper ", "random ")]
IN_ORDER, AT_ONCE = "water-quality", "a random tenth, learned beforehand"
STARTS = (0, *(later for later in range(-24, 25, 6) if later))

Outcome = dict[str, Any]
"""PA and AP, a list each (one value per draw), and what was asked."""


def main() -> None:
    """Measure what is missing and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only-tables", action="store_true")
    parser.add_argument("--afresh", action="store_true")
    parser.add_argument("--sets", nargs="+", default=list(NAMES), choices=NAMES)
    parser.add_argument("--kinds", nargs="+", default=list(KINDS), choices=KINDS)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    results: dict[str, Any] = result_files.read_if_any(RESULTS, {"sets": {}, "in_order": {}})
    if not options.only_tables:
        measure(results, options.sets, options.kinds, options.jobs, afresh=options.afresh)
    print(tables(results))


def measure(results: dict[str, Any], sets: list[str], kinds: list[str], jobs: int, *, afresh: bool) -> None:
    """Add what is missing for `sets` and `kinds` to `results`, and write them after every step; `jobs` processes."""
    known = results["sets"]
    if afresh or not results["in_order"]:
        results["in_order"] |= in_order(kinds)
        write(results)
    tasks = [(name, seed) for name in sets for seed in SEEDS if afresh or str(seed) not in known.get(name, {})]
    found = Parallel(n_jobs=jobs, return_as="generator")(delayed(measured)(*task, kinds) for task in tasks)
    for (name, seed), outcome in zip(tasks, found, strict=True):
        runs = known.setdefault(name, {})
        runs[str(seed)] = merged(runs.get(str(seed), {}), outcome)
        write(results)
        print(f"{name} {seed} done", flush=True)


def merged(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """The scores `old` of a shuffle, replaced by `new` ones where those exist."""
    budgets = {str(budget): {**old.get(str(budget), {}), **new[str(budget)]} for budget in BUDGETS}
    return {**old, **new, **budgets}


def write(results: dict[str, Any]) -> None:
    ordered = {**results, "sets": {name: results["sets"][name] for name in NAMES if name in results["sets"]}}
    result_files.write(RESULTS, ordered, indent=None)


# ---------------------------------------------------------------------- measurements


def measured(name: str, seed: int, kinds: list[str]) -> dict[str, Any]:
    """Scores of all strategies of `kinds` on the set `name`, shuffled by `seed`."""
    with threadpool_limits(1):
        split = load(name, seed)
        trained = EvolvingFuzzyClassifier(memory=None).fit(split.X[: split.initial], split.Y[: split.initial])
        outcome: dict[str, Any] = ends(split, trained)
        for budget in BUDGETS:
            outcome[str(budget)] = dict(strategies(split, trained, budget, kinds))
    return outcome


def in_order(kinds: list[str]) -> dict[str, Any]:
    """The defaults of `kinds` at 10 % in the paper's protocol, with and without error feedback, for each start."""
    found: dict[str, Outcome] = {}
    with threadpool_limits(1):
        for later in STARTS:
            for row, outcome in in_order_from(load_ordered(IN_ORDER, later), kinds):
                scored = found.setdefault(row, {metric: [] for metric in METRICS})
                for metric in METRICS:
                    scored[metric] += outcome[metric]
    return found


def in_order_from(split: Split, kinds: list[str]) -> Iterator[tuple[str, Outcome]]:
    """Scores of `kinds` on the stream `split`, which has one of the starts."""
    trained = EvolvingFuzzyClassifier(memory=None).fit(split.X[: split.initial], split.Y[: split.initial])
    yield from ends(split, trained).items()
    yield "full with feedback", with_feedback(split)
    yield AT_ONCE, at_once(split, trained)
    for per in kinds:
        yield per, asked(split, BudgetedLearner(budget=0.1, per=per))
        yield f"{per} without feedback", asked(split, BudgetedLearner(budget=0.1, per=per, error_feedback=False))


def with_feedback(split: Split) -> Outcome:
    """Scores on `split` with all labels learned and outputs corrected by recent errors."""
    learner = FeedbackClassifier().fit(split.X[: split.initial], split.Y[: split.initial])
    return scores(split, [learner.test_then_train(split.X[split.initial :], split.Y[split.initial :])])


def at_once(split: Split, trained: EvolvingFuzzyClassifier) -> Outcome:
    """Scores on `split` if `trained` learns a random tenth of the stream before it starts; mean of several draws."""
    rows, labels = split.X[split.initial :], split.Y[split.initial :]
    drawn_scores = []
    for draw in range(DRAWS):
        order = np.random.default_rng(draw).permutation(len(rows))
        early, rest = np.split(order, [len(rows) // 10])
        outputs = copy.deepcopy(trained).partial_fit(rows[early], labels[early]).decision_function(rows[rest])
        drawn_scores.append((partial_accuracy(labels[rest], outputs), average_precision(labels[rest], outputs)))
    return {
        metric: [round(float(mean), 6)] for metric, mean in zip(METRICS, np.mean(drawn_scores, axis=0), strict=True)
    }


def ends(split: Split, trained: EvolvingFuzzyClassifier) -> dict[str, Outcome]:
    """Scores on `split` if `trained` learns nothing after the initial batch, and if it learns everything."""
    rows, labels = split.X[split.initial :], split.Y[split.initial :]
    return {
        "static": scores(split, [trained.decision_function(rows)]),
        "full": scores(split, [copy.deepcopy(trained).test_then_train(rows, labels)]),
    }


def strategies(
    split: Split, trained: EvolvingFuzzyClassifier, budget: float, kinds: list[str]
) -> Iterator[tuple[str, Outcome]]:
    """Scores on `split` of every strategy of `kinds` with `budget`; random draws query as often as the default."""
    for per in kinds:
        ours = asked(split, BudgetedLearner(budget=budget, per=per))
        yield per, ours
        yield f"paper {per}", asked(split, BudgetedLearner(budget=budget, per=per, **paper_settings()))
        yield f"random {per}", at_random(split, trained, per, ours["asked"])


def asked(split: Split, learner: BudgetedLearner) -> Outcome:
    """Scores and number of queries of the active `learner` on `split`."""
    learner.fit(split.X[: split.initial], split.Y[: split.initial])
    found = scores(split, [learner.test_then_train(split.X[split.initial :], split.Y[split.initial :])])
    bucket, ledger = learner.learner_.bucket, learner.learner_.ledger
    touched = ledger.questions / bucket.seen
    return {**found, "asked": bucket.asked, "share": bucket.share, "touched": touched, "reasons": dict(ledger.reasons)}


def at_random(split: Split, trained: EvolvingFuzzyClassifier, per: str, questions: int) -> Outcome:
    """Scores on `split` of random draws with this number of `questions`."""
    rows, labels = split.X[split.initial :], split.Y[split.initial :]
    masks = (drawn(labels.shape, per, questions, draw) for draw in range(DRAWS))
    outputs = (learned(copy.deepcopy(trained), rows, labels, mask) for mask in masks)
    return {**scores(split, outputs), "asked": questions}


def scores(split: Split, outputs: Any) -> Outcome:
    """PA and AP of the stream's answers, of each run."""
    truth = split.Y[split.initial :]
    found = [(partial_accuracy(truth, table), average_precision(truth, table)) for table in outputs]
    return {metric: [round(float(one[place]), 6) for one in found] for place, metric in enumerate(METRICS)}


# ---------------------------------------------------------------------- tables

Runs = dict[str, dict[str, Any]]
"""Shuffles of one set."""


def tables(results: dict[str, Any]) -> str:
    """Scores and shares, set by set and budget by budget, and the paper's protocol."""
    sets = results["sets"]
    parts = [f"{budget:.0%}\n\n{table(sets, str(budget))}\n\n{scores_table(sets, str(budget))}" for budget in BUDGETS]
    return "\n\n".join([*(parts if sets else ()), ordered_text(results["in_order"])])


def table(sets: dict[str, Runs], budget: str) -> str:
    """One budget: share of the gap in PA / AP, set by set, and z against random queries of the same number."""
    lines = []
    for row in ROWS:
        cells = [shares(runs, budget, row) for runs in sets.values()]
        means = " / ".join(f"{mean_share(sets, budget, row, metric):.2f}" for metric in METRICS)
        lines.append([row, *cells, means, overall(sets, budget, row)])
    return markup.table(["", *sets, "mean share", "z"], lines)


def scores_table(sets: dict[str, Runs], budget: str) -> str:
    """One budget: PA / AP, set by set."""
    lines = []
    for row in ("static", *ROWS, "full"):
        pairs = [[f"{mean(runs, budget, row, metric):.4f}" for metric in METRICS] for runs in sets.values()]
        lines.append([row, *map(" / ".join, pairs)])
    return markup.table(["PA / AP", *sets], lines)


def shares(runs: Runs, budget: str, row: str) -> str:
    """Shares of one set as text."""
    return " / ".join(f"{share(runs, budget, row, metric):.2f}" for metric in METRICS)


def overall(sets: dict[str, Runs], budget: str, row: str) -> str:
    """Over the sets: z as text."""
    if row not in KINDS:
        return ""
    return " / ".join(f"{combined_z(sets, budget, row, metric):+.1f}" for metric in METRICS)


def ordered_text(found: dict[str, Outcome]) -> str:
    """Points below full (without error feedback) in the paper's protocol: at its start, and mean over all starts."""
    if not found:
        return ""
    asking, lines = [f"{per}{how}" for per in KINDS for how in (" without feedback", "")], []
    for row in ("static", *asking, AT_ONCE, "full with feedback"):
        below = {metric: 100 * (np.array(found["full"][metric]) - found[row][metric]) for metric in METRICS}
        lines.append([row, f"{below['pa'][0]:.2f}", *(f"{below[metric].mean():.2f}" for metric in METRICS)])
    heads = [f"{IN_ORDER} in order, points below full", "PA", *(f"{m}, {len(STARTS)} starts" for m in ("PA", "AP"))]
    return markup.table(heads, lines)


def values(runs: Runs, budget: str, row: str, metric: str) -> np.ndarray:
    """Scores, (shuffles, draws)."""
    found = [run[row] if row in run else run[budget][row] for run in runs.values()]
    return np.array([one[metric] for one in found])


def mean(runs: Runs, budget: str, row: str, metric: str) -> float:
    return float(values(runs, budget, row, metric).mean())


def share(runs: Runs, budget: str, row: str, metric: str) -> float:
    """Of the gap between static and full on one set."""
    static, full = (mean(runs, budget, end, metric) for end in ("static", "full"))
    return (mean(runs, budget, row, metric) - static) / (full - static)


def mean_share(sets: dict[str, Runs], budget: str, row: str, metric: str) -> float:
    """Mean over the `sets`; with a budget of labels, a share above 1 counts as 1."""
    found = [share(runs, budget, row, metric) for runs in sets.values()]
    return float(np.mean(np.minimum(found, 1.0) if "labels" in row else found))


def z(runs: Runs, budget: str, per: str, metric: str) -> float:
    """Deviation z of the default against random queries of the same number on one set."""
    draws = values(runs, budget, f"random {per}", metric)
    deviation = np.sqrt(draws.var(axis=1, ddof=1).mean() / len(draws))
    return float((mean(runs, budget, per, metric) - draws.mean()) / deviation)


def combined_z(sets: dict[str, Runs], budget: str, per: str, metric: str) -> float:
    """Over the sets."""
    return float(sum(z(runs, budget, per, metric) for runs in sets.values()) / np.sqrt(len(sets)))


if __name__ == "__main__":
    main()
