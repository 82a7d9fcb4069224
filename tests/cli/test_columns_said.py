"""`evolabel run`, `tune` and `convert` say which columns they take, and doubt 0/1 features and ids."""

import numpy as np
import pytest

from evolabel import EvolvingFuzzyClassifier
from evolabel.cli.classes import ClassLearner
from evolabel.errors import DataWarning
from evolabel.streams import from_csv


@pytest.fixture
def machines(tmp_path):
    """A plant with a text column, a rare label that nobody named, and a time."""
    rng = np.random.default_rng(1)
    rows = [
        (f"2026-01-01 {row % 24:02}:00", f"{heat:.2f}", f"M-{row % 5}", int(heat > 0), int(heat > 1.2), f"S{row:04}")
        for row, heat in enumerate(rng.normal(size=120))
    ]
    lines = ["time,heat,machine,leak,rare,serial", *(",".join(map(str, row)) for row in rows)]
    (tmp_path / "machines.csv").write_text("\n".join(lines) + "\n")
    return tmp_path / "machines.csv"


def test_features_labels_and_columns_left_out_are_listed(command, machines, tmp_path):
    told = command("convert", machines, tmp_path / "m.npz", "--labels", "leak", "--drop", "time,serial")
    assert "features: 3 columns (heat, machine (5 texts), rare); labels: leak; not used: time, serial" in told.err


def test_a_0_1_feature_that_looks_like_a_label_is_named(command, machines, tmp_path):
    options = ("--drop", "time,serial")
    told = command("convert", machines, tmp_path / "m.npz", "--labels", "leak", *options)
    assert "features that are only 0 and 1, as labels are: rare; add labels to --labels" in told.err
    assert "only 0 and 1" not in command("convert", machines, tmp_path / "n.npz", "--labels", "leak,rare", *options).err


def test_counters_and_elapsed_time_are_named_with_the_way_to_use_them(command, tmp_path):
    rows = [(f"2026-01-{1 + row // 24:02} {row % 24:02}:00", row // 2, row % 7, row % 2) for row in range(120)]
    lines = ["time,total,heat,leak", *(",".join(map(str, row)) for row in rows)]
    (tmp_path / "plant.csv").write_text("\n".join(lines) + "\n")
    told = command("convert", tmp_path / "plant.csv", tmp_path / "m.npz", "--labels", "leak", "--time", "time")
    assert (
        "features that only rise or only fall row by row: time_days, total; threshold rules leave them out, "
        "--set threshold_rules=counters splits on them, too" in told.err
    )
    dropped = ("--labels", "leak", "--drop", "time,total")
    assert "only rise" not in command("convert", tmp_path / "plant.csv", tmp_path / "n.npz", *dropped).err


def test_a_table_of_0_and_1_is_no_doubt(command, tmp_path):
    rng = np.random.default_rng(2)
    lines = ["a,b,c,y", *(",".join(map(str, row)) for row in rng.integers(0, 2, (30, 4)))]
    (tmp_path / "words.csv").write_text("\n".join(lines) + "\n")
    assert "only 0 and 1" not in command("convert", tmp_path / "words.csv", tmp_path / "w.npz", "--labels", "y").err


def test_ids_are_reported_where_they_become_features(command, machines, tmp_path):
    told = command("convert", machines, tmp_path / "m.npz", "--labels", "leak", "--drop", "time")
    assert told.code == 0
    assert "column 'serial' has 120 different texts in 120 rows, as ids have" in told.err
    assert ".py" not in told.err
    with pytest.warns(DataWarning, match="as ids have"):
        from_csv(machines, ["leak"], drop=["time"])


def test_ids_in_a_frame_are_reported_too():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"heat": np.arange(40.0), "serial": [f"S{row}" for row in range(40)]})
    with pytest.warns(DataWarning, match="column 'serial' has 40 different texts in 40 rows") as told:
        EvolvingFuzzyClassifier(max_rules=4).fit(frame, np.arange(40)[:, None] % 2)
    assert told[0].filename == __file__


