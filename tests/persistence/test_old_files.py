"""Files of every schema load, answer as before and learn on; or the error names the version that reads them."""

import gzip
import json

import numpy as np
import pytest
from persistence import written_schema
from persistence.files.make_files import HERE, stream

from evolabel import EvolvingFuzzyClassifier, __version__
from evolabel.active import ActiveLearner
from evolabel.active.storage import classifier_in
from evolabel.errors import DataWarning, ModelFileError, StateError
from evolabel.model import pipeline
from evolabel.paper import PaperClassifier
from evolabel.persistence.model_file import read_model_bytes, write_model_file
from evolabel.persistence.schemas import SCHEMA, STEPS

pytestmark = pytest.mark.filterwarnings("ignore:X does not have valid feature names")  # the models have names

NAMES = sorted(file.stem for file in HERE.glob("schema-*.json"))
WITHOUT_FIRST_TREE = {name for name in NAMES if name < "schema-5"}
UNREADABLE = HERE / "schema-1-of-16-november-classifier.gz"


@pytest.fixture
def unpacked(tmp_path):
    """Put the contents of a stored file to disk, with changes; return where."""

    def write(file, **changes):
        path, contents = tmp_path / "model", gzip.decompress(file.read_bytes())
        path.write_bytes(contents)
        if changes:
            arrays, manifest = read_model_bytes(contents)
            write_model_file(path, arrays, {**manifest, **changes})
        return path

    return write


def load(path, kind):
    return (ActiveLearner if kind == "learner" else EvolvingFuzzyClassifier).load(path)


def learn_on(model, kind):
    """Learn 300 further rows, and return the share of labels that are right in the last 100."""
    X, Y = stream(400)
    for x, y in zip(X[100:], Y[100:], strict=True):
        if kind == "learner":
            query = model.query(x)
            model.update(query, y if query.asked else None)
        else:
            model.partial_fit(x[None], y[None])
    return (model.predict(X[300:]) == Y[300:]).mean()


def test_there_are_files_of_every_schema():
    held = {json.loads(read_header(file))["schema"] for file in HERE.glob("*.gz")}
    assert held == set(range(1, SCHEMA + 1))
    assert set(STEPS) == set(range(1, SCHEMA))


def read_header(file):
    """The manifest of a stored file as it was written."""
    contents = gzip.decompress(file.read_bytes())
    header = json.loads(contents[8 : 8 + int.from_bytes(contents[:8], "little")])
    return header["__metadata__"]["evolabel"]


@pytest.mark.parametrize("kind", ["classifier", "warming", "learner"])
@pytest.mark.parametrize("name", NAMES)
def test_a_file_answers_as_the_version_that_wrote_it_and_learns_on(name, kind, unpacked, tmp_path, monkeypatch):
    if name in WITHOUT_FIRST_TREE and kind == "warming":  # its rows are answered by what is learned from them now
        monkeypatch.setattr(pipeline, "first_tree_of", lambda *_, **__: None)
    model = load(unpacked(HERE / f"{name}-{kind}.gz"), kind)
    said, X = json.loads((HERE / f"{name}.json").read_text())[kind], stream(120)[0][100:]
    np.testing.assert_allclose(model.decision_function(X), said["outputs"], rtol=0.0, atol=1e-9)
    if "probabilities" in said:
        np.testing.assert_allclose(model.predict_proba(X), said["probabilities"], rtol=0.0, atol=1e-9)
    model.save(tmp_path / "again")
    again = load(tmp_path / "again", kind)
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    assert learn_on(model, kind) > 0.85


def test_a_file_with_the_first_number_and_all_arrays_loads(unpacked):
    path = unpacked(HERE / "schema-2-classifier.gz")
    arrays, manifest = read_model_bytes(path.read_bytes())
    of_that_time = {name.replace("sensors.", "members."): array for name, array in arrays.items()}
    write_model_file(path, of_that_time, {**manifest, "schema": 1})
    assert EvolvingFuzzyClassifier.load(path).n_rules_ > 0


