"""Helpers that write Markdown and HTML; texts from users are escaped and put on one line."""

import html
from collections.abc import Iterable, Sequence

from evolabel._utils.text import one_line

_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#222}"
    "h2{font-size:1.05rem;margin:1.6rem 0 .3rem}section{border-left:4px solid #0072b2;padding-left:1rem}"
    "ul{margin:.2rem 0}p{margin:.3rem 0}"
    "@media(prefers-color-scheme:dark){body{color:#eee;background:#1b1b1b}}"
)


def escape(text: str) -> str:
    """Return `text` escaped for HTML, on one line."""
    return html.escape(one_line(text))


def markdown_text(text: str) -> str:
    """Return `text` for Markdown, on one line, with "<" escaped so that it starts no HTML tag."""
    return one_line(text).replace("<", "&lt;")


def bold(text: str) -> str:
    """Return `text` in bold Markdown."""
    return f"**{markdown_text(text)}**"


def code(name: str) -> str:
    """Return `name` as code in Markdown; backquotes become apostrophes."""
    return f"`{one_line(name).replace('`', chr(39))}`"


def cell(text: str) -> str:
    """Return `text` for a cell of a Markdown table."""
    return markdown_text(text).replace("|", r"\|")


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table with the column titles `heads` and the cells `rows`.

    Cells are Markdown themselves, so names from users must be escaped by `cell`.

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
    """Return a whole HTML page with the `title` and the HTML `body`, without other files."""
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f"<style>{_STYLE}</style></head><body><h1>{escape(title)}</h1>{body}</body></html>\n"
    )
