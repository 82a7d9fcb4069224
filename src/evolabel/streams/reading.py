"""Text files, plain or compressed: their lines, and their names without suffixes."""

import bz2
import codecs
import gzip
import zlib
from collections.abc import Generator
from io import TextIOWrapper
from pathlib import Path
from typing import IO, cast
from zipfile import BadZipFile, ZipFile

from evolabel.errors import DatasetNotFoundError, FileFormatError

COMPRESSIONS = (".gz", ".bz2", ".zip")
_READ_ERRORS = (OSError, EOFError, RuntimeError, ValueError, zlib.error, BadZipFile)  # of damaged compressed files


def read_lines(path: Path, *suffixes: str) -> Generator[str]:
    """Yield the lines of the text file `path`; in a .zip, those of the only file with one of the `suffixes`.

    The file is read as UTF-8. Bytes that are not UTF-8 are read as Latin-1, the encoding of many old data files.
    """
    try:
        with TextIOWrapper(_open(path, suffixes), encoding="utf-8-sig", errors="evolabel.latin-1") as lines:
            yield from lines
    except FileNotFoundError:
        raise DatasetNotFoundError(f"there is no file {path}; check the path") from None
    except FileFormatError:
        raise
    except _READ_ERRORS as error:
        raise FileFormatError(f"{path} cannot be read to its end ({error}); check it, or fetch it again") from None


def bare_name(path: Path, suffix: str) -> str:
    """Return the name of the file `path` without the suffix of its compression and without the format's `suffix`."""
    inner = Path(path.stem) if path.suffix.lower() in COMPRESSIONS else path
    return inner.stem if inner.suffix.lower() == suffix else inner.name


def _open(path: Path, suffixes: tuple[str, ...]) -> IO[bytes] | gzip.GzipFile:
    match path.suffix.lower():
        case ".gz":
            return gzip.open(path)
        case ".bz2":
            return bz2.open(path)
        case ".zip":
            with ZipFile(path) as archive:  # the opened member keeps the file open after this block
                return archive.open(_only_member(archive, path, suffixes))
        case _:
            return path.open("rb")


def _only_member(archive: ZipFile, path: Path, suffixes: tuple[str, ...]) -> str:
    names = [
        name for name in archive.namelist() if name.lower().endswith(suffixes) and not name.startswith("__MACOSX/")
    ]
    if len(names) != 1:
        found = ", ".join(map(repr, names[:5])) or "none"
        raise FileFormatError(
            f"{path} must hold exactly one {' or '.join(suffixes)} file, found {found}; unpack it and pass the file"
        )
    return names[0]


def _as_latin_1(error: UnicodeError) -> tuple[str, int]:
    """Return the bytes that are not UTF-8 as Latin-1, and the position behind them (see `codecs.register_error`)."""
    undecoded = cast("UnicodeDecodeError", error)  # this handler is used for reading only
    return undecoded.object[undecoded.start : undecoded.end].decode("latin-1"), undecoded.end


codecs.register_error("evolabel.latin-1", _as_latin_1)
