"""docs/reference/equations.md names code that exists and tests that exist, for every equation of the paper."""

import re
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reference" / "equations.md"
ROWS = [
    [cell.strip() for cell in line.strip("| \n").split(" | ")]
    for line in PAGE.read_text().splitlines()
    if line.startswith("| ") and not line.startswith("| in the paper")
]
NUMBERED = range(1, 37)


def named(cell):
    return re.findall(r"`([^`]+)`", cell)


def imported(name):
    """The object of this name below `evolabel`, the longest part of which is a module."""
    parts = f"evolabel.{name}".split(".")
    for length in range(len(parts), 0, -1):
        try:
            found = import_module(".".join(parts[:length]))
        except ModuleNotFoundError:
            continue
        for part in parts[length:]:
            found = getattr(found, part)
        return found
    raise AssertionError(name)


@pytest.mark.parametrize("row", ROWS, ids=[row[0] for row in ROWS])
def test_code_and_test_of_a_row_exist(row):
    _, code, tests = row
    assert named(code)
    assert all(imported(name) is not None for name in named(code))
    for test in named(tests):
        file, _, function = test.partition("::")
        assert f"def {function}" in (ROOT / "tests" / file).read_text()


def test_every_equation_and_algorithm_has_a_row():
    numbers = []
    for places, *_ in ROWS:
        found = [int(number) for number in re.findall(r"\((\d+)\)", places)]
        numbers += range(found[0], found[1] + 1) if ")-(" in places else found
    assert numbers == list(NUMBERED)
    assert {"Algorithm 1", "Algorithm 2"} <= {row[0] for row in ROWS}
