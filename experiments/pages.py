"""Pages whose prose is written by hand and whose numbers by scripts, each block between two comments."""

from collections.abc import Mapping

END = "<!-- end -->"


def with_blocks(page: str, blocks: Mapping[str, str]) -> str:
    """The text of `page` with every entry of `blocks` between `<!-- name -->` and `<!-- end -->`."""
    for name, block in blocks.items():
        start = f"<!-- {name} -->"
        assert page.count(start) == 1, f"the page needs exactly one {start}"
        head, rest = page.split(start)
        page = f"{head}{start}\n\n{block}\n\n{END}{rest[rest.index(END) + len(END) :]}"
    return page
