"""The paper's experiments: what was done there, done again, and every claim held against the numbers."""

from typing import TYPE_CHECKING

from evolabel._utils.lazy import loader

if TYPE_CHECKING:
    from evolabel.reproduce.claims import CLAIMS, verdicts
    from evolabel.reproduce.experiments import EXPERIMENTS, chosen_experiments
    from evolabel.reproduce.page import write_page
    from evolabel.reproduce.results import Findings
    from evolabel.reproduce.run_size import FULL, QUICK, Effort
    from evolabel.reproduce.runner import reproduce

__all__ = [
    "CLAIMS",
    "EXPERIMENTS",
    "FULL",
    "QUICK",
    "Effort",
    "Findings",
    "chosen_experiments",
    "reproduce",
    "verdicts",
    "write_page",
]

_HOMES = {
    "CLAIMS": "evolabel.reproduce.claims",
    "EXPERIMENTS": "evolabel.reproduce.experiments",
    "FULL": "evolabel.reproduce.run_size",
    "QUICK": "evolabel.reproduce.run_size",
    "Effort": "evolabel.reproduce.run_size",
    "Findings": "evolabel.reproduce.results",
    "chosen_experiments": "evolabel.reproduce.experiments",
    "reproduce": "evolabel.reproduce.runner",
    "verdicts": "evolabel.reproduce.claims",
    "write_page": "evolabel.reproduce.page",
}


__getattr__ = loader(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted(__all__)
