"""The paper's data sets have the columns of its Table 1, whatever other readings of their files there are."""

from dataclasses import replace

import pytest

from evolabel.errors import DataError
from evolabel.paper.reproduce import data
from evolabel.streams import DriftingStream


def test_sets_are_read_by_codes(monkeypatch):
    """Birds has two nominal columns: one feature each, not one of every value."""
    asked = []
    birds = DriftingStream(n_features=260, n_labels=19, seed=0).dataset(645, "birds")
    monkeypatch.setattr(data, "load_dataset", lambda name, **how: (asked.append((name, how)), birds)[1])
    assert data.load_paper_set("birds") is birds
    assert asked == [("birds", {"nominal": "codes"})]


def test_other_columns_than_the_papers_are_refused(monkeypatch):
    yeast = DriftingStream(n_features=103, n_labels=14, seed=0).dataset(40, "yeast")
    monkeypatch.setattr(data, "load_dataset", lambda name, **how: yeast)
    with pytest.raises(DataError, match=r"yeast has \(103, 40, 14\) .* \(103, 2417, 14\) in the paper's Table 1"):
        data.load_paper_set("yeast")


def test_the_first_seed_keeps_the_order_and_others_the_split():
    rows = replace(DriftingStream(seed=0).dataset(50, "rows"), split=20)
    assert data.ordered(rows, 0) is rows
    other = data.ordered(rows, 3)
    assert {tuple(x) for x in other.X[:20]} == {tuple(x) for x in rows.X[:20]}
    assert (other.X != rows.X).any()
    assert (data.ordered(rows, 3).X == other.X).all()
