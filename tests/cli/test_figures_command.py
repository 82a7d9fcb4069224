"""`evolabel figures` writes pictures of a saved model."""

import re

import pytest

from evolabel import EvolvingFuzzyClassifier
from evolabel.streams import from_csv


@pytest.fixture
def model(plant, tmp_path):
    data = from_csv(plant, ["fault_a", "fault_b"])
    clf = EvolvingFuzzyClassifier(max_rules=4).fit(data.X, data.Y)
    clf.name_columns(data.feature_names, data.label_names).save(tmp_path / "model.safetensors")
    return tmp_path / "model.safetensors"


def test_figures_and_an_index_are_written(command, model, plant, tmp_path):
    told = command("figures", model, "--out", tmp_path / "pictures", "--data", plant)
    assert (told.code, told.out) == (0, "")
    shown = re.findall(r'src="([^"]+)\.svg"', (tmp_path / "pictures" / "index.html").read_text())
    assert {"rule-map", "label-correlations", "memberships-heat", "life-lines"} <= set(shown)
    for name in shown:
        assert (tmp_path / "pictures" / f"{name}.svg").read_text().startswith("<svg")
        assert (tmp_path / "pictures" / f"{name}.png").read_bytes().startswith(b"\x89PNG")


def test_data_of_another_kind_is_refused(command, model, tmp_path):
    told = command("figures", model, "--out", tmp_path / "pictures", "--data", "drift")
    assert told.code == 2
    assert "the model knows 2" in told.err
