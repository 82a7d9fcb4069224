"""The paper's five data sets under the benchmark protocol, from the folder named by EVOLABEL_DATA."""

import gzip
import io
import os
import re
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray
from scipy.io import arff

NAMES = ("emotions", "yeast", "water-quality", "birds", "mediamill-5k")
INITIAL_SHARE = 0.2
MEDIAMILL_ROWS = 5000


class Split(NamedTuple):
    """Rows in the order of the protocol; the first `initial` are the initial batch."""

    X: NDArray[np.float64]
    Y: NDArray[np.float64]
    initial: int


def folder() -> Path | None:
    """Where the data sets lie, None if that is not known."""
    named = os.environ.get("EVOLABEL_DATA")
    return Path(named) if named and Path(named).is_dir() else None


def load(name: str, seed: int) -> Split:
    """Rows shuffled by the seed, the first fifth as initial batch."""
    X, Y = read(name)
    order = np.random.default_rng(seed).permutation(len(X))
    return Split(X[order], Y[order], round(INITIAL_SHARE * len(X)))


def read(name: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Features (nominal ones by their codes) and 0/1 labels in file order."""
    root = folder()
    if root is None:
        raise SystemExit("set EVOLABEL_DATA to the folder with the data sets (emotions/emotions.arff and so on)")
    base = name.removesuffix("-5k")
    text = _first_rows(root / base / f"{base}-train.arff.gz") if name == "mediamill-5k" else None
    table, meta = arff.loadarff(io.StringIO(text) if text else root / base / f"{base}.arff")
    labels = {
        _bare(e.attrib["name"]) for e in ElementTree.parse(root / base / f"{base}.xml").iter() if "name" in e.attrib
    }
    columns = {c: _numbers(table[c], meta[c]) for c in meta.names()}
    X = np.column_stack([v for c, v in columns.items() if _bare(c) not in labels])
    Y = np.column_stack([v for c, v in columns.items() if _bare(c) in labels])
    return np.ascontiguousarray(X), np.ascontiguousarray((Y > 0).astype(np.float64))


def _bare(name: str) -> str:
    """A column name without quotes and escapes, which the files use differently."""
    return re.sub(r"[\\'\"]", "", name)


def _numbers(column: NDArray[np.generic], attribute: tuple[str, tuple[str, ...] | None]) -> NDArray[np.float64]:
    if attribute[0] != "nominal":
        return column.astype(np.float64)
    try:
        return column.astype(np.float64)
    except ValueError:
        codes = {value: code for code, value in enumerate(attribute[1] or ())}
        return np.array([codes[value.decode()] for value in column.tolist()], np.float64)


def _first_rows(path: Path) -> str:
    lines, rows, in_data = [], 0, False
    with gzip.open(path, "rt") as file:
        for line in file:
            lines.append(line)
            rows += in_data and bool(line.strip())
            in_data = in_data or line.strip().lower() == "@data"
            if rows == MEDIAMILL_ROWS:
                break
    return "".join(lines)
