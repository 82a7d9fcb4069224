"""Texts of the pages, by language and key."""

import functools
import tomllib
from importlib import resources
from typing import Any

_TEXTS = "evolabel.server.web.texts"


@functools.cache
def catalogue(language: str = "en") -> dict[str, str]:
    """Return all texts in `language`, by keys such as `answer.sent`."""
    nested = tomllib.loads(resources.files(_TEXTS).joinpath(f"{language}.toml").read_text("utf-8"))
    return {f"{group}.{key}": text for group, texts in nested.items() for key, text in texts.items()}


def text(key: str, **values: Any) -> str:
    """Return the text with this `key`, in which `{name}` stands for a value of `values`."""
    return catalogue()[key].format(**values)


def counted(key: str, n: int, **values: Any) -> str:
    """Return the text `key`_one for one and `key`_many for any other number `n`."""
    return text(f"{key}_one" if n == 1 else f"{key}_many", n=n, **values)


def reason(name: str) -> str:
    """Return the text for the reason `name` of a question, the name itself if there is none."""
    return catalogue().get(f"reason.{name}", name)
