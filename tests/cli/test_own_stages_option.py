"""Commands load a model with stages of a user when they are given the function that returns them."""

import numpy as np
import pytest

from evolabel import EvolvingFuzzyClassifier
from evolabel.streams import from_csv

MODULE = """
from typing import Annotated, NamedTuple

from evolabel.stages import OwnStage, Schema, array
from evolabel.typing import FloatArray


class Steps(NamedTuple):
    n: Annotated[FloatArray, array("label")]


class Shift(OwnStage):
    name, schema = "shift", Schema(Steps)

    def answer(self, rows):
        rows.outputs += 0.25

    def learn_row(self, row, log):
        self.arrays.n[:] += 1.0


def stages():
    return [Shift()]


nothing = None
"""


@pytest.fixture
def model(plant, tmp_path, monkeypatch):
    """A file of a model with a stage of `plant_stages`, a module of the working folder."""
    (tmp_path / "plant_stages.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    data = from_csv(plant, ["fault_a", "fault_b"])
    from plant_stages import stages

    path = tmp_path / "model.safetensors"
    clf = EvolvingFuzzyClassifier(stages=stages()).fit(data.X, data.Y)
    clf.name_columns(data.feature_names, data.label_names).save(path)
    return path


@pytest.mark.parametrize(
    "words",
    [
        ("predict", "{model}", "{plant}", "--proba"),
        ("rules", "{model}"),
        ("explain", "{model}", "--row", "3", "--data", "{plant}"),
        ("figures", "{model}", "--out", "figures"),
        ("edit", "{model}", "--add", "IF heat ABOVE 3 THEN fault_a 90%", "--out", "edited"),
    ],
    ids=lambda words: words[0],
)
def test_a_command_loads_the_stages_that_it_is_given(command, model, plant, words):
    words = [word.format(model=model, plant=plant) for word in words]
    refused = command(*words)
    assert refused.code == 2
    assert "has the stages 'shift', and load was given none" in refused.err
    assert "--stages module:function" in refused.err
    given = command(*words, "--stages", "plant_stages:stages")
    assert given.code == 0, given.err


def test_predictions_are_those_of_the_model_with_its_stages(command, model, plant):
    from plant_stages import stages

    X = from_csv(plant, ["fault_a", "fault_b"]).X
    clf = EvolvingFuzzyClassifier.load(model, stages=stages())
    del clf.feature_names_in_
    P = clf.predict_proba(X)
    lines = command("predict", model, plant, "--proba", "--stages", "plant_stages:stages").out.splitlines()[1:]
    np.testing.assert_allclose([[float(cell) for cell in line.split(",")[-2:]] for line in lines], P, atol=1e-6)


@pytest.mark.parametrize("name", ["plant_stages:none", "no_such_module:stages", "plant_stages:nothing", "3"])
def test_what_is_no_function_is_named(command, model, name):
    refused = command("rules", model, "--stages", name)
    assert refused.code == 2
    assert f"--stages {name}: " in refused.err
    assert "as module:function" in refused.err
