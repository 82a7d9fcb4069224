"""No file that evolabel reads is unpickled: sources name no unpickler, and planted pickles do nothing."""

import gzip
import hashlib
import io
import pickle
import re
import zipfile
from pathlib import Path

import numpy as np
import pytest
from choices import first_quick, pairs

import evolabel
from evolabel import EvolvingFuzzyClassifier
from evolabel.active import ActiveLearner
from evolabel.errors import EvolabelError
from evolabel.evaluate import Results
from evolabel.paper import PaperGridSearch
from evolabel.paper.reproduce import ReproductionResults
from evolabel.paper.reproduce.runner import load_task
from evolabel.streams import DriftingStream, load_dataset, read_arff, read_dataset, read_for_model, write_dataset
from evolabel.streams.named.catalogue import find_entry

SOURCES = sorted(Path(evolabel.__file__).parent.rglob("*.py"))
UNPICKLERS = re.compile(
    r"(?:import|from)\s+(?:_?pickle|dill|cloudpickle|shelve|marshal)\b"
    r"|__import__|pickle\.load|joblib\.(?:load|Memory)|from joblib import[^\n]*\b(?:load|Memory)\b"
    r"|read_pickle|allow_pickle\s*=\s*(?!False)|torch\.load|yaml\.(?:unsafe_)?load"
)
OPENS_ARRAYS = re.compile(r"np\.(?:load|fromfile|memmap)\((?!.*allow_pickle=False)")


def test_no_source_names_an_unpickler():
    found = {}
    for source in SOURCES:
        text = source.read_text("utf-8")
        found[str(source)] = UNPICKLERS.findall(text) + OPENS_ARRAYS.findall(text)
    assert len(found) > 100
    assert {name: places for name, places in found.items() if places} == {}


class Malicious:
    """Creates a file when it is unpickled."""

    def __init__(self, marker):
        self.marker = marker

    def __reduce__(self):
        return Path.touch, (self.marker,)


@pytest.fixture
def marker(tmp_path):
    return tmp_path / "marker"


@pytest.fixture
def payloads(marker):
    """Bytes by kind, all of which would create the marker if they were unpickled."""
    return payloads_for(marker)


def payloads_for(marker):
    thing = Malicious(marker)
    raw = pickle.dumps(thing)
    sealed = b"evolabel checkpoint 1\n" + hashlib.sha256(raw).digest() + raw  # what runs once kept
    return {
        "pickle 0": pickle.dumps(thing, 0),
        "pickle 2": pickle.dumps(thing, 2),
        "pickle 5": raw,
        "gzip": gzip.compress(raw),
        "checkpoint": sealed,
        "npy": npy_of(thing),
        "npz": npz_of(thing),
        "parquet": parquet_of(raw),
    }


def npy_of(thing):
    file = io.BytesIO()
    np.save(file, np.array([thing], object), allow_pickle=True)
    return file.getvalue()


