"""Shifts that a learner reports are in the results, with the names of the data set."""

import json

import numpy as np
import pytest

from evolabel import EvolvingFuzzyClassifier
from evolabel.baselines import RunningPrior
from evolabel.core.events import SHIFTS, Event
from evolabel.errors import FileFormatError
from evolabel.evaluate import Results, prequential
from evolabel.evaluate.shifts import Episode, ShiftLog, episodes, event_from_values, event_values, reports_events
from evolabel.streams import Dataset

DRIFT = Event(1004, "drift", None, None, label="pump", before=0.05, after=0.31)
RECOVERED = Event(1240, "recovered", None, None, label="pump", before=0.05, after=0.06, rows=236)
SENSOR = Event(1255, "sensor moved", None, None, feature="temp", before=20.0, after=32.0, deviations=5.0)


@pytest.fixture(scope="module")
def plant():
    """Two labels, of which the second becomes its opposite at row 1,000."""
    X = np.random.default_rng(0).normal(size=(1300, 2))
    Y = (X > 0.0).astype(float)
    Y[1000:, 1] = 1.0 - Y[1000:, 1]
    return Dataset(X, Y, feature_names=("heat", "load"), label_names=("fan", "pump"))


@pytest.fixture(scope="module")
def run(plant):
    seen = []
    learners = {"ours": EvolvingFuzzyClassifier(), "prior": RunningPrior()}
    results = prequential(
        learners, plant, initial=200, metrics="pa", on_event=lambda learner, event: seen.append((learner, event))
    )
    return results, seen


def test_shifts_are_in_the_summary_by_the_names_of_the_data_set(run):
    events = run[0].summary["ours"].events
    assert [(event.kind, event.label) for event in events if event.label] == [("drift", "pump"), ("recovered", "pump")]
    assert 1000 < events[0].sample < 1060
    assert run[0].summary["prior"].events is None


def test_all_events_are_reported_while_it_runs(run):
    results, seen = run
    assert {learner for learner, _ in seen} == {"ours"}
    shifts = tuple(event for _, event in seen if event.kind in SHIFTS)
    assert shifts == results.summary["ours"].events


def test_arrays_keep_the_generated_names(plant):
    results = prequential(EvolvingFuzzyClassifier(), (plant.X, plant.Y), initial=200, metrics="pa")
    assert results.summary["EvolvingFuzzyClassifier"].events[0].label == "label1"


def test_late_labels_are_reported_too(plant):
    results = prequential(EvolvingFuzzyClassifier(), plant, initial=900, metrics="pa", delay=3)
    assert results.summary["EvolvingFuzzyClassifier"].events is not None


@pytest.mark.parametrize("ending", ["json", "jsonl", "parquet"])
def test_shifts_are_written_and_read(run, tmp_path, ending):
    if ending == "parquet":
        pytest.importorskip("pyarrow")
    run[0].write(tmp_path / f"results.{ending}")
    again = Results.read(tmp_path / f"results.{ending}")
    assert again.summary["ours"].events == run[0].summary["ours"].events
    assert again.summary["prior"].events is None


def test_results_of_before_are_read(run, tmp_path):
    file = tmp_path / "results.json"
    run[0].write(file)
    document = json.loads(file.read_text())
    for summary in document["summary"]:
        del summary["events"]
    file.write_text(json.dumps(document))
    assert Results.read(file).summary["ours"].events is None


def test_damaged_shifts_are_refused(run, tmp_path):
    file = tmp_path / "results.json"
    run[0].write(file)
    file.write_text(file.read_text().replace('"deviations"', '"others"'))
    with pytest.raises(FileFormatError):
        Results.read(file)


def test_a_shift_as_values_has_its_text():
    values = event_values(DRIFT)
    assert values["text"] == str(DRIFT)
    assert values["label"] == "pump"
    assert event_from_values(values) == DRIFT


def test_a_drift_is_paired_with_its_recovery():
    assert episodes([DRIFT, SENSOR._replace(sample=1100), RECOVERED]) == [
        Episode("label pump", 1004, "error 0.050 -> 0.310", "recovered after 236 rows"),
        Episode("feature temp", 1100, "+5.0 deviations (20 -> 32)", "readings corrected"),
    ]


def test_labels_are_paired_each_with_its_own():
    other = DRIFT._replace(label="fan", sample=1100)
    settled = RECOVERED._replace(kind="settled", label="fan", rows=2001)
    found = episodes([DRIFT, other, settled, SENSOR._replace(kind="inputs moved"), RECOVERED._replace(label="door")])
    assert [change.outcome for change in found] == [
        "not recovered yet",
        "settled after 2,001 rows",
        "the inputs, not corrected",
    ]


def test_a_renewal_of_the_rules_is_a_change():
    renewed = DRIFT._replace(kind="renewed", label=None, sample=1200, rows=1042)
    assert episodes([renewed]) == [Episode("the rules", 1200, "renewed", "from the last 1,042 rows")]


def test_generated_names_alone_are_replaced():
    log = ShiftLog("ours", ["heat"], ["fan"])
    log(DRIFT._replace(label="label0"))
    log(DRIFT._replace(label="label7"))
    log(SENSOR._replace(feature="x0"))
    log(Event(3, "birth", 1, None))
    assert [(event.label, event.feature) for event in log.shifts] == [("fan", None), ("label7", None), (None, "heat")]


def test_only_learners_that_take_the_function_report():
    class Odd:
        test_then_train = dict.fromkeys

    assert reports_events(EvolvingFuzzyClassifier())
    assert not reports_events(RunningPrior())
    assert not reports_events(Odd())
    assert not reports_events(object())
