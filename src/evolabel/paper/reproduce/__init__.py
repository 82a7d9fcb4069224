"""The paper's experiments: run again, and every claim checked against the results."""

from evolabel._utils.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "claims": ["CLAIMS", "verdicts"],
        "experiments": ["EXPERIMENTS", "chosen_experiments"],
        "page": ["write_page"],
        "results": ["ReproductionResults"],
        "run_size": ["FULL", "QUICK", "SMALL_GRID", "RunSize"],
        "runner": ["reproduce"],
    },
)
