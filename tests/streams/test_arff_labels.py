"""How `read_arff` learns which attributes are labels."""

from pathlib import Path

import numpy as np
import pytest

from evolabel.errors import DatasetNotFoundError, FileFormatError, ParameterError
from evolabel.streams.arff.reader import read_arff

ATTRIBUTES = ["a", "b", "c", "it's"]
NAMESPACE = ' xmlns="http://mulan.sourceforge.net/labels"'


def write(path, relation="r"):
    header = [f"@relation {relation}", *(f'@attribute "{name}" {{0,1}}' for name in ATTRIBUTES)]
    path.write_text("\n".join([*header, "@data", "0,1,0,1", "1,1,0,?"]))
    return path


def write_xml(path, *names, namespace=NAMESPACE):
    labels = "".join(f'<label name="{name}"></label>' for name in names)
    path.write_text(f"<labels{namespace}>{labels}</labels>")
    return path


@pytest.fixture
def file(tmp_path):
    return write(tmp_path / "pond.arff")


@pytest.mark.parametrize("namespace", [NAMESPACE, ""])
def test_mulan_file_of_the_same_name(file, namespace):
    write_xml(file.with_suffix(".xml"), "it's", "a", namespace=namespace)
    read = read_arff(file)
    assert read.label_names == ("a", "it's")  # in the order of the data
    assert read.feature_names == ("b", "c")
    np.testing.assert_array_equal(read.Y, [[0, 1], [1, np.nan]])
    np.testing.assert_array_equal(read.X, [[1, 0], [1, 0]])


@pytest.mark.parametrize("part", ["-train", "-test", "_Train"])
def test_mulan_file_of_both_parts(tmp_path, part):
    write_xml(tmp_path / "pond.xml", "b")
    assert read_arff(write(tmp_path / f"pond{part}.arff")).label_names == ("b",)


def test_mulan_file_of_one_part_comes_first(tmp_path):
    write_xml(tmp_path / "pond.xml", "b")
    write_xml(tmp_path / "pond-train.xml", "c")
    assert read_arff(write(tmp_path / "pond-train.arff")).label_names == ("c",)


def test_mulan_file_comes_before_meka_option(file):
    write(file, "'r: -C 1'")
    write_xml(file.with_suffix(".xml"), "b")
    assert read_arff(file).label_names == ("b",)


def test_nested_labels_are_all_labels(file):
    file.with_suffix(".xml").write_text(
        f'<?xml version="1.0"?><labels{NAMESPACE}><label name="a"><label name="b"/></label><!-- x --></labels>'
    )
    assert read_arff(file).label_names == ("a", "b")


def test_label_file_given_by_its_path(file, tmp_path):
    other = write_xml(tmp_path / "other.xml", "c")
    assert read_arff(file, other).label_names == ("c",)
    assert read_arff(file, str(other)).label_names == ("c",)


def test_quotes_and_backslashes_left_in_a_label_file_do_not_matter(file, tmp_path):
    assert read_arff(file, write_xml(tmp_path / "other.xml", r"it\'s", "'b'")).label_names == ("b", "it's")


@pytest.mark.parametrize(
    ("relation", "labels"),
    [
        ("'Pond: -C 2'", ("a", "b")),
        ('"Pond: -C -1 -split-percentage 50"', ("it's",)),
        ("Pond: -C 1", ("a",)),
        ("'-C 3'", ("a", "b", "c")),
        ("Pond:-C\t-3", ("b", "c", "it's")),
    ],
)
def test_meka_option(tmp_path, relation, labels):
    assert read_arff(write(tmp_path / "pond.arff", relation)).label_names == labels


@pytest.mark.parametrize("labels", [2, np.int64(2), ["a", "b"], ("b", "a", "a"), np.array(["a", "b"]), {"a", "b"}])
def test_labels_given_by_number_or_by_name(file, labels):
    assert read_arff(file, labels).label_names == ("a", "b")


@pytest.mark.parametrize("relation", ["r", "filter-C2", "'filter -C 2x'", "'-c 2'", "-Class 2"])
def test_without_a_hint_all_ways_are_reported(tmp_path, relation):
    with pytest.raises(FileFormatError, match=r"pond\.arff.*pond\.xml beside it.*-C option.*labels="):
        read_arff(write(tmp_path / "pond.arff", relation))


@pytest.mark.parametrize("count", [0, 4, -4, 99])
def test_a_number_must_leave_features_and_labels(file, count):
    with pytest.raises(FileFormatError, match=f"{count} cannot be the number of labels among the 4 attributes"):
        read_arff(file, count)
    with pytest.raises(FileFormatError, match=f"{count} cannot be"):
        read_arff(write(file, f"'r: -C {count}'"))


def test_labels_that_are_no_attributes_are_reported(file):
    with pytest.raises(FileFormatError, match=r"pond\.arff has no attribute 'x' nor 'y'"):
        read_arff(file, ["a", "x", "y"])


@pytest.mark.parametrize("labels", [True, 1.5, [], [0, 1], b"a"])
def test_labels_of_a_wrong_kind_are_refused(file, labels):
    with pytest.raises(ParameterError, match="use names, a whole number"):
        read_arff(file, labels)


def test_a_missing_label_file_is_reported(file):
    with pytest.raises(DatasetNotFoundError, match=r"no label file frogs; .*names as a list"):
        read_arff(file, "frogs")


@pytest.mark.parametrize(
    "text",
    ["", "frogs", "<labels>", "<labels/>", "<labels><label/></labels>", "<other><label name='a'/></other>", "\0"],
)
def test_a_broken_label_file_is_reported(file, text):
    broken = Path(file.with_suffix(".xml"))
    broken.write_text(text)
    with pytest.raises(FileFormatError, match=r"pond\.xml .*<labels>"):
        read_arff(file)


def test_an_error_in_xml_has_its_line(file):
    file.with_suffix(".xml").write_text("<labels>\n<label name='a'>\n</labels>")
    with pytest.raises(FileFormatError, match="line 3"):
        read_arff(file)
