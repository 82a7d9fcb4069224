"""What is wrong in a file is reported with the name of the file and the number of the line."""

import re

import numpy as np
import pytest
from choices import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from evolabel.errors import EvolabelError, FileFormatError, ParameterError
from evolabel.streams.arff.reader import read_arff

HEADER = """% a comment
@relation 'r: -C -1'
@attribute x numeric
@attribute site {red, 'dark blue'}
@attribute y {0,1}
"""
GOOD = HEADER + "\n@data\n% rows\n1,red,0\n"


@pytest.fixture
def reported(tmp_path):
    """Check that a text is refused in a line, and how."""
    path = tmp_path / "pond.arff"

    def check(text, line, problem, **options):
        path.write_text(text)
        with pytest.raises(FileFormatError, match=re.escape(f"{path}, line {line}: ") + ".*" + problem) as error:
            read_arff(path, **options)
        assert "\n" not in str(error.value)

    return check


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ("1,red", "expected 3 values, one per attribute, got 2"),
        ("1,red,0,1", "expected 3 values, one per attribute, got 4"),
        ("1 red 0", "expected 3 values, one per attribute, got 1; separate them by commas"),
        ("1,green,0", "'site' is 'green'; expected one of red, dark blue, or \\? if it is missing"),
        ("1,Red,0", "'site' is 'Red'"),
        ("1,,0", "'site' is ''"),
        ("one,red,0", "'x' is 'one'; expected a finite number, or \\? if it is missing"),
        (",red,0", "'x' is ''"),
        ("1_0,red,0", "'x' is '1_0'"),
        ("-inf,red,0", "'x' is '-inf'"),
        ("1e999,red,0", "'x' is '1e999'"),
        ("1,red,2", "'y' is '2'; expected 0, 1, true, false, yes or no, because it is a label"),
        ("1,red,0.5", "'y' is '0.5'"),
        ("1,'red,0", 'the quote that opens "\'red,0" is never closed'),
        ("1,'red'x,0", "expected a comma or the end behind a quoted value, got 'x,0'"),
        ("{0 1, 3 5}", "index 3 is out of range; the 3 attributes are counted from 0"),
        ("{0 1, 0 2}", "an index occurs twice"),
        ("{0 1, 00 2}", "an index occurs twice"),
        ("{0 1, x 2}", "expected an index and a value, got 'x 2}'"),
        ("{-1 2}", "expected an index and a value"),
        ("{0 1,}", "expected an index and a value, got '}'"),
        ("{0}", "expected an index and a value"),
        ("{0 1", "expected a comma or a closing brace, got ''"),
        ("{0 1} 2", "unexpected '2' after a sparse row"),
        ("{0 one}", "'x' is 'one'"),
        ("{1 green}", "'site' is 'green'"),
        ("1,red,0,{5}", "the row has a weight, '[{]5}'; .* remove it"),
        ("{0 1}, {0.5}", "the row has a weight, '[{]0.5}'"),
        ("{0 1} {2} % note", "the row has a weight, '[{]2}'"),
        ("x" * 99 + ",red,0", "'x' is 'x{40}\\.\\.\\.'"),
    ],
)
def test_a_broken_row_is_reported(reported, row, problem):
    reported(f"{GOOD}\n{row}\n2,red,1\n", 11, problem)


