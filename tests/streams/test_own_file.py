"""A person's own file: what its columns are, samples of its rows, and one message for each thing that is wrong."""

import datetime
import zipfile

import pytest

from evolabel.errors import DataError, FileFormatError
from evolabel.streams.files.own_file import ColumnError, read_own_file, use_columns

HEAD = "id,at,site,depth,wet,frogs,newts"
ROWS = ["a,2026-03-01 08:00,north,0.5,yes,1,0", "b,2026-03-01 09:00,south,,no,1,", "c,2026-03-02 08:00,north,2,yes,,"]
CSV = "\n".join([HEAD, *ROWS]) + "\n"


def written(folder, text, name="pond.csv"):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def uses(own):
    return {column.name: column.use for column in own.columns}


def workbook(path, rows):
    book = pytest.importorskip("openpyxl").Workbook()
    for row in rows:
        book.active.append(row)
    book.save(path)
    return path


def parquet(path, **columns):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    parquet.write_table(pyarrow.table(columns), path)
    return path


def test_columns_are_judged_and_used_as_proposed(tmp_path):
    own = read_own_file(written(tmp_path, CSV))
    assert uses(own) == {
        "id": "id", "at": "time", "site": "source", "depth": "number", "wet": "label", "frogs": "label",
        "newts": "label",
    }  # fmt: skip
    assert [(c.kind, c.missing, c.distinct, c.examples) for c in own.columns[2:4]] == [
        ("text", 0, 2, ("north", "south")),
        ("number", 1, 2, ("0.5", "2")),
    ]
    rows = use_columns(own.table, {**uses(own), "wet": "text"})
    assert rows.features == {"site": ("north", "south"), "depth": None, "wet": ("no", "yes")}
    assert rows.x == [["north", 0.5, "yes"], ["south", None, "no"], ["north", 2.0, "yes"]]
    assert (rows.labels, rows.y) == (("frogs", "newts"), [{"frogs": 1, "newts": 0}, {"frogs": 1}, {}])
    assert (rows.source, rows.is_one_of, rows.ids) == ("site", False, ["a", "b", "c"])
    assert rows.times[:2] == ["2026-03-01T08:00:00", "2026-03-01T09:00:00"]


def test_every_format_gives_the_same_rows(tmp_path):
    lines = '{"site": "north", "depth": 0.5, "kinds": ["frog", "newt"]}\n{"site": null, "depth": 2, "kinds": []}\n'
    made = [
        written(tmp_path, "site,depth,kinds\nnorth,0.5,frog;newt\n,2,none\n"),
        written(tmp_path, lines, "pond.jsonl"),
        workbook(tmp_path / "pond.xlsx", [["site", "depth", "kinds"], ["north", 0.5, "frog;newt"], [None, 2, "none"]]),
        parquet(tmp_path / "pond.parquet", site=["north", None], depth=[0.5, 2.0], kinds=[["frog", "newt"], ["none"]]),
    ]
    for path in made:
        own = read_own_file(path)
        rows = use_columns(own.table, {"site": "text", "depth": "number", "kinds": "labels"})
        assert rows.x == [["north", 0.5], [None, 2.0]], path
        assert rows.y == [{"frog": 1, "newt": 1}, {"frog": 0, "newt": 0}], path
        assert rows.ids == ["pond-1", "pond-2"]


def test_one_label_of_several_in_each_row(tmp_path):
    own = read_own_file(written(tmp_path, "depth,class\n1,frog\n2,\n3,newt\n"))
    assert uses(own) == {"depth": "number", "class": "class"}
    rows = use_columns(own.table, uses(own))
    assert rows.is_one_of
    assert rows.y == [{"frog": 1, "newt": 0}, {}, {"frog": 0, "newt": 1}]


def test_times_and_flags_of_parquet_are_read(tmp_path):
    times = [datetime.datetime(2026, 3, 1, 8), datetime.datetime(2026, 3, 1, 9)]
    own = read_own_file(parquet(tmp_path / "pond.parquet", at=times, depth=[1, 2], frogs=[True, None]))
    assert uses(own) == {"at": "time", "depth": "number", "frogs": "label"}
    assert use_columns(own.table, uses(own)).y == [{"frogs": 1}, {}]


