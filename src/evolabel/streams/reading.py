"""Text files, plain or compressed: their lines, and their names without suffixes."""

import bz2
import codecs
import gzip
import zlib
from collections.abc import Generator
from io import BufferedReader, TextIOWrapper
from pathlib import Path
from typing import IO, cast
from zipfile import BadZipFile, ZipFile

from evolabel.errors import DatasetNotFoundError, FileFormatError

COMPRESSIONS = (".gz", ".bz2", ".zip")
_BEGIN = 4096  # bytes that show whether a file is a text
_KINDS = {  # by first bytes: what the file is, and what to do
    b"\x89PNG": "a PNG image; pass the table itself",
    b"\xff\xd8\xff": "a JPEG image; pass the table itself",
    b"%PDF": "a PDF document; pass the table itself",
    b"PK\x03\x04": "a zip archive, as .xlsx and .npz files are; give it the ending of its format: .xlsx, .npz or .zip",
    b"\x1f\x8b": "compressed by gzip; give it an ending such as .csv.gz",
    b"BZh91AY&SY": "compressed by bzip2; give it an ending such as .csv.bz2",
    b"PAR1": "a Parquet file; give it the ending .parquet",
    b"\xff\xfe": "a text in UTF-16; save it as UTF-8",
    b"\xfe\xff": "a text in UTF-16; save it as UTF-8",
}
_READ_ERRORS = (OSError, EOFError, RuntimeError, ValueError, zlib.error, BadZipFile)  # of damaged compressed files


def read_lines(path: Path, *suffixes: str) -> Generator[str]:
    """Yield the lines of the text file `path`; in a .zip, those of the only file with one of the `suffixes`.

    The file is read as UTF-8. Bytes that are not UTF-8 are read as Latin-1, the encoding of many old data files.
    FileFormatError if it is no text.
    """
    try:
        with BufferedReader(_open(path, suffixes), _BEGIN) as source:  # type: ignore[type-var]
            _check_text(source.peek(_BEGIN)[:_BEGIN], path)
            yield from TextIOWrapper(source, encoding="utf-8-sig", errors="evolabel.latin-1")
    except FileNotFoundError:
        raise DatasetNotFoundError(f"there is no file {path}; check the path") from None
    except FileFormatError:
        raise
    except _READ_ERRORS as error:
        raise FileFormatError(f"{path} cannot be read to its end ({error}); check it, or fetch it again") from None


def bare_name(path: Path, *suffixes: str) -> str:
    """Return the name of the file `path` without the suffix of its compression, and without one of the `suffixes`."""
    inner = Path(path.stem) if path.suffix.lower() in COMPRESSIONS else path
    return inner.stem if inner.suffix.lower() in suffixes else inner.name


def _check_text(begin: bytes, path: Path) -> None:
    """Raise FileFormatError if `begin`, the first bytes of the file `path`, are those of no text."""
    mark = next((mark for mark in _KINDS if begin.startswith(mark)), b"")
    if b"\0" not in begin and all(32 <= byte < 127 for byte in mark):  # a name of a column may begin with PAR1
        return
    kind = "has the byte 0, which no text has; pass a table as CSV, JSON lines, ARFF, Excel, .parquet or .npz"
    raise FileFormatError(f"{path} cannot be read as text: it {f'is {_KINDS[mark]}' if mark else kind}")


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
