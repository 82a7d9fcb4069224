"""Maps show rules and samples where they are, in units."""

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from evolabel import EvolvingFuzzyClassifier
from evolabel.errors import DataError, DataTypeError, ParameterError
from evolabel.explain import figures
from evolabel.explain.figures.all_figures import all_figures
from evolabel.paper.rules.stage import PaperRules
from evolabel.stages.rules.figures.planes import discriminants, plane_of
from evolabel.streams import DriftingStream
from evolabel.words.figures.canvas import figure_of


@pytest.mark.parametrize("kind", ["six_rules", "rotated_rules"])
def test_outlines_are_the_marginal_covariance_in_units(kind, request):
    """In scores every point of an outline is one spread from the centre, by the covariance of the two features."""
    clf = request.getfixturevalue(kind)
    model, p = clf.inner.any_model, 4
    axes = figures.rule_map(clf, ("x2", 0), top=100)
    plane = plane_of(clf.figure_data(), ("x2", 0))
    assert len(axes.patches) == clf.n_rules_
    for patch, slot in zip(axes.patches, clf.figure_data().best_supported(100), strict=True):
        a = model.rules.arrays
        if isinstance(model.rules, PaperRules):
            F = np.tril(model.rules.own.F[slot])
            sigma = (F @ F.T)[:p, :p] / (model.rules.settings.prior_count + max(a.k[slot] - 1.0, 0.0))
        else:
            sigma = np.diag(1.0 / a.inv[slot, :p])
        sigma = sigma[np.ix_([2, 0], [2, 0])]
        np.testing.assert_allclose(plane.covariance(slot), sigma, rtol=1e-9)
        X = np.full((len(patch.get_xy()), p), np.nan)
        X[:, [2, 0]] = patch.get_xy()
        scores = _unclipped(model.scaler, X)[:, [2, 0]] - a.c[slot, [2, 0]]
        np.testing.assert_allclose(np.einsum("ij,jk,ik->i", scores, np.linalg.inv(sigma), scores), 1.0, rtol=1e-9)


def _unclipped(scaler, X):
    return replace(scaler, low=-1e9, high=1e9).transform(X)


def test_discriminants_have_unit_variance_and_find_the_direction_that_matters():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 5))
    Y = (X @ [[1.0], [0.0], [0.0], [-1.0], [0.0]] > 0.0).astype(float)
    clf = EvolvingFuzzyClassifier(max_rules=4, scaling="standard").fit(X, Y)
    V, mean, _ = discriminants(clf.inner.any_model.rules)
    places = (clf.inner.any_model.scale(X) - mean) @ V
    np.testing.assert_allclose(places.var(axis=0), 1.0, rtol=1e-2)
    assert abs(np.corrcoef(places[:, 0], X[:, 0] - X[:, 3])[0, 1]) > 0.99


def test_samples_are_coloured_by_a_label(six_rules, stream):
    X, Y = stream[0], stream[1].copy()
    Y[:5, 1] = np.nan
    axes = figures.rule_map(six_rules, X=X, Y=Y, label=1)
    counts = {line.get_label(): len(line.get_xdata()) for line in axes.get_lines()}
    assert counts == {"label1": np.nansum(Y[:, 1]), "not label1": np.sum(Y[:, 1] == 0.0), "not annotated": 5}


def test_samples_lie_where_their_features_say(six_rules, stream):
    (line,) = figures.rule_map(six_rules, ("x1", "x3"), X=stream[0]).get_lines()
    np.testing.assert_allclose(np.column_stack(line.get_data()), stream[0][:, [1, 3]], atol=1e-9)


def test_missing_features_do_not_stop_a_map(six_rules, gappy_stream):
    (line,) = figures.rule_map(six_rules, X=gappy_stream[0]).get_lines()
    assert np.isfinite(np.array(line.get_data())).all()


def test_few_rules_are_shown_and_the_title_says_so(six_rules):
    axes = figures.rule_map(six_rules, top=2)
    assert len(axes.patches) == 2
    assert "2 of 6 rules, the best supported" in axes.get_title(loc="left")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"features": ("x0", "x0")}, "two different features"),
        ({"features": "x0"}, "is no pair"),
        ({"features": ("x0", "heat")}, "no feature 'heat'"),
        ({"features": (0, 4)}, "no feature 4"),
        ({"label": 0}, "pass X as well"),
        ({"X": np.zeros((3, 2))}, r"expected \(n_samples, 4\)"),
        ({"X": np.zeros((3, 4)), "label": 0}, "pass the label matrix"),
        ({"X": np.zeros((3, 4)), "Y": np.zeros((2, 3)), "label": 0}, "one row per row of X"),
        ({"X": np.zeros((3, 4)), "Y": np.zeros((3, 3))}, "name the label that colours"),
        ({"X": np.zeros((3, 4)), "Y": np.zeros((3, 3)), "label": "rain"}, "no label 'rain'"),
    ],
)
def test_bad_input_of_a_map_is_one_clear_error(six_rules, change, message):
    with pytest.raises(DataError, match=message):
        figures.rule_map(six_rules, **change)


