"""The report: everything in one file, and nothing from elsewhere."""

import re

import pytest
from test_claims import with_number, without
from tiny_world import paper_is_right

from evolabel.paper.reproduce import EXPERIMENTS, write_page

TABLES = [EXPERIMENTS["table1"], EXPERIMENTS["table2"]]
FEW = [EXPERIMENTS[key] for key in ("table1", "fig6", "fig7", "table2")]


def test_the_page_holds_its_figures_and_opens_without_internet(tmp_path):
    page = write_page(paper_is_right(), FEW, tmp_path).read_text()
    drawn = [experiment for experiment in FEW if experiment.kind == "trend lines"]
    assert page.count("<svg") == 2 * len(drawn) == len(list(tmp_path.glob("*.svg")))
    assert not re.search(r"""(src|href)\s*=\s*["']https?:""", page)
    assert "leaves out" not in page


def test_the_page_counts_the_verdicts(tmp_path):
    right = write_page(paper_is_right(), TABLES, tmp_path).read_text()
    assert right.count("<b>0</b> does not hold") == 2
    turned = write_page(
        with_number(paper_is_right(), "paper", "birds", "ours", "ms", 1001.0), TABLES, tmp_path
    ).read_text()
    assert turned.count("<b>0</b> does not hold") == 1, "the other profile is as it was"
    assert "The machine was too slow" in turned


def test_what_was_left_out_is_named(tmp_path):
    results = without(paper_is_right(), "mediamill")
    page = write_page(results, FEW, tmp_path, ["mediamill is left out: no file"]).read_text()
    assert "mediamill is left out: no file" in page
    assert "the data set was not run" in page


def test_only_what_was_asked_for_is_shown(tmp_path):
    page = write_page(paper_is_right(), [EXPERIMENTS["fig6"]], tmp_path).read_text()
    assert 'id="fig6"' in page
    assert 'id="fig4"' not in page
    assert "merging leaves about 17 rules" in page
    assert "about 10 points of PA" not in page


@pytest.mark.slow
def test_equal_results_give_equal_pages(tmp_path):
    once = write_page(paper_is_right(), FEW, tmp_path).read_bytes()
    assert write_page(paper_is_right(), FEW, tmp_path).read_bytes() == once
