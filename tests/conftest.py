"""Small streams, files and folders, and a way to compare models bit for bit. Nobody writes into these arrays."""

import copy
import gc
import os
import shutil
import sys
from collections import Counter
from dataclasses import fields
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import settings
from pump_stream import FEATURES, LABELS, pump_rows

from evolabel import EvolvingFuzzyClassifier
from evolabel.streams import DriftingStream, from_csv

# The same examples in every run, so that a change alone can turn the suite red; `make check` has five times as many and
# `--hypothesis-profile=explore` draws new ones.
settings.register_profile("steady", max_examples=10, derandomize=True, deadline=None)
settings.register_profile("check", max_examples=50, derandomize=True, deadline=None)
settings.register_profile("explore", max_examples=300, deadline=None)
settings.load_profile("steady")


os.environ.setdefault("EVOLABEL_QUIET", "1")  # tests compare what is on standard error, with and without compiling
gc.disable()  # until all tests are collected; nothing that is imported goes away


def pytest_collection_finish():
    """The collector leaves out what was imported and runs seldom, otherwise it takes a twelfth of the time of tests."""
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
    gc.enable()


def spread(items):
    """Files of the service, few tests first, evenly among the others: some tests wait while others compute."""
    n_tests = Counter(item.path for item in items)
    waiting = sorted((path for path in n_tests if "server" in path.parts), key=n_tests.get)
    others = sorted((path for path in n_tests if "server" not in path.parts), key=n_tests.get, reverse=True)
    place = {path: at / len(files) for files in (waiting, others) for at, path in enumerate(files)}
    items.sort(key=lambda item: place[item.path])


def pytest_collection_modifyitems(config, items):
    """Tests in parallel have an order of their own; some need a POSIX system, those of real data the data sets."""
    if hasattr(config, "workerinput"):
        spread(items)
    if os.name != "posix":
        skip_marked(items, "posix", "Windows has no such signals, links, pipes, devices or modes of files")
    if Path(os.environ.get("EVOLABEL_DATA") or "nowhere").is_dir():
        return
    skip_marked(items, "data", "EVOLABEL_DATA names no folder with the data sets")


def skip_marked(items, mark, reason):
    for item in items:
        if item.get_closest_marker(mark):
            item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(scope="session")
def stream():
    """120 samples, 4 features, 3 labels."""
    return DriftingStream(n_features=4, n_labels=3, n_regions=3, drift_every=0, seed=3).take(120)


@pytest.fixture(scope="session")
def gappy_stream(stream):
    """The stream with missing features, labels nobody annotated, and some rows without any label."""
    rng = np.random.default_rng(0)
    X, Y = stream[0].copy(), stream[1].copy()
    X[rng.random(X.shape) < 0.1] = np.nan
    X[np.isnan(X).all(axis=1)] = 0.0
    Y[rng.random(Y.shape) < 0.2] = np.nan
    Y[::9] = np.nan
    return X, Y


@pytest.fixture(scope="session")
def blobs():
    """120 samples of three well separated classes 0, 1, 2."""
    rng = np.random.default_rng(1)
    y = rng.integers(3, size=120)
    centres = np.array([[0.0, 0.0, 5.0], [5.0, 0.0, 0.0], [0.0, 5.0, 0.0]])
    return centres[y] + rng.normal(size=(120, 3)), y


@pytest.fixture(scope="session")
def trained_once(stream):
    X, Y = stream
    return EvolvingFuzzyClassifier(max_rules=6).fit(X[:60], Y[:60]).partial_fit(X[60:100], Y[60:100])


@pytest.fixture
def trained(trained_once):
    """A classifier past its batch phase and some incremental samples."""
    return copy.deepcopy(trained_once)


@pytest.fixture
def warming(stream):
    """A classifier still in its warm-up."""
    return EvolvingFuzzyClassifier(warm_up=40).partial_fit(stream[0][:15], stream[1][:15])


@pytest.fixture(scope="session")
def state_of():
    """Everything a classifier knows, as a dictionary of copies."""

    def read(clf):
        model = clf.inner.any_model
        known = {
            "names": list(clf.inner.targets.names),
            "n_labels": model.n_labels,
            "n_features_in_": clf.n_features_in_,
        }
        if model.warm_up is not None:
            known |= vars(model.warm_up)
        if model.rules is not None:
            known |= {f"rules.{name}": array for name, array in model.rules.arrays._asdict().items()}
            known |= {f"members.{name}": array for name, array in model.drift.stored().items()}
            known |= {f"scaler.{part.name}": getattr(model.scaler, part.name) for part in fields(model.scaler)}
            known |= {"events": list(model.rules.events), "answers": model.n_answers}
            known |= {"ridge": model.ridge, "local_ridge": model.local_ridge}
        if model.decisions is not None:
            known |= {f"decisions.{name}": array for name, array in model.decisions.stored().items()}
        return {name: np.copy(value) if isinstance(value, np.ndarray) else value for name, value in known.items()}

    return read