def test_the_line_is_right_far_down_the_file(reported):
    reported(GOOD + "1,red,0\n" * 20_000 + "1,red,7\n", 20_010, "'y' is '7'")


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("@attribute", "an attribute has no name"),
        ("@attribute {a,b}", "an attribute has no name"),
        ("@attribute '' numeric", "an attribute has no name"),
        ("@attribute z", "'' is not a type that can be read; expected numeric"),
        ("@attribute z float", "'float' is not a type"),
        ("@attribute z relational", "'relational' is not a type"),
        ("@attribute my name numeric", "'name numeric' is not a type"),
        ("@attribute z numeric [0, 1]", "expected the end of the line behind the type, got '\\[0, 1\\]'"),
        ("@attribute z {a, b} {2}", "expected the end of the line behind the values"),
        ("@attribute 'z numeric", "the quote that opens .* is never closed"),
        ("@attribute z {a, 'b}", "the quote that opens .* is never closed"),
        ("@attribute z {a, b", "expected a comma or a closing brace, got ''"),
        ("@attribute z {}", "'{}' must list one value or more, each once"),
        ("@attribute z {a, b, a}", "must list one value or more, each once"),
        ("@attribute x numeric", "attribute 'x' is declared a second time \\(first in line 3\\); rename one"),
        ("@data 1,red,0", "expected the end of the line behind @data, got '1,red,0'"),
        ("1,red,0", "expected @relation, @attribute or .*@data, got '1,red,0'"),
        ("@inputs x", "expected @relation, @attribute or .*@data, got '@inputs x'"),
    ],
)
def test_a_broken_header_is_reported(reported, line, problem):
    reported(f"{HEADER}\n{line}\n@data\n1,red,0", 7, problem)


@pytest.mark.parametrize(("kind", "word"), [("string", "string"), ("DATE", "date"), ("date 'yyyy MM'", "date")])
def test_texts_and_dates_are_reported_with_a_way_out(reported, kind, word):
    text = f"@relation r\n@attribute id {kind}\n@attribute x numeric\n@attribute y {{0,1}}\n@data\n'a, b',1,0"
    reported(text, 2, f"'id' is a {word}, not a number; leave it out by drop=\\['id'\\]", labels=-1)
    reported(text, 2, f"'id' is a {word}, not a number", labels=["id"])


def test_files_that_end_early_are_reported(reported):
    reported("", 0, "ends without @data")
    reported(HEADER, 5, "ends without @data")
    reported("@relation r\n@data\n1", 2, "expected @relation, @attribute or \\(behind the attributes\\) @data")
    reported(HEADER + "@data\n\n% nothing\n", 8, "no rows after @data")


def test_dropping_needs_known_names_and_leaves_something(reported, tmp_path):
    reported(GOOD, 7, "0 labels and 2 features are left", drop=["y"])
    reported(GOOD, 7, "1 labels and 0 features are left", drop=["x", "site"])
    with pytest.raises(FileFormatError, match=r"pond\.arff has no attribute 'z' to leave out"):
        read_arff(tmp_path / "pond.arff", drop=["z"])


@pytest.mark.parametrize("options", [{"nominal": "dummies"}, {"rows": 0}, {"rows": -1}, {"rows": 2.5}])
def test_parameters_out_of_range_are_refused(tmp_path, options):
    (tmp_path / "pond.arff").write_text(GOOD)
    with pytest.raises(ParameterError, match=f"{next(iter(options))}=.* is not allowed; use"):
        read_arff(tmp_path / "pond.arff", **options)


@pytest.fixture(scope="module")
def scratch(tmp_path_factory):
    return tmp_path_factory.mktemp("scratch") / "pond.arff"


pieces = st.sampled_from(
    [*GOOD.splitlines(), "{0 1}", "{", "}", "'", '"', "\\", ",", "?", "%", "\t", " ", "{0 1, 2 1}"]
)


@settings(deadline=None, max_examples=examples(300))
@given(st.lists(pieces | st.text(max_size=3), max_size=20), st.sampled_from(["", "\n"]))
def test_any_text_is_read_or_refused_in_one_line(scratch, texts, glue):
    scratch.write_text(GOOD + glue.join(texts), encoding="utf-8", errors="surrogatepass")
    problem, read = "", None
    try:
        read = read_arff(scratch)
    except EvolabelError as error:
        problem = str(error)
    assert "\n" not in problem
    if read is not None:
        assert np.isin(read.Y[~np.isnan(read.Y)], [0.0, 1.0]).all()
        assert not np.isinf(read.X).any()