WRONG_FILES = {
    "empty": ("", "is empty"),
    "no rows": (HEAD, "has no rows"),
    "two columns of one name": ("depth,depth\n1,2\n", "line 1: several columns are named 'depth'"),
    "a column without a name": ("depth,\n1,2\n", "line 1: a column has no name"),
    "no header": ("1,2\n3,4\n", "line 1: all names are numbers"),
    "cut off in a row": (CSV[:-12], "line 4: 3 values, expected 7"),
    "an open quote": ('depth,note\n1,"a\n', "check the quotes"),
    "no text": ("depth\n\0\0", "has the byte 0"),
}


@pytest.mark.parametrize("wrong", WRONG_FILES)
def test_a_wrong_file_is_refused_at_its_place(tmp_path, wrong):
    text, message = WRONG_FILES[wrong]
    with pytest.raises(FileFormatError) as refused:
        read_own_file(written(tmp_path, text))
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


def test_two_values_of_one_name_in_a_line_are_refused(tmp_path):
    path = written(tmp_path, '{"depth": 1}\n{"depth": 1, "depth": 2}\n', "pond.jsonl")
    with pytest.raises(FileFormatError, match=r"line 2: this is no JSON .'depth' stands twice"):
        read_own_file(path)


def test_files_of_other_kinds_are_refused(tmp_path):
    with pytest.raises(FileFormatError, match="has no ending of a table"):
        read_own_file(written(tmp_path, CSV, "pond.pdf"))
    for name, what in (("pond.xlsx", "no Excel file"), ("pond.parquet", "no Parquet file")):
        with pytest.raises(FileFormatError, match=what):
            read_own_file(written(tmp_path, CSV, name))


def test_a_file_above_the_limit_is_refused(tmp_path):
    with pytest.raises(FileFormatError, match=r"pond.csv has 0.0 MiB, at most 0 are read"):
        read_own_file(written(tmp_path, CSV), most=50)


def test_a_sheet_that_unpacks_beyond_the_limit_is_refused(tmp_path):
    path = tmp_path / "bomb.xlsx"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/worksheets/sheet1.xml", b"0" * 3 * 2**20)
    assert path.stat().st_size < 2**20
    with pytest.raises(FileFormatError, match=r"bomb.xlsx unpacks to 3 MiB, at most 1 are read"):
        read_own_file(path, most=2**20)


def test_a_sheet_with_a_cell_far_behind_the_others_is_refused(tmp_path):
    path = workbook(tmp_path / "far.xlsx", [["depth", "frogs"], [1, 0]])
    book = pytest.importorskip("openpyxl").load_workbook(path)
    book.active.cell(1_048_576, 16_384, 1)
    book.save(path)
    with pytest.raises(FileFormatError, match=r"far.xlsx has more than 524,288 cells, empty ones counted"):
        read_own_file(path, most=2**20)


def test_lines_with_many_different_names_are_refused(tmp_path):
    lines = "".join(f'{{"name {line}": {line}}}\n' for line in range(2000))
    with pytest.raises(FileFormatError, match=r"wide.jsonl has more than 524,288 cells, empty ones counted"):
        read_own_file(written(tmp_path, lines, "wide.jsonl"), most=2**20)


def test_parquet_that_unpacks_beyond_the_limit_is_refused(tmp_path):
    path = parquet(tmp_path / "bomb.parquet", depth=[0.0] * 500_000)
    assert path.stat().st_size < 2**20
    with pytest.raises(FileFormatError, match=r"bomb.parquet unpacks to 4 MiB"):
        read_own_file(path, most=2**20)


