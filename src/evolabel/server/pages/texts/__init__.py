"""Texts of the pages, by language and key. The language is that of the request in hand."""

import contextvars
import datetime
import functools
import tomllib
from importlib import resources
from typing import Any

LANGUAGES = {"en": "English", "de": "Deutsch"}
"""Languages of the pages, by the name of their file, in their own words."""
_TEXTS = "evolabel.server.pages.texts"
_language = contextvars.ContextVar("language", default="en")


def set_language(accepted: str) -> None:
    """Give the texts of this request in the first known language of `accepted`, such as "de-AT,de;q=0.9,en;q=0.8"."""
    names = (part.partition(";")[0].strip().lower().partition("-")[0] for part in accepted.split(","))
    _language.set(next((name for name in names if name in LANGUAGES), "en"))


def language() -> str:
    """Return the language of this request."""
    return _language.get()


def catalogue() -> dict[str, str]:
    """Return all texts in the language of this request, by keys such as `answer.sent`."""
    return texts_in(language())


@functools.cache
def texts_in(language: str) -> dict[str, str]:
    """Return all texts in `language`, by keys such as `answer.sent`."""
    nested = tomllib.loads(resources.files(_TEXTS).joinpath(f"{language}.toml").read_text("utf-8"))
    return {f"{group}.{key}": text for group, texts in nested.items() for key, text in texts.items()}


def text(key: str, **values: Any) -> str:
    """Return the text with this `key`, in which `{name}` stands for a value of `values`."""
    return catalogue()[key].format(**values)


def counted(key: str, n: int, **values: Any) -> str:
    """Return the text `key`_one for one and `key`_many for any other number `n`."""
    return text(f"{key}_one" if n == 1 else f"{key}_many", n=n, **values)


def date_text(day: datetime.date, *, year: bool) -> str:
    """Return a `day`, such as 12 Feb, with the `year` if that is asked for."""
    key = "format.date_year" if year else "format.date"
    return text(key, day=day.day, month=text(f"month.m{day.month}"), year=day.year)


def decimal_text(number: str) -> str:
    """Return a `number` that is written with a point, as the language writes it, with a true minus sign."""
    return number.replace(".", text("format.decimal")).replace("-", "\u2212")


def reason(name: str) -> str:
    """Return the text for the reason `name` of a question, the name itself if there is none."""
    return catalogue().get(f"reason.{name}", name)
