"""The heat map shows the scores that were found, each cell the best of its kind."""

import numpy as np
import pytest

from evolabel.errors import NotTrainedError, ParameterError
from evolabel.paper import PaperGridSearch
from evolabel.tuning import heat_map

ALPHAS, BETAS, VIGILANCES = (0.0, 0.1, 10.0), (0.0, 5.0), (0.3, 0.6)
SCORES = np.array([[[0.1, 0.2], [0.3, 0.4], [0.5, np.nan]], [[0.2, 0.1], [0.7, 0.3], [0.4, np.nan]]])


@pytest.fixture
def search():
    """As if it had run: scores by vigilance, alpha and beta."""
    done = PaperGridSearch()
    done.surface_ = [
        {"vigilance": v, "alpha": a, "beta": b, "score": SCORES[i, j, k], "deviation": 0.0, "folds": []}
        for i, v in enumerate(VIGILANCES)
        for j, a in enumerate(ALPHAS)
        for k, b in enumerate(BETAS)
    ]
    done.best_params_ = {"vigilance": 0.6, "alpha": 0.1, "beta": 0.0}
    return done


def table_of(axes):
    return np.ma.filled(axes.get_images()[0].get_array(), np.nan)


def ticks(labels):
    return [label.get_text() for label in labels]


def test_cells_are_the_best_over_all_other_parameters(search):
    axes = heat_map(search)
    np.testing.assert_array_equal(table_of(axes), np.fmax(*SCORES).T)
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("alpha", "beta")
    assert ticks(axes.get_xticklabels()) == ["0", "0.1", "10"]
    assert ticks(axes.get_yticklabels()) == ["0", "5"]


def test_any_two_parameters_can_be_shown(search):
    axes = heat_map(search, across="beta", down="vigilance")
    np.testing.assert_array_equal(table_of(axes), np.nanmax(SCORES, axis=1))
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("beta", "vigilance")


def test_the_order_of_the_grid_makes_no_difference(search):
    expected = table_of(heat_map(search))
    search.surface_.reverse()
    np.testing.assert_array_equal(table_of(heat_map(search)), expected)


def test_the_best_cell_is_marked(search):
    (mark,) = heat_map(search).get_lines()
    place = float(mark.get_xdata()[0]), float(mark.get_ydata()[0])
    assert place == (ALPHAS.index(0.1), BETAS.index(0.0))


def test_given_axes_are_used(search):
    from matplotlib.figure import Figure

    axes = Figure().subplots()
    assert heat_map(search, ax=axes) is axes


def test_the_scale_names_the_score(search):
    axes = heat_map(search)
    assert [other.get_ylabel() for other in axes.get_figure().axes if other is not axes] == ["best score (pa)"]


def test_choices_are_shown_as_text(search):
    for point in search.surface_:
        point["coupling"] = {0.0: "none", 5.0: "ridge"}[point.pop("beta")]
        point["prune_after"] = {0.3: None, 0.6: 5}[point["vigilance"]]
    search.best_params_ = {"vigilance": 0.6, "alpha": 0.1, "coupling": "none", "prune_after": 5}
    axes = heat_map(search, across="coupling", down="prune_after")
    assert sorted(ticks(axes.get_xticklabels())) == ["none", "ridge"]
    assert sorted(ticks(axes.get_yticklabels())) == ["5", "None"]
    assert np.nanmax(table_of(axes)) == 0.7


@pytest.mark.parametrize("name", ["gamma", "score", "folds"])
def test_what_was_not_searched_is_refused(search, name):
    with pytest.raises(ParameterError, match=f"'{name}' was not searched; use two of vigilance, alpha, beta"):
        heat_map(search, down=name)


def test_a_search_that_has_not_run_shows_nothing():
    with pytest.raises(NotTrainedError, match="has not run yet; call fit first"):
        heat_map(PaperGridSearch())