@pytest.fixture(scope="session")
def assert_same_state():
    """Two states are equal, bit for bit."""

    def check(one, other):
        assert one.keys() == other.keys()
        for name, value in one.items():
            np.testing.assert_array_equal(value, other[name], err_msg=name, strict=isinstance(value, np.ndarray))

    return check


class Told(NamedTuple):
    """What a command has said."""

    code: int
    out: str
    err: str


def write_empty(figure, file, *, format, **_):
    """Write a file without a drawing: drawing takes most of the time of a report."""
    file.write('<svg xmlns="http://www.w3.org/2000/svg"></svg>' if format == "svg" else b"\x89PNG")


@pytest.fixture(scope="session")
def compile_once():
    """Compile the kernels of learners as commands do, once in this process: it takes a fifth of the time of a run."""
    from evolabel.cli.ready import compile_kernels

    compiled = set()

    def compile_new(learners=None, *, quiet):
        kinds = {type(one): {name: one} for name, one in (learners or {}).items()} or {None: None}
        for kind in kinds.keys() - compiled:
            compile_kernels(kinds[kind], quiet=quiet)
            compiled.add(kind)

    return compile_new


@pytest.fixture(scope="session")
def command_line():
    """The command line with all its commands, made once in this process."""
    from evolabel.cli.app import make_app

    return make_app()


@pytest.fixture
def command(request, capsys, monkeypatch, compile_once, command_line):
    """Run a command line as a person types it; gives its exit code and what it printed.

    Figures are made and written, but drawn only for tests that are marked `drawn`.
    """
    from evolabel.cli.app import run_command

    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr("evolabel.cli.app.make_app", lambda: command_line)
    for name in ("bench", "reproduce", "run", "tune"):
        monkeypatch.setattr(sys.modules[f"evolabel.cli.{name}"], "compile_kernels", compile_once)
    if not request.node.get_closest_marker("drawn"):
        monkeypatch.setattr("matplotlib.figure.Figure.savefig", write_empty)

    def run(*words):
        code = run_command([str(word) for word in words])
        return Told(code, *capsys.readouterr())

    return run


def write_plant(folder):
    X = np.random.default_rng(0).normal(size=(300, 2))
    lines = ["heat,flow,fault_a,fault_b"]
    lines += [f"{a:.4f},{b:.4f},{int(a > 0)},{int(a + b > 0)}" for a, b in X]
    file = folder / "plant.csv"
    file.write_text("\n".join(lines) + "\n")
    return file


@pytest.fixture
def plant(tmp_path):
    """A small CSV file with two labels that follow its two features."""
    return write_plant(tmp_path)


@pytest.fixture(scope="session")
def plant_model_once(tmp_path_factory):
    folder = tmp_path_factory.mktemp("plant")
    data = from_csv(write_plant(folder), ["fault_a", "fault_b"])
    clf = EvolvingFuzzyClassifier(max_rules=4).fit(data.X, data.Y)
    clf.name_columns(data.feature_names, data.label_names).save(folder / "model.safetensors")
    return folder / "model.safetensors"


@pytest.fixture
def plant_model(plant, plant_model_once, tmp_path):
    """The file of a small model that has learned the plant, beside the file of the plant."""
    return Path(shutil.copy(plant_model_once, tmp_path))


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache of data sets, and no folder of the user's."""
    monkeypatch.delenv("EVOLABEL_DATA", raising=False)
    monkeypatch.setenv("EVOLABEL_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture(scope="session")
def six_rules(stream):
    """A classifier with six axis-parallel rules, for reading only."""
    X, Y = stream
    return EvolvingFuzzyClassifier(max_rules=6).fit(X[:60], Y[:60]).partial_fit(X[60:], Y[60:])


@pytest.fixture(scope="session")
def rotated_rules(stream):
    """A classifier of the paper's profile, for reading only."""
    return EvolvingFuzzyClassifier.paper(vigilance=0.5, scaling="standard").fit(*stream)


@pytest.fixture(scope="session")
def pump():
    """A classifier with threshold rules for one label of two, where the pressure is sometimes missing; to be read."""
    X, Y = pump_rows(missing=0.04)
    return EvolvingFuzzyClassifier().partial_fit(X, Y).name_columns(FEATURES, LABELS)
