"""Compressed files, encodings, files that are missing, cut short or damaged."""

import bz2
import gzip
import io
import zipfile

import numpy as np
import pytest
from choices import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from evolabel.errors import DatasetNotFoundError, EvolabelError, FileFormatError
from evolabel.streams.arff.reader import read_arff

NUMBERS = np.sin(np.arange(300)).tolist()
LINES = [
    "@relation 'r: -C -1'",
    "@attribute x numeric",
    "@attribute y {0,1}",
    "@data",
    *(f"{number!r},{i % 2}" for i, number in enumerate(NUMBERS)),
]
TEXT = "\n".join(LINES).encode()


def zipped(members):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return buffer.getvalue()


COMPRESSED = {
    "r.arff": TEXT,
    "r.arff.gz": gzip.compress(TEXT, mtime=0),
    "r.ARFF.GZ": gzip.compress(TEXT, mtime=0),
    "r.arff.bz2": bz2.compress(TEXT),
    "r.zip": zipped({"folder/r.arff": TEXT, "readme.txt": b"", "__MACOSX/folder/._r.arff": b""}),
    "r.arff.zip": zipped({"R.ARFF": TEXT}),
}
ARCHIVES = [name for name in COMPRESSED if name != "r.arff"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("files")


@pytest.mark.parametrize("name", COMPRESSED)
def test_compressed_files_read_like_plain_ones(tmp_path, name):
    (tmp_path / name).write_bytes(COMPRESSED[name])
    read = read_arff(tmp_path / name)
    np.testing.assert_array_equal(read.X[:, 0], NUMBERS)
    np.testing.assert_array_equal(read.Y[:, 0], np.arange(300) % 2)
    assert read.name == "r"
    assert read_arff(str(tmp_path / name), rows=7).X.shape == (7, 1)


@pytest.mark.parametrize("name", ARCHIVES)
def test_label_files_are_found_beside_compressed_files(tmp_path, name):
    (tmp_path / name).write_bytes(COMPRESSED[name])
    (tmp_path / "r.xml").write_text('<labels><label name="y"/></labels>')
    assert read_arff(tmp_path / name).label_names == ("y",)


@pytest.mark.parametrize("name", ARCHIVES)
@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 0.999])
def test_archives_cut_short_are_refused(tmp_path, name, share):
    data = COMPRESSED[name]
    (tmp_path / name).write_bytes(data[: int(share * len(data))])
    with pytest.raises(FileFormatError) as error:
        read_arff(tmp_path / name)
    assert str(tmp_path / name) in str(error.value)


@pytest.mark.parametrize("name", ARCHIVES)
def test_files_that_are_not_what_their_suffix_says_are_refused(tmp_path, name):
    (tmp_path / name).write_bytes(TEXT)
    with pytest.raises(FileFormatError, match="cannot be read to its end"):
        read_arff(tmp_path / name)


@settings(deadline=None, max_examples=examples(200))
@given(name=st.sampled_from(ARCHIVES), share=st.floats(0.0, 1.0, exclude_max=True), mask=st.integers(1, 255))
def test_a_damaged_archive_is_refused_or_read_right(folder, name, share, mask):
    data = bytearray(COMPRESSED[name])
    data[int(share * len(data))] ^= mask
    (folder / name).write_bytes(data)
    problem, read = "", None
    try:
        read = read_arff(folder / name)
    except EvolabelError as error:
        problem = str(error)
    assert "\n" not in problem
    if read is not None:
        np.testing.assert_array_equal(read.X[:, 0], NUMBERS)


@pytest.mark.parametrize("members", [{}, {"a.arff": b"", "b.arff": b""}, {"a.txt": b""}])
def test_a_zip_holds_exactly_one_file(tmp_path, members):
    (tmp_path / "r.zip").write_bytes(zipped(members))
    with pytest.raises(FileFormatError, match=r"r\.zip must hold exactly one \.arff file"):
        read_arff(tmp_path / "r.zip")


def test_a_missing_file_is_reported(tmp_path):
    with pytest.raises(DatasetNotFoundError, match=r"no file .*pond\.arff\.gz; check the path"):
        read_arff(tmp_path / "pond.arff.gz")


def test_a_folder_is_refused(tmp_path):
    with pytest.raises(FileFormatError, match="cannot be read"):
        read_arff(tmp_path)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1"])
def test_names_and_values_in_either_encoding(tmp_path, encoding):
    text = "@relation r\n@attribute größe {é, x, 'Zürich ß'}\n@attribute y {0,1}\n@data\né,0\n'Zürich ß',1"
    (tmp_path / "r.arff").write_bytes(text.encode(encoding))
    read = read_arff(tmp_path / "r.arff", -1, nominal="codes")
    assert read.feature_names == ("größe",)
    np.testing.assert_array_equal(read.X[:, 0], [0, 2])


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_all_line_ends(tmp_path, end):
    (tmp_path / "r.arff").write_bytes(end.join(LINES).encode())
    assert len(read_arff(tmp_path / "r.arff")) == 300
