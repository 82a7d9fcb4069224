"""Named data sets are found where they should be, and are what they should be."""

import subprocess
import sys

import numpy as np
import pytest
from pond import CONTENTS, pond, publish

from evolabel.errors import DataError, DatasetNotFoundError, FileFormatError, ParameterError
from evolabel.streams.named import catalogue
from evolabel.streams.named.load import load_dataset

pytestmark = pytest.mark.usefixtures("cache")


@pytest.fixture
def enter(monkeypatch):
    """Put one entry into the catalogue."""
    return lambda entry: monkeypatch.setattr(catalogue, "read_catalogue", lambda: {entry.name: entry})


@pytest.fixture
def own(tmp_path, monkeypatch):
    """The user's folder of data sets."""
    monkeypatch.setenv("EVOLABEL_DATA", str(tmp_path / "own"))
    return tmp_path / "own"


def test_parts_are_joined_with_the_training_part_first(enter, own):
    publish(own / "pond")
    enter(pond(None))
    dataset = load_dataset("pond")
    np.testing.assert_array_equal(dataset.X, [[0.5, 1, 0, 0], [0.25, 0, 0, 1], [np.nan, 0, 1, 0]])
    np.testing.assert_array_equal(dataset.Y, [[1, 0], [0, 0], [1, 1]])
    assert (dataset.name, dataset.split) == ("pond", 2)
    assert dataset.feature_names == ("depth", "site=n", "site=s", "site=w")
    assert dataset.label_names == ("frogs", "newts")


def test_nominal_features_can_be_read_as_codes(enter, own):
    publish(own / "pond")
    enter(pond(None))
    np.testing.assert_array_equal(load_dataset("pond", nominal="codes").X[:, 1], [0, 2, 1])
    with pytest.raises(ParameterError, match="nominal='both'"):
        load_dataset("pond", nominal="both")


def test_the_user_s_folder_comes_before_the_cache(enter, own, cache):
    publish(cache / "pond")
    publish(own / "pond")
    (own / "pond" / "pond-test.arff").write_text(CONTENTS["pond-test.arff"].replace("?,s", "7,s"))
    enter(pond(None))
    assert load_dataset("pond").X[2, 0] == 7.0


def test_the_cache_comes_before_the_download(enter, cache, tmp_path):
    publish(cache / "pond")
    enter(pond((tmp_path / "nowhere").as_uri()))
    assert len(load_dataset("pond")) == 3


def test_files_without_an_address_may_be_put_into_the_cache_by_hand(enter, cache):
    publish(cache / "pond")
    (cache / "pond" / "pond-test.arff").write_text(CONTENTS["pond-test.arff"].replace("?,s", "7,s"))
    enter(pond(None))
    assert load_dataset("pond").X[2, 0] == 7.0


@pytest.mark.parametrize("known", [True, False])
def test_names_of_rows_are_left_out(enter, tmp_path, known):
    enter(pond(publish(tmp_path / "published"), known=known, drop=("site",)))
    assert load_dataset("pond").feature_names == ("depth",)


def test_a_user_s_folder_without_all_files_is_passed_over(enter, own, cache):
    publish(cache / "pond")
    publish(own / "pond")
    (own / "pond" / "pond.xml").unlink()
    enter(pond(None))
    assert len(load_dataset("pond")) == 3


@pytest.mark.parametrize("known", [True, False])
def test_what_is_found_nowhere_is_downloaded_once(enter, tmp_path, known):
    published = tmp_path / "published"
    enter(pond(publish(published), known=known))
    first = load_dataset("pond")
    for file in published.iterdir():
        file.unlink()
    np.testing.assert_array_equal(load_dataset("pond").X, first.X)


@pytest.mark.parametrize("wrong", [{"rows": 4}, {"labels": 3}, {"features": 9}, {"split": 1}])
def test_a_download_without_digests_must_have_the_right_sizes(enter, tmp_path, cache, wrong):
    enter(pond(publish(tmp_path / "published"), known=False, **wrong))
    with pytest.raises(DatasetNotFoundError, match=r"downloading failed .*expected"):
        load_dataset("pond")
    assert list(cache.iterdir()) == []


