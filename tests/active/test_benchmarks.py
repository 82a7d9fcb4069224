"""Tables and shares that the benchmarks of active learning compute from their runs."""

import active_learning
import active_robustness
import numpy as np
import pytest
import worth_of_answers
from shared import measuring, result_files
from shared.datasets import Split


def outcome(pa, ap):
    return {"pa": pa, "ap": ap}


def runs(ours):
    """Two shuffles of one set; static 0.5, full 0.7."""
    ends = {"static": outcome([0.5], [0.5]), "full": outcome([0.7], [0.7])}
    draws = outcome([0.52, 0.56], [0.5, 0.6])
    spent = {row: draws if row.startswith("random") else outcome([ours], [ours]) for row in active_learning.ROWS}
    return {seed: {**ends, "0.1": spent} for seed in "01"}


def test_shares_are_of_the_gap_and_those_of_labels_at_most_1_in_the_mean():
    assert active_learning.share(runs(0.65), "0.1", "labels", "pa") == pytest.approx(0.75)
    sets = {"a": runs(0.6), "b": runs(0.9)}
    assert active_learning.mean_share(sets, "0.1", "labels", "pa") == pytest.approx(0.75)
    assert active_learning.mean_share(sets, "0.1", "samples", "pa") == pytest.approx(1.25)


def test_z_is_in_deviations_of_the_mean_of_draws():
    deviation = np.std([0.52, 0.56], ddof=1) / np.sqrt(2)
    assert active_learning.z(runs(0.6), "0.1", "labels", "pa") == pytest.approx((0.6 - 0.54) / deviation)
    four = dict.fromkeys("abcd", runs(0.6))
    single = active_learning.z(runs(0.6), "0.1", "labels", "pa")
    assert active_learning.combined_z(four, "0.1", "labels", "pa") == pytest.approx(2 * single)


def test_tables_have_a_line_for_every_learner():
    lines = active_learning.table({"toy": runs(0.6)}, "0.1").splitlines()
    assert [line.split(" | ")[0].strip("| ") for line in lines[2:]] == active_learning.ROWS
    assert "0.50 / 0.50 | 0.50 / 0.50 | +3.0 / +1.0 |" in lines[2]


def test_robustness_is_shown_as_shares_of_the_gap_with_right_answers():
    clean = active_robustness.CLEAN
    records = [
        {"stream": name, "seed": seed, "condition": condition, "learner": learner, **outcome(value, value)}
        for name in (*active_robustness.SETS, *active_robustness.drifts())
        for seed in range(2)
        for condition in active_robustness.CONDITIONS
        for learner, value in [("static", 0.5), ("full", 0.7), *((one, 0.6) for one in active_robustness.LEARNERS)]
        if condition == clean or learner not in active_robustness.REFERENCES
    ]
    text = active_robustness.tables(records)
    assert text.count("0.50 / 0.50") == 4 * (len(active_robustness.SHOWN) + 1)


@pytest.mark.parametrize("name", [active_learning.RESULTS, active_robustness.RESULTS])
def test_results_are_written_as_they_were_read(name, monkeypatch, tmp_path):
    found, written = result_files.read(name), (result_files.FOLDER / f"{name}.json").read_bytes()
    monkeypatch.setattr(result_files, "FOLDER", tmp_path)
    assert result_files.read_if_any(name, {}) == {}
    result_files.write(name, found, indent=None if name == active_learning.RESULTS else 1)
    assert (tmp_path / f"{name}.json").read_bytes() == written
    assert result_files.read_if_any(name, {}) == found


def test_runs_are_grouped_in_the_order_of_the_streams():
    streams = [("a", Split(np.zeros((n, 1)), np.zeros((n, 1)), 1)) for n in (3, 2)]
    streams.insert(1, ("b", Split(np.zeros((9, 1)), np.zeros((9, 1)), 1)))
    assert measuring.by_group(streams, lambda split: len(split.X), 1) == {"a": [3, 2], "b": [9]}


def test_the_number_of_random_answers_is_read_between_learners_by_its_logarithm():
    answers = np.array([100.0, 400.0, 1600.0])
    assert worth_of_answers.reached(0.85, np.array([0.8, 0.9, 1.0]), answers) == pytest.approx(200.0)
    assert worth_of_answers.reached(0.7, np.array([0.8, 0.9, 1.0]), answers) == pytest.approx(100.0)
    assert worth_of_answers.reached(0.95, np.array([0.8, 0.9, 0.88]), answers) == pytest.approx(1600.0)


def test_estimates_stand_beside_what_was_measured():
    run = {"answers": 1400, "measured": 4000, "interval": [3000.0, 5000.0]}
    runs = {"10": {**run, "estimate": [2000, 3000, 9000]}, "11": {**run, "estimate": [6000, None, None]}}
    text = worth_of_answers.worth_table({"three, labels": {**runs, "12": {**run, "estimate": None}}})
    assert "| three, labels | 2 of 3 | 2,000 to 6,000 | 4,000 to 4,000 |" in text
    assert text.endswith("Known on 2 of 3 streams; the intervals meet on 1.")


def test_two_annotators_answer_by_themselves_and_differ():
    two = active_robustness.TwoAnnotators(0)
    truth, asked = np.array([1.0, 0.0, 1.0]), np.array([True, True, False])
    answers = np.array([two.answer(truth, asked) for _ in range(300)])
    assert np.isnan(answers[:, 2]).all()
    right, unknown = (answers[:, :2] == truth[:2]).mean(), np.isnan(answers[:, :2]).mean()
    assert right == pytest.approx(0.9 * 0.8, abs=0.04)
    assert unknown == pytest.approx(0.9 * 0.2 + 0.1 * 0.8, abs=0.04)
    np.testing.assert_array_equal(two.anew().answer(truth, asked), answers[0])
