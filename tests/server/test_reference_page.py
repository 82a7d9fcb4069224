"""docs/reference/service.md has every key of the configuration, setting, role and metric, with their defaults."""

import re
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from evolabel.cli.app import run_command
from evolabel.server.app import create_app

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "service.md").read_text(encoding="utf-8")


def section(title):
    return PAGE.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


@pytest.fixture
def printed(capsys, monkeypatch):
    monkeypatch.delenv("EVOLABEL_DATABASE_URL", raising=False)
    assert run_command(["serve", "config"]) == 0
    return dict(re.findall(r"^(\w+\.\w+) = (.*?) +#", capsys.readouterr().out, re.MULTILINE))


def test_every_key_is_in_the_table_with_its_default(printed):
    found = {}
    for line in section("Configuration").splitlines():
        if len(cells := [cell.strip() for cell in line.strip("|").split("|")]) == 4 and cells[0] != "section":
            names = re.findall(r"`(\w+)`", cells[1])
            found |= zip(names, [cells[2]] if len(names) == 1 else cells[2].split(", "), strict=False)
    own = {key.partition(".")[2]: text.strip('"') for key, text in printed.items() if not key.startswith("project.")}
    assert found.keys() == own.keys()
    assert {name: text for name, text in found.items() if text.replace("none", "") != own[name]} == {}


def test_every_setting_is_in_the_table_with_its_default(printed):
    rows = re.findall(r"^\| `(\w+)` \| ([^|]+) \|", section("Settings of a project"), re.MULTILINE)
    settings = {key.partition(".")[2]: text.strip('"') for key, text in printed.items() if key.startswith("project.")}
    assert {name: text.replace("empty", "") for name, text in rows}.keys() == settings.keys()
    for name, text in rows:
        default = settings[name].removesuffix(".0")
        assert (text == "empty" and default == "") or text == default, name


def test_every_metric_is_in_the_table(sqlite, start):
    pytest.importorskip("prometheus_client")
    client = TestClient(create_app(start(sqlite)), client=("127.0.0.1", 5000))
    names = re.findall(r"^# TYPE evolabel_(\w+?)(?:_total)? ", client.get("/metrics").text, re.MULTILINE)
    assert "questions_open" in names
    assert sorted(name for name in names if f"`{name}`" not in section("Metrics")) == []
