"""The file format: safetensors arrays with a JSON manifest in the header, sealed by a checksum.

The manifest holds the schema version, so a file from a newer evolabel is refused instead of misread; the checksum
covers manifest and arrays, so an altered file is, too.
"""

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from evolabel._utils.atomic_files import write_atomically
from evolabel.errors import ModelFileError, ModelWriteError
from evolabel.typing import Arrays

SCHEMA = 1
KEY = "evolabel"


def write_model_file(path: str | os.PathLike[str], arrays: Arrays, manifest: dict[str, Any]) -> None:
    """Write to a temporary file beside `path`, flush it to disk, then rename: readers see the old file or the new."""
    from safetensors.numpy import save

    arrays = {name: np.asarray(array, order="C") for name, array in arrays.items()}  # single numbers stay such
    text = json.dumps({"schema": SCHEMA, **manifest}, sort_keys=True, allow_nan=False)
    data = save(arrays, {KEY: text, "sha256": _seal(arrays, text)})
    target = Path(path)
    try:
        write_atomically(target, data)
    except OSError as error:
        why = error.strerror or error
        raise ModelWriteError(f"cannot write model file {target}: {why}; the file before it is untouched") from None


def read_model_file(path: str | os.PathLike[str]) -> tuple[Arrays, dict[str, Any]]:
    """Arrays and manifest of a model file, both verified."""
    from safetensors import SafetensorError, safe_open

    target = Path(path)
    if target.is_dir():
        raise ModelFileError(f"{target} is a folder; pass the model file in it")
    if not target.is_file():
        raise ModelFileError(f"no model file at {target}; check the path, or save a model first")
    try:
        with safe_open(target, framework="numpy") as file:
            header = file.metadata() or {}
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError, ValueError, TypeError, KeyError, AttributeError, MemoryError) as error:
        raise ModelFileError(
            f"{target} is no model file, or not a whole one ({error}); pass a file of save(), or a copy"
        ) from None
    if KEY not in header:
        raise ModelFileError(f"{target} is a safetensors file, but not of evolabel; pass a file written by save()")
    manifest = _parse(header[KEY], target)
    if header.get("sha256") != _seal(arrays, header[KEY]):
        raise ModelFileError(f"{target} was altered after it was written (checksum differs); restore it from a copy")
    return arrays, manifest


def _parse(text: str, target: Path) -> dict[str, Any]:
    try:
        manifest = json.loads(text, parse_constant=_refuse_constant)
        schema = manifest["schema"]
        if type(schema) is not int:
            raise TypeError(f"schema is {schema!r}, expected a whole number")
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise ModelFileError(f"{target} has a broken manifest ({error}); restore it from a copy") from None
    if schema != SCHEMA:
        raise ModelFileError(
            f"{target} has schema {schema}, this evolabel reads schema {SCHEMA}; open it with the version that wrote it"
        )
    return dict(manifest)


def _refuse_constant(name: str) -> None:
    """NaN and infinity are no JSON, and `write_model_file` never writes them."""
    raise ValueError(f"{name} is no number")


def _seal(arrays: Arrays, text: str) -> str:
    digest = hashlib.sha256(text.encode())
    for name in sorted(arrays):
        array = arrays[name]
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()
