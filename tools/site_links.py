"""Check that every link inside the built site leads to a file and, where it has one, to an anchor in it.

python tools/site_links.py docs/_build/html      # ends with the links that lead nowhere, and exit code 1
"""

import sys
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class _Page(HTMLParser):
    """Collects the links and the anchors of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.anchors: set[str] = {""}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep what `attrs` of the tag link to, and its id."""
        found = dict(attrs)
        self.links |= {found[name] or "" for name in ("href", "src") if name in found}
        self.anchors |= {found[name] or "" for name in ("id", "name") if name in found}


@cache
def _read(file: Path) -> _Page:
    """Return the links and anchors of the page in `file`."""
    page = _Page()
    page.feed(file.read_text("utf-8"))
    return page


def _pages(site: Path) -> list[Path]:
    """Return the pages below the folder `site`; the theme has templates in _static."""
    return sorted(file for file in site.rglob("*.html") if "_static" not in file.parts)


def broken_links(site: Path) -> Iterator[str]:
    """Yield page and link where a link of the pages below the folder `site` leads nowhere."""
    for file in _pages(site):
        for link in sorted(_read(file).links):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (file.parent / unquote(parts.path)).resolve() if parts.path else file
            target = target / "index.html" if target.is_dir() else target
            is_page = target.suffix == ".html"
            if not target.is_file() or (is_page and unquote(parts.fragment) not in _read(target).anchors):
                yield f"{file.relative_to(site)}: {link}"


def main() -> None:
    """Check the site in the folder of the command line."""
    site = Path(sys.argv[1])
    if broken := list(broken_links(site)):
        sys.exit("\n".join(["links that lead nowhere:", *broken]))
    print(f"{len(_pages(site))} pages, all links inside the site lead somewhere")


if __name__ == "__main__":
    main()
