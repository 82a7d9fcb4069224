"""Tables show the numbers that were measured, whatever their size."""

import pytest

from evolabel.cli.output import markdown_table, result_cells, result_table
from evolabel.evaluate import RankingRow, Repeated, Results, Spread, Summary


def standing(value, deviation=0.0):
    return RankingRow("ours", {"coverage": Spread(value, deviation)}, {}, Spread(30.0, 0.0), Spread(0.5, 0.0))


@pytest.mark.parametrize(
    ("value", "deviation", "told"),
    [
        (0.8123, 0.0, ".8123"),
        (0.8123, 0.0042, ".8123 ±.0042"),
        (10.4042, 0.0, "10.4042"),
        (100.1, 20.5, "100.1000 ±20.5000"),
        (1.0, 0.0, "1.0000"),
    ],
)
def test_only_leading_zeros_are_left_out(value, deviation, told):
    assert result_cells(standing(value, deviation))[1] == told


def repeated(metric, ours, theirs):
    summaries = {
        name: Summary(name, {metric: value}, float("nan"), 1.0, 0.1, 30, {metric: 0})
        for name, value in (("ours", ours), ("theirs", theirs))
    }
    settings = {
        "metrics": {metric: ""},
        "learners": {"ours": "", "theirs": ""},
        "stream": "toy [b]",
        "features": 2,
        "labels": 2,
        "rows": 40,
        "initial": 10,
    }
    return Repeated({0: Results(summaries, (), settings)})


@pytest.mark.parametrize(("metric", "best"), [("pa", 0), ("hamming_loss", 1)])
def test_the_best_is_bold_also_where_less_is_better(metric, best):
    column = result_table(repeated(metric, 0.8, 0.2)).columns[1]
    bold = [any(span.style == "bold" for span in cell.spans) for cell in column.cells]
    assert bold == [place == best for place in range(2)]


def test_the_first_learner_is_ahead_where_its_loss_is_smaller():
    assert repeated("hamming_loss", 0.2, 0.3).ranking()[1].ahead["hamming_loss"].mean == pytest.approx(0.1)
    assert repeated("pa", 0.8, 0.7).ranking()[1].ahead["pa"].mean == pytest.approx(0.1)


def test_titles_are_shown_as_they_are():
    assert "toy [b]" in result_table(repeated("pa", 0.8, 0.2)).title.plain
    assert "| ours | .8000 |" in markdown_table(repeated("pa", 0.8, 0.2))
