"""The streams of thresholds: labels follow from what is said to be true of them, and scores are what they say."""

from functools import cache

import concept_streams
import numpy as np
import pytest
from concept_conjunctions import FAULTS, HALF, MACHINES, ROWS, SENSORS
from concept_streams import EDGES_KNOWN, NAMES, SCORED_FROM, STAGGER, Stream, one_hot

make_stream = cache(concept_streams.make_stream)  # no test writes into a stream


def column(stream, name):
    return stream.X[:, stream.features.index(name)]


def test_names_are_unique_and_edges_are_known_where_it_is_said():
    assert len(set(NAMES)) == len(NAMES) == 20
    assert len(EDGES_KNOWN) == 10
    assert set(EDGES_KNOWN) < set(NAMES)


@pytest.mark.parametrize("name", ["xor", "moving", "five", "plant", "plantmove", "agrawal4", "sea", "stagger", "led"])
def test_streams_have_their_length_labels_and_truths(name):
    stream = make_stream(name, 2)
    assert stream.X.shape == (ROWS, len(stream.features))
    assert stream.Y.shape == (ROWS, len(stream.labels))
    assert set(np.unique(stream.Y)) == {0.0, 1.0}
    assert stream.measure == ("macro F1" if name in ("five", "plant", "plantmove") else "accuracy")
    assert len(stream.truths) == len(stream.labels)
    assert all(set(truth) <= set(stream.features) for truth in stream.truths)
    assert (name in EDGES_KNOWN) == any(any(truth.values()) for truth in stream.truths)
    np.testing.assert_array_equal(stream.of_classes(stream.target) if stream.one_label else stream.target, stream.Y)


def test_an_exclusive_or_and_its_noisy_twin():
    clean, noisy = make_stream("xor", 3), make_stream("xornoise", 3)
    np.testing.assert_array_equal(clean.X, noisy.X)
    assert (clean.Y != noisy.Y).mean() == pytest.approx(0.1, abs=0.01)
    (first,), (second,) = clean.truths[0].values()
    np.testing.assert_array_equal(clean.Y[:, 0] == 1.0, (column(clean, "x2") > first) ^ (column(clean, "x5") > second))


def test_thresholds_move_at_half():
    stream = make_stream("moving", 3)
    for part, edge in ((slice(0, HALF), 0), (slice(HALF, None), 1)):
        low, high = (stream.truths[0][name][edge] for name in ("x0", "x1"))
        expected = (column(stream, "x0")[part] > low) & (column(stream, "x1")[part] < high)
        np.testing.assert_array_equal(stream.Y[part, 0] == 1.0, expected)


def test_five_of_a_hundred_features_decide():
    stream = make_stream("five", 3)
    assert len({name for truth in stream.truths for name in truth}) == 5
    ((name, (edge,)), (other, (limit,))) = stream.truths[0].items()
    np.testing.assert_array_equal(
        stream.Y[:, 0] == 1.0, (column(stream, name) > edge) & (column(stream, other) < limit)
    )


@pytest.mark.parametrize("label", FAULTS)
def test_faults_of_the_plant_follow_from_the_edges_except_on_one_machine(label):
    stream = make_stream("plant", 3)
    number = stream.labels.index(label)
    conditions, excepted = FAULTS[label]
    expected = column(stream, list(MACHINES)[excepted]) == 0.0
    known = np.ones(ROWS, bool)
    for sensor, above, _ in conditions:
        name = list(SENSORS)[sensor]
        (edge,) = stream.truths[number][name]
        known &= ~np.isnan(column(stream, name))
        expected &= column(stream, name) > edge if above else column(stream, name) < edge
    np.testing.assert_array_equal(stream.Y[known, number] == 1.0, expected[known])
    assert 0.01 < stream.Y[:, number].mean() < 0.1


def test_sensors_of_the_plant_are_silent_and_machines_are_not():
    X = make_stream("plant", 3).X
    silent = np.isnan(X).mean(axis=0)
    assert silent[:12].min() > 0.02
    assert silent[:12].max() < 0.06
    np.testing.assert_array_equal(X[:, 12:].sum(axis=1), 1.0)


def test_only_the_first_fault_moves():
    still, moved = make_stream("plant", 3), make_stream("plantmove", 3)
    np.testing.assert_array_equal(still.X, moved.X)
    np.testing.assert_array_equal(still.Y[:HALF], moved.Y[:HALF])
    np.testing.assert_array_equal(still.Y[:, 1:], moved.Y[:, 1:])
    assert moved.Y[HALF:, 0].mean() > 2.0 * still.Y[HALF:, 0].mean()
    assert [len(moved.truths[0][name]) for name in ("pressure", "flow")] == [2, 2]
    assert still.truths[1:] == moved.truths[1:]


def test_one_function_of_agrawal_replaces_the_other(monkeypatch):
    monkeypatch.setattr(concept_streams, "HALF", 500)
    monkeypatch.setattr(concept_streams.taken, "__defaults__", (1000,))
    changing, first = (concept_streams.make_stream(name, 3) for name in ("agrawal0to2", "agrawal0"))
    assert len(first.X) == len(changing.X) == 1000
    np.testing.assert_array_equal(changing.X[:500], first.X[:500])
    np.testing.assert_array_equal(changing.Y[:500], first.Y[:500])
    low, high = first.truths[0]["age"]
    age = column(first, "age")
    np.testing.assert_array_equal(first.Y[:, 0] == 1.0, (age < low) | (age > high))


@pytest.mark.parametrize("function", [0, 1, 2])
def test_the_other_columns_of_stagger_say_nothing(function):
    stream = make_stream("stagger", 3 + function)
    true = [stream.features.index(name) for name in stream.truths[0]]
    assert {name.partition("=")[0] for name in stream.truths[0]} == set(STAGGER[function])
    rows = {}
    for row, label in zip(stream.X[:, true].tolist(), stream.Y[:, 0].tolist(), strict=True):
        assert rows.setdefault(tuple(row), label) == label


def test_a_category_becomes_one_column_per_value():
    X, names = one_hot(np.array([[1.0, 5.0], [2.0, 6.0]]), ["kind", "size"], ["kind"])
    assert names == ("kind=1", "kind=2", "size")
    np.testing.assert_array_equal(X, [[1.0, 0.0, 5.0], [0.0, 1.0, 6.0]])


def test_real_sets_are_shuffled_by_the_seed():
    one, other = make_stream("phishing", 1), make_stream("phishing", 2)
    assert one.X.shape == (1250, 9)
    assert not np.array_equal(one.X, other.X)
    np.testing.assert_array_equal(np.sort(one.X, axis=0), np.sort(other.X, axis=0))


def test_scores_of_classes_and_of_labels():
    Y = np.tile([1.0, 0.0], (1000, 1))
    predicted = Y.copy()
    predicted[:SCORED_FROM] = 0.0  # not scored
    predicted[900:] = [1.0, 1.0]
    classes, labels = (Stream(Y, Y, (), (), one) for one in (True, False))
    assert classes.score(predicted) == pytest.approx(700 / 800)
    assert classes.score(predicted, classes.last_quarter) == pytest.approx(150 / 250)
    assert labels.score(predicted) == pytest.approx(0.5)  # 1 for the first label, 0 for the second
