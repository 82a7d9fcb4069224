"""Trend lines show what was measured."""

from dataclasses import replace

import numpy as np
import pytest

from evolabel.core.events import Event
from evolabel.evaluate import Point, Repeated, Results, Summary
from evolabel.report.figures import new_axes, trend_lines


def results(shift):
    lines = {"ours": [0.5, 0.7, 0.8], "theirs": [0.4, 0.5, 0.6]}
    trend = tuple(
        Point(learner, 10 * (i + 1), "pa", "cumulative", value + shift)
        for learner, values in lines.items()
        for i, value in enumerate(values)
    )
    summary = {
        name: Summary(name, {"pa": values[-1] + shift}, np.nan, 1.0, 0.1, 30, {"pa": 0})
        for name, values in lines.items()
    }
    settings = {"metrics": {"pa": "PartialAccuracy()"}, "learners": dict.fromkeys(lines, ""), "stream": "toy"}
    return Results(summary, trend, settings)


@pytest.fixture
def repeated():
    return Repeated({0: results(0.0), 1: results(0.1)})


def test_lines_are_means_over_the_seeds(repeated):
    axes = trend_lines(repeated, "pa")
    ours, theirs = axes.get_lines()
    np.testing.assert_allclose(ours.get_xdata(), [10, 20, 30])
    np.testing.assert_allclose(ours.get_ydata(), [0.55, 0.75, 0.85])
    np.testing.assert_allclose(theirs.get_ydata(), [0.45, 0.55, 0.65])
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["ours", "theirs"]
    assert axes.get_ylabel() == "PA"


def test_the_band_reaches_from_the_worst_to_the_best_seed(repeated):
    band = trend_lines(repeated, "pa").collections[0].get_paths()[0].vertices
    assert band[:, 1].min() == pytest.approx(0.5)
    assert band[:, 1].max() == pytest.approx(0.9)


def test_lines_differ_by_stroke_as_well_as_colour(repeated):
    ours, theirs = trend_lines(repeated, "pa").get_lines()
    assert ours.get_linestyle() != theirs.get_linestyle()
    assert ours.get_color() != theirs.get_color()


def test_given_axes_are_used(repeated):
    axes = new_axes()
    assert trend_lines(repeated, "pa", ax=axes) is axes


def test_a_metric_without_values_leaves_no_line(repeated):
    assert trend_lines(repeated, "rules", "current").get_lines() == []


def with_events(found, *events):
    summary = {**found.summary, "ours": replace(found.summary["ours"], events=events)}
    return replace(found, summary=summary, settings={**found.settings, "initial": 100})


def test_shifts_are_marks_on_the_line_of_the_first_learner():
    drift = Event(115, "drift", None, None, label="pump", before=0.1, after=0.3)
    sensor = Event(130, "sensor moved", None, None, feature="heat", deviations=5.0)
    renewed = Event(120, "renewed", None, None, rows=20)
    axes = trend_lines(Repeated({0: with_events(results(0.0), drift, renewed, sensor)}), "pa")
    drifts, sensors = axes.collections
    np.testing.assert_allclose(drifts.get_offsets(), [[15.0, 0.6]])
    np.testing.assert_allclose(sensors.get_offsets(), [[30.0, 0.8]])
    legend = [text.get_text() for text in axes.get_legend().get_texts()]
    assert legend == ["ours", "label drifted", "sensor moved, corrected", "theirs"]


def test_shifts_of_all_seeds_are_marked():
    drifts = [Event(115 + 5 * seed, "drift", None, None, label="pump") for seed in range(2)]
    runs = {seed: with_events(results(0.0), event) for seed, event in enumerate(drifts)}
    assert trend_lines(Repeated(runs), "pa").collections[0].get_offsets()[:, 0].tolist() == [15.0, 20.0]
