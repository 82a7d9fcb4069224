"""Values in a line: quotes, escapes, comments, braces; and the short cut for plain rows."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evolabel.streams.arff.values import HAS_MARKUP, ContentLines, LineError, read_braces, split_markup, split_values

PLAIN = st.text(st.characters(exclude_characters="\"'{%\t\n\r,", exclude_categories=["Cs"]), max_size=6)
ROWS = st.lists(PLAIN | st.sampled_from(["", "?", " ? ", "1", " -2.5e3", "a b ", "it's", "C:\\x", "}"]), min_size=1)


@given(ROWS)
def test_the_short_cut_splits_like_the_careful_way(values):
    line = ",".join(values).strip(" ")
    assert split_values(line) == split_markup(line)
    if not HAS_MARKUP.search(line):
        assert split_values(line) == [None if v.strip(" ") == "?" else v.strip(" ") for v in line.split(",")]


@pytest.mark.parametrize(
    ("line", "values"),
    [
        ("1,2", ["1", "2"]),
        ("1 , 2", ["1", "2"]),
        ("1\t2", ["1", "2"]),
        ("1,\t2 \t, 3", ["1", "2", "3"]),
        ("'a b',\"c,d\"", ["a b", "c,d"]),
        ('\'it\\\'s\' , "say \\"hi\\""', ["it's", 'say "hi"']),
        (r"'a\\b','\t\n\r'", [r"a\b", "\t\n\r"]),
        (r"'\u00e9','\101','\z'", ["é", "A", "z"]),
        ("'50%',1 % 'open, comment", ["50%", "1"]),
        ("?,'?',\"?\"", [None, "?", "?"]),
        ("it's,o\"k", ["it's", 'o"k']),
        ("'',,", ["", "", ""]),
        ("", [""]),
    ],
)
def test_quotes_escapes_and_comments(line, values):
    assert split_values(line) == values
    assert split_markup(line) == values


@pytest.mark.parametrize(
    ("text", "values", "behind"),
    [
        ("{a,b}", ["a", "b"], ""),
        ("{ a b , 'c}' }  % x", ["a b", "c}"], "% x"),
        ("{}", [], ""),
        ("{ \t}", [], ""),
        ("{a}, {2}", ["a"], ", {2}"),
        ("{,?}", ["", None], ""),
    ],
)
def test_braces(text, values, behind):
    items, rest = read_braces(text)
    assert [value for _, value in items] == values
    assert rest == behind


def test_braces_with_prefixes():
    items, _ = read_braces("{0 1, 12\t'x y' ,3  ?}", re.compile(r"(\d+)[ \t]+"))
    assert items == [("0", "1"), ("12", "x y"), ("3", None)]


@pytest.mark.parametrize("line", ["'open", '1,"open', r"'open\'", "'a'b,1", "'a''b'"])
def test_quotes_that_do_not_close_are_refused(line):
    with pytest.raises(LineError):
        split_values(line)


@pytest.mark.parametrize("text", ["{a", "{'a'b}", "{a %}", "{'a}"])
def test_braces_that_do_not_close_are_refused(text):
    with pytest.raises(LineError):
        read_braces(text)


def test_lines_without_content_are_skipped_but_counted():
    lines = ContentLines(["% note\n", "\n", " \t\n", "  a \r\n", "  % b\n", "c"])
    assert [(line, lines.number) for line in lines] == [("a", 4), ("c", 6)]