def test_the_error_about_a_file_that_lacks_too_much_names_its_version(unpacked):
    with pytest.raises(ModelFileError) as error:
        EvolvingFuzzyClassifier.load(unpacked(UNREADABLE))
    assert "class_weight is missing" in str(error.value)
    assert f"it has schema 1, this version writes schema {SCHEMA}" in str(error.value)
    assert "load it with the development version of 17 November 2026 or before that wrote it" in str(error.value)
    assert "restore" not in str(error.value)


def test_later_files_name_the_version_that_wrote_them(unpacked):
    path = unpacked(HERE / f"schema-{SCHEMA}-classifier.gz", schema=1, evolabel="0.7.1", model={})
    with pytest.raises(ModelFileError, match=r"load it with evolabel 0\.7\.1, or fit the model anew"):
        EvolvingFuzzyClassifier.load(path)


def test_a_newer_file_names_both_numbers_and_the_version_to_upgrade_to(unpacked):
    path = unpacked(HERE / f"schema-{SCHEMA}-learner.gz", schema=SCHEMA + 1, evolabel="0.9")
    with pytest.raises(ModelFileError) as error:
        ActiveLearner.load(path)
    told = str(error.value)
    assert f"has schema {SCHEMA + 1}, and evolabel {__version__} reads schemas up to {SCHEMA}" in told
    assert told.endswith("; upgrade to evolabel 0.9")


@pytest.mark.parametrize("version", ["two\nlines", 3, None, "9" * 90])
def test_a_version_that_is_none_is_not_repeated(unpacked, version):
    path = unpacked(HERE / f"schema-{SCHEMA}-learner.gz", schema=SCHEMA + 1, evolabel=version)
    with pytest.raises(ModelFileError, match=r"upgrade to the version that wrote it$"):
        ActiveLearner.load(path)


@pytest.mark.parametrize("name", ["members.readings", "members.alarms", "thresholds.alarms", "members.reversal"])
@pytest.mark.parametrize("shape", [(), (0,), (1, 1, 1, 1)])
def test_an_old_array_of_another_shape_is_refused(name, shape, unpacked):
    path = unpacked(HERE / "schema-1-of-18-november-classifier.gz")
    arrays, manifest = read_model_bytes(path.read_bytes())
    write_model_file(path, {**arrays, name: np.ones(shape)}, manifest)
    with pytest.raises(ModelFileError, match="it has schema 1"):
        EvolvingFuzzyClassifier.load(path)


def test_arrays_and_facts_are_those_of_the_number():
    """Another set of arrays or facts needs another number, a step from this one, and files: see files/README.md."""
    assert written_schema.lines() == written_schema.FILE.read_text().splitlines()


PARAMETERS = HERE / "parameters-of-schema-2"


def with_parameters(name, unpacked):
    """The model in the file of schema 2 with the parameters `name`, and what it answered there."""
    path = unpacked(PARAMETERS.with_name(f"{PARAMETERS.name}-{name}.gz"))
    model = (ActiveLearner if name == "paper-learner" else EvolvingFuzzyClassifier).load(path)
    said = json.loads(PARAMETERS.with_suffix(".json").read_text())[name]["outputs"]
    np.testing.assert_allclose(model.decision_function(stream(120)[0][100:]), said, rtol=0.0, atol=1e-9)
    return model


def test_a_classifier_with_formulas_of_the_paper_becomes_one_of_the_paper(unpacked):
    paper = with_parameters("paper", unpacked)
    assert type(paper) is PaperClassifier
    assert paper.get_params() == PaperClassifier(max_rules=2).get_params()
    assert learn_on(paper, "classifier") > 0.8
    coupled = with_parameters("coupled", unpacked)
    assert (type(coupled), coupled.beta, coupled.covariance, coupled.ridge) == (PaperClassifier, 1.0, "diag", "press")


