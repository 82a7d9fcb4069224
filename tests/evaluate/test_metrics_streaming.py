"""However the samples arrive, in rows, batches, blocks or parts, the metric is the same."""

import pickle

import numpy as np
import pytest
from choices import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from metric_streams import FORMS, PLAIN, assert_same_state, growing_streams, streams
from naive import metrics as naive

from evolabel.evaluate.metrics import MacroF1, PartialAccuracy, Sliding, scored_labels

SOME = settings(max_examples=examples(20), deadline=None)
EVERY = pytest.mark.parametrize("metric", [*PLAIN, *FORMS], ids=repr)
PLAIN_ONES = pytest.mark.parametrize("metric", PLAIN, ids=repr)


def fed(metric, samples):
    """A fresh metric that has seen the samples one by one."""
    metric = metric.fresh()
    for y, s in samples:
        metric.update(y, s)
    return metric


@PLAIN_ONES
@SOME
@given(samples=growing_streams())
def test_gaps_and_new_labels_are_judged_as_by_the_book(metric, samples):
    found = fed(metric, samples)
    assert found.get() == pytest.approx(naive.value(metric, samples), rel=1e-12, abs=1e-15, nan_ok=True)
    assert found.n_skipped == naive.skipped(metric, samples)
    assert found.n_samples + found.n_skipped == len(samples)


@EVERY
@SOME
@given(stream=streams())
def test_rows_and_a_batch_give_the_same_bits(metric, stream):
    assert_same_state(fed(metric, zip(*stream, strict=True)), metric.fresh().update(*stream))


@EVERY
@SOME
@given(stream=streams(min_rows=5))
def test_blocks_of_long_batches_do_not_change_the_value(metric, stream):
    whole = metric.fresh().update(*stream)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scored_labels, "_BLOCK_ROWS", 2)
        assert_same_state(metric.fresh().update(*stream), whole)


@EVERY
@SOME
@given(first=growing_streams(), second=growing_streams())
def test_merged_parts_are_the_whole(metric, first, second):
    whole, part = fed(metric, first + second), fed(metric, first)
    later = fed(metric, second)
    before = later.state()
    assert part.merge(later).get() == pytest.approx(whole.get(), rel=1e-12, abs=1e-15, nan_ok=True)
    assert (part.n_samples, part.n_skipped) == (whole.n_samples, whole.n_skipped)
    part.update(*first[0])
    assert part.get() == pytest.approx(whole.update(*first[0]).get(), rel=1e-12, abs=1e-15, nan_ok=True)
    np.testing.assert_equal(later.state(), before)


@EVERY
@SOME
@given(first=growing_streams(), second=growing_streams())
def test_a_restored_metric_goes_on_bit_for_bit(metric, first, second):
    whole = fed(metric, first + second)
    saved = fed(metric, first)
    restored, unpickled = metric.fresh().restore(saved.state()), pickle.loads(pickle.dumps(saved))
    for y, s in second:
        restored.update(y, s)
        unpickled.update(y, s)
    assert_same_state(restored, whole)
    assert_same_state(unpickled, whole)


@EVERY
@SOME
@given(stream=streams())
def test_fresh_metrics_know_the_settings_and_nothing_else(metric, stream):
    used = metric.fresh().update(*stream)
    fresh = used.fresh()
    assert repr(fresh) == repr(metric)
    assert (fresh.name, fresh.bigger_is_better) == (metric.name, metric.bigger_is_better)
    assert np.isnan(fresh.get())
    assert (fresh.n_samples, fresh.n_skipped) == (0, 0)
    assert used.n_samples + used.n_skipped == len(stream[0])


@EVERY
@SOME
@given(stream=streams(), column=st.integers(0, 5))
def test_a_label_without_annotation_might_as_well_not_exist(metric, stream, column):
    Y, S = (np.insert(array, min(column, array.shape[1]), 0.5, axis=1) for array in stream)
    Y[:, min(column, stream[0].shape[1])] = np.nan
    with_it, without = metric.fresh().update(Y, S).get(), metric.fresh().update(*stream).get()
    assert with_it == pytest.approx(without, rel=1e-12, abs=1e-15, nan_ok=True)


def test_a_state_is_a_copy():
    metric = Sliding(PartialAccuracy(), 2).update([1, 0], [1, 1])
    saved = metric.state()
    metric.update([1, 0], [1, 0])
    assert fed(metric, []).restore(saved).get() == 0.5
    assert metric.get() == 0.75


def test_no_rows_change_nothing():
    metric = MacroF1().update(np.empty((0, 3)), np.empty((0, 3)))
    assert np.isnan(metric.get())
    assert metric.n_samples == 0
