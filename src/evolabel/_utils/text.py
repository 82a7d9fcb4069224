"""Texts for messages and `repr`: constructor calls, counts, names with an article, and names that are safe to print.

Names of features, labels, rules, data sets and learners come from users and files. `one_line` and `visible` make them
safe to print: on a terminal, in XML and HTML, and in figures.
"""

import math
import re
from collections.abc import Sequence
from inspect import signature

_BREAKS = re.compile("[\t\n\v\f\r\x85\u2028\u2029]")
# Control characters, marks that change the direction of text, lone surrogates, and what XML does not allow.
_HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")
_REPLACEMENT = "\ufffd"


def visible(text: str) -> str:
    r"""Return `text` with every control character replaced by U+FFFD; tabs and line feeds stay.

    Examples
    --------
    >>> visible("heat\x1b[31m\n")
    'heat�[31m\n'
    """
    return _HIDDEN.sub(_REPLACEMENT, text)


def one_line(text: str) -> str:
    r"""Return `text` on one line: line breaks and tabs become spaces, other control characters U+FFFD.

    Examples
    --------
    >>> one_line("heat\nof\tthe pump")
    'heat of the pump'
    """
    return visible(_BREAKS.sub(" ", text))


def call_of(thing: object) -> str:
    """Return the constructor call of `thing`, without parameters at their defaults, for use in `__repr__`.

    Every parameter of the class must be an attribute of the same name.
    """
    arguments = [
        f"{name}={getattr(thing, name)!r}"
        for name, parameter in signature(type(thing)).parameters.items()
        if repr(getattr(thing, name)) != repr(parameter.default)
    ]
    return f"{type(thing).__name__}({', '.join(arguments)})"


def counted(number: int, thing: str) -> str:
    """Return `number` and the noun `thing`, in the plural unless `number` is 1: "1 label", "2 labels"."""
    return f"{number} {thing}{'' if number == 1 else 's'}"


def samples(support: float) -> str:
    """Return `support` as a number of samples: "1 sample", "1,940 samples"."""
    number = round(support)
    return f"{number:,} sample{'' if number == 1 else 's'}"


def number_text(value: float, step: float = 0.0) -> str:
    """Return `value` with four digits, or with as many as show a difference of a tenth of `step`.

    Examples
    --------
    >>> number_text(1013.25), number_text(1013.25, 2.0), number_text(1.7e9 + 38, 500.0), number_text(1.7003e18, 1e15)
    ('1013', '1013.2', '1700000038', '1.7003e+18')
    """
    digits = 4
    if value and 0.0 < step / 10.0 < math.inf:
        digits = max(digits, math.floor(math.log10(abs(value))) - math.floor(math.log10(step / 10.0)) + 1)
    text = f"{value:.{min(digits, 17)}g}"
    return f"{value:.0f}" if digits > 4 and "e+" in text and abs(value) < 1e12 else text


def change_text(before: float, after: float) -> str:
    """Return both values with an arrow between them, and with as many digits as show their difference."""
    step = abs(after - before)
    return f"{number_text(before, step)} -> {number_text(after, step)}"


def with_article(name: object) -> str:
    """Return `name` with "a" or "an" before it, by its first letter."""
    return f"{'an' if str(name)[:1].lower() in 'aeiou' else 'a'} {name}"


def first_names(names: Sequence[str], most: int = 8) -> str:
    """Return the first `most` of `names`, separated by commas, with "..." at the end if there are more.

    Examples
    --------
    >>> first_names(["heat", "flow", "noise"], most=2)
    'heat, flow, ...'
    """
    return ", ".join(names[:most]) + (", ..." if len(names) > most else "")
