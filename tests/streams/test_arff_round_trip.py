"""Tables written as ARFF text are read back: any names, any values, dense or sparse, in any style of writing."""

import math

import arff
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evolabel.streams.arff.reader import read_arff

ESCAPES = {"\\": r"\\", "'": r"\'", '"': r"\"", "\n": r"\n", "\r": r"\r", "\t": r"\t"}
NASTY = [
    "it's",
    'say "hi"',
    "50%",
    "a,b",
    "{x}",
    "tab\there",
    "back\\slash",
    "?",
    " ",
    "@data",
    "\u2028",
    "\x85",
    "naïve",
]

texts = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=8
) | st.sampled_from(NASTY)
plain_texts = st.from_regex(r"[a-z]{1,3}", fullmatch=True)
numbers = st.none() | st.floats(allow_nan=False, allow_infinity=False) | st.integers(-9, 9).map(float)
styles = st.randoms(use_true_random=True)


def quoted(text, quote):
    return quote + "".join(ESCAPES.get(c, c) for c in text) + quote


@st.composite
def tables(draw):
    """Attributes (name, values or None for numeric) and rows (numbers, positions of values, None for missing)."""
    names = draw(st.lists(texts, min_size=2, max_size=5, unique=True))
    lists = st.none() | st.lists(texts | plain_texts, min_size=1, max_size=4, unique=True)
    attributes = [(name, draw(lists)) for name in names[:-1]] + [(names[-1], ["0", "1"])]
    cells = [numbers if v is None else st.none() | st.integers(0, len(v) - 1) for _, v in attributes]
    return attributes, draw(st.lists(st.tuples(*cells), min_size=1, max_size=6))


class Writer:
    """ARFF text in a style that is chosen anew for each piece."""

    def __init__(self, random):
        self.pick = lambda *choices: random.choice(choices)

    def text(self, text):
        is_plain = text.isascii() and text.isalnum()
        return text if is_plain and self.pick(True, False) else quoted(text, self.pick("'", '"'))

    def attribute(self, name, values):
        kind = self.pick("numeric", "REAL", "Integer")
        if values is not None:
            kind = "{" + self.pick(",", ", ", " ,\t").join(map(self.text, values)) + "}"
        return self.pick("@attribute ", "@ATTRIBUTE\t") + self.text(name) + self.pick(" ", "\t ") + kind

    def cell(self, values, cell):
        if cell is None:
            return "?"
        return repr(cell) if values is None else self.text(values[cell])

    def row(self, attributes, row):
        cells = [self.cell(values, cell) for (_, values), cell in zip(attributes, row, strict=True)]
        if self.pick(True, False):
            return self.pick(",", ", ", "\t", " ,\t").join(cells)
        reported = [f"{i} {text}" for i, text in enumerate(cells) if row[i] != 0 or self.pick(True, False)]
        return "{" + self.pick(",", " , ").join(reported) + "}"

    def file(self, attributes, rows):
        head = ["% a comment", self.pick("@relation r", "@Relation 'r s'")]
        body = [self.pick("@data", "@DATA % rows"), *(self.row(attributes, row) for row in rows)]
        lines = [*head, *(self.attribute(*attribute) for attribute in attributes), *body]
        return self.pick("\n", "\r\n", "\n\n  % note\n").join(lines) + self.pick("", "\n")


def expected_codes(values, cell):
    if cell is None:
        return math.nan
    if values is None:
        return cell
    try:
        own = [float(value) for value in values]
    except ValueError:
        return cell
    is_number_list = len(set(own)) == len(own) and np.isfinite(own).all() and "_" not in "".join(values)
    return own[cell] if is_number_list else cell


def expected_one_hot(name, values, cell):
    """Names and numbers of all columns a feature becomes."""
    if values is None or sorted(values) == ["0", "1"]:
        return [(name, expected_codes(values, cell))]
    return [(f"{name}={v}", math.nan if cell is None else float(i == cell)) for i, v in enumerate(values)]


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("round_trip") / "table.arff"


@settings(deadline=None)
@given(tables(), styles)
def test_codes_come_back(path, table, style):
    attributes, rows = table
    path.write_text(Writer(style).file(attributes, rows), encoding="utf-8", newline="")
    read = read_arff(path, labels=-1, nominal="codes")
    assert read.feature_names == tuple(name for name, _ in attributes[:-1])
    assert read.label_names == (attributes[-1][0],)
    expected = [[expected_codes(v, cell) for (_, v), cell in zip(attributes, row, strict=True)] for row in rows]
    np.testing.assert_array_equal(np.hstack([read.X, read.Y]), np.array(expected, np.float64))


@settings(deadline=None)
@given(tables(), styles)
def test_one_hot_columns_come_back(path, table, style):
    attributes, rows = table
    path.write_text(Writer(style).file(attributes, rows), encoding="utf-8", newline="")
    read = read_arff(path, labels=[attributes[-1][0]])
    expected = [
        [
            pair
            for (name, v), cell in zip(attributes[:-1], row, strict=False)
            for pair in expected_one_hot(name, v, cell)
        ]
        for row in rows
    ]
    assert read.feature_names == tuple(name for name, _ in expected[0])
    np.testing.assert_array_equal(read.X, np.array([[value for _, value in row] for row in expected], np.float64))


@settings(deadline=None)
@given(tables(), styles, st.integers(1, 4))
def test_only_the_first_rows_are_read(path, table, style, n):
    attributes, rows = table
    text = Writer(style).file(attributes, rows)
    path.write_text(text + ("" if len(rows) < n else "\nbroken,'row"), encoding="utf-8", newline="")
    limited = read_arff(path, labels=-1, rows=n)
    path.write_text(text, encoding="utf-8", newline="")
    whole = read_arff(path, labels=-1)
    np.testing.assert_array_equal(limited.X, whole.X[:n])
    np.testing.assert_array_equal(limited.Y, whole.Y[:n])


writable = texts.filter(lambda text: text != "?" and not set("{}") & set(text))  # liac-arff leaves these unquoted


@settings(deadline=None)
@given(st.lists(writable, min_size=1, max_size=4, unique=True), st.data())
def test_files_of_another_writer_are_read(path, values, data):
    cells = st.tuples(numbers, st.none() | st.sampled_from(values), st.sampled_from(["0", "1"]))
    rows = data.draw(st.lists(cells, min_size=1, max_size=5))
    attributes = [("a b", "REAL"), ("c%", values), ("y", ["0", "1"])]
    path.write_text(arff.dumps({"relation": "r", "attributes": attributes, "data": rows}), "utf-8", newline="")
    read = read_arff(path, labels=["y"], nominal="codes")
    expected = [(a, None if c is None else values.index(c)) for a, c, _ in rows]
    assert read.feature_names == ("a b", "c%")
    np.testing.assert_array_equal(read.X[:, 0], np.array([a for a, _ in expected], np.float64))
    np.testing.assert_array_equal(read.X[:, 1], [expected_codes(values, c) for _, c in expected])
    np.testing.assert_array_equal(read.Y[:, 0], [float(y) for _, _, y in rows])