def test_a_learner_with_formulas_of_the_paper_has_a_classifier_of_the_paper(unpacked, tmp_path):
    learner = with_parameters("paper-learner", unpacked)
    assert type(learner.classifier) is PaperClassifier
    learner.save(tmp_path / "again")
    assert type(ActiveLearner.load(tmp_path / "again").classifier) is PaperClassifier
    assert type(classifier_in((tmp_path / "again").read_bytes(), "again")) is PaperClassifier


def test_a_trained_classifier_keeps_its_knots_and_another_number_is_for_trained_ones_only(unpacked):
    trained = with_parameters("knots", unpacked)
    assert type(trained) is EvolvingFuzzyClassifier
    assert trained.inner.any_model.scaler.x.shape == (2, 8)
    assert learn_on(trained, "classifier") > 0.85


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("rotated", "it has covariance='full' with follow_drift=True, and PaperClassifier has no follow_drift"),
        ("spread", "it has another prior_variance than 1.0, which is a constant now"),
        ("few-knots", "it is not trained yet and has another n_knots than 16, which is a constant now"),
    ],
)
def test_parameters_that_no_classifier_has_any_more_are_named_with_the_version_that_has_them(name, why, unpacked):
    with pytest.raises(ModelFileError) as error:
        with_parameters(name, unpacked)
    told = str(error.value)
    assert f"cannot be read ({why}); it has schema 2, this version writes schema {SCHEMA}; load it with the" in told
    assert told.endswith("development version of 19 November 2026 or before that wrote it, or fit the model anew")


@pytest.fixture
def regions(unpacked):
    """The classifier in a file of rules of a person that were regions, after a warning about one of them."""
    with pytest.warns(DataWarning, match=r"the text of rule 8 cannot be read any more \(there is no feature 'temp'"):
        return EvolvingFuzzyClassifier.load(unpacked(HERE / "expert-regions.gz"))


def test_rules_of_a_person_that_were_regions_become_written_rules(regions):
    assert [(rule.number, rule.name, rule.locked) for rule in regions.rules_.written] == [
        (13, "high", True),
        (14, "", False),
    ]
    assert regions.rulebook.names == {13: "high", 8: "lost"}
    assert str(regions.rulebook.form("high")) == (
        'IF pressure ABOVE 1 THEN leak LIKELY, wear 30% WITH CONFIDENCE 0.8 WEIGHT 30 CALLED "high"'
    )
    learned = {rule.identity: rule for rule in regions.rules_}
    assert {7, 8, 12} <= set(learned)
    assert learned[7].locked
    assert "in front of rule 12" in str(regions.events_[-1])
    with pytest.raises(StateError, match="no edit to undo"):
        regions.rulebook.undo()


def test_outputs_of_a_file_with_regions_differ_only_where_its_written_rules_answer(regions, tmp_path):
    said, X = json.loads((HERE / "expert.json").read_text())["regions"]["outputs"], stream(120)[0][100:, [0, 1, 0]]
    outputs, high, low = regions.decision_function(X), X[:, 0] > 1.0, X[:, 1] < -1.0
    elsewhere = ~(high | low)
    assert 0 < elsewhere.sum() < len(X)
    np.testing.assert_allclose(outputs[elsewhere], np.array(said)[elsewhere], rtol=0.0, atol=1e-9)
    np.testing.assert_array_equal(outputs[high], np.tile([0.9, 0.3], (high.sum(), 1)))
    np.testing.assert_array_equal(outputs[low & ~high], np.tile([0.2, 0.1], ((low & ~high).sum(), 1)))
    regions.save(tmp_path / "again")
    again = EvolvingFuzzyClassifier.load(tmp_path / "again")
    assert [rule.number for rule in again.rules_.written] == [13, 14]
    np.testing.assert_array_equal(again.decision_function(X), outputs)