@pytest.mark.parametrize(
    ("option", "labels"),
    [("--label-list", ["hot", "odd"]), ("--class-column", ["hot;odd", "none", "hot", "odd"])],
)
def test_labels_by_name_are_learned_and_kept(command, tmp_path, option, labels):
    X = np.random.default_rng(3).normal(size=(150, 2))
    tags = [";".join(name for name, on in zip(["hot", "odd"], x > 0, strict=True) if on) for x in X]
    if option == "--class-column":
        tags = [tag or "none" for tag in tags]
    lines = ["heat,flow,tags", *(f"{a:.3f},{b:.3f},{tag}" for (a, b), tag in zip(X, tags, strict=True))]
    (tmp_path / "log.csv").write_text("\n".join(lines) + "\n")
    told = command("run", tmp_path / "log.csv", option, "tags", "--out", tmp_path / "r", "--quiet")
    assert told.code == 0, told.err
    model = tmp_path / "r" / "model.safetensors"
    assert sorted(EvolvingFuzzyClassifier.load(model).label_names_) == sorted(labels)
    assert ("for labels use --label-list tags" in told.err) == (option == "--class-column")
    header, *rows = command("predict", model, tmp_path / "log.csv").out.splitlines()
    if option == "--label-list":
        assert sorted(header.split(",")[2:]) == sorted(labels)
        return
    assert header == "row,unfamiliar,class"  # classes exclude each other
    right = [row.split(",")[2] == tag for row, tag in zip(rows, tags, strict=True)]
    assert np.mean(right) > 0.9
    assert EvolvingFuzzyClassifier.load(model).inner.any_model.exclusive
    assert all(name in (tmp_path / "r" / "report.html").read_text() for name in labels)


@pytest.mark.parametrize("options", [("--delay", "5"), ("--initial", "0"), ("--annotated", "0.5"), ("--budget", "0.2")])
def test_classes_of_a_column_come_late_or_not_at_all(command, tmp_path, options):
    x = np.random.default_rng(4).normal(size=120)
    state = np.where(np.arange(120) < 90, np.where(x > 0.0, "hot", "cold"), "new")
    (tmp_path / "log.csv").write_text("\n".join(["x,state", *(f"{a:.3f},{b}" for a, b in zip(x, state, strict=True))]))
    told = command("run", tmp_path / "log.csv", "--class-column", "state", "--quiet", "--json", *options)
    assert told.code == 0, told.err
    assert "classes: cold, hot, new" in told.err


def test_one_class_of_a_column_is_predicted_in_each_row():
    X, names = np.random.default_rng(5).normal(size=(300, 2)), ["a", "b", "c"]
    Y = np.eye(3)[(X > 0.0).sum(axis=1)]
    learner = ClassLearner(EvolvingFuzzyClassifier(), names).fit(X[:100], Y[:100])
    answers = learner.answer_then_train(X[100:], Y[100:])
    np.testing.assert_array_equal(answers.decisions.sum(axis=1), 1)
    np.testing.assert_allclose(answers.probabilities.sum(axis=1), 1.0)
    same = EvolvingFuzzyClassifier().fit(X[:100], np.array(names)[Y[:100].argmax(axis=1)])
    np.testing.assert_array_equal(
        answers.outputs, same.test_then_train(X[100:], np.array(names)[Y[100:].argmax(axis=1)])
    )
    np.testing.assert_array_equal(learner.decision_function(X), same.decision_function(X))
    np.testing.assert_array_equal(learner.predict(X).sum(axis=1), 1)


def test_lists_that_are_read_as_classes_are_reported_once_with_the_option_that_fits(command, tmp_path):
    lines = [f"{row},{('leak', 'bearing', 'leak;bearing')[row % 3]}" for row in range(60)]
    (tmp_path / "tags.csv").write_text("heat,tags\n" + "\n".join(lines) + "\n")
    told = command("run", tmp_path / "tags.csv", "--class-column", "tags", "--quiet")
    assert told.err.count("leak;bearing'") == 1
    assert "for labels use --label-list tags" in told.err


def test_labels_are_given_once(command, machines):
    told = command("run", machines, "--labels", "leak", "--label-list", "machine")
    assert (told.code, "labels are given twice" in told.err) == (2, True)
    told = command("run", "drift", "--time", "time")
    assert (told.code, "has columns of its own" in told.err) == (2, True)
