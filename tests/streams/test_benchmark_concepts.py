"""The benchmark of threshold rules: how rules are read, what is continued, and tables."""

import concept_peers
import concept_tables
import concepts
import numpy as np
import pytest
from concept_reading import Bounds, reading
from concept_streams import NAMES, Stream
from shared import result_files

INF = float("inf")


def two_features(*truths, labels=("leak",), one_label=False):
    """Rows in which the 1 % and the 99 % quantile are 100 apart, of a number and of a category."""
    X = np.c_[np.linspace(0.0, 100.0 / 0.98, 1001), np.tile([0.0, 1.0], 501)[:1001]]
    return Stream(X, np.zeros((1001, len(labels))), ("flow", "machine=M-01"), labels, one_label, truths)


def test_conditions_that_name_true_features_and_errors_of_their_edges():
    stream = two_features({"flow": (20.0, 60.0), "machine=M-01": ()}, {"flow": (50.0,)}, labels=("leak", "wear"))
    rules = {
        "leak": [
            [Bounds("flow", 21.0, 57.0), Bounds("machine", 0.5, INF)],
            [Bounds("flow", 57.0, INF), Bounds("machine=M-01", -INF, 0.5), Bounds("speed", 3.0, INF)],
        ],
        "wear": [[Bounds("flow", 52.0, INF), Bounds("machine", 0.5, INF)]],
    }
    found = reading(stream, rules)
    assert (found["rules"], found["conditions"], found["true"]) == (3, 7, 5)
    assert found["errors"] == pytest.approx([1.0, 3.0, 3.0, 2.0])


def test_both_classes_of_a_binary_problem_have_the_same_truth():
    stream = two_features({"flow": (20.0,)}, labels=("1",), one_label=True)
    found = reading(stream, {"0": [[Bounds("flow", -INF, 20.0)]], "1": [[Bounds("flow", 20.0, INF)]]})
    assert found == {"rules": 2, "conditions": 2, "true": 2, "errors": [0.0, 0.0]}
    assert reading(stream, {}) == {"rules": 0, "conditions": 0, "true": 0, "errors": []}


def test_a_run_that_was_stopped_is_continued(tmp_path, monkeypatch):
    monkeypatch.setattr(result_files, "FOLDER", tmp_path)
    measured = []

    def measure(name, seed):
        if name == "breaks":
            raise RuntimeError
        measured.append((name, seed))
        return {"seed": seed}

    cases = [("a", 13), ("a", 14), ("b", 13)]
    monkeypatch.setitem(concepts.PARTS, "part", concepts.Part([*cases[:2], ("breaks", 13)], measure))
    with pytest.raises(RuntimeError):
        concepts.run_part("part", 1, again=False)
    monkeypatch.setitem(concepts.PARTS, "part", concepts.Part(cases, measure))
    concepts.run_part("part", 1, again=False)
    assert measured == cases
    assert concepts.known()["part"] == {"a": {"13": {"seed": 13}, "14": {"seed": 14}}, "b": {"13": {"seed": 13}}}
    concepts.run_part("part", 1, again=True)
    assert measured == cases * 2


@pytest.mark.parametrize("change", concepts.CHANGES)
def test_changes_keep_the_rows_of_the_stream(change):
    rng = np.random.default_rng(0)
    Y = np.asarray(rng.random((1000, 2)) < 0.5, np.float64)
    stream = Stream(rng.random((1000, 2)), Y, ("x0", "x1"), ("a", "b"), False, ({"x1": (0.5,)}, {"x0": (0.5,)}))
    rows = concepts.CHANGES[change](stream, 13)
    X, target = rows.X[rows.first], rows.target[rows.first]
    np.testing.assert_array_equal(np.where(np.isnan(X), stream.X, X), stream.X)
    np.testing.assert_array_equal(np.where(np.isnan(target), Y, target), Y)
    hidden = {"labels missing 0.5": 0.5, "labels missing 0.8": 0.8, "label 0 appears at half": 0.25}
    assert np.isnan(target).mean() == pytest.approx(hidden.get(change, 0.0), abs=0.03)
    assert np.isnan(X).mean() == (0.25 if change.startswith("features") else 0.0)
    copies = concepts.weights_of(stream, 13).sum()
    assert len(rows.X) == len(rows.target) == (copies if change == "rows repeated" else 1000)


def runs(score, last=None, off=0.6):
    one = {"on": {"score": score, "last quarter": last or score}, "off": {"score": off, "last quarter": off}}
    return {str(seed): one for seed in concepts.SEEDS}


def all_streams(score, **others):
    return {name: runs(others.get(name, score), off=0.6) for name in NAMES}


def test_every_part_has_a_table(tmp_path, monkeypatch):
    monkeypatch.setattr(result_files, "FOLDER", tmp_path)
    read = {"rules": 4, "conditions": 20, "true": 19, "errors": [0.1, 0.3]}
    time = {"us": 10.0, "longest_ms": 1.0}
    product = {
        "streams": all_streams(0.9),
        "reading": {"xor": {"13": read}},
        "sets": {"birds": {"13": {way: {"pa": 0.9, "ap": 0.5} for way in ("on", "off")}}},
        "time": {"xor": {"13": {"features": 8, "labels": 2, "on": time, "off": time}}},
        "missing": {"plant": {"13": {"all": runs(0.8)["13"]}}},
    }
    result_files.write("concepts", product)
    result_files.write("concepts_peers", {"streams": {"xor": {str(s): {"tree": {"score": 0.7}} for s in (13, 14)}}})
    text = concept_tables.all_tables()
    for line in (
        "| XOR, 2 of 8 | 19 of 20 (95.0%) | 0.20 / 0.20 | 4.0 |",
        "| birds | 0.9000 / 0.5000 | 0.9000 / 0.5000 | +0.00000 / +0.00000 |",
        "| xor | 8 x 2 | 10.0 | 10.0 | 0.0 | 0.00 | 1.00 | 1.00 |",
        "| all | 0.600 / 0.600 | 0.800 / 0.800 |",
        "| **mean difference, with - peer** |  |  | +0.2000 ± 0.0000 (1 stream, 2 seeds) |",
    ):
        assert line in text.splitlines()


def test_seeds_that_lack_a_learner_on_a_stream_are_no_whole_seeds():
    both, one = {"tree": {"score": 0.7}, "forest": {"score": 0.8}}, {"tree": {"score": 0.7}}
    peers = {"xor": {"13": both, "14": both}, "sine": {"13": both, "14": one}}
    assert concept_tables.whole_seeds(peers) == ["13"]
    assert "| XOR, 2 of 8 | 0.9000 | 0.6000 |" not in concept_tables.beside_peers(peers, {})
    lines = concept_tables.beside_peers(peers, all_streams(0.9)).splitlines()
    assert "| XOR, 2 of 8 | 0.6000 | 0.9000 | 0.7000 | 0.8000 |" in lines
    assert lines[-1].endswith("| +0.2000 ± 0.0000 (2 streams, 2 seeds) | +0.1000 (2 streams, 1 seed) |")


def test_simple_peers_use_the_classes_before_a_row_alone():
    classes = np.array([2, 1, 1, 1, 2, 2])
    np.testing.assert_array_equal(concept_peers.no_change(classes, classes, 0), [2, 2, 1, 1, 1, 2])
    np.testing.assert_array_equal(concept_peers.majority(classes, classes, 0), [2, 2, 1, 1, 1, 1])
