"""Views that are printed as one section, a title and blocks of lines, in plain text, Markdown or HTML."""

from collections.abc import Callable, Sequence
from typing import ClassVar, NamedTuple

from evolabel._utils.text import one_line
from evolabel.words.markup import bold, code, escape, markdown_text, page
from evolabel.words.names import printed_name

Style = Callable[[str], str]
"""How a name or a text is written in one format."""


class Marks(NamedTuple):
    """How texts are written in one format: as they are, as names, as names in a threshold rule, or to stand out."""

    plain: Style
    name: Style
    rule_name: Style
    strong: Style


class Items(NamedTuple):
    """A list of `lines`; `first` stands before the first of them and `further` before the others, as in IF, AND.

    With an `end`, Markdown writes all of them in one line that ends so.
    """

    lines: Sequence[str]
    first: str = ""
    further: str = ""
    end: str = ""


_TEXT = Marks(one_line, one_line, printed_name, one_line)
_MARKDOWN = Marks(markdown_text, code, code, bold)
_HTML = Marks(
    plain=escape,
    name=lambda name: f"<code>{escape(name)}</code>",
    rule_name=lambda name: f"<code>{escape(name)}</code>",
    strong=lambda text: f"<b>{escape(text)}</b>",
)


class SectionView:
    """A view that is printed as the section that its `_section` returns."""

    def _section(self, marks: Marks) -> tuple[str, list[Items | str]]:
        """Return the title of the view, and lists and single lines, all written with `marks`."""
        raise NotImplementedError

    @property
    def text(self) -> str:
        """The view in words, on a few lines."""
        title, blocks = self._section(_TEXT)
        lists = [Items([block]) if isinstance(block, str) else block for block in blocks]
        lines = [f"  {x.further if i else x.first}{line}" for x in lists for i, line in enumerate(x.lines)]
        return "\n".join([title, *lines])

    def markdown(self) -> str:
        """Return the view in Markdown, below a heading."""
        title, blocks = self._section(_MARKDOWN)
        lines = [f"#### {title}"]
        for block in blocks:
            if isinstance(block, str):
                lines += ["", block]
            elif block.end:
                joined = f" **{block.further.strip()}** ".join(block.lines)
                lines += ["", f"**{block.first.strip()}** {joined} **{block.end}**"]
            else:
                lines += ["", *(f"- {line}" for line in block.lines)]
        return "\n".join([*lines, ""])

    def html(self) -> str:
        """Return the view as a section of HTML."""
        title, blocks = self._section(_HTML)
        body = ""
        for block in blocks:
            above, lines = (block, None) if isinstance(block, str) else (block.first.strip(), block.lines)
            body += f"<p>{above}</p>" if above else ""
            body += "" if lines is None else f"<ul>{''.join(f'<li>{line}</li>' for line in lines)}</ul>"
        return f'<section class="rule"><h2>{title}</h2>{body}</section>'

    def __str__(self) -> str:
        return self.text


class DocumentView:
    """A view that is printed as views of its own, and single lines between them: its `_blocks`."""

    _title: ClassVar[str]

    @property
    def _blocks(self) -> Sequence[str | SectionView]:
        raise NotImplementedError

    @property
    def text(self) -> str:
        """All sections as plain text, with blank lines between them."""
        text, blocks = "", self._blocks
        for before, block in zip(["", *blocks], blocks, strict=False):  # lines that follow each other stay together
            gap = "" if not text else "\n" if isinstance(before, str) and isinstance(block, str) else "\n\n"
            text += gap + (one_line(block) if isinstance(block, str) else block.text)
        return text + "\n"

    def markdown(self) -> str:
        """Return the same in Markdown."""
        return "\n".join(f"{markdown_text(x)}\n" if isinstance(x, str) else x.markdown() for x in self._blocks)

    def html(self) -> str:
        """Return the same as a whole HTML page."""
        parts = (f"<p>{escape(x)}</p>" if isinstance(x, str) else x.html() for x in self._blocks)
        return page(self._title, "".join(parts))

    def __str__(self) -> str:
        return self.text
