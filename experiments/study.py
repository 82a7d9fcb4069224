"""Which changes of the defaults help: variants by name, PA, AP and macro-F1 per set and seed, paired with the default.

    EVOLABEL_DATA=folder python experiments/study.py ablation                # one part, on the five data sets
    EVOLABEL_DATA=folder python experiments/study.py rivals --sets further   # the sets the defaults were not fitted to
    python experiments/study.py rivals --sets drift my.arff                  # drifting streams, and files of your own
    python experiments/study.py "local ridge by LOO" --fresh --sets drift    # seeds 5-9, into study_fresh.json

Writes experiments/results/study.json after every run (what is there is not run again), prints a Markdown table. `sets`
are names, `five`, `further`, `drift`, `files` (ARFF files in EVOLABEL_DATA), or paths of ARFF files.
"""

import argparse
import json
import time
from pathlib import Path
from typing import Any

import study_sets
from pairing import Scores, default_row, gap_row
from variants import DEFAULT, PARTS, VARIANTS, Variant

from evolabel.evaluate import average_precision, metric_named, partial_accuracy
from evolabel.words import markup

RESULT = Path(__file__).parent / "results" / "study.json"
FRESH, FRESH_FROM = RESULT.with_name("study_fresh.json"), 5  # shuffles that were not used to choose a variant
GROUPS = {"five": study_sets.FIVE, "further": tuple(study_sets.FURTHER), "drift": study_sets.DRIFTS}
LARGE = "mediamill-5k"


class Store:
    """Scores by variant, set, metric and seed, in a file that is complete after every run."""

    def __init__(self, path: Path = RESULT) -> None:
        self.path = path
        self.runs: dict[str, Scores] = json.loads(path.read_text()) if path.exists() else {}

    def done(self, variant: str, name: str) -> int:
        """Seeds of a set that have been run."""
        return len(self.runs.get(variant, {}).get(name, {}).get("pa", []))

    def add(self, variant: str, name: str, scores: dict[str, float]) -> None:
        """One more seed, written at once."""
        kept = self.runs.setdefault(variant, {}).setdefault(name, {})
        for metric, value in scores.items():
            kept.setdefault(metric, []).append(round(value, 6))
        self.path.parent.mkdir(exist_ok=True)
        self.path.write_text(_compact(self.runs))


def _compact(runs: dict[str, Scores]) -> str:
    """JSON with one line per variant and set."""
    blocks = []
    for variant, sets in runs.items():
        lines = ",\n".join(f"  {json.dumps(name)}: {json.dumps(scores)}" for name, scores in sets.items())
        blocks.append(f" {json.dumps(variant)}: {{\n{lines}\n }}")
    return "{\n" + ",\n".join(blocks) + "\n}\n"


def score(variant: Variant, split: study_sets.Split, seed: int) -> dict[str, float]:
    """PA, AP, macro-F1 of the rows after the initial batch, and microseconds per sample of the whole run."""
    X, Y, initial = split
    learner: Any = variant.make(seed)
    start = time.perf_counter()
    if variant.cold:
        outputs = learner.test_then_train(X, Y)[initial:]
    else:
        outputs = learner.fit(X[:initial], Y[:initial]).test_then_train(X[initial:], Y[initial:])
    spent = time.perf_counter() - start
    truth = Y[initial:]
    return {
        "pa": partial_accuracy(truth, outputs),
        "ap": average_precision(truth, outputs),
        "f1": metric_named("macro_f1").update(truth, outputs).get(),
        "us": round(1e6 * spent / len(X), 1),
    }


def run(variants: list[str], sets: list[str], seeds: int, store: Store, large_seeds: int = 2, first: int = 0) -> None:
    """Run what is missing; mediamill-5k, by far the largest, on fewer seeds. Seeds count from `first`."""
    for variant in variants:
        kind = VARIANTS[variant]
        for name in sets:
            for seed in range(store.done(variant, name), min(seeds, large_seeds if name == LARGE else kind.seeds)):
                split = study_sets.load(name, first + seed, kind.nominal)
                store.add(variant, name, score(kind, split, first + seed))


def table(variants: list[str], sets: list[str], store: Store) -> str:
    """Markdown: the default in absolute numbers, the variants as paired differences PA / AP."""
    default = store.runs[DEFAULT]
    rows = [[DEFAULT, *default_row(default, sets)]]
    rows += [[name, *gap_row(store.runs[name], default, sets)] for name in variants if name in store.runs]
    return markup.table(["PA / AP", *sets, "mean"], rows)


def chosen_sets(names: list[str]) -> list[str]:
    """Sets by name, groups written out."""
    found = [GROUPS.get(name, study_sets.arff_files() if name == "files" else (name,)) for name in names]
    return [name for group in found for name in group]


def main() -> None:
    """Run parts of the study on sets, print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="+", help=f"of {', '.join(PARTS)}, or single variants")
    parser.add_argument("--sets", nargs="+", default=["five"])
    parser.add_argument("--seeds", type=int, default=5, help="shuffles 0 .. SEEDS-1 (default 5)")
    parser.add_argument("--large-seeds", type=int, default=2, help=f"the same for {LARGE} (default 2)")
    parser.add_argument("--fresh", action="store_true", help=f"seeds from {FRESH_FROM} on, into {FRESH.name}")
    options = parser.parse_args()
    variants = [name for part in options.parts for name in PARTS.get(part, {part: None})]
    sets, store = chosen_sets(options.sets), Store(FRESH if options.fresh else RESULT)
    first = FRESH_FROM if options.fresh else 0
    run([DEFAULT, *variants], sets, options.seeds, store, options.large_seeds, first)
    print(table(variants, sets, store))


if __name__ == "__main__":
    main()
