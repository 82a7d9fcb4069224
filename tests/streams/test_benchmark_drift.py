"""The benchmark of drift: delays of events, the flipped label, means over streams, and its tables."""

import drift
import drift_tables
import numpy as np
import pytest
from drift import AFTER_FLIP, DriftEvent
from drift_streams import HALF, ROWS

EVENTS = [
    DriftEvent(HALF - 10, "drift", 0),
    DriftEvent(HALF + 3, "drift", 1),
    DriftEvent(HALF + 5, "recovered", 0),
    DriftEvent(HALF + 8, "drift", 0),
    DriftEvent(HALF + 90, "recovered", 0),
    DriftEvent(HALF + 95, "drift", 0),
]


def test_a_delay_counts_rows_from_the_drift_to_the_first_event_of_the_label():
    assert drift.delay(EVENTS, "drift", 0, HALF) == 8
    assert drift.delay(EVENTS, "drift", 1, HALF) == 3
    assert drift.delay(EVENTS, "drift", 2, HALF) is None
    assert drift.delay(EVENTS, "settled", 0, HALF) is None
    assert drift.delay([DriftEvent(HALF, "drift", 0)], "drift", 0, HALF) is None  # the last row before the drift
    assert drift.delay([DriftEvent(HALF + 1, "drift", 0)], "drift", 0, HALF) == 1


def test_each_drift_has_the_delay_of_its_first_event_before_the_next_drift():
    events = [
        DriftEvent(row, kind, None) for row, kind in ((90, "drift"), (130, "drift"), (135, "drift"), (320, "drift"))
    ]
    events.append(DriftEvent(301, "sensor moved", None))
    found = drift.first_events(events, (100, 200, 300))
    assert found == {
        "drift": [30, None, 20],
        "sensor moved": [None, None, 1],
        "inputs moved": [None, None, None],
    }
    table = drift_tables.noticed({"a": {"on": [{"noticed": found}] * 2}, "b": {"on": [{}]}})
    assert "4: 25 (20 to 30)" in table
    assert "2: 1 (1 to 1)" in table


def test_the_flipped_label_is_recovered_after_its_drift_was_noticed():
    Y = np.ones((ROWS, 2))
    outputs = Y.copy()
    outputs[HALF : HALF + 350, 0] = 0.0
    found = drift.flipped_label(outputs, Y, EVENTS)
    assert (found["drift"], found["recovered"]) == (8, 90)
    assert {span: found[span] for span in AFTER_FLIP} == pytest.approx(
        {"200-500": 0.5, "500-1000": 1.0, "500-1500": 1.0, "2000-3000": 1.0}
    )
    silent = drift.flipped_label(outputs, Y, EVENTS[:3])
    assert (silent["drift"], silent["recovered"]) == (None, None)


def run(accuracy, after=None):
    return {"accuracy": accuracy, "after": after, "events": {"drift": 1}}


def test_means_leave_out_streams_without_a_drift():
    found = {"a": {"on": [run(0.5, 0.2), run(0.7, 0.4)]}, "b": {"on": [run(0.8), run(0.8)]}}
    assert drift_tables.group_mean(found, "on", "ab") == pytest.approx(0.7)
    assert drift_tables.group_mean(found, "on", "ab", "after") == pytest.approx(0.3)
    assert drift_tables.group_mean(found, "on", "b", "after") is None


def test_runs_are_kept_by_case_by_way_and_in_the_order_of_the_seeds():
    found = drift.in_processes(1, lambda name, seed: {"on": (name, seed), "off": seed}, [("a",), ("b",)])
    assert found["b"] == {"on": [("b", seed) for seed in drift.SEEDS], "off": list(drift.SEEDS)}
    assert list(found) == ["a", "b"]


def streams_of(accuracy, after):
    """Results in which all streams have the same scores; a label flips."""
    spans = {"before": 0.9, **dict.fromkeys(AFTER_FLIP, 0.89), "drift": 12, "recovered": 300}
    names = [name for group in drift_tables.GROUPS.values() for name in group]
    found = {name: {"on": [run(accuracy, after)] * 5, "off": [run(0.6, after)] * 5} for name in names}
    for way in ("on", "off"):
        found["flip"][way] = [run(accuracy, after) | {"flipped": spans}] * 5
    return found


def test_learners_that_lack_streams_are_compared_on_those_that_they_have():
    peers = {"sea": {"tree": run(0.5, 0.4), "forest": run(0.7, 0.6)}, "rbf": {"tree": run(0.6)}}
    lines = drift_tables.beside_peers(peers, streams_of(0.9, 0.8)).splitlines()
    assert "| **mean of 2 of nine** | 0.900 / 0.800 | 0.550 / 0.400 |  |" in lines
    assert "| **mean of 1 of nine** | 0.900 / 0.800 |  | 0.700 / 0.600 |" in lines
