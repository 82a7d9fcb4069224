"""Label names of an ARFF file: MULAN has an XML file of labels, MEKA an option in the name of the relation."""

import re
from collections.abc import Iterable, Sequence
from os import PathLike
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

from evolabel._utils.files import as_path
from evolabel.errors import DatasetNotFoundError, FileFormatError, ParameterError
from evolabel.streams.arff.header import Header
from evolabel.streams.reading import bare_name

Labels = int | str | PathLike[str] | Iterable[str]

_MEKA_OPTION = re.compile(r"(?:^|[\s:])-C\s+(-?\d{1,9})(?!\S)")
_PART = re.compile(r"[-_](train|test)$", re.IGNORECASE)


def find_label_names(labels: Labels | None, path: Path, header: Header) -> set[str]:
    """Return the names of the attributes in `header` that are labels, by the argument `labels` of `read_arff`.

    If `labels` is None, the XML file beside `path` or the option of MEKA in `header` is used.
    """
    given = _default_labels(path, header.relation) if labels is None else labels
    if isinstance(given, int | np.integer) and not isinstance(given, bool):
        return _by_number(int(given), path, header.names)
    if isinstance(given, str | PathLike):
        return _by_name(read_label_names(as_path(given)), path, header.names)
    names = list(given) if isinstance(given, Iterable) else []
    if not names or not all(isinstance(name, str) for name in names):
        raise ParameterError(
            f"labels={given!r} is not allowed; use names, a whole number like MEKA's -C, or an XML file"
        )
    return _by_name(names, path, header.names)


def read_label_names(path: Path) -> list[str]:
    """Return the names in MULAN's XML file `path`, nested labels included, with or without its namespace."""
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


def _default_labels(path: Path, relation: str) -> Path | int:
    """Return the XML file beside `path`, else the number in MEKA's option in the name `relation`."""
    stem = bare_name(path, ".arff")
    whole = _PART.sub("", stem)
    for name in (stem, whole):
        beside = path.with_name(f"{name}.xml")
        if beside.is_file():
            return beside
    if option := _MEKA_OPTION.search(relation):
        return int(option[1])
    raise FileFormatError(
        f"the labels of {path} are not given; put MULAN's {whole}.xml beside it, write "
        "MEKA's -C option into the name of the relation, or pass labels= (names, a number as in -C, or an XML file)"
    )


def _by_number(count: int, path: Path, names: Sequence[str]) -> set[str]:
    most = len(names) - 1
    if not 0 < abs(count) <= most:
        raise FileFormatError(
            f"{count} cannot be the number of labels among the {most + 1} attributes of {path}; "
            f"expected 1 to {most} for the first ones, -1 to -{most} for the last ones"
        )
    return set(names[:count] if count > 0 else names[count:])


def _by_name(labels: Sequence[str], path: Path, names: Sequence[str]) -> set[str]:
    known = set(names)
    found = {label: label if label in known else _similar(label, names) for label in labels}
    missing = [repr(label) for label, name in found.items() if name is None]
    if missing:
        raise FileFormatError(f"{path} has no attribute {' nor '.join(missing[:5])}; check the names of the labels")
    return {name for name in found.values() if name is not None}


def _similar(label: str, names: Sequence[str]) -> str | None:
    """Return the only one of `names` that equals `label` without quotes and backslashes: some label files keep them."""
    similar = [name for name in names if _unquoted(name) == _unquoted(label)]
    return similar[0] if len(similar) == 1 else None


def _unquoted(name: str) -> str:
    return re.sub(r"[\\'\"]", "", name).strip()
