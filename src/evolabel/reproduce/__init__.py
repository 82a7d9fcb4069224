"""The paper's experiments: what was done there, done again, and every claim held against the numbers."""

from evolabel._utils.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "claims": ["CLAIMS", "verdicts"],
        "experiments": ["EXPERIMENTS", "chosen_experiments"],
        "page": ["write_page"],
        "results": ["Findings"],
        "run_size": ["FULL", "QUICK", "Effort"],
        "runner": ["reproduce"],
    },
)
