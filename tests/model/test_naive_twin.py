"""The compiled stream loop against its naive twin: same answers, same rules, same story."""

from collections import Counter

import numpy as np
import pytest
from choices import pairs
from naive import learn as naive
from small_rule_bases import (
    NO_ROWS,
    NOTHING,
    assert_close,
    assert_same_rules,
    empty_twin,
    make_settings,
    make_stream,
    naive_of,
    with_gaps,
)

from evolabel.core.options import Options
from evolabel.core.rows import Batch
from evolabel.model.start.batch_phase import initialise
from evolabel.model.stream_model import StreamModel
from evolabel.stages.rules.stage import RuleBase
from evolabel.streams import DriftingStream

UNEVEN = np.array([[1.0, 1.0, 1.0, 1.0], [0.3, 0.7, 1.0, 2.0]])  # prior variances, weights of the features

# name: settings, shares of missing features and labels, sample weights?, confidences?
STREAMS = {
    "plain": ({}, 0.0, 0.0, False, False),
    "merges": ({"novel_z": 2.0}, 0.0, 0.0, False, False),
    "deaths": ({"max_rules": 12, "radius": 0.3, "prune_after": 20}, 0.0, 0.0, False, False),
    "missing features": ({"novel_z": 2.0}, 0.2, 0.0, False, False),
    "partial labels": ({"novel_z": 2.0}, 0.0, 0.3, False, False),
    "weights": ({"novel_z": 2.0}, 0.0, 0.0, True, False),
    "confidences": ({"novel_z": 2.0}, 0.0, 0.0, False, True),
    "upkeep": ({"novel_z": 2.0, "upkeep_every": 8}, 0.0, 0.0, False, False),
    "every rule answers": ({"min_activation": 0.0}, 0.0, 0.0, False, False),
    "calm rules": ({"novel_z": 2.0}, 0.1, 0.3, False, False),
    "fixed rules": ({"radius": 0.05, "novel_z": 2.0}, 0.0, 0.3, False, False),
    "weighted features": ({"novel_z": 2.0, "metric": UNEVEN}, 0.2, 0.1, False, False),
    "one rule": ({"max_rules": 1}, 0.1, 0.1, True, True),
    "everything": (
        {
            "max_rules": 6,
            "radius": 0.3,
            "novel_z": 2.0,
            "prune_after": 20,
            "min_support": 8.0,
            "upkeep_every": 8,
        },
        0.1,
        0.3,
        True,
        True,
    ),
}

MOBILITY = {"calm rules": 0.3, "fixed rules": 0.0}


def stream_of(name, seed, rows=150):
    """Settings and a stream (Z, Y, weights, confidences)."""
    changes, features, labels, weighted, unsure = STREAMS[name]
    rng = np.random.default_rng(seed)
    Z, Y = with_gaps(*make_stream(seed, rows), seed, features, labels)
    if labels:
        Y[::13] = np.nan
    weights = np.where(np.arange(rows) % 17 == 3, 0.0, rng.exponential(size=rows)) if weighted else NOTHING
    confidences = np.where(rng.random(Y.shape) < 0.7, 1.0, rng.random(Y.shape)) if unsure else NO_ROWS
    return make_settings(4, **changes), (Z, Y, weights, confidences)


@pytest.mark.parametrize(("name", "seed"), pairs(STREAMS, [2, 3]))
def test_the_loop_equals_its_naive_twin(name, seed):
    settings, (Z, Y, weights, confidences) = stream_of(name, seed)
    base, out = RuleBase(4, 3, settings), np.empty(Y.shape)
    base.antecedent_rate = MOBILITY.get(name, 1.0)
    twin = empty_twin(base)
    base.learn(Batch(Z, Y, weights=weights, confidences=confidences, outputs=out))
    assert_close(out, naive.learn_rows(Z, Y, weights, confidences, twin), 1e-8)
    assert_same_rules(base, twin, 1e-8)
    assert_close(base.outputs(Z[:20]), naive.output_rows(Z[:20], twin), 1e-8)
    for slot in range(1, base.n_rules + 1):
        assert_close(base.weights(slot), naive.solved_weights(twin.rules[slot - 1], twin), 1e-8)


