"""Trees, paths and edges of threshold rules are drawn as they are printed."""

import copy
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from matplotlib.patches import StepPatch
from pump_stream import FEATURES, LABELS, pump_rows
from written_trees import PUMP, trees

from evolabel import EvolvingFuzzyClassifier
from evolabel.errors import DataError, StateError
from evolabel.explain import figures
from evolabel.explain.figures.all_figures import all_figures
from evolabel.stages.threshold_rules.figures.edges import aligned_bins
from evolabel.stages.threshold_rules.figures.label_trees import drawn_tree
from evolabel.stages.threshold_rules.read_trees import TreeReader
from evolabel.stages.threshold_rules.words import edge_text, percent
from evolabel.words.figures.canvas import BLACK, as_svg, figure_of, new_axes

pytestmark = pytest.mark.compiled


def words(ax):
    return [text.get_text() for text in ax.texts]


def drawn(t):
    binary = np.array([name.startswith("machine") for name in PUMP])
    return drawn_tree(TreeReader(t, 0, PUMP, ["leak"], binary, {}), 0)


def outline(node):
    """Questions and answers of a drawn tree, without its rules."""
    return [node.question, node.edge, *((b.answer, outline(b.node)) for b in node.branches)] if node.branches else []


def positive():
    X, Y = pump_rows(400, seed=5)
    return X[np.flatnonzero(Y[:, 0])[0]]


def path_of(clf, x):
    return clf.explain(pd.DataFrame(x[None], columns=FEATURES)).paths[0]


DRAWN = {
    "threshold_tree": figures.threshold_tree,
    "feature_edges": figures.feature_edges,
    "sample_path": lambda clf, **more: figures.sample_path(clf, positive(), **more),
}


@pytest.mark.parametrize("draw", DRAWN.values(), ids=DRAWN)
def test_given_axes_are_drawn_on_and_the_model_stays_as_it_is(draw, pump, state_of, assert_same_state):
    before, axes = state_of(pump), new_axes()
    assert draw(pump, ax=axes) is axes
    assert "leak" in axes.get_title(loc="left")
    assert_same_state(before, state_of(pump))
    assert as_svg(figure_of(draw(pump))) == as_svg(figure_of(draw(pump)))


@pytest.mark.parametrize("draw", DRAWN.values(), ids=DRAWN)
def test_labels_without_a_say_are_refused(draw, pump, six_rules, warming):
    with pytest.raises(DataError, match="not used for label 'idle', only for leak"):
        draw(pump, label="idle")
    with pytest.raises(DataError, match="not used for any label"):
        draw(six_rules)
    with pytest.raises(StateError, match="warm-up"):
        draw(warming)


def test_a_tree_has_the_shares_and_samples_of_all_rules(pump):
    texts = " ".join(words(figures.threshold_tree(pump)))
    for rule in pump.rules_.threshold_rules[0].rules:
        assert percent(rule.share) in texts
        assert f"{rule.support:,.0f} samples, rule {rule.number}" in texts
    assert "machine=" not in texts
    for condition in pump.rules_.threshold_rules[0].rules[0].conditions:
        assert condition.feature in texts


def test_a_tree_is_drawn_as_it_asks():
    t = trees(("pressure", 5.0, 0.1, 1), ("machine=M-02", 0.5, 0.5, 0), (1, 30), (0, 9), (0, 50), missing=[0])
    machine = ["machine", "", ("not M-02", []), ("M-02", [])]
    assert outline(drawn(t)) == ["pressure", "5.0 ± 0.1", ("missing or below", machine), ("above", [])]
    assert (drawn(t).support, drawn(t).depth, len(drawn(t).leaves)) == (89.0, 2, 3)


def test_a_strip_is_no_question_of_its_own():
    strip = ("pressure", 4.913, 0.02, 0), (1, 90), ("pressure", 4.927, 0.01, 1), (0.5, 10), (0, 900)
    assert outline(drawn(trees(*strip))) == ["pressure", "4.92 ± 0.02", ("below", []), ("above", [])]
    above = ["pressure", "", ("missing", []), ("known", [])]
    with_gaps = drawn(trees(*strip, missing=[0]))
    assert outline(with_gaps) == ["pressure", "4.92 ± 0.02", ("below", []), ("missing or above", above)]


def test_a_tree_of_two_classes_names_the_other_one():
    X, Y = pump_rows(2000)
    clf = EvolvingFuzzyClassifier().partial_fit(X, np.where(Y[:, 0] > 0.5, "leak", "fine"))
    axes = figures.threshold_tree(clf, "fine")
    assert "Threshold rules for leak" in axes.get_title(loc="left")
    assert any(text.startswith("fine, ") for text in words(axes))


def test_a_path_has_the_conditions_the_values_and_the_share(pump):
    x = positive()
    axes, path = figures.sample_path(pump, x), path_of(pump, x)
    ticks = [tick.get_text() for tick in axes.get_yticklabels()]
    assert ticks == [*(condition.words() for condition in path.rule.conditions), "then leak"]
    rule, texts = path.rule, words(axes)
    assert any(text.startswith(f"leak {percent(rule.share)} of {rule.support:.0f} samples") for text in texts)
    for condition in rule.conditions:
        if condition.feature in FEATURES:
            assert f"{x[FEATURES.index(condition.feature)]:.4g}" in texts
            end = condition.low if np.isfinite(condition.low) else condition.high
            assert edge_text(end, max(condition.low_width, condition.high_width)) in texts
    dots = [line for line in axes.get_lines() if line.get_marker() == "o" and line.get_color() == BLACK]
    assert len(dots) == len(rule.conditions)


