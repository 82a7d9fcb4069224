"""One number for every error in the printed method.

    python experiments/errata.py        # a table, a file in experiments/results, and the numbers of `PAGE`

The prose is written by hand; this script writes the text between `<!-- errata:name -->` and `<!-- end -->`. Equation
numbers are the paper's. Everything is seeded: two runs on one machine agree, two machines agree to the digits shown.
"""

import json
from collections.abc import Callable
from pathlib import Path

from flaws import antecedents, merging, objective, recursions, scores
from flaws.finding import Finding
from pages import with_blocks

HERE = Path(__file__).parent
RESULT = HERE / "results" / "errata.json"
PAGE = HERE.parent / "docs" / "explanations" / "where-we-leave-the-paper.md"

EXPERIMENTS: dict[str, Callable[[], Finding]] = {
    "step-length": objective.step_length,
    "indefinite-coupling": objective.indefinite_coupling,
    "gradient-factor": objective.gradient_factor,
    "intercept": objective.thresholded_intercept,
    "constant-label": objective.constant_label,
    "starting-ridge": objective.condition_against_prediction,
    "kept-bias": recursions.kept_bias,
    "creating-sample": recursions.creating_sample,
    "wide-start": recursions.wide_start,
    "prior-fading": antecedents.prior_fading,
    "radius": antecedents.radius,
    "product-space": antecedents.product_space,
    "memberships": antecedents.crowded_memberships,
    "merged-spread": merging.merged_spread,
    "blind-angle": merging.blind_angle,
    "variance-derivation": scores.variance_derivation,
    "tied-scores": scores.tied_scores,
    "thresholds": scores.moving_thresholds,
}


def filled(page: str, findings: dict[str, Finding]) -> str:
    """The page with every finding between its markers."""
    return with_blocks(page, {f"errata:{name}": finding.block() for name, finding in findings.items()})


def main() -> None:
    """Run everything, print a table, write the numbers and the page."""
    findings = {name: experiment() for name, experiment in EXPERIMENTS.items()}
    for name, finding in findings.items():
        for key, value in finding.numbers.items():
            print(f"{name:22}{key:20}{value:>14.6g}")
    RESULT.parent.mkdir(exist_ok=True)
    rounded = {name: {k: float(f"{v:.6g}") for k, v in found.numbers.items()} for name, found in findings.items()}
    RESULT.write_text(json.dumps(rounded, indent=2) + "\n")
    PAGE.write_text(filled(PAGE.read_text(), findings))


if __name__ == "__main__":
    main()
