"""Data sets survive the way through files, bit for bit, with their names and their split."""

import json
import re
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from evolabel._utils.optional import install_command
from evolabel.errors import DataError, DatasetNotFoundError, FileFormatError, MissingDependencyError, ParameterError
from evolabel.streams.dataset import Dataset
from evolabel.streams.files.convert import read_dataset, write_dataset

each_format = pytest.mark.parametrize("ending", [".npz", ".parquet"])
NAMES = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=8)


@st.composite
def datasets(draw):
    rows, features, labels = draw(st.integers(1, 5)), draw(st.integers(1, 4)), draw(st.integers(1, 3))
    names = draw(st.lists(NAMES, min_size=features + labels, max_size=features + labels, unique=True))
    X = draw(arrays(np.float64, (rows, features), elements=st.floats(allow_infinity=False)))
    Y = draw(arrays(np.float64, (rows, labels), elements=st.sampled_from([0.0, 1.0, np.nan])))
    split = draw(st.none() | st.integers(0, rows))
    return Dataset(X, Y, tuple(names[:features]), tuple(names[features:]), draw(st.text(max_size=9)), split=split)


@pytest.fixture
def pond():
    X, Y = np.array([[0.5, -0.0], [np.nan, 1e-300]]), np.array([[1.0], [np.nan]])
    return Dataset(X, Y, ("depth", "site=north"), ("frogs",), "pond", split=1)


def assert_same(one, other):
    for mine, theirs in ((one.X, other.X), (one.Y, other.Y)):
        np.testing.assert_array_equal(mine, theirs, strict=True)
        np.testing.assert_array_equal(np.signbit(mine[~np.isnan(mine)]), np.signbit(theirs[~np.isnan(theirs)]))
    facts = [(d.feature_names, d.label_names, d.name, d.split) for d in (one, other)]
    assert facts[0] == facts[1]


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@each_format
@given(dataset=datasets())
def test_a_data_set_survives_the_way_through_a_file(ending, dataset):
    with TemporaryDirectory() as folder:
        path = Path(folder, f"any{ending}")
        write_dataset(dataset, path)
        assert_same(read_dataset(path), dataset)


@each_format
def test_folders_are_made_and_old_files_replaced(tmp_path, pond, ending):
    path = tmp_path / "new" / f"pond{ending}"
    write_dataset(pond.take(1), path)
    write_dataset(pond, str(path))
    assert_same(read_dataset(str(path)), pond)
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("name", ["K.NPZ", "K.Parquet"])
def test_endings_may_be_written_in_capitals(tmp_path, pond, name):
    write_dataset(pond, tmp_path / name)
    assert list(contents(tmp_path)) == [name]
    assert_same(read_dataset(tmp_path / name), pond)


def test_labels_of_a_npz_file_cannot_be_chosen_anew(tmp_path, pond):
    write_dataset(pond, tmp_path / "pond.npz")
    with pytest.raises(ParameterError, match=r"has labels of its own; leave out labels=\['depth'\]"):
        read_dataset(tmp_path / "pond.npz", ["depth"])


@each_format
def test_a_full_disk_leaves_the_old_file(tmp_path, pond, ending, monkeypatch):
    def full(_):
        raise OSError("no space left on device")

    path = tmp_path / f"pond{ending}"
    write_dataset(pond, path)
    before = contents(tmp_path)
    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="no space left"):
        write_dataset(pond.take(1), path)
    assert contents(tmp_path) == before


def test_other_tools_see_a_plain_table(tmp_path, pond):
    write_dataset(pond, tmp_path / "pond.parquet")
    frame = pl.read_parquet(tmp_path / "pond.parquet")
    assert frame["depth"].to_list() == [0.5, None]
    assert frame["frogs"].to_list() == [1.0, None]


def test_a_parquet_file_of_others_is_read_with_the_labels_given(tmp_path):
    pl.DataFrame({"site": ["n", "s"], "frogs": [True, None]}).write_parquet(tmp_path / "pond.parquet")
    for labels in (["frogs"], -1):
        dataset = read_dataset(tmp_path / "pond.parquet", labels)
        assert (dataset.feature_names, dataset.label_names, dataset.name) == (("site=n", "site=s"), ("frogs",), "pond")
    with pytest.raises(DataError, match=r"the labels of .*pond\.parquet are not given"):
        read_dataset(tmp_path / "pond.parquet")


