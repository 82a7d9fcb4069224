"""Figures are drawn on Axes, leave no trace, and refuse what they cannot draw."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest

from evolabel import EvolvingFuzzyClassifier
from evolabel._utils.optional import install_command
from evolabel.errors import DataError, MissingDependencyError, NotTrainedError, ParameterError, StateError
from evolabel.explain import figures
from evolabel.explain.figures.all_figures import all_figures, file_names
from evolabel.words.figures.canvas import as_svg, figure_of, new_axes

FIGURES = {
    "rule_map": figures.rule_map,
    "membership_functions": figures.membership_functions,
    "consequent_map": figures.consequent_map,
    "life_lines": figures.life_lines,
    "novelty_map": figures.novelty_map,
}


@pytest.mark.parametrize("draw", FIGURES.values(), ids=FIGURES)
def test_given_axes_are_drawn_on_and_nothing_learned_changes(draw, six_rules, state_of, assert_same_state):
    before, axes = state_of(six_rules), new_axes()
    assert draw(six_rules, ax=axes) is axes
    assert axes.get_title(loc="left")
    assert axes.has_data()
    assert_same_state(before, state_of(six_rules))


@pytest.mark.parametrize("draw", FIGURES.values(), ids=FIGURES)
def test_models_that_have_no_rules_are_refused(draw, six_rules, warming):
    with pytest.raises(NotTrainedError):
        draw(EvolvingFuzzyClassifier())
    with pytest.raises(StateError, match="warm-up"):
        draw(warming)
    with pytest.raises(StateError, match="no rules yet"):
        draw(six_rules.sibling())


def test_no_window_is_opened(six_rules):
    for draw in FIGURES.values():
        draw(six_rules)
    pyplot = sys.modules.get("matplotlib.pyplot")
    assert pyplot is None or pyplot.get_fignums() == []


def test_without_matplotlib_the_extra_is_named(six_rules, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingDependencyError, match=re.escape(install_command("plots"))):
        figures.life_lines(six_rules)


def test_the_same_figure_gives_the_same_bytes(six_rules):
    assert as_svg(figure_of(figures.rule_map(six_rules))) == as_svg(figure_of(figures.rule_map(six_rules)))


def test_budget_counts_what_was_possible():
    axes = figures.budget_use([3, 0, 1], 0.5, possible=4)
    np.testing.assert_allclose(axes.get_lines()[0].get_ydata(), [0.75, 0.375, 1.0 / 3.0])
    np.testing.assert_allclose(axes.get_lines()[1].get_ydata(), 0.5)
    assert "4 of 12 asked" in axes.get_title(loc="left")


@pytest.mark.parametrize(
    ("asked", "possible"), [([], 1), ([2], 1), ([-1], 1), ([np.nan], 1), ([1, 0], [1]), ([0], 0), ([[1]], 1)]
)
def test_bad_counts_are_one_clear_error(asked, possible):
    with pytest.raises(DataError):
        figures.budget_use(asked, 0.1, possible=possible)


def test_a_budget_is_a_share():
    with pytest.raises(ParameterError, match="budget=1"):
        figures.budget_use([1], 1.5)


def test_features_whose_names_look_alike_have_files_of_their_own():
    files = file_names(["x(1)", "x[1]", "heat", "long " * 99, "long " * 98])
    assert files[:3] == ["x-1--0", "x-1--1", "heat"]
    assert len(set(files)) == 5
    assert max(map(len, files)) < 70


def test_all_figures_has_all_that_apply(six_rules, rotated_rules, stream):
    plain = [figure.name for figure in all_figures(six_rules)]
    assert "label-correlations" not in plain
    assert "label-correlations" in [figure.name for figure in all_figures(rotated_rules)]
    assert "label-correlations" in [figure.name for figure in all_figures(six_rules, *stream)]
    assert len(set(plain)) == len(plain)
    with pytest.raises(DataError, match="belong together"):
        list(all_figures(six_rules, stream[0]))


def test_the_page_shows_every_figure_and_stays_small():
    docs = Path(__file__).parents[2] / "docs" / "reference"
    page = (docs / "figures.md").read_text()
    assert [name for name in figures.__all__ if f"figures.{name}(" not in page] == []
    drawings = list((docs / "figures").glob("*.svg"))
    assert [file.name for file in drawings if f"figures/{file.name}" not in page] == []
    assert max(file.stat().st_size for file in drawings) < 150_000
