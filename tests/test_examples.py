"""Lessons and examples are short, each has a title and draws a figure; the site runs them (`make docs`)."""

import ast
import re
from pathlib import Path

import pytest

from evolabel.checks import check_stage

FOLDER = Path(__file__).parent.parent / "examples"
SCRIPTS = sorted(FOLDER.rglob("plot_*.py"))
every_script = pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)


def test_there_are_lessons_and_examples():
    assert len(list((FOLDER / "tutorials").glob("plot_*.py"))) >= 8
    assert len(list((FOLDER / "gallery").glob("plot_*.py"))) >= 12


@every_script
def test_a_script_has_a_title_and_a_sentence(script):
    title, line, *rest = ast.get_docstring(ast.parse(script.read_text(encoding="utf-8"))).splitlines()
    assert set(line) == {"="}
    assert len(line) == len(title)
    assert any(text.endswith(".") for text in rest)


@every_script
def test_a_script_draws_a_figure(script):
    assert "plt.subplots(" in script.read_text(encoding="utf-8")


@every_script
def test_a_script_is_short_and_uses_public_names_only(script):
    text = script.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= (90 if script.parent.name == "tutorials" else 60)
    assert not re.search(r"evolabel\.(core|kernels|_utils)|\.inner\b", text)


def test_every_lesson_is_listed():
    listed = (FOLDER.parent / "docs" / "tutorials" / "index.md").read_text(encoding="utf-8")
    assert [script.stem for script in (FOLDER / "tutorials").glob("plot_*.py") if script.stem not in listed] == []


def test_the_stage_of_the_gallery_passes_its_check():
    text = (FOLDER / "gallery" / "plot_own_stage.py").read_text(encoding="utf-8")
    found = {}
    exec(text.partition("# Twenty machines")[0], found)
    check_stage(found["MachineErrors"](0, 20))
