"""The header of an ARFF file: the name of the relation and the attributes with their types."""

import re
from dataclasses import dataclass
from typing import Literal

from evolabel.streams.arff.values import PLAIN_NAME, ContentLines, Cursor, LineError, excerpt, read_braces

Kind = Literal["numeric", "nominal", "string", "date"]

_KINDS_BY_TYPE: dict[str, Kind] = {
    "numeric": "numeric",
    "real": "numeric",
    "integer": "numeric",
    "string": "string",
    "date": "date",
}
_PLAIN_RELATION = re.compile(".*")  # the whole line, because MEKA writes options into it
_DECLARATION = re.compile(r"(@\w+)[ \t]*(.*)", re.DOTALL)
_TYPE = re.compile(r"(\w+)[ \t]*(.*)", re.DOTALL)


@dataclass(frozen=True)
class Attribute:
    """One attribute: `values` are those of a nominal one, `line` is the number of the line that declares it."""

    name: str
    kind: Kind
    values: tuple[str, ...]
    line: int


@dataclass(frozen=True)
class Header:
    """Name of the relation and the attributes, in their order."""

    relation: str
    attributes: tuple[Attribute, ...]

    @property
    def names(self) -> list[str]:
        """Names of the attributes, all different."""
        return [attribute.name for attribute in self.attributes]


def read_header(lines: ContentLines) -> Header:
    """Return the header of the file with these `lines`; the next one of `lines` is then the first row."""
    relation, attributes = "", dict[str, Attribute]()
    for line in lines:
        declaration = _DECLARATION.match(line)
        keyword, rest = (declaration[1].lower(), declaration[2]) if declaration else ("", line)
        if keyword == "@relation":
            relation = Cursor(rest).take_value(_PLAIN_RELATION) or ""
        elif keyword == "@attribute":
            _add(_read_attribute(rest, lines.number), attributes)
        elif keyword == "@data" and attributes:
            _refuse_more(rest, "@data")
            return Header(relation, tuple(attributes.values()))
        else:
            raise LineError(f"expected @relation, @attribute or (behind the attributes) @data, got {excerpt(line)}")
    raise LineError("the file ends without @data; expected a line @data between the attributes and the rows")


def _add(attribute: Attribute, attributes: dict[str, Attribute]) -> None:
    if attribute.name in attributes:
        first = attributes[attribute.name].line
        raise LineError(f"attribute {attribute.name!r} is declared a second time (first in line {first}); rename one")
    attributes[attribute.name] = attribute


def _read_attribute(rest: str, line: int) -> Attribute:
    cursor = Cursor(rest)
    name = cursor.take_value(PLAIN_NAME)
    if name == "":
        raise LineError("an attribute has no name; expected @attribute, a name and a type")
    declared = cursor.rest.lstrip(" \t")
    kind, values = _read_nominal(declared) if declared.startswith("{") else (_read_kind(declared), ())
    return Attribute("?" if name is None else name, kind, values, line)


def _read_kind(declared: str) -> Kind:
    word = _TYPE.match(declared)
    kind = _KINDS_BY_TYPE.get(word[1].lower()) if word else None
    if word is None or kind is None:
        raise LineError(
            f"{excerpt(declared)} is not a type that can be read; expected numeric, real, integer, {{value, ...}}, "
            "string or date"
        )
    if kind != "date":  # a date may have a format behind it
        _refuse_more(word[2], "the type")
    return kind


def _read_nominal(declared: str) -> tuple[Kind, tuple[str, ...]]:
    items, behind = read_braces(declared)
    _refuse_more(behind, "the values")
    values = tuple(value for _, value in items if value is not None)
    if not values or len(set(values)) < len(values):
        raise LineError(f"{excerpt(declared)} must list one value or more, each once")
    return "nominal", values


def _refuse_more(rest: str, before: str) -> None:
    if rest and not rest.startswith("%"):
        raise LineError(f"expected the end of the line behind {before}, got {excerpt(rest)}")
