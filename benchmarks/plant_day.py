"""Make the files of docs/tutorials/plant-day.md, and run its commands.

    python benchmarks/plant_day.py FOLDER   # writes plant.csv and today.csv into this folder
    python benchmarks/plant_day.py          # prints every block of the page with all that it prints now

A test compares the page with what its blocks print (`tests/test_plant_day.py`).
"""

import csv
import io
import os
import re
import shlex
import sys
import tempfile
from collections.abc import Iterator
from contextlib import chdir, redirect_stderr, redirect_stdout
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

PAGE = Path(__file__).parents[1] / "docs" / "tutorials" / "plant-day.md"
BLOCK = re.compile(r"^```(console|python|text)\n(.*?)^```", re.DOTALL | re.MULTILINE)
WIDTH = "110"  # of tables

ROWS = 6000
COLUMNS = ("time", "serial", "pressure", "flow", "temp_C", "vibration", "machine", "shift", "inspected")
LABELS = ("leak", "bearing", "seal")
SHIFTS = ("night", "early", "late")


def write_files(folder: Path) -> None:
    """Write plant.csv, 6,000 rows with labels, and today.csv, five rows without, into `folder`."""
    rng = np.random.default_rng(4)
    with (folder / "plant.csv").open("w", newline="") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow([*COLUMNS, *LABELS])
        lines.writerows(_row(rng, number) for number in range(ROWS))
    (folder / "today.csv").write_text(
        "time,serial,pressure,flow,temp_C,vibration,machine,shift,inspected,operator\n"
        "2026-09-07 06:05,P-90001,4.31,3.85,61.0,2.2,M-03,early,0,Ada\n"
        "2026-09-07 06:35,P-90002,6.12,2.40,86.5,7.9,M-02,early,1,Ada\n"
        "2026-09-07 07:05,P-90003,4.40,3.90,58.8,2.4,M-01,early,0,Ben\n"
        "2026-09-07 07:35,P-90004,5.90,2.55,1000000,2.1,M-99,early,0,Ben\n"
        "2026-09-07 08:05,P-90005,,,,,,,,Ben\n"
    )


def _row(rng: np.random.Generator, number: int) -> list[object]:
    """Return one row: sensors with gaps, texts, and labels of which a few are not known.

    A leak is a pressure below 4.9 and a flow above 3.2, except on M-01, which has another pump. A bearing fails above
    70 degrees with a vibration above 5. A seal fails in a quarter of the rows with a vibration above 6.5, hardly ever
    in others.
    """
    time = datetime(2026, 5, 4) + timedelta(minutes=30 * number)
    pressure, flow, temp, vibration = rng.normal([6.0, 2.7, 65.0, 4.0], [1.2, 0.8, 9.0, 1.6])
    machine, shift = f"M-0{rng.integers(1, 5)}", SHIFTS[time.hour // 8]
    leak = pressure < 4.9 and flow > 3.2 and machine != "M-01"
    bearing = temp > 70.0 and vibration > 5.0
    seal = rng.random() < (0.25 if vibration > 6.5 else 0.001)
    sensors = [round(pressure, 2), round(flow, 2), round(temp, 1), round(vibration, 2)]
    given = ["" if rng.random() < 0.02 else value for value in sensors]
    known = ["" if rng.random() < 0.01 else int(on) for on in (leak, bearing, seal)]
    serial, inspected = f"P-{number:05}", int(rng.random() < 0.1)
    return [time.isoformat(" ", "minutes"), serial, *given, machine, shift, inspected, *known]


def run_page(text: str) -> Iterator[tuple[str, list[str], list[str]]]:
    """Run the blocks of the page `text` in the present folder.

    Yields each command or Python block with the lines that the page shows below it, and those that were printed.
    """
    names: dict[str, Any] = {}
    source, printed = "", list[str]()
    for kind, block in BLOCK.findall(text):
        if kind == "text":
            yield source, block.splitlines(), printed
        elif kind == "python":
            source, printed = block, _printed(lambda code=block: exec(code, names))
        else:
            source, *shown = block.splitlines()
            while source.endswith("\\"):
                source, shown = source[:-1].rstrip() + " " + shown[0].strip(), shown[1:]
            yield source, shown, _printed(lambda line=source: _command(line.removeprefix("$ ")))


def _command(line: str) -> None:
    """Run one command of the page."""
    from evolabel.cli.app import run_command

    words = shlex.split(line)
    if words[0] == "cat":
        print(Path(words[1]).read_text(), end="")
    elif words[0] == "python":
        write_files(Path(words[-1]))
    elif run_command(words[1:]) not in (0, 2):  # 2: refused, as the page shows
        raise RuntimeError(f"{line} failed")


def _printed(run: Any) -> list[str]:
    """Return the lines that `run` prints: messages first, then results; spaces at their ends are cut."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        run()
    return [line.rstrip() for line in (err.getvalue() + out.getvalue()).splitlines()]


if __name__ == "__main__":
    if len(sys.argv) > 1:
        write_files(Path(sys.argv[1]))
    else:
        os.environ["COLUMNS"] = WIDTH
        with tempfile.TemporaryDirectory() as folder, chdir(folder):
            for block, _, lines in run_page(PAGE.read_text()):
                print(block, *lines, "", sep="\n")
