"""The documentation tells the truth about the code."""

import re
from pathlib import Path

import gallery
import pytest
import reading_rules
import readme_tables
from shared import result_files

ROOT = Path(__file__).parent.parent


def python_blocks(page):
    return re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)


def test_the_quick_starts_run_as_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    for block in python_blocks("README.md"):
        exec(block, names)
    assert 0.09 < names["learner"].bucket.share <= 0.1
    assert [file.name for file in tmp_path.iterdir()] == ["model.safetensors"]


def test_river_prints_what_the_page_shows(capsys):
    pytest.importorskip("river")
    (block,) = python_blocks("docs/how-to/install.md")
    exec(block, {})
    assert capsys.readouterr().out.strip() == re.search(r"^print\(metric\)  # (.*)$", block, re.MULTILINE)[1]


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text().splitlines()) <= 150


def test_the_stream_loop_of_scikit_activeml_runs_as_written(capsys):
    pytest.importorskip("skactiveml")
    block = next(block for block in python_blocks("docs/how-to/active-learning.md") if "activeml" in block)
    exec(block, {})
    queried, seen = (int(number) for number in re.findall(r"\d+", capsys.readouterr().out))
    assert 0.09 * seen < queried <= 0.1 * seen


def test_tables_of_runs_that_were_not_done_stay_as_they_are(monkeypatch, tmp_path):
    monkeypatch.setattr(result_files, "FOLDER", tmp_path)
    text = "<!-- QUERY_SPEED -->\nto come\n<!-- end -->"
    assert readme_tables.written(text) == text


def test_rules_in_the_docs_are_what_the_code_tells():
    page = reading_rules.PAGE.read_text()
    assert reading_rules.written(page) == page, "run benchmarks/reading_rules.py"


def test_the_gallery_has_the_captions_of_the_code():
    assert (ROOT / "docs" / "reference" / "figures.md").read_text() == gallery.page(), "run benchmarks/gallery.py"


@pytest.mark.parametrize("page", readme_tables.PAGES, ids=lambda page: page.name)
def test_pages_show_the_numbers_of_the_last_runs(page):
    assert readme_tables.written(page.read_text()) == page.read_text(), "run benchmarks/readme_tables.py"


PLACE = re.compile(r"`((?:src/evolabel/)?[a-z_]+/[\w/]+\.py)`(?: \(`(\w+)`\))?")


@pytest.mark.parametrize("page", ["docs/reference/glossary.md", "CONTRIBUTING.md"])
def test_places_in_the_code_exist(page):
    for path, name in PLACE.findall((ROOT / page).read_text(encoding="utf-8")):
        file = next((f for f in (ROOT / path, ROOT / "src" / "evolabel" / path) if f.is_file()), None)
        assert file, f"{page} names {path}, which does not exist"
        assert not name or re.search(rf"\b{name}\b", file.read_text(encoding="utf-8")), f"{path} has no {name}"
