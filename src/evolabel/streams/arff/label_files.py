"""Which attributes of an ARFF file are its labels: MULAN says it in an XML file, MEKA in the name of the relation."""

import re
from collections.abc import Iterable, Sequence
from os import PathLike
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

from evolabel.errors import DatasetNotFoundError, FileFormatError, ParameterError
from evolabel.streams.arff.header import Header
from evolabel.streams.files.opening import bare_name

Labels = int | str | PathLike[str] | Iterable[str]

MEKA_OPTION = re.compile(r"(?:^|[\s:])-C\s+(-?\d{1,9})(?!\S)")
PART = re.compile(r"[-_](train|test)$", re.IGNORECASE)


def choose_labels(labels: Labels | None, path: Path, header: Header) -> set[str]:
    """Names of the attributes that are labels."""
    told = _hint(path, header.relation) if labels is None else labels
    if isinstance(told, int | np.integer) and not isinstance(told, bool):
        return _counted(int(told), path, header.names)
    if isinstance(told, str | PathLike):
        return _named(read_label_names(Path(told)), path, header.names)
    names = list(told) if isinstance(told, Iterable) else []
    if not names or not all(isinstance(name, str) for name in names):
        raise ParameterError(
            f"labels={told!r} is not allowed; use names, a whole number like MEKA's -C, or an XML file"
        )
    return _named(names, path, header.names)


def read_label_names(path: Path) -> list[str]:
    """The names in MULAN's XML file, also of labels nested in others, with or without its namespace."""
    try:
        root = ElementTree.parse(path).getroot()
    except FileNotFoundError:
        raise DatasetNotFoundError(f"there is no label file {path}; check the path, or pass names as a list") from None
    except (ElementTree.ParseError, OSError, ValueError, LookupError) as error:
        raise FileFormatError(f"{path} is not a label file in XML ({error}); expected MULAN's <labels>") from None
    names = [element.get("name") for element in root.iter() if _tag(element) == "label"]
    given = [name for name in names if name]
    if _tag(root) != "labels" or not names or len(given) < len(names):
        raise FileFormatError(f'{path} must have the form <labels><label name="..."/>...</labels>')
    return given


def _tag(element: ElementTree.Element) -> str:
    return element.tag.rpartition("}")[2]


def _hint(path: Path, relation: str) -> Path | int:
    """The XML file beside the data, else MEKA's option."""
    stem = bare_name(path, ".arff")
    for name in (stem, PART.sub("", stem)):
        beside = path.with_name(f"{name}.xml")
        if beside.is_file():
            return beside
    if option := MEKA_OPTION.search(relation):
        return int(option[1])
    raise FileFormatError(
        f"nothing says which attributes of {path} are labels; put MULAN's {PART.sub('', stem)}.xml beside it, write "
        "MEKA's -C option into the name of the relation, or pass labels= (names, a number as in -C, or an XML file)"
    )


def _counted(count: int, path: Path, names: Sequence[str]) -> set[str]:
    most = len(names) - 1
    if not 0 < abs(count) <= most:
        raise FileFormatError(
            f"{count} cannot be the number of labels among the {most + 1} attributes of {path}; "
            f"expected 1 to {most} for the first ones, -1 to -{most} for the last ones"
        )
    return set(names[:count] if count > 0 else names[count:])


def _named(labels: Sequence[str], path: Path, names: Sequence[str]) -> set[str]:
    known = set(names)
    found = {label: label if label in known else _alike(label, names) for label in labels}
    lost = [repr(label) for label, name in found.items() if name is None]
    if lost:
        raise FileFormatError(f"{path} has no attribute {' nor '.join(lost[:5])}; check the names of the labels")
    return {name for name in found.values() if name is not None}


def _alike(label: str, names: Sequence[str]) -> str | None:
    """The only name that differs in quotes and backslashes alone: some label files keep those of the ARFF file."""
    alike = [name for name in names if _unquoted(name) == _unquoted(label)]
    return alike[0] if len(alike) == 1 else None


def _unquoted(name: str) -> str:
    return re.sub(r"[\\'\"]", "", name).strip()
