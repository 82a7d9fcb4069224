"""The file format of models: safetensors arrays, with a JSON manifest and a checksum of both in the header.

The manifest holds the number of the schema and the version of evolabel that wrote the file. A file of an older schema
is brought to the present one (`persistence.schemas`), a file of a newer one is refused and not misread. The checksum
covers manifest and arrays, so an altered file is refused as well.
"""

import hashlib
import json
import os
import re
from pathlib import Path
from typing import Any

import numpy as np

from evolabel import __version__
from evolabel._utils.files import as_path, is_special, name_in_errors, resolve_link, staged, write_atomically
from evolabel._utils.json_text import parse_json
from evolabel.errors import DataError, ModelFileError, ModelWriteError
from evolabel.persistence.schemas import SCHEMA, bring_to_present, check_schema, remedy
from evolabel.typing import Arrays

_MANIFEST_KEY = "evolabel"


def write_model_file(path: str | os.PathLike[str], arrays: Arrays, manifest: dict[str, Any]) -> None:
    """Write `arrays` and `manifest` to the file `path`, atomically: readers see the old file or the new one."""
    arrays, header = _with_checksum(arrays, manifest)
    target = as_path(path)
    try:
        _write(target, arrays, header)
    except OSError as error:
        why = error.strerror or error
        if not target.parent.exists():
            raise ModelWriteError(
                f"cannot write model file {target}: there is no folder {target.parent}; create it"
            ) from None
        raise ModelWriteError(f"cannot write model file {target}: {why}; the old file is unchanged") from None


def model_bytes(arrays: Arrays, manifest: dict[str, Any]) -> bytes:
    """Return the contents of the file that `write_model_file` would write."""
    from safetensors.numpy import save

    return save(*_with_checksum(arrays, manifest))


def model_checksum(arrays: Arrays, manifest: dict[str, Any]) -> str:
    """Return the checksum in the header of the file: equal states have equal ones, though their files may differ."""
    return _with_checksum(arrays, manifest)[1]["sha256"]


def stored_checksum(data: bytes) -> str:
    """Return the checksum in the contents `data` of a model file, which `read_model_bytes` compares with the rest."""
    return str(_header_of(data).get("sha256"))


def _header_of(data: bytes) -> dict[str, str]:
    """Return the texts in the header of the contents `data` of a model file."""
    length = int.from_bytes(data[:8], "little")
    return dict(parse_json(data[8 : 8 + length]).get("__metadata__") or {})


def _with_checksum(arrays: Arrays, manifest: dict[str, Any]) -> tuple[Arrays, dict[str, str]]:
    """Return `arrays` as files hold them, and the header with `manifest` and checksum."""
    arrays = {name: np.asarray(array, order="C") for name, array in arrays.items()}  # arrays of shape () keep it
    text = json.dumps({"schema": SCHEMA, "evolabel": __version__, **manifest}, sort_keys=True, allow_nan=False)
    return arrays, {_MANIFEST_KEY: text, "sha256": _checksum(arrays, text)}


def _write(target: Path, arrays: Arrays, header: dict[str, str]) -> None:
    """Write `arrays` with the texts of the `header` to `target`, without a second copy of them unless it is a pipe."""
    from safetensors import SafetensorError
    from safetensors.numpy import save, save_file

    if is_special(target) or not target.name:
        write_atomically(target, save(arrays, header))
        return
    place = resolve_link(target)
    with name_in_errors(target):
        place.parent.stat()  # an error if there is no such folder
        with staged(place.parent, workplace=place.parent) as folder:
            file = folder / place.name
            file.touch()
            mode = file.stat().st_mode
            try:
                save_file(arrays, file, header)
            except SafetensorError as error:
                raise _system_error(error) from None
            file.chmod(mode)  # that of `save_file` is for the owner alone


def _system_error(error: Exception) -> OSError:
    """Return the error of the system that the text of an `error` of safetensors holds, as in "... (os error 28)"."""
    number = re.search(r"os error (\d+)", str(error))
    return OSError(int(number[1]), os.strerror(int(number[1]))) if number else OSError(str(error))


def read_model_file(path: str | os.PathLike[str]) -> tuple[Arrays, dict[str, Any]]:
    """Return the arrays and the manifest of the model file `path`, or raise ModelFileError if its checksum differs.

    Those of an older schema are brought to the present one; the manifest keeps its number.
    """
    from safetensors import SafetensorError, safe_open

    target = as_path(path)
    if target.is_dir():
        raise ModelFileError(f"{target} is a folder; pass the model file in it")
    if not target.is_file():
        raise ModelFileError(f"no model file at {target}; check the path, or save a model first")
    try:
        with safe_open(target, framework="numpy") as file:
            header = file.metadata() or {}
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError, ValueError, TypeError, KeyError, AttributeError, MemoryError) as error:
        raise _not_a_model(target, error) from None
    return arrays, _checked_manifest(arrays, header, target)


def read_model_bytes(data: bytes, name: str = "the model") -> tuple[Arrays, dict[str, Any]]:
    """Return what `read_model_file` returns for the contents `data` of a model file; `name` is for messages."""
    from safetensors import SafetensorError
    from safetensors.numpy import load

    try:
        arrays = dict(load(data))
        header = _header_of(data)
    except (SafetensorError, ValueError, TypeError, KeyError, AttributeError, MemoryError) as error:
        raise _not_a_model(name, error) from None
    return arrays, _checked_manifest(arrays, header, name)


def _not_a_model(target: object, error: Exception) -> ModelFileError:
    return ModelFileError(
        f"{target} is not a model file, or is incomplete ({error}); pass a file written by save(), or a copy of it"
    )


def _checked_manifest(arrays: Arrays, header: dict[str, str], target: object) -> dict[str, Any]:
    """Return the manifest in `header`, and bring it and `arrays` to the present schema; ModelFileError if it cannot be.

    It cannot if the checksum of both differs.
    """
    if _MANIFEST_KEY not in header:
        raise ModelFileError(f"{target} is a safetensors file, but not of evolabel; pass a file written by save()")
    manifest = _parse(header[_MANIFEST_KEY], target)
    if header.get("sha256") != _checksum(arrays, header[_MANIFEST_KEY]):
        raise ModelFileError(f"{target} was altered after it was written (checksum differs); restore it from a copy")
    try:
        bring_to_present(arrays, manifest)
    except DataError as error:
        raise ModelFileError(f"{target} cannot be read ({error}); {remedy(manifest)}") from None
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, MemoryError) as error:
        why = " ".join(repr(error).split())
        raise ModelFileError(f"{target} does not describe a model ({why}); {remedy(manifest)}") from None
    return manifest


def _parse(text: str, target: object) -> dict[str, Any]:
    try:
        manifest = parse_json(text, parse_constant=_refuse_constant)
        schema = manifest["schema"]
        if type(schema) is not int:
            raise TypeError(f"schema is {schema!r}, expected a whole number")
    except (ValueError, KeyError, TypeError) as error:
        raise ModelFileError(f"{target} has a broken manifest ({error}); restore it from a copy") from None
    check_schema(manifest, target)
    return dict(manifest)


def _refuse_constant(name: str) -> None:
    """Raise ValueError for `name`, which is NaN or infinity: JSON has no such numbers."""
    raise ValueError(f"{name} is not allowed in JSON")


def _checksum(arrays: Arrays, text: str) -> str:
    """Return the SHA-256 of the manifest `text` and of names, types, shapes and values of `arrays`."""
    digest = hashlib.sha256(text.encode())
    for name in sorted(arrays):
        array = arrays[name]
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
        digest.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return digest.hexdigest()