def test_what_is_not_arff_never_enters_the_cache(enter, tmp_path, cache):
    enter(pond(publish(tmp_path / "published"), known=False))
    (tmp_path / "published" / "pond-test.arff").write_text("<html>try again later</html>")
    with pytest.raises(DatasetNotFoundError, match=r"downloading failed .*pond-test\.arff, line 1"):
        load_dataset("pond")
    assert list(cache.iterdir()) == []


def test_a_file_that_lost_rows_is_reported(enter, own):
    publish(own / "pond")
    (own / "pond" / "pond-train.arff").write_text(CONTENTS["pond-train.arff"].replace("0.25,w,0,0\n", ""))
    enter(pond(None))
    reported = "2 rows, 2 labels, 1 rows for training, expected 3 rows, 2 labels, 2 rows for training; fetch"
    with pytest.raises(FileFormatError, match=reported):
        load_dataset("pond")


def test_parts_with_different_columns_are_reported(enter, own):
    publish(own / "pond")
    (own / "pond" / "pond-test.arff").write_text(CONTENTS["pond-test.arff"].replace("{n,s,w}", "{n,s}"))
    enter(pond(None))
    with pytest.raises(FileFormatError, match="different columns"):
        load_dataset("pond")


def test_only_the_first_rows_of_a_set_may_be_meant(enter, own):
    whole = pond(None)
    publish(own / "pond")
    enter(catalogue.Entry("pond-1", whole.parts[:1], whole.label_file, "pond", 1, 2, 2, first=1))
    dataset = load_dataset("pond-1")
    assert (len(dataset), dataset.name, dataset.split) == (1, "pond-1", None)


def test_an_unknown_name_is_reported():
    with pytest.raises(DataError, match="did you mean 'yeast'"):
        load_dataset("yeats")


def test_yeast_comes_with_river(cache):
    yeast = load_dataset("yeast")
    assert (yeast.X.shape, yeast.Y.shape, yeast.split, yeast.name) == ((2417, 103), (2417, 14), 1500, "yeast")
    assert (yeast.feature_names[0], yeast.label_names[-1]) == ("Att1", "Class14")
    assert set(np.unique(yeast.Y)) == {0.0, 1.0}
    assert not cache.exists()


def test_bundled_sets_refuse_what_all_others_refuse():
    with pytest.raises(ParameterError, match="nominal='both' is not allowed"):
        load_dataset("yeast", nominal="both")


def test_yeast_is_downloaded_where_river_is_not_installed(monkeypatch):
    monkeypatch.setattr("evolabel.streams.named.load.find_spec", lambda _: None)
    asked = []

    def offline(address):
        asked.append(address)
        raise OSError("no network in tests")

    monkeypatch.setattr("evolabel.streams.named.download.urlopen", lambda request, timeout: offline(request.full_url))
    with pytest.raises(DatasetNotFoundError, match=r"put yeast-train\.arff, yeast-test\.arff, yeast\.xml"):
        load_dataset("yeast")
    assert asked[0].endswith("/yeast-train.arff")


def test_importing_the_readers_loads_nothing_heavy():
    heavy = ("numba", "sklearn", "matplotlib", "pandas", "polars", "pyarrow", "narwhals", "river", "rich")
    code = (
        "import sys, evolabel.streams.named.load, evolabel.streams.files.convert; "
        f"print([m for m in {heavy} if m in sys.modules])"
    )
    reported = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert reported.stdout.strip() == "[]"


def test_another_entry_stands_in_for_files_that_cannot_be_fetched(own, tmp_path):
    rows = "\n".join(",".join(["0.5"] * 16 + [str((row + label) % 3) for label in range(14)]) for row in range(1060))
    names = [f"f{i}" for i in range(16)] + [f"t{i}" for i in range(14)]
    header = "@relation wq\n" + "".join(f"@attribute {name} numeric\n" for name in names)
    (own / "wq").mkdir(parents=True)
    (own / "wq" / "wq.arff").write_text(f"{header}@data\n{rows}\n")
    found = load_dataset("water-quality")
    assert (found.name, found.n_features, found.label_names[0]) == ("water-quality", 16, "t0")
    np.testing.assert_array_equal(found.Y[:3, 0], [0.0, 1.0, 1.0])
