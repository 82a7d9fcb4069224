"""Small helpers for Markdown and HTML."""

import html
from collections.abc import Iterable, Sequence

from evolabel._utils.text import one_line

STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#222}"
    "h2{font-size:1.05rem;margin:1.6rem 0 .3rem}section{border-left:4px solid #0072b2;padding-left:1rem}"
    "ul{margin:.2rem 0}p{margin:.3rem 0}"
    "@media(prefers-color-scheme:dark){body{color:#eee;background:#1b1b1b}}"
)


def escape(text: str) -> str:
    """Text for HTML, on one line."""
    return html.escape(one_line(text))


def words(text: str) -> str:
    """Text for Markdown, on one line; it opens no tag of HTML."""
    return one_line(text).replace("<", "&lt;")


def bold(text: str) -> str:
    """Strong text in Markdown."""
    return f"**{words(text)}**"


def code(name: str) -> str:
    """A name in Markdown, as it is written."""
    return f"`{one_line(name).replace('`', chr(39))}`"


def cell(text: str) -> str:
    """Text for a cell of a table in Markdown."""
    return words(text).replace("|", r"\|")


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown; cells are Markdown themselves, so names from outside go through `cell`.

    Examples
    --------
    >>> print(table(["rule", "samples"], [["0", "48"], ["1", "31"]]))
    | rule | samples |
    | --- | --- |
    | 0 | 48 |
    | 1 | 31 |
    """
    return "\n".join(f"| {' | '.join(line)} |" for line in (heads, ["---"] * len(heads), *rows))


def page(title: str, body: str) -> str:
    """A whole HTML page that needs nothing else."""
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f"<style>{STYLE}</style></head><body><h1>{escape(title)}</h1>{body}</body></html>\n"
    )