def test_the_streams_above_have_births_merges_and_deaths():
    kinds = {}
    for name in STREAMS:
        settings, stream = stream_of(name, seed=2)
        base = RuleBase(4, 3, settings)
        base.learn(Batch(*stream))
        kinds[name] = Counter(event.kind for event in base.events)
    assert all(count["birth"] > 1 for name, count in kinds.items() if name != "one rule")
    assert kinds["one rule"] == {"birth": 1}
    assert kinds["merges"]["merge"] > 3
    assert kinds["deaths"]["death"] > 1
    assert kinds["everything"]["merge"] > 1
    assert kinds["everything"]["death"] > 1


@pytest.mark.parametrize("cuts", [[1, 2, 3], [100], list(range(7, 150, 7))], ids=["at first", "once", "often"])
def test_cutting_the_stream_into_calls_makes_no_difference(cuts):
    settings, stream = stream_of("everything", seed=5)
    whole, parts = RuleBase(4, 3, settings), RuleBase(4, 3, settings)
    whole.learn(Batch(*stream))
    for part in zip(*(np.split(array, cuts) for array in stream), strict=True):
        parts.learn(Batch(*part))
    assert list(whole.events) == list(parts.events)
    for name, array in whole.arrays._asdict().items():
        np.testing.assert_array_equal(getattr(parts.arrays, name), array, err_msg=name)


def test_batch_phase_and_stream_equal_their_naive_twin():
    X, Y = with_gaps(*DriftingStream(n_features=4, n_labels=3, drift_every=70, seed=4).take(220), seed=4)
    parameters = {"max_rules": 6, "novel_z": 2.5, "prune_after": 40}
    rules_alone = {"follow_drift": False, "threshold_rules": False, "memory": None}
    model = StreamModel(4, 3, Options(**parameters, **rules_alone))
    model.fit(Batch(X[:100], Y[:100]))
    Z = model.scale(X)
    twin = empty_twin(model.trained())
    naive.learn_rows(Z[:100], Y[:100], NOTHING, NO_ROWS, twin, consequents=False)
    naive.learn_rows(Z[:100], Y[:100], NOTHING, NO_ROWS, twin, structure=False)
    assert_same_rules(model.trained(), twin, 1e-8)
    out = np.empty((120, 3))
    model.learn(Batch(X[100:], Y[100:], outputs=out))
    assert_close(out, naive.learn_rows(Z[100:], Y[100:], NOTHING, NO_ROWS, twin), 1e-8)
    assert_same_rules(model.trained(), twin, 1e-8)


def test_rows_without_an_answer_only_count_as_seen():
    settings, (Z, Y, _, _) = stream_of("plain", seed=1)
    base = RuleBase(4, 3, settings)
    base.learn(Batch(Z[:100], Y[:100]))
    before = naive_of(base)
    base.learn(Batch(Z[100:110], np.full((10, 3), np.nan)))
    base.learn(Batch(Z[110:115], Y[110:115], weights=np.zeros(5)))
    before.seen += 15
    assert_same_rules(base, before, 0.0)


def test_answers_while_only_the_structure_is_learned():
    settings, (Z, Y, _, _) = stream_of("plain", seed=1)
    base = RuleBase(4, 3, settings)
    base.learn(Batch(Z[:100], Y[:100]))
    expected, out = base.outputs(Z[100:101]), np.empty((1, 3))
    base.learn(Batch(Z[100:101], Y[100:101], outputs=out), consequents=False)
    assert_close(out, expected, 1e-8)


def test_learning_consequents_leaves_the_structure_alone():
    X, Y = DriftingStream(n_features=4, n_labels=3, drift_every=60, seed=1).take(300)
    model = StreamModel(4, 3, Options(prune_after=30, follow_drift=False))
    initialise(model, Batch(X, Y))
    base, Z = model.trained(), model.scale(X)
    base.learn(Batch(Z, Y), consequents=False)
    events = list(base.events)
    base.learn(Batch(Z, Y), structure=False)
    assert list(base.events) == events