def npz_of(thing):
    """Every array a reader may ask for is pickled."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name in ("X", "Y", "facts", "learners", "scores"):
            archive.writestr(f"{name}.npy", npy_of(thing))
    return file.getvalue()


def parquet_of(raw):
    """A column whose extension type old versions of Arrow unpickled."""
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    hidden = {b"ARROW:extension:name": b"arrow.py_extension_type", b"ARROW:extension:metadata": raw}
    schema = pyarrow.schema(
        [pyarrow.field("a", pyarrow.float64(), metadata=hidden), pyarrow.field("b", pyarrow.float64(), metadata=hidden)]
    )
    file = pyarrow.BufferOutputStream()
    parquet.write_table(pyarrow.table([[0.5, 1.5], [0.0, 1.0]], schema=schema), file)
    return file.getvalue().to_pybytes()


KINDS = ("pickle 0", "pickle 2", "pickle 5", "gzip", "checkpoint", "npy", "npz", "parquet")


def test_the_payloads_work(payloads, marker):
    for kind in KINDS[:3]:
        pickle.loads(payloads[kind])
        assert marker.exists()
        marker.unlink()
    np.load(io.BytesIO(payloads["npy"]), allow_pickle=True)
    assert marker.exists()


def complaint(read, *arguments):
    """Call a reader; its error of our own, if there is one, as text."""
    try:
        read(*arguments)
    except EvolabelError as error:
        return str(error)
    return ""


READERS = {
    "model file": ("model.safetensors", EvolvingFuzzyClassifier.load),
    "active learner": ("learner.safetensors", ActiveLearner.load),
    "npz data": ("data.npz", read_dataset),
    "parquet data": ("data.parquet", read_dataset),
    "parquet data with labels": ("data.parquet", lambda path: read_dataset(path, ["b"])),
    "csv data": ("data.csv", lambda path: read_dataset(path, -1)),
    "tsv data": ("data.tsv", lambda path: read_dataset(path, -1)),
    "csv data, compressed": ("data.csv.gz", lambda path: read_dataset(path, -1)),
    "csv data, zipped": ("data.csv.zip", lambda path: read_dataset(path, -1)),
    "arff data": ("data.arff", lambda path: read_dataset(path, -1)),
    "npy data": ("data.npy", read_dataset),
    "pickle data": ("data.pkl", read_dataset),
    "joblib data": ("data.joblib", read_dataset),
    "rows for a model, npz": ("data.npz", lambda path: read_for_model(path, ["a"], ["b"])),
    "rows for a model, parquet": ("data.parquet", lambda path: read_for_model(path, ["a"], ["b"])),
    "rows for a model, csv": ("data.csv", lambda path: read_for_model(path, ["a"], ["b"])),
    "results": ("results.json", Results.read),
    "results as lines": ("results.jsonl", Results.read),
    "results as parquet": ("results.parquet", Results.read),
    "parts of a reproduction": ("run/a-b-c.json", lambda path: load_task(path, {})),
    "results of a reproduction": ("results.json", lambda path: ReproductionResults.read(path.parent)),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("reader", READERS)
def test_no_reader_unpickles(reader, kind, payloads, marker, tmp_path):
    name, read = READERS[reader]
    path = tmp_path / "planted" / name
    path.parent.mkdir(parents=True)
    path.write_bytes(payloads[kind])
    assert "\n" not in complaint(read, path)
    assert not marker.exists()


@pytest.mark.parametrize("kind", KINDS)
def test_scores_beside_results_are_not_unpickled(kind, payloads, marker, tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "results.json").write_text('{"settings": {"learners": {}}, "summary": [], "trend": []}')
    (tmp_path / "run" / "scores.npz").write_bytes(payloads[kind])
    with pytest.raises(EvolabelError, match="does not hold complete results") as error:
        Results.read(tmp_path / "run")
    assert "\n" not in str(error.value)
    assert not marker.exists()


@pytest.mark.parametrize("kind", KINDS)
def test_the_checkpoint_of_a_search_is_not_unpickled(kind, payloads, marker, tmp_path, stream):
    checkpoint = tmp_path / "checkpoint.jsonl"
    checkpoint.write_bytes(payloads[kind])
    search = PaperGridSearch(EvolvingFuzzyClassifier(), {"vigilance": (0.5,)}, cv=2, checkpoint=checkpoint)
    with pytest.raises(EvolabelError, match="holds no search") as error:
        search.fit(stream[0][:40], stream[1][:40])
    assert "\n" not in str(error.value)
    assert not marker.exists()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("where", ["EVOLABEL_DATA", "EVOLABEL_CACHE"])
def test_folders_of_data_sets_are_not_unpickled(where, kind, payloads, marker, tmp_path, monkeypatch):
    monkeypatch.delenv("EVOLABEL_DATA", raising=False)
    monkeypatch.setenv("EVOLABEL_CACHE", str(tmp_path / "empty"))
    monkeypatch.setenv(where, str(tmp_path))
    folder = tmp_path / "emotions"
    folder.mkdir()
    for file in find_entry("emotions").files:
        (folder / file.name).write_bytes(payloads[kind])
        (folder / f"{file.name}.sha256").write_bytes(payloads[kind])
    with pytest.raises(EvolabelError) as error:
        load_dataset("emotions")
    assert "\n" not in str(error.value)
    assert not marker.exists()


@pytest.mark.parametrize("kind", KINDS)
def test_label_files_are_not_unpickled(kind, payloads, marker, tmp_path):
    (tmp_path / "data.arff").write_text("@relation r\n@attribute a numeric\n@attribute b {0,1}\n@data\n1,0\n")
    (tmp_path / "data.xml").write_bytes(payloads[kind])
    with pytest.raises(EvolabelError) as error:
        read_arff(tmp_path / "data.arff")
    assert "\n" not in str(error.value)
    assert not marker.exists()


LABELS = ("--labels", "fault_a,fault_b")
GRID = ("--vigilance", "0.5", "--ridge", "10", "--threshold-rules", "true", "--cv", 2, "--jobs", 1)

# Where pickles are planted, what is typed then, and the exit codes it may end with.
COMMANDS = {
    "run --out": (
        [
            *("out/seed-0.checkpoint", "out/seed-1.checkpoint", "out/summary.json", "out/model.safetensors"),
            *(f"out/seed-0/results.{ending}" for ending in ("json", "jsonl", "parquet")),
            "out/seed-0/scores.npz",
        ],
        ("run", "plant.csv", *LABELS, "--learner", "prior", "--out", "out", "--json", "--force"),
        {0},
    ),
    "run --params": (["best.json"], ("run", "plant.csv", *LABELS, "--params", "best.json"), {2}),
    "run of a file": (["bad.npz"], ("run", "bad.npz"), {2}),
    "bench": (
        ["out/unfinished/0-0.json", "out/comparison.json", "out/0-0.checkpoint"],
        ("bench", "--sets", "plant.npz", "--learner", "prior", "--against", "", "--seeds", 2, "--out", "out", "--json"),
        {0},
    ),
    "tune": (["out/checkpoint.jsonl"], ("tune", "plant.csv", *LABELS, *GRID, "--out", "out", "--json"), {2}),
    "predict": (["bad.parquet"], ("predict", "model.safetensors", "bad.parquet"), {2}),
    "predict with a model": (["bad.model"], ("predict", "bad.model", "plant.csv"), {2}),
    "rules": (["bad.model"], ("rules", "bad.model"), {2}),
    "explain": (["bad.npz"], ("explain", "model.safetensors", "--row", 0, "--data", "bad.npz"), {2}),
    "figures": (["bad.model"], ("figures", "bad.model", "--out", "out"), {2}),
    "edit": (["bad.model"], ("edit", "bad.model", "--undo"), {2}),
    "convert": (["bad.npz"], ("convert", "bad.npz", "good.parquet"), {2}),
}


@pytest.mark.parametrize(("name", "kind"), pairs(COMMANDS, ["pickle 5", "checkpoint", "npz"]))
@pytest.mark.usefixtures("plant_model")
def test_no_command_unpickles(name, kind, command, payloads, marker, plant, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    planted, words, codes = COMMANDS[name]
    if "plant.npz" in words:
        assert command("convert", plant, "plant.npz", *LABELS).code == 0
    for file in planted:
        Path(file).parent.mkdir(parents=True, exist_ok=True)
        Path(file).write_bytes(payloads[kind])
    told = command(*words)
    assert not marker.exists()
    assert told.code in codes
    if told.code:
        lines = told.err.splitlines()
        assert [line.startswith("evolabel: ") for line in lines] == [False] * (len(lines) - 1) + [True]
    assert "Traceback" not in told.err


@pytest.mark.parametrize("kind", first_quick("pickle 5", "checkpoint"))
@pytest.mark.slow
def test_reproductions_do_not_unpickle_their_parts(kind, payloads, marker, tmp_path, command):
    tiny, out = tmp_path / "tiny.npz", tmp_path / "out"
    write_dataset(DriftingStream(n_features=3, n_labels=2, drift_every=0, seed=0).dataset(90, "tiny"), tiny)
    words = ("reproduce", "fig4", "--quick", "--sets", tiny, "--out", out, "--jobs", 1, "--json")
    assert command(*words).code == 0
    planted = [path for path in out.rglob("*") if path.is_file()]
    for path in planted:
        path.write_bytes(payloads[kind])
    assert command(*words).code == 0
    assert len(planted) > 10
    assert not marker.exists()
