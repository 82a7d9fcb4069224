"""The paper's data sets, as they lie in EVOLABEL_DATA, are what the catalogue says, in the promised order."""

import gzip
import os
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from evolabel.streams.arff.reader import read_arff
from evolabel.streams.named.catalogue import find_entry
from evolabel.streams.named.download import sha256_of
from evolabel.streams.named.load import load_dataset

FOLDER = Path(os.environ.get("EVOLABEL_DATA") or "nowhere")
SIZES = {  # rows, features, labels, split, labels per row
    "birds": (645, 260, 19, 322, 1.014),
    "emotions": (593, 72, 6, 391, 1.868),
    "water-quality": (1060, 16, 14, None, 5.073),
    "yeast": (2417, 103, 14, 1500, 4.237),
    "mediamill-5k": (5000, 120, 101, None, None),
}

pytestmark = pytest.mark.data


def naive_rows(name, rows=None):
    """All numbers of a dense ARFF file, line by line."""
    path = FOLDER / name
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as lines:
        for line in lines:
            if line.strip().lower() == "@data":
                break
        return np.array([[float(cell) for cell in line.split(",")] for line in islice(lines, rows)])


def table(dataset):
    return np.hstack([dataset.X, dataset.Y])


@pytest.mark.parametrize("name", SIZES)
def test_sizes_are_those_of_the_literature(name):
    rows, features, labels, split, cardinality = SIZES[name]
    dataset = load_dataset(name, nominal="codes")
    assert (len(dataset), dataset.n_features, dataset.n_labels, dataset.split) == (rows, features, labels, split)
    assert cardinality is None or dataset.Y.sum(axis=1).mean() == pytest.approx(cardinality, abs=1e-3)


@pytest.mark.parametrize("name", [*SIZES, "mediamill"])
def test_digests_of_the_catalogue_are_those_of_the_files(name):
    entry = find_entry(name)
    for file in entry.files:
        if file.sha256:
            assert sha256_of(FOLDER / entry.folder / file.name) == file.sha256


@pytest.mark.parametrize("name", ["birds", "emotions", "water-quality"])
def test_rows_keep_the_order_of_the_whole_file(name):
    np.testing.assert_array_equal(table(load_dataset(name, nominal="codes")), naive_rows(f"{name}/{name}.arff"))


def test_the_whole_file_of_yeast_has_the_test_part_first():
    rows = table(load_dataset("yeast"))
    np.testing.assert_array_equal(np.vstack([rows[1500:], rows[:1500]]), naive_rows("yeast/yeast.arff"))


def test_yeast_of_river_is_that_of_mulan_row_for_row(monkeypatch, tmp_path):
    mulan = load_dataset("yeast")
    monkeypatch.delenv("EVOLABEL_DATA")
    monkeypatch.setenv("EVOLABEL_CACHE", str(tmp_path))
    river = load_dataset("yeast")
    np.testing.assert_array_equal(river.X, mulan.X)
    np.testing.assert_array_equal(river.Y, mulan.Y)
    assert (river.feature_names, river.label_names) == (mulan.feature_names, mulan.label_names)
    assert (river.name, river.split) == (mulan.name, mulan.split)


@pytest.mark.slow
def test_mediamill_5k_is_the_start_of_the_training_part():
    rows = naive_rows("mediamill/mediamill-train.arff.gz", 5000)
    np.testing.assert_array_equal(table(load_dataset("mediamill-5k")), rows)


@pytest.mark.slow
def test_mediamill_has_the_official_split():
    mediamill = load_dataset("mediamill")
    assert (mediamill.X.shape, mediamill.Y.shape, mediamill.split) == ((43907, 120), (43907, 101), 30993)
    assert mediamill.Y.sum(axis=1).mean() == pytest.approx(4.376, abs=1e-3)


def test_one_hot_birds_has_one_column_per_site():
    names = load_dataset("birds").feature_names
    assert len(names) == 259 + 12
    assert [name for name in names if name.startswith("location=")][:2] == ["location=2", "location=10"]


def test_yeast_is_shuffled_in_the_order_of_the_published_file():
    whole = read_arff(FOLDER / "yeast" / "yeast.arff")
    order = np.random.default_rng(7).permutation(len(whole))
    np.testing.assert_array_equal(load_dataset("yeast").shuffled(7).X, whole.X[order])
