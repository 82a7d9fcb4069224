"""Columns of true and false, and of texts that look like numbers, are shown as what they were in the table."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pytest

from evolabel import EvolvingFuzzyClassifier
from evolabel.cli.columns import coding_of
from evolabel.errors import DataError
from evolabel.streams import from_csv, read_dataset, write_dataset

ROWS = 600


def plant(seed=0):
    """A leak while the pump is on and the pressure is low; a jam in machines of size 8.0."""
    rng = np.random.default_rng(seed)
    on, pressure = rng.random(ROWS) < 0.4, rng.uniform(0.0, 10.0, ROWS)
    size = rng.choice(["8.0", "10.0", "12.0"], ROWS)
    X = pd.DataFrame({"pressure": pressure, "on": on, "size": size})
    Y = pd.DataFrame({"leak": on & (pressure < 5.0), "jam": size == "8.0"}).astype(float)
    return X, Y


def from_file(folder):
    """The classifier of a file, as the command line trains and names it."""
    X, Y = plant()
    X.assign(size=X["size"].radd("s")).join(Y.astype(int)).to_csv(folder / "plant.csv", index=False)
    data = from_csv(folder / "plant.csv", ["leak", "jam"])
    clf = EvolvingFuzzyClassifier().partial_fit(data.X, data.Y)
    return clf.name_columns(data.feature_names, data.label_names, data.kinds)


@pytest.fixture(scope="module")
def clf():
    """For reading only."""
    with pytest.warns(UserWarning, match="numbers stored as texts"):
        return EvolvingFuzzyClassifier().partial_fit(*plant())


def test_threshold_rules_say_true_and_false(clf):
    text = "\n".join(label.text for label in clf.rules_.threshold_rules)
    assert "on is true" in text
    assert not re.search(r"on is (above|below)", text)


@pytest.mark.filterwarnings("ignore:.*numbers stored as texts")
def test_regions_say_so_too():
    text = EvolvingFuzzyClassifier(threshold_rules=False).fit(*plant()).describe(fidelity=1.0).regions.text
    assert re.search(r"on is (sometimes )?(true|false) \(\d+% of its samples\)", text)
    assert re.search(r"size is (not |neither |sometimes )?\d+\.0", text)
    assert not re.search(r"\bon is (not|very|low|medium|high)|size=", text)


@pytest.mark.parametrize("on", [True, False])
def test_an_explanation_names_the_value_and_turns_it_as_a_whole(clf, on):
    x = pd.DataFrame({"pressure": [2.0], "on": [on], "size": ["10.0"]})
    why = clf.explain(x, changes=3)
    assert f"on is {str(on).lower()}" in why.text
    assert f"would turn {'off' if on else 'on'} if on were {str(not on).lower()}" in why.text
    assert not re.search(r"on went from|size=", why.text)
    turned = clf.predict(x.assign(on=not on))[0, 0]
    assert turned != clf.predict(x)[0, 0]


def test_words_survive_a_file(clf, tmp_path):
    clf.save(tmp_path / "model")
    assert EvolvingFuzzyClassifier.load(tmp_path / "model").rules_.text == clf.rules_.text


def test_a_csv_file_and_its_copies_say_so_as_well(tmp_path):
    clf = from_file(tmp_path)
    assert "on is true" in clf.rules_.text + clf.rules_.regions.text
    data = read_dataset(tmp_path / "plant.csv", ["leak", "jam"])
    assert data.kinds.flags == ("on",)
    write_dataset(data, tmp_path / "plant.npz")
    assert read_dataset(tmp_path / "plant.npz").kinds == data.kinds
    assert coding_of(data).flags == ("on",)


@pytest.mark.parametrize("form", ["pandas", "polars", "pandas with gaps", "no texts"])
def test_which_columns_are_true_and_false_comes_from_the_frame(form):
    X, Y = plant()
    X = X.assign(zero=(X["pressure"] > 3.0).astype(float), size=X["size"].radd("s"))
    if form == "pandas with gaps":
        X["on"] = X["on"].astype(object).where(X["pressure"] > 1.0, None)
    if form == "no texts":
        X = X.drop(columns="size")
    frame = pl.from_pandas(X) if form == "polars" else X
    clf = EvolvingFuzzyClassifier().fit(frame, Y)
    assert clf.inner.columns.flags == ("on",)


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("on IS true", "on IS true"),
        ("on is false", "on IS false"),
        ("on IS NOT true", "on IS false"),
        ("on IS yes", "on IS true"),
        ({"on": True}, "on IS true"),
        ({"on": "false"}, "on IS false"),
    ],
)
@pytest.mark.parametrize("threshold_rules", [True, False])
def test_a_person_writes_true_and_false(said, meant, threshold_rules):
    X, Y = plant()
    book = EvolvingFuzzyClassifier(threshold_rules=threshold_rules, max_rules=6).fit(X[["pressure", "on"]], Y).rulebook
    form = f"IF {said} THEN jam 70%" if isinstance(said, str) else {"if": said, "then": {"jam": 0.7}}
    read = book.form(book.add(form))
    assert str(read) == f"IF {meant} THEN jam 70% WITH CONFIDENCE 1 WEIGHT 20"
    assert book.form(book.add(str(read))) == read
    if threshold_rules:
        rows = pd.DataFrame({"pressure": [5.0, 5.0], "on": [True, False]})
        answers = book._classifier.decision_function(rows)[:, 1]
        assert (answers == 0.7).tolist() == [meant.endswith("true"), meant.endswith("false")]


@pytest.mark.parametrize("said", ["on IS high", "on IS open", "on IS true OR false", "on IS missing"])
def test_other_words_for_a_flag_are_refused_by_name(clf, said):
    with pytest.raises(DataError, match=r"on is true or false; write on IS true|missing"):
        clf.rulebook.add(f"IF {said} THEN jam LIKELY")


def test_a_printed_threshold_rule_is_read_back(clf):
    printed = next(
        rule.text for label in clf.rules_.threshold_rules for rule in label.rules if "on is true" in rule.text
    )
    X, Y = plant()
    with pytest.warns(UserWarning, match="numbers stored as texts"):
        other = EvolvingFuzzyClassifier().partial_fit(X, Y)
    form = str(other.rulebook.form(other.rulebook.add(printed)))
    assert "on IS true" in form
