"""The labelling configuration of Label Studio: the one tag `Choices`, whose choices are labels of the project."""

from collections.abc import Collection
from typing import NamedTuple
from xml.etree import ElementTree

from evolabel._utils.text import first_names
from evolabel.errors import DataError

_LONGEST = 100_000  # characters


class ChoicesTag(NamedTuple):
    """The tag `Choices`: its name, the tag it belongs to, and its choices."""

    name: str
    to_name: str
    choices: list[str]


def read_choices(config: object, labels: Collection[str]) -> ChoicesTag:
    """Return the tag `Choices` of a `config`; DataError unless there is one, and its choices are among `labels`."""
    if not isinstance(config, str) or not 0 < len(config) <= _LONGEST:
        raise DataError("the request has no labelling configuration as text; send label_config")
    if "<!" in config.replace("<!--", ""):
        raise DataError("the labelling configuration has declarations such as <!ENTITY>; leave them out")
    try:
        root = ElementTree.fromstring(config)
    except ElementTree.ParseError as error:
        raise DataError(f"the labelling configuration is no XML: {error}") from None
    found = list(root.iter("Choices"))
    if len(found) != 1:
        raise DataError(f"the labelling configuration has {len(found)} tags Choices; it must have one")
    tag = found[0]
    choices = [choice.get("alias") or choice.get("value") or "" for choice in tag.iter("Choice")]
    if unknown := [choice for choice in choices if choice not in labels]:
        raise DataError(f"{unknown[0]!r} is no label of the project; the labels are {first_names(list(labels))}")
    return ChoicesTag(tag.get("name") or "", (tag.get("toName") or "").split(",")[0], choices)
