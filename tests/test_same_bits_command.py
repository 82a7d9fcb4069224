"""`same_bits.py` finds what differs between two commits."""

import numpy as np
import same_bits


def outputs(**values):
    return {f"group/{name}": np.asarray(value) for name, value in values.items()}


def test_equal_bits_are_no_trouble():
    both = outputs(a=[0.1, np.nan], b=["x"], c=3)
    assert not any(same_bits.trouble(name, both, {n: v.copy() for n, v in both.items()}) for name in both)


def test_the_smallest_difference_is_found():
    before, after = outputs(a=[0.1, 1.0]), outputs(a=[0.1, np.nextafter(1.0, 2.0)])
    assert same_bits.trouble("group/a", before, after) == "1 of 2 values differ, by 2.22e-16 at most"


def test_shapes_types_and_missing_outputs_are_found():
    before, after = outputs(a=[0.0], b=[0.0], c=[1.0]), outputs(a=[0], b=[[0.0]], d=[1.0])
    assert "int64" in same_bits.trouble("group/a", before, after)
    assert "(1, 1)" in same_bits.trouble("group/b", before, after)
    assert same_bits.trouble("group/c", before, after) == "missing after; the same bits are in group/d"


def test_an_error_of_both_commits_is_trouble():
    both = outputs(error="ValueError: wrong")
    assert "ValueError" in same_bits.trouble("group/error", both, both)


def test_keys_of_files_follow_the_table_of_renames():
    after = outputs(**{"file: rules.n_pending": 0, "file: rules.fresh": 0, "file: active.context.feedback.at": 0})
    names = ("file: rules.late", "file: rules.fresh", "file: active.experience.echo.at", "file: rules.won", "late")
    found = [same_bits.renamed(f"group/{name}", after) for name in names]
    assert found == [*after, "group/file: rules.won", "group/late"]