def dots_and_lines(axes, row):
    """Places of the dot and of the edges in a row of a path."""
    mine = [line for line in axes.get_lines() if abs(float(np.mean(line.get_ydata())) - row) < 0.4]
    dots = [float(line.get_xdata()[0]) for line in mine if line.get_marker() == "o"]
    edges = [float(line.get_xdata()[0]) for line in mine if line.get_marker() != "o" and np.ptp(line.get_xdata()) == 0]
    return dots, edges


def test_the_dot_is_on_the_side_of_the_edge_where_the_value_is(pump):
    compared = 0
    for x in pump_rows(12, seed=9)[0]:
        axes, path = figures.sample_path(pump, x, "leak"), path_of(pump, x)
        for row, condition in enumerate(path.rule.conditions):
            ends = [end for end in (condition.low, condition.high) if np.isfinite(end)]
            if condition.feature in FEATURES and len(ends) == 1:
                (dot,), (edge,) = dots_and_lines(axes, row)
                compared += 1
                assert (dot > edge) == (x[FEATURES.index(condition.feature)] > ends[0])
    assert compared > 12


def test_a_path_of_several_or_wrong_rows_is_one_clear_error(pump):
    with pytest.raises(DataError, match="x has 2 rows; pass one sample"):
        figures.sample_path(pump, np.zeros((2, 6)))
    with pytest.raises(DataError, match="expected"):
        figures.sample_path(pump, np.zeros(5))


def test_a_missing_value_has_no_dot(pump):
    x = positive()
    x[0] = np.nan
    axes = figures.sample_path(pump, x)
    row = [tick.get_text().startswith("pressure") for tick in axes.get_yticklabels()].index(True)
    assert dots_and_lines(axes, row)[0] == []
    assert "missing" in words(axes)


def test_edges_stand_where_they_are_printed(pump):
    axes = figures.feature_edges(pump, "pressure", "leak")
    ends = {c.high for rule in pump.rules_.threshold_rules[0].rules for c in rule.conditions if c.feature == "pressure"}
    ends |= {c.low for rule in pump.rules_.threshold_rules[0].rules for c in rule.conditions if c.feature == "pressure"}
    ends = sorted(end for end in ends if np.isfinite(end))
    assert sorted(line.get_xdata()[0] for line in axes.get_lines()) == pytest.approx(ends)
    assert all(text.strip().startswith("leak: ") for text in words(axes))
    legend = [text.get_text() for text in axes.get_legend().get_texts()]
    t = pump.inner.any_model.trees.arrays
    recent = t.rows[:2000] >= 0
    positives = int(t.Y[:2000, 0][recent].sum())
    assert legend[0].startswith(f"leak: {positives} rows")
    assert legend[1].startswith(f"not leak: {recent.sum() - positives} rows")


def test_histograms_are_shares_of_their_rows(pump):
    with_label, without = figures.feature_edges(pump, "flow").findobj(StepPatch)
    for stairs in (with_label, without):
        assert 95.0 < stairs.get_data().values.sum() <= 100.0 + 1e-9
    below = with_label.get_data().edges[1:] < 0.35  # leaks have a flow above 0.4
    assert with_label.get_data().values[below].sum() == 0.0
    assert without.get_data().values[below].sum() > 30.0


def test_bins_begin_at_the_edge():
    bins = aligned_bins(0.0, 10.0, 20, 3.3)
    assert bins[0] <= 0.0
    assert bins[-1] >= 10.0
    assert np.abs(bins - 3.3).min() < 1e-12
    np.testing.assert_allclose(np.diff(bins), 0.5)
    np.testing.assert_allclose(aligned_bins(0.0, 10.0, 5, None), [0.0, 2.0, 4.0, 6.0, 8.0, 10.0])
    assert len(aligned_bins(2.0, 2.0, 5, None)) >= 1


def test_all_figures_have_trees_edges_and_the_path(pump):
    names = [figure.name for figure in all_figures(pump, sample=positive())]
    assert {
        "threshold-tree-leak",
        "sample-path-leak",
        "threshold-edges-leak-pressure",
        "threshold-edges-leak-flow",
    } <= set(names)
    assert not any("machine" in name for name in names if name.startswith("threshold-edges"))
    assert "sample-path-leak" not in [figure.name for figure in all_figures(pump)]


def test_names_are_drawn_as_they_are(pump):
    data = pump.figure_data()
    odd = replace(data, feature_names=[f"_${name}$\n" for name in FEATURES], label_names=[f"${x}_" for x in LABELS])

    class Odd:
        def figure_data(self):
            return odd

    for draw in DRAWN.values():
        assert as_svg(figure_of(draw(Odd()))).startswith("<svg")


def test_a_sample_that_a_written_rule_decides_has_no_path_but_one_clear_error(pump):
    clf = copy.deepcopy(pump)
    clf.rulebook.add("IF pressure BELOW 5 THEN leak LIKELY")
    x = pump_rows(400, seed=3)[0]
    low = x[x["pressure"] < 4.5][:1] if isinstance(x, pd.DataFrame) else x[x[:, FEATURES.index("pressure")] < 4.5][:1]
    with pytest.raises(DataError, match="a written rule decides leak"):
        figures.sample_path(clf, low, "leak")