def test_labels_can_be_chosen_anew(tmp_path, pond):
    write_dataset(pond.take(1), tmp_path / "pond.parquet")
    pl.read_parquet(tmp_path / "pond.parquet").with_columns(depth=1.0).write_parquet(tmp_path / "pond.parquet")
    assert read_dataset(tmp_path / "pond.parquet", ["depth"]).label_names == ("depth",)


def test_arff_and_csv_are_read_by_their_endings(tmp_path):
    arff = "@relation 'pond: -C -1'\n@attribute site {n,s,w}\n@attribute frogs {0,1}\n@data\ns,1\n"
    (tmp_path / "pond.arff").write_text(arff)
    (tmp_path / "pond.csv").write_text("depth,frogs\n0.5,1\n")
    (tmp_path / "POND.TSV").write_text("depth\tfrogs\n0.5\t1\n")
    assert read_dataset(tmp_path / "pond.arff").X.tolist() == [[0.0, 1.0, 0.0]]
    assert read_dataset(tmp_path / "pond.arff", nominal="codes").X.tolist() == [[1.0]]
    assert read_dataset(tmp_path / "pond.csv", ["frogs"]).X.tolist() == [[0.5]]
    assert read_dataset(tmp_path / "POND.TSV", -1).Y.tolist() == [[1.0]]


@each_format
def test_a_damaged_file_is_reported(tmp_path, pond, ending):
    path = tmp_path / f"pond{ending}"
    write_dataset(pond, path)
    whole = path.read_bytes()
    for damaged in (b"", b"not at all", whole[: len(whole) // 2]):
        path.write_bytes(damaged)
        with pytest.raises(FileFormatError, match=rf"pond\{ending} is not a complete file of write_dataset"):
            read_dataset(path)


def test_a_npz_file_of_others_is_reported(tmp_path):
    np.savez(tmp_path / "other.npz", X=np.zeros((2, 2)))
    with pytest.raises(FileFormatError, match=r"not a complete file of write_dataset .*facts"):
        read_dataset(tmp_path / "other.npz")


def test_a_parquet_file_that_lost_a_column_is_reported(tmp_path, pond):
    path = tmp_path / "pond.parquet"
    write_dataset(pond, path)
    pyarrow.parquet.write_table(pyarrow.parquet.read_table(path).drop_columns("depth"), path)
    with pytest.raises(FileFormatError, match=r"not a complete file of write_dataset .*depth"):
        read_dataset(path)


@each_format
def test_a_file_of_a_newer_version_is_refused(tmp_path, pond, ending, monkeypatch):
    path = tmp_path / f"pond{ending}"
    dumps = json.dumps
    monkeypatch.setattr("evolabel.streams.files.convert.json.dumps", lambda facts: dumps(facts | {"version": 2}))
    write_dataset(pond, path)
    with pytest.raises(FileFormatError, match="has format version 2, this evolabel reads up to 1; update"):
        read_dataset(path)


def test_names_that_occur_twice_do_not_fit_into_parquet(tmp_path, pond):
    twins = Dataset(pond.X, pond.Y, ("frogs", "site"), ("frogs",))
    with pytest.raises(DataError, match="2 columns are named 'frogs', Parquet needs different names"):
        write_dataset(twins, tmp_path / "twins.parquet")
    assert contents(tmp_path) == {}
    write_dataset(twins, tmp_path / "twins.npz")
    assert_same(read_dataset(tmp_path / "twins.npz"), twins)


def test_unknown_endings_are_reported(tmp_path, pond):
    with pytest.raises(
        FileFormatError, match=r"'pond\.xls' has no suffix of a format to write; use \.npz or \.parquet"
    ):
        write_dataset(pond, tmp_path / "pond.xls")
    (tmp_path / "pond.xls").write_text("")
    with pytest.raises(FileFormatError, match=r"unknown format \('\.xls'\); expected \.arff, \.csv, \.jsonl, \.npz"):
        read_dataset(tmp_path / "pond.xls")
    with pytest.raises(DatasetNotFoundError, match=r"no file .*pond\.npz; check the path"):
        read_dataset(tmp_path / "pond.npz")


def test_parquet_without_pyarrow_says_what_to_install(tmp_path, pond, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(
        MissingDependencyError, match="a Parquet file needs pyarrow.* " + re.escape(install_command("parquet"))
    ):
        write_dataset(pond, tmp_path / "pond.parquet")
    assert contents(tmp_path) == {}
