"""`evolabel demo`: the page has the rules beside the truth, what was reported, one alarm and all scores."""

import json

import pytest

from evolabel import EvolvingFuzzyClassifier
from evolabel.cli import demo
from evolabel.demo.rivals import RIVALS, measured


@pytest.fixture
def without_rivals(monkeypatch):
    monkeypatch.setattr(demo, "_start_rivals", lambda: None)


@pytest.mark.compiled
def test_the_page_and_the_output_show_what_was_found_beside_the_truth(command, tmp_path, without_rivals):
    told = command("demo", "--out", str(tmp_path), "--quiet")
    assert told.code == 0
    page = (tmp_path / "report.html").read_text("utf-8")
    for text in (
        "pressure below 5.2 bar",
        "THEN leak",
        "THEN overheating",
        "the gauge of the pressure begins to read 2 bar too high",
        "sensor &#34;pressure&#34; moved",
        "of an earlier run: it takes more than 20 s",
        "no fault",
        "decided by: IF ",
    ):
        assert text in page, text
    assert "found: IF temperature is above 70" in told.out
    loaded = EvolvingFuzzyClassifier.load(tmp_path / "model.safetensors")
    assert list(loaded.label_names_) == ["leak", "overheating", "wear"]
    refused = command("demo", "--out", str(tmp_path), "--quiet")
    assert (refused.code, "use --force to replace it" in refused.err) == (2, True)


@pytest.mark.compiled
def test_json_has_the_same(command, tmp_path, without_rivals):
    found = json.loads(command("demo", "--out", str(tmp_path), "--json").out)
    assert found["truth"].keys() == found["rules"].keys() | {"wear"}
    assert [one["name"] for one in found["learners"]] == ["evolabel", *RIVALS, "no fault", "as the row before"]
    ours, *others = found["learners"]
    assert ours["macro_f1"][0] > max(one["macro_f1"][0] for one in others if one["name"] not in measured())
    assert any("moved" in event for event in found["reported"])
