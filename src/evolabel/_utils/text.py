"""How things are written: objects as the calls that make them, numbers of things, names with their article.

Names of features, labels, rules, data sets and learners come from users and files. `one_line` and `visible` make them
safe to show: on a terminal, in XML and HTML, and in figures.
"""

import re
from collections.abc import Sequence
from inspect import signature

BREAKS = re.compile("[\t\n\v\f\r\x85\u2028\u2029]")
# Control characters, directions that reorder the text around them, lone surrogates, and what XML cannot hold.
HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")
REPLACEMENT = "\ufffd"


def visible(text: str) -> str:
    r"""`text` with every control character replaced by U+FFFD; tabs and line feeds stay.

    Examples
    --------
    >>> visible("heat\x1b[31m\n")
    'heat�[31m\n'
    """
    return HIDDEN.sub(REPLACEMENT, text)


def one_line(text: str) -> str:
    r"""`text` on one line: line breaks and tabs become spaces, other control characters U+FFFD.

    Examples
    --------
    >>> one_line("heat\nof\tthe pump")
    'heat of the pump'
    """
    return visible(BREAKS.sub(" ", text))


def call_of(thing: object) -> str:
    """The call, for a thing that keeps every parameter of its class as an attribute of the same name."""
    told = [
        f"{name}={getattr(thing, name)!r}"
        for name, parameter in signature(type(thing)).parameters.items()
        if repr(getattr(thing, name)) != repr(parameter.default)
    ]
    return f"{type(thing).__name__}({', '.join(told)})"


def counted(number: int, thing: str) -> str:
    """So many things: "1 label", "2 labels"."""
    return f"{number} {thing}{'' if number == 1 else 's'}"


def with_article(name: object) -> str:
    """The name with a or an before it, by its first letter."""
    return f"{'an' if str(name)[:1].lower() in 'aeiou' else 'a'} {name}"


def first_names(names: Sequence[str], most: int = 8) -> str:
    """Return the first `most` of `names`, separated by commas, with "..." at the end if there are more.

    Examples
    --------
    >>> first_names(["heat", "flow", "noise"], most=2)
    'heat, flow, ...'
    """
    return ", ".join(names[:most]) + (", ..." if len(names) > most else "")
