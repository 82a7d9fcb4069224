"""Parameters of the classifier from a command line: `--params` as JSON, `--set name=value` one by one."""

from collections.abc import Sequence
from dataclasses import fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple

from evolabel._utils.json_text import parse_json
from evolabel._utils.validation import Choice, Range, Weights
from evolabel.core.options import Options
from evolabel.errors import FileFormatError, ParameterError
from evolabel.paper.options import PaperOptions

_ALLOWED: dict[str, Range | Choice | Weights] = {
    declared.name: declared.metadata["allowed"] for kind in (Options, PaperOptions) for declared in fields(kind)
}
"""What the parameters of the default classifier and of the paper's may be."""
_MOST_SHOWN = 3  # parameters in the name of a learner
_BOOLEANS = {"true": True, "false": False}


class GivenParameters(NamedTuple):
    """Parameters by name; `profile` is that of a search by `evolabel tune`, None for plain parameters."""

    values: dict[str, Any]
    profile: str | None = None
    source: str = ""
    """Where the parameters come from, and which of `--set` replace those of `--params`, for a message."""

    @property
    def shown(self) -> str:
        """The parameters in a few words, for the name of a learner."""
        if self.profile is not None:
            return "tuned"
        texts = [f"{name}={value}" for name, value in self.values.items()]
        more = len(texts) - _MOST_SHOWN
        return ", ".join(texts[:_MOST_SHOWN]) + (f" and {more} more" if more > 0 else "")


def given_parameters(params: str | None, settings: Sequence[str]) -> GivenParameters | None:
    """Return the parameters of `params`, a file or inline JSON, and of `settings` such as "vigilance=0.4", which win.

    None if neither names any.
    """
    given = GivenParameters({}) if params is None else _read_json(params)
    own = dict(read_setting(text) for text in settings)
    if params is None and not own:
        return None
    source = " and ".join([*([] if params is None else [f"--params {params}"]), *(["--set"] if own else [])])
    if replaced := [f"{name}={own[name]} instead of {given.values[name]}" for name in own if name in given.values]:
        source += f" (--set wins: {', '.join(replaced)})"
    return given._replace(values={**given.values, **own}, source=source)


def _read_json(params: str) -> GivenParameters:
    """Return the parameters in `params`: JSON that begins with a brace, or a file with JSON."""
    inline = params.lstrip().startswith("{")
    if not inline and not Path(params).is_file():
        raise ParameterError(
            f"there is no file {params}; use a JSON file, the best.json of `evolabel tune --out`, or JSON such as "
            "'{\"vigilance\": 0.4}'"
        )
    try:
        found = parse_json(params if inline else Path(params).read_text())
    except (OSError, ValueError) as error:
        raise FileFormatError(
            f'{params} holds no parameters ({error}); use JSON such as {{"vigilance": 0.4}}'
        ) from None
    tuned = isinstance(found, dict) and "best_params" in found
    values = found["best_params"] if tuned else found
    if not isinstance(values, dict) or not values:
        raise FileFormatError(f'{params} holds no parameters; use JSON such as {{"vigilance": 0.4}}')
    for name, value in values.items():
        _allowed(name).check(name, value)
    return GivenParameters(values, str(found.get("profile", "default")) if tuned else None)


def read_setting(text: str) -> tuple[str, Any]:
    """Return name and value of a setting such as "vigilance=0.4", of the type that the parameter is declared with."""
    name, equals, value = text.partition("=")
    if not equals:
        raise ParameterError(f"--set {text} has no value; write it as --set vigilance=0.4")
    allowed = _allowed(name.strip())
    typed = _typed(value.strip(), allowed)
    allowed.check(name.strip(), typed)
    return name.strip(), typed


def _allowed(name: str) -> Range | Choice | Weights:
    """Return what the parameter `name` may be; ParameterError with similar names if there is no such parameter."""
    if name in _ALLOWED:
        return _ALLOWED[name]
    near = get_close_matches(name, _ALLOWED)
    hint = f"did you mean {' or '.join(near)}?" if near else f"use one of {', '.join(_ALLOWED)}"
    raise ParameterError(f"there is no parameter {name!r}; {hint}")


def _typed(text: str, allowed: Range | Choice | Weights) -> Any:
    """Return `text` as a value of the kind that is `allowed`; the text itself where it is of no such kind."""
    if isinstance(allowed, Weights):
        return _read_weights(text)
    if isinstance(allowed, Choice):
        if isinstance(allowed.values[0], bool):
            return _BOOLEANS.get(text.lower(), text)
        return None if None in allowed.values and text.lower() == "none" else text
    if allowed.optional and text.lower() == "none":
        return None
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _read_weights(text: str) -> Any:
    """Return weights from `text`, JSON such as {"leak": 20}; other texts as they are, but None for "none"."""
    if not text.startswith("{"):
        return None if text.lower() == "none" else text
    try:
        return parse_json(text)
    except ValueError as error:
        raise ParameterError(f'{text} holds no weights ({error}); use JSON such as {{"leak": 20}}') from None