def test_what_is_no_number_is_refused(six_rules):
    with pytest.raises(DataTypeError, match="cannot be read as numbers"):
        figures.rule_map(six_rules, X=[["a"] * 4])
    with pytest.raises(ParameterError, match="top=0"):
        figures.rule_map(six_rules, top=0)


def test_one_feature_is_no_map_but_has_membership_functions():
    X = np.linspace(0.0, 1.0, 60)[:, None]
    clf = EvolvingFuzzyClassifier(max_rules=3).fit(X, (X > 0.5).astype(float))
    for draw in (figures.rule_map, figures.novelty_map):
        with pytest.raises(DataError, match="one feature only"):
            draw(clf)
    names = [figure.name for figure in all_figures(clf)]
    assert [name for name in names if not name.startswith("weights-rule-")] == [
        "memberships-x0",
        "weights-global-model",
        "life-lines-of-rules",
    ]
    assert len(names) == 4


def test_the_border_of_the_map_is_where_samples_become_novel(six_rules, stream):
    x = stream[0][0]
    axes = figures.novelty_map(six_rules, ("x0", "x1"), at=x)
    line = next(shape for shape in axes.collections if len(np.atleast_1d(shape.get_array())) == 1)
    where = axes.get_lines()[0]
    np.testing.assert_allclose([*where.get_xdata(), *where.get_ydata()], x[:2])
    border = line.get_paths()[0].vertices
    for place in border[:: max(len(border) // 10, 1)]:
        novelty = six_rules.explain(np.array([*place, *x[2:]])).novelty
        assert novelty.distance == pytest.approx(novelty.border, rel=0.05)


def test_where_nothing_is_novel_yet_the_map_shows_spreads(stream):
    clf = EvolvingFuzzyClassifier(max_rules=1).fit(*stream)
    axes = figures.novelty_map(clf)
    assert "nothing is novel yet" in figure_of(axes).axes[1].get_ylabel()


@pytest.fixture(scope="module")
def many_rules():
    X = np.random.default_rng(4).normal(size=(1500, 4))
    clf = EvolvingFuzzyClassifier(max_rules=25, vigilance=0.9).fit(X, (X[:, :2] > 0.0).astype(float))
    assert clf.n_rules_ > 20
    return clf


def test_of_many_rules_the_best_supported_are_in_colours_on_top(many_rules):
    axes = figures.rule_map(many_rules, top=24)
    main, others = axes.patches[:6], axes.patches[6:]
    assert len(others) > 14
    assert len({patch.get_edgecolor() for patch in main}) == 6
    assert len({patch.get_edgecolor() for patch in others}) == 1
    assert min(patch.get_zorder() for patch in main) > max(patch.get_zorder() for patch in others)
    assert min(patch.get_linewidth() for patch in main) > max(patch.get_linewidth() for patch in others)
    best = sorted(many_rules.rules_, key=lambda rule: -rule.support)[:6]
    legend = [text.get_text() for text in axes.get_legend().get_texts()]
    assert legend == [f"rule {rule.identity}, {rule.support:.0f} samples" for rule in best]


def test_names_of_many_rules_do_not_hide_those_of_the_best_supported(many_rules):
    axes = figures.rule_map(many_rules, top=24)
    canvas = FigureCanvasAgg(figure_of(axes))
    boxes = [text.get_window_extent(canvas.get_renderer()) for text in axes.texts]
    for i in range(6):
        assert not any(boxes[i].overlaps(other) for j, other in enumerate(boxes) if j != i)


def test_rules_over_features_that_hardly_vary_are_drawn_as_lines():
    """Their covariance on the plane of both discriminants has no Cholesky factor."""
    X, Y = DriftingStream(n_features=3, n_labels=2, drift_every=0, seed=3).take(200)
    clf = EvolvingFuzzyClassifier(max_rules=4).fit(1e-300 * X, Y)
    ax = figures.rule_map(clf)
    assert all(np.isfinite(patch.get_xy()).all() for patch in ax.patches)
    assert ax.patches
