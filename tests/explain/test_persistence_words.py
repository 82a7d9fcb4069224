"""That answers persist is printed where they do, and nowhere else."""

import json

import numpy as np
import pytest
from following import bent_stream, in_runs

from evolabel import EvolvingFuzzyClassifier
from evolabel.explain.rule_set import persistence_lines

pytestmark = pytest.mark.compiled


@pytest.mark.parametrize(
    ("independent", "words"),
    [
        ({}, []),
        ({"a": 1.0, "b": 1.0}, []),
        ({"a": 0.04}, ["1,000 rows count for 40."]),
        ({"a": 0.0004, "b": 0.0002}, ["1,000 rows count for 1."]),
        ({"a": 0.04, "b": 0.2101}, ["1,000 rows count for 40 (a), 210 (b)."]),
        ({"a": 1.0, "b": 0.04}, ["1,000 rows count for 40 (b), 1,000 (all other labels)."]),
        (
            {name: (i + 1) / 10.0 for i, name in enumerate("abcdefg")},
            ["1,000 rows count for 100 (a), 200 (b), 300 (c), 400 (d), 500 (e), 600 or more (all other labels)."],
        ),
    ],
)
def test_a_line_names_the_labels_whose_answers_persist(independent, words):
    assert persistence_lines(independent) == [f"Answers persist: {line}" for line in words]


def test_the_rules_and_the_drift_say_that_answers_persist():
    X, Y = in_runs(*bent_stream(2000, seed=1, K=2), 60)
    clf = EvolvingFuzzyClassifier(max_rules=8).partial_fit(X, Y)
    persists, varies = clf.drift_.values()
    assert 0.01 < persists.independent < 0.05
    assert varies.independent == 1.0
    rows = round(1000 * persists.independent)
    line = f"Answers persist: 1,000 rows count for {rows} (label0), 1,000 (all other labels)."
    for text in (clf.rules_.text, clf.rules_.top(2).markdown(), clf.rules_.html(), clf.describe(X[:40]).text):
        assert line in text
    assert "Answers persist" not in clf.rules_.top(2, "label1").text
    assert str(persists).endswith(f"; 1,000 answers count for {rows}")
    assert "answers count" not in str(varies)
    stored = json.loads(json.dumps(clf.rules_.to_dict()))["independent_answers"]
    assert stored == {"label0": persists.independent, "label1": 1.0}


def test_classes_have_one_figure_also_where_drift_is_not_followed():
    X, Y = in_runs(*bent_stream(2000, seed=2, K=1), 60)
    y = np.array(["off", "on"])[Y[:, 0].astype(int)]
    found = [EvolvingFuzzyClassifier(max_rules=8, follow_drift=f).partial_fit(X, y).drift_ for f in (True, False)]
    for drift in found:
        assert drift["on"].independent == drift["off"].independent < 0.05
    alone = EvolvingFuzzyClassifier(max_rules=8, follow_drift=False, threshold_rules=False).partial_fit(X, y)
    assert alone.drift_["on"].independent == 1.0  # no part counts answers
    assert "Answers persist" not in alone.rules_.text


def test_nothing_is_said_where_answers_come_as_if_at_random():
    X, Y = bent_stream(1500, seed=3, K=2)
    assert "Answers persist" not in EvolvingFuzzyClassifier(max_rules=8).partial_fit(X, Y).rules_.text
