"""docs/tutorials/plant-day.md shows what its commands print, in their order."""

import re

import plant_day
import pytest

pytestmark = pytest.mark.compiled

TIME = re.compile(r"^( evolabel.* )[\d.]+$")  # milliseconds per row, at the end of the line of a learner


@pytest.mark.slow
def test_every_block_prints_what_the_page_shows(tmp_path, monkeypatch):
    pytest.importorskip("pandas")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", plant_day.WIDTH)
    shown_lines = 0
    for source, shown, printed in plant_day.run_page(plant_day.PAGE.read_text(encoding="utf-8")):
        rest = iter([TIME.sub(r"\1", line) for line in printed])
        for line in shown:
            shown_lines += line != "..."
            assert line == "..." or TIME.sub(r"\1", line) in rest, (source, line, printed)
    assert shown_lines > 60


def test_the_page_is_short():
    assert len(plant_day.PAGE.read_text(encoding="utf-8").splitlines()) <= 220
