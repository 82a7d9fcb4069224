"""A learner on a model with a column of timestamps: samples with times, and questions that show them."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pandas as pd
import pytest

from evolabel import EvolvingFuzzyClassifier
from evolabel.active import ActiveLearner
from evolabel.errors import DataError
from evolabel.streams import from_csv

TIMES = [datetime(2026, 3, 1, 8) + timedelta(minutes=7 * i) for i in range(120)]


@pytest.fixture(scope="module")
def learner(tmp_path_factory):
    path = tmp_path_factory.mktemp("plant") / "plant.csv"
    rows = [f"{time},{i % 9},{int(i % 9 > 4)}" for i, time in enumerate(TIMES)]
    path.write_text("\n".join(["time,heat,leak", *rows]) + "\n")
    data = from_csv(path, ["leak"], time=["time"])
    clf = EvolvingFuzzyClassifier().fit(data.X, data.Y)
    return ActiveLearner(clf.name_columns(data.feature_names, data.label_names, data.kinds))


@pytest.mark.parametrize(
    "time",
    [
        "2026-03-02 09:41:30",
        datetime(2026, 3, 2, 9, 41, 30),
        pd.Timestamp("2026-03-02 09:41:30"),
        np.datetime64("2026-03-02T09:41:30"),
        np.datetime64("2026-03-02T09:41:30", "ns"),
    ],
    ids=lambda time: type(time).__name__,
)
def test_a_time_in_a_dictionary_is_read_and_shown_whole(learner, time):
    query = learner.query({"time": time, "heat": 3.0})
    np.testing.assert_allclose(query.x, [9 + 41.5 / 60, 0, 1 + (1 * 60 + 41.5) / 1440, 3.0])
    assert "time = 2026-03-02 09:41:30, heat = 3" in str(query)


@pytest.mark.parametrize("time", [None, pd.NaT, np.datetime64("NaT")])
def test_a_missing_time_is_left_out(learner, time):
    query = learner.query({"time": time, "heat": 3.0})
    assert np.isnan(query.x[:3]).all()
    assert "time" not in str(query)


def test_a_time_where_a_number_is_expected_is_refused(learner):
    with pytest.raises(DataError, match=r"'heat' is .*; pass a number or a text"):
        learner.query({"time": TIMES[0], "heat": TIMES[0]})
    with pytest.raises(DataError, match="with a time zone, those before have none"):
        learner.query({"time": TIMES[0].replace(tzinfo=UTC), "heat": 3.0})