def test_parquet_that_repeats_a_long_text_or_a_long_list_is_refused(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    long = pyarrow.DictionaryArray.from_arrays(pyarrow.array([0] * 2000, pyarrow.int32()), ["frog" * 500])
    ones = pyarrow.DictionaryArray.from_arrays(pyarrow.array([0] * 500_000, pyarrow.int8()), ["x"])
    lists = pyarrow.ListArray.from_arrays(pyarrow.array([0, 500_000], pyarrow.int32()), ones)
    inside = pyarrow.StructArray.from_arrays([long], ["kind"])
    for column in (long, lists, inside):
        path = parquet(tmp_path / "bomb.parquet", kinds=column)
        assert path.stat().st_size < 2**15
        with pytest.raises(FileFormatError, match=r"bomb.parquet unpacks to 4 MiB, at most 1 are read"):
            read_own_file(path, most=2**20)


def test_a_text_that_cannot_be_stored_is_refused(tmp_path):
    for line in ('{"depth\\u0000": 1}', '{"depth": "\\ud800"}', '{"kinds": ["\\ud800"]}', '{"\\ud800": 1}'):
        with pytest.raises(FileFormatError, match=r"pond.jsonl, line 1: a text has .*; leave it out"):
            read_own_file(written(tmp_path, line + "\n", "pond.jsonl"))


def test_columns_that_are_no_cells_can_be_left_out(tmp_path):
    own = read_own_file(parquet(tmp_path / "pond.parquet", depth=[1.0, 2.0], where=[{"x": 1}, {"x": 2}]))
    assert uses(own) == {"depth": "number", "where": "skip"}
    assert "row 1: 'where' is {'x': 1}" in own.columns[1].problem
    with pytest.raises(ColumnError, match="row 1: 'where'"):
        use_columns(own.table, {"depth": "number", "where": "text"})


MANY = "depth,tag\n" + "".join(f"{row},t{row}\n" for row in range(500))
NUMBERS = "depth\n" + "".join(f"{row}.5\n" for row in range(30))
WRONG_USES = {
    "a label column of 500 values": (MANY, {"depth": "number", "tag": "class"}, "'tag' has 500 different labels"),
    "500 labels in lists": (MANY, {"depth": "number", "tag": "labels"}, "'tag' has 500 different labels"),
    "a text of 500 values": (MANY, {"depth": "number", "tag": "text"}, "'tag' has 500 different texts"),
    "a word among numbers": (NUMBERS + "abc\n", {"depth": "number"}, "line 32: 'depth' is 'abc', but 30 other"),
    "a text as number": (CSV, {"site": "number"}, "line 2: 'site' is 'north'; expected a number"),
    "a number as label": (CSV, {"site": "text", "depth": "label"}, "line 2: label 'depth' is 0.5"),
    "an id twice": (CSV + ROWS[0], {"depth": "number", "id": "id"}, "line 5: the id 'a' is that of line 2"),
    "no id": (CSV.replace("b,", ",", 1), {"depth": "number", "id": "id"}, "line 3: the id in 'id' is missing"),
    "no time": (CSV, {"depth": "number", "site": "time"}, "line 2: 'site' is 'north'; expected a timestamp"),
    "two ids": (CSV, {"depth": "number", "id": "id", "site": "id"}, "both used as id"),
    "an infinite number": ("depth\n1\ninf\n", {"depth": "number"}, "line 3: 'depth' is infinite"),
    "a huge number": ("depth\n1\n1e200\n", {"depth": "number"}, "line 3: 'depth' is above 1e+100"),
    "an unknown use": (CSV, {"depth": "nonsense"}, "there is no use 'nonsense'"),
}


@pytest.mark.filterwarnings("ignore::evolabel.errors.DataWarning")
@pytest.mark.parametrize("wrong", WRONG_USES)
def test_a_wrong_column_is_named_with_its_row(tmp_path, wrong):
    text, chosen, message = WRONG_USES[wrong]
    own = read_own_file(written(tmp_path, text))
    with pytest.raises(ColumnError) as refused:
        use_columns(own.table, chosen)
    assert message in str(refused.value)
    assert refused.value.column in chosen


def test_without_a_feature_there_are_no_samples(tmp_path):
    own = read_own_file(written(tmp_path, CSV))
    with pytest.raises(DataError, match="no column is a feature"):
        use_columns(own.table, {"frogs": "label"})
    with pytest.raises(DataError, match="there is no column 'toads'"):
        use_columns(own.table, {"toads": "number"})


def test_a_word_among_numbers_is_shown_before_the_file_is_used(tmp_path):
    (column,) = read_own_file(written(tmp_path, NUMBERS + "abc\n")).columns
    assert (column.kind, column.use) == ("number", "number")
    assert "line 32: 'depth' is 'abc'" in column.problem
