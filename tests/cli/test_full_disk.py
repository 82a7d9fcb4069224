"""Every command reports a full disk in the same way: which file, what to do, and one exit code."""

import pytest

LABELS = ("--labels", "fault_a,fault_b")
GRID = ("--vigilance", "0.5", "--ridge", "10", "--threshold-rules", "true", "--cv", 2, "--jobs", 1, "--json")


@pytest.fixture
def full_disk(monkeypatch):
    """From now on nothing reaches the disk."""

    def fill():
        def full(*_):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr("os.fsync", full)

    return fill


@pytest.mark.parametrize(
    ("words", "file"),
    [
        (("run", "plant.csv", *LABELS, "--learner", "prior", "--json", "--out", "out"), "out/seed-0/results.json"),
        (("tune", "plant.csv", *LABELS, *GRID, "--out", "out"), "out/checkpoint.jsonl"),
        (("figures", "model.safetensors", "--out", "out"), "out/threshold-tree-fault-a.png"),
        (("rules", "model.safetensors", "--out", "rules.md"), "rules.md"),
        (("edit", "model.safetensors", "--lock", "0"), "model.safetensors"),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
@pytest.mark.usefixtures("plant_model")
def test_the_message_has_the_file_and_what_to_do(command, full_disk, tmp_path, monkeypatch, words, file):
    monkeypatch.chdir(tmp_path)
    full_disk()
    told = command(*words)
    assert told.code == 1
    assert told.err.splitlines()[-1:] == [
        f"evolabel: No space left on device for {file}; free some space or write elsewhere, "
        "existing files are unchanged"
    ]
