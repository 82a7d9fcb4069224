"""Distances with features weighted by relevance, compared with the default, paired by shuffle.

    EVOLABEL_DATA=folder python experiments/feature_weights.py            # all sets
    python experiments/feature_weights.py --sets drift noisy-digits       # some, named as in study.py

Writes experiments/results/feature_weights.json after every run (what is there is not run again), prints the table.
"""

import argparse

import study_sets
from study import RESULT, Store, chosen_sets, score
from study_tables import against_default
from variants import DEFAULT, Variant

from evolabel import EvolvingFuzzyClassifier

FILE = "feature_weights"
VARIANTS = {
    DEFAULT: Variant(lambda seed: EvolvingFuzzyClassifier(follow_drift=False)),
    "feature_weights='relevance'": Variant(
        lambda seed: EvolvingFuzzyClassifier(feature_weights="relevance", follow_drift=False)
    ),
}
SETS = ["five", "further", "drift", *study_sets.NOISY]


def main() -> None:
    """Run what is missing, print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--seeds", type=int, default=5, help="shuffles 0 .. SEEDS-1 (default 5)")
    options = parser.parse_args()
    store = Store(RESULT.with_name(f"{FILE}.json"))
    for name in chosen_sets(options.sets):
        for variant, kind in VARIANTS.items():
            for seed in range(store.done(variant, name), options.seeds):
                store.add(variant, name, score(kind, study_sets.load(name, seed), seed))
    print(against_default(FILE))


if __name__ == "__main__":
    main()
