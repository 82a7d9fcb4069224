"""docs/explanations/reproduction.md shows the verdicts of the kept results."""

import json

import reproduction
from tiny_world import paper_is_right

from evolabel.paper.reproduce import ReproductionResults
from evolabel.paper.reproduce.run_size import GRIDS


def test_the_page_shows_the_verdicts_of_the_kept_results():
    page = reproduction.PAGE.read_text()
    kept = ReproductionResults.read(reproduction.KEPT)
    assert reproduction.filled(page, kept) == page, "run benchmarks/reproduction.py"


def test_other_results_give_another_page():
    page = reproduction.PAGE.read_text()
    right = reproduction.filled(page, paper_is_right())
    assert right != page
    assert "**holds**" in right
    assert "**does not hold** |" not in right


def test_the_kept_results_use_all_rows():
    settings = json.loads((reproduction.KEPT / "results.json").read_text())["settings"]
    assert settings["run_size"] in GRIDS
