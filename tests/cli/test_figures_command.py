"""`evolabel figures` writes pictures of a saved model."""

import re


def test_figures_and_an_index_are_written(command, plant_model, plant, tmp_path):
    told = command("figures", plant_model, "--out", tmp_path / "pictures", "--data", plant)
    assert (told.code, told.out) == (0, "")
    shown = re.findall(r'src="([^"]+)\.svg"', (tmp_path / "pictures" / "index.html").read_text())
    assert {"rule-map-separating-plane", "label-correlations", "memberships-heat", "life-lines-of-rules"} <= set(shown)
    assert {"rule-map-heat-flow", "novelty-map-heat-flow"} <= set(shown) or {"rule-map-flow-heat"} <= set(shown)
    for name in shown:
        assert (tmp_path / "pictures" / f"{name}.svg").read_text().startswith("<svg")
        assert (tmp_path / "pictures" / f"{name}.png").read_bytes().startswith(b"\x89PNG")


def test_data_of_another_kind_is_refused(command, plant_model, tmp_path):
    told = command("figures", plant_model, "--out", tmp_path / "pictures", "--data", "drift")
    assert told.code == 2
    assert "the model has 2" in told.err


def test_a_row_needs_data_that_has_it(command, plant_model, plant, tmp_path):
    told = command("figures", plant_model, "--out", tmp_path / "pictures", "--row", 7)
    assert (told.code, "--row 7 needs --data" in told.err) == (2, True)
    told = command("figures", plant_model, "--out", tmp_path / "pictures", "--data", plant, "--row", 300)
    assert told.code == 2
    assert "has rows 0 to 299" in told.err.replace("\n", " ")
    assert not (tmp_path / "pictures").exists()
