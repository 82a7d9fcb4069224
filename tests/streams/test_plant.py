"""A plant with known faults: labels follow the conditions that are printed, gauges and gaps do not change them."""

from itertools import islice

import numpy as np
import pytest

from evolabel.errors import ParameterError
from evolabel.streams import PlantStream
from evolabel.streams.synthetic.plant import GAUGE_MOVES, GAUGE_READS_HIGHER, LIMIT_MOVES, plant_changes, truths

ROWS = 2400


def test_faults_follow_their_conditions_by_the_true_values():
    for number, row in enumerate(islice(PlantStream(gaps=0.0, seed=3), ROWS)):
        readings = row.readings
        pressure = readings["pressure"] - (GAUGE_READS_HIGHER if number >= GAUGE_MOVES else 0.0)
        assert row.faults == {
            "leak": round(pressure, 2) < 5.2 and readings["flow"] > 3.0,
            "overheating": readings["temperature"] > (75.0 if number < LIMIT_MOVES else 70.0),
            "wear": readings["vibration"] > 5.5 and readings["temperature"] > 60.0 and row.pump == "P-03",
        }


def test_gaps_hide_readings_and_change_no_fault():
    whole, gaps = (PlantStream(gaps=share, seed=1).dataset(ROWS) for share in (0.0, 0.2))
    np.testing.assert_array_equal(whole.Y, gaps.Y)
    missing = np.isnan(gaps.X[:, :4])
    assert 0.17 < missing.mean() < 0.23
    np.testing.assert_array_equal(whole.X[:, :4][~missing], gaps.X[:, :4][~missing])
    assert not np.isnan(gaps.X[:, 4:]).any()
    np.testing.assert_array_equal(gaps.X[:, 4:].sum(axis=1), 1.0)


def test_every_fault_is_there_and_one_is_rare():
    shares = PlantStream().dataset(3000).Y.mean(axis=0)
    assert 0.05 < shares[0] < 0.15
    assert 0.05 < shares[1] < 0.15
    assert 0.004 < shares[2] < 0.015


def test_texts_name_every_fault_and_every_change():
    assert list(truths()) == list(PlantStream().dataset(1).label_names)
    assert list(plant_changes()) == [LIMIT_MOVES, GAUGE_MOVES]


@pytest.mark.parametrize("options", [{"gaps": 1.5}, {"seed": -1}])
def test_options_out_of_range_are_refused(options):
    with pytest.raises(ParameterError, match=next(iter(options))):
        PlantStream(**options)
