"""What cannot be read as a command ends in one whole line, however narrow the terminal is."""

import pytest


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["run", "--label", "fault"], "Unknown option: --label. Did you mean --labels? Try `evolabel run --help`."),
        (["run", "--protocol", "best"], 'Choose from: "benchmark", "paper", "order". Try `evolabel run --help`.'),
        (["run", "a.csv", "b.csv"], "unexpected argument: b.csv. Try `evolabel run --help`."),
        (["runn"], " Try `evolabel --help`."),
        (["explain", "model"], "--row requires an argument. Try `evolabel explain --help`."),
    ],
)
def test_wrong_usage_is_told_in_one_line(command, monkeypatch, words, told):
    monkeypatch.setenv("COLUMNS", "40")
    result = command(*words)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("evolabel: ")
    assert result.err.endswith(f"{told}\n")
    assert result.err.count("\n") == 1
