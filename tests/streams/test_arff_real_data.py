"""The paper's data sets read like other readers read them."""

import gzip
import os
from pathlib import Path

import arff
import numpy as np
import pytest
from choices import first_quick

from evolabel.streams.arff.reader import read_arff

FOLDER = Path(os.environ.get("EVOLABEL_DATA") or "nowhere")

pytestmark = pytest.mark.data


def files():
    return sorted(FOLDER.glob("*/*.arff*"))


def first_lines(path, rows):
    """The header and the first rows, by plain reading."""
    with gzip.open(path, "rt") if path.suffix == ".gz" else Path(path).open() as file:
        lines = [line for line in file.read().splitlines() if line.strip()]
    start = [line.lower().strip() for line in lines].index("@data") + 1
    return "\n".join(lines[: start + rows])


@pytest.mark.parametrize("rows", first_quick(80, 400))
@pytest.mark.parametrize("path", files(), ids=lambda path: path.name)
def test_another_reader_reads_the_same(path, rows):
    other = arff.loads(first_lines(path, rows))
    data = read_arff(path, nominal="codes", rows=rows)
    columns = dict(zip(data.feature_names + data.label_names, np.hstack([data.X, data.Y]).T, strict=True))
    names = [name.replace("\\'", "'") for name, _ in other["attributes"]]
    assert sorted(columns) == sorted(names)
    for name, values in zip(names, zip(*other["data"], strict=True), strict=True):
        np.testing.assert_array_equal(columns[name], np.array(values, np.float64), err_msg=name)


def test_one_hot_birds():
    data = read_arff(FOLDER / "birds" / "birds.arff")
    codes = read_arff(FOLDER / "birds" / "birds.arff", nominal="codes")
    sites = [place for place, name in enumerate(data.feature_names) if name.startswith("location=")]
    assert data.n_features == 259 + len(sites) == 271
    assert "hasSegments" in data.feature_names
    values = np.array([float(data.feature_names[place].removeprefix("location=")) for place in sites])
    np.testing.assert_array_equal(data.X[:, sites] @ values, codes.X[:, codes.feature_names.index("location")])
