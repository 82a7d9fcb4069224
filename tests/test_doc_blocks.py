"""Blocks of code in the documentation run, and its commands exist. Pages of the service have tests of their own."""

import re
import shlex
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from choices import all_but
from cyclopts import MissingArgumentError

from evolabel import EvolvingFuzzyClassifier
from evolabel.active.scoring.criteria import CRITERIA
from evolabel.streams import Dataset

ROOT = Path(__file__).parent.parent
PAGES = {page.relative_to(ROOT).as_posix(): page for page in (*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"))}
RUN_ELSEWHERE = {
    "README.md": "test_docs.py",
    "docs/how-to/install.md": "test_docs.py",
    "docs/how-to/data.md": "test_data_page.py",
    "docs/how-to/expert-rules.md": "explain/test_expert_docs.py",
    "docs/tutorials/plant-day.md": "test_plant_day.py",
    "docs/how-to/service-programs.md": "server",
    "docs/tutorials/own-file.md": "server/browser/test_own_project.py",
}
FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.DOTALL | re.MULTILINE)


def blocks(page, kind):
    return [text for found, text in FENCE.findall(PAGES[page].read_text(encoding="utf-8")) if found == kind]


PYTHON = [page for page in PAGES if page not in RUN_ELSEWHERE and blocks(page, "python")]


@pytest.fixture
def names(stream, monkeypatch):
    """What the pages call their data, and a small set instead of yeast."""
    pd = pytest.importorskip("pandas")
    X, Y = stream[0], pd.DataFrame(stream[1], columns=["pump", "label0", "sad-lonely"])
    monkeypatch.setattr("evolabel.streams.load_dataset", {"yeast": Dataset(*stream)}.__getitem__)
    yield {
        "EvolvingFuzzyClassifier": EvolvingFuzzyClassifier,
        "clf": EvolvingFuzzyClassifier().fit(X, Y),
        **{"X": X, "Y": Y, "y": Y, "X_initial": X[:60], "Y_initial": Y[:60], "stream": X[60:]},
        "ask_a_person": lambda query: np.where(query.labels, 1.0, np.nan),
    }
    CRITERIA.pop("hot", None)  # that a page registers


@pytest.mark.parametrize("page", all_but(PYTHON, "docs/how-to/tuning.md"))
def test_python_runs_as_written(page, names, tmp_path, monkeypatch):
    """Blocks of one page follow each other, but for processes, sizes of searches, and what test_docs.py runs."""
    monkeypatch.chdir(tmp_path)
    for block in blocks(page, "python"):
        if "activeml" not in block and "Halving" not in block:
            exec(block.replace("n_jobs=-1", "n_jobs=1").replace(".paper()", ".paper(max_rules=2)"), names)


def shell_lines(page):
    """Command lines of the blocks of a page, without comments and prompts."""
    text = "\n".join(blocks(page, "") + blocks(page, "console")).replace("\\\n", " ")
    return [line.removeprefix("$ ") for line in text.splitlines()]


COMMANDS = [(page, line) for page in PAGES for line in shell_lines(page) if line.startswith("evolabel ")]


@pytest.mark.parametrize(("page", "line"), COMMANDS, ids=lambda text: re.sub(r"\W+", "-", text)[:60])
def test_a_command_is_understood(page, line, monkeypatch, command_line):
    monkeypatch.setenv("EVOLABEL_TOKEN", "ev_1")  # the pages export it
    command_line.parse_args(shlex.split(line, comments=True)[1:], exit_on_error=False, print_error=False)


@pytest.mark.parametrize("page", PAGES)
def test_commands_in_sentences_are_understood(page, command_line):
    """Options that need an argument may be named without it."""
    text = re.sub(FENCE, "", PAGES[page].read_text(encoding="utf-8"))
    for line in re.findall(r"`evolabel ([a-z][^`]*)`", text):
        assert line.split()[0] in command_line, line
        with suppress(MissingArgumentError):
            command_line.parse_args(shlex.split(line), exit_on_error=False, print_error=False)


@pytest.mark.parametrize("page", PAGES)
def test_targets_of_make_exist(page):
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    lines = [line.partition("#")[0] for line in shell_lines(page) if line.startswith("make ")]
    lines += re.findall(r"`(make [a-z-]+)", PAGES[page].read_text(encoding="utf-8"))
    assert {word for line in lines for word in line.split()[1:] if "=" not in word} <= targets


@pytest.mark.parametrize("page", ["docs/how-to/install.md", "docs/how-to/active-learning.md"])
def test_commands_on_files_run(page, command, tmp_path, monkeypatch):
    """Those on named data sets are left to the tests of the commands."""
    monkeypatch.chdir(tmp_path)
    rows = np.random.default_rng(0).normal((70, 3, 0), (10, 1, 1), size=(120, 3)).round(2)
    features = ["time,heat,flow,noise", *(f"{number},{','.join(map(str, row))}" for number, row in enumerate(rows))]
    labels = ["fault_a,fault_b", *(f"{int(heat > 75)},{int(flow < 2.5)}" for heat, flow, _ in rows)]
    Path("today.csv").write_text("\n".join(features) + "\n", encoding="utf-8")
    for name in ("my.csv", "plant.csv"):
        lines = [",".join(pair) for pair in zip(features, labels, strict=True)]
        Path(name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    done = 0
    for line in shell_lines(page):
        if re.search(r"my\.csv|plant\.csv|model\.safetensors", line):
            told = command(*shlex.split(line, comments=True)[1:])
            assert told.code == 0, (line, told.err)
            done += 1
    assert done
