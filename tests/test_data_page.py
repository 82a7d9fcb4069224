"""docs/how-to/data.md runs as written: its Python and its commands, in their order, with the lines it shows."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parent.parent / "docs" / "how-to" / "data.md"
BLOCK = re.compile(r"^```(python|console)\n(.*?)^```", re.DOTALL | re.MULTILINE)


def test_every_block_runs_and_prints_what_the_page_shows(command, tmp_path, monkeypatch):
    pytest.importorskip("pandas")
    monkeypatch.chdir(tmp_path)
    names = {}
    for kind, text in BLOCK.findall(PAGE.read_text(encoding="utf-8")):
        if kind == "python":
            exec(text, names)
            continue
        line, *shown = text.splitlines()
        told = command(*line.removeprefix("$ evolabel ").split())
        assert told.code == 0, told.err
        printed = (told.err + told.out).splitlines()
        for expected in shown:
            assert any(found.startswith(expected) for found in printed), (line, expected, printed)
