"""A file that is cut short, altered, newer or not ours is refused with one clear line."""

import json
import struct

import numpy as np
import pytest
from choices import examples, first_quick
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import save_file

from evolabel import EvolvingFuzzyClassifier
from evolabel.errors import EvolabelError, ModelFileError
from evolabel.persistence.model_file import read_model_file, write_model_file
from evolabel.persistence.schemas import SCHEMA


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Bytes of a small model file."""
    rng = np.random.default_rng(0)
    path = tmp_path_factory.mktemp("written") / "model"
    X, Y = rng.normal(size=(40, 2)), rng.integers(2, size=(40, 2))
    EvolvingFuzzyClassifier(max_rules=2).fit(X, Y).save(path)
    return path.read_bytes()


@pytest.fixture(scope="module")
def refused(tmp_path_factory):
    """Check that a file with these bytes is refused."""
    path = tmp_path_factory.mktemp("damaged") / "model"

    def check(data):
        path.write_bytes(data)
        with pytest.raises(ModelFileError) as error:
            EvolvingFuzzyClassifier.load(path)
        assert isinstance(error.value, ValueError)
        assert "\n" not in str(error.value)
        assert str(path) in str(error.value)

    return check


def header_end(data):
    return 8 + struct.unpack("<Q", data[:8])[0]


def test_the_file_is_good_before_it_is_damaged(written, tmp_path):
    (tmp_path / "model").write_bytes(written)
    assert EvolvingFuzzyClassifier.load(tmp_path / "model").n_rules_ > 0


@pytest.mark.parametrize("share", [0.0, 0.001, 0.01, 0.1, 0.3, 0.5, 0.9, 0.999])
def test_a_file_cut_short_is_refused(written, refused, share):
    refused(written[: int(share * len(written))])


@pytest.mark.parametrize("cut", [1, 7, 8, 9])
def test_a_file_that_lacks_its_last_bytes_is_refused(written, refused, cut):
    refused(written[:-cut])


def test_a_file_cut_at_the_end_of_its_header_is_refused(written, refused):
    refused(written[: header_end(written)])
    refused(written[: header_end(written) - 1])


def test_a_file_with_something_behind_it_is_refused(written, refused):
    refused(written + b"\0")
    refused(written + written)


def flipped(data, at, mask):
    return data[:at] + bytes([data[at] ^ mask]) + data[at + 1 :]


@settings(max_examples=examples(150), deadline=None)
@given(share=st.floats(0.0, 1.0, exclude_max=True), mask=st.sampled_from([1 << bit for bit in range(8)] + [0xFF]))
def test_one_flipped_byte_anywhere_is_refused(written, refused, share, mask):
    refused(flipped(written, int(share * len(written)), mask))


@pytest.mark.parametrize("mask", first_quick(0x04, 0x01, 0x20, 0x80))
def test_one_flipped_bit_in_the_header_is_refused(written, refused, mask):
    for at in range(0, header_end(written), 17):
        refused(flipped(written, at, mask))


def test_blocks_of_zeros_are_refused(written, refused):
    for start in range(0, len(written), len(written) // 20):
        block = written[start : start + 64]
        if block.strip(b"\0"):
            refused(written[:start] + bytes(len(block)) + written[start + 64 :])


@pytest.fixture
def rewritten(written, tmp_path):
    """Path of the model with changes to its manifest, sealed again."""

    def write(change):
        path = tmp_path / "model"
        path.write_bytes(written)
        arrays, manifest = read_model_file(path)
        change(arrays, manifest)
        write_model_file(path, arrays, manifest)
        return path

    return write


@pytest.mark.parametrize(("schema", "advice"), [(-1, "restore it"), (0, "restore it"), (SCHEMA + 1, "upgrade to")])
def test_a_schema_that_is_not_known_is_refused(rewritten, schema, advice):
    path = rewritten(lambda arrays, manifest: manifest.update(schema=schema))
    with pytest.raises(ModelFileError, match=advice):
        EvolvingFuzzyClassifier.load(path)


@pytest.mark.parametrize(
    "change",
    [
        lambda arrays, manifest: manifest.pop("model"),
        lambda arrays, manifest: manifest.pop("targets"),
        lambda arrays, manifest: manifest.pop("parameters"),
        lambda arrays, manifest: manifest.update(schema="soon"),
        lambda arrays, manifest: manifest.update(schema=None),
        lambda arrays, manifest: manifest["parameters"].update(n_trees=3),
        lambda arrays, manifest: manifest["model"]["options"].update(max_rules=0),
        lambda arrays, manifest: manifest["model"].update(n_features=5),
        lambda arrays, manifest: manifest["model"].update(n_labels=5),
        lambda arrays, manifest: manifest["model"].update(ridge=None),
        lambda arrays, manifest: arrays.pop("rules.G"),
        lambda arrays, manifest: arrays.update({"rules.c": arrays["rules.c"][:, :1]}),
        lambda arrays, manifest: arrays.update({"rules.k": arrays["rules.k"][:1]}),
        lambda arrays, manifest: arrays.update({"scaler.prior": arrays["scaler.prior"][:1]}),
        lambda arrays, manifest: manifest.update(kind="RandomForest"),
    ],
    ids=[
        "no model",
        "no targets",
        "no parameters",
        "schema in words",
        "no schema",
        "unknown parameter",
        "parameter out of range",
        "other number of features",
        "other number of labels",
        "no ridge",
        "array missing",
        "array too narrow",
        "array too short",
        "scaling too short",
        "other kind of model",
    ],
)
def test_a_sealed_file_that_describes_no_classifier_is_refused(rewritten, change):
    path = rewritten(change)
    with pytest.raises(ModelFileError) as error:
        EvolvingFuzzyClassifier.load(path)
    assert "\n" not in str(error.value)


def test_a_safetensors_file_of_another_program_is_refused(tmp_path):
    save_file({"weights": np.ones(3)}, tmp_path / "model")
    with pytest.raises(ModelFileError, match="not of evolabel"):
        EvolvingFuzzyClassifier.load(tmp_path / "model")


@pytest.mark.parametrize("manifest", ["{", "[]", "3", "null", "{}"])
def test_a_broken_manifest_is_refused(tmp_path, manifest):
    save_file({"weights": np.ones(3)}, tmp_path / "model", {"evolabel": manifest, "sha256": ""})
    with pytest.raises(ModelFileError, match="broken manifest"):
        EvolvingFuzzyClassifier.load(tmp_path / "model")


def test_a_file_without_a_seal_is_refused(tmp_path):
    save_file({"weights": np.ones(3)}, tmp_path / "model", {"evolabel": json.dumps({"schema": SCHEMA})})
    with pytest.raises(ModelFileError, match="checksum"):
        EvolvingFuzzyClassifier.load(tmp_path / "model")


@pytest.mark.parametrize("data", [b"", b"\0" * 100, b"\xff" * 100, b"not a model at all", b"\x80\x04pickle"])
def test_files_of_another_kind_are_refused(refused, data):
    refused(data)


def test_a_missing_file_is_reported(tmp_path):
    with pytest.raises(ModelFileError, match="no model file at"):
        EvolvingFuzzyClassifier.load(tmp_path / "model")
    with pytest.raises(EvolabelError):
        EvolvingFuzzyClassifier.load(tmp_path)
