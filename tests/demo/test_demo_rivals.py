"""Rivals of the demonstration predict rows before they learn them; slow ones have the scores of an earlier run."""

import numpy as np
import pytest

from evolabel.demo.rivals import LOGISTIC, RIVALS, boosted, measure, measured
from evolabel.demo.standing import SCORED_FROM
from evolabel.streams import PlantStream

ROWS = PlantStream(seed=5).dataset(SCORED_FROM + 300)


def test_boosting_answers_every_row_from_rows_before():
    outputs = np.vstack(list(boosted(ROWS)))
    assert outputs.shape == (300, 3)
    changed = PlantStream(seed=5).dataset(SCORED_FROM + 300)
    changed.Y[SCORED_FROM + 250 :] = 1.0
    np.testing.assert_array_equal(outputs, np.vstack(list(boosted(changed))))


def test_a_rival_that_takes_too_long_has_no_scores():
    pytest.importorskip("river")
    assert measure(LOGISTIC, ROWS, most=0.0) is None
    found = measure(LOGISTIC, ROWS, most=np.inf)
    assert 0.0 < found.accuracy.low <= found.accuracy.high <= 1.0


def test_the_results_file_has_every_rival():
    found = measured()
    assert found.keys() == RIVALS.keys()
    assert all(0.0 < one.macro_f1.low < one.macro_f1.high < 1.0 for one in found.values())
