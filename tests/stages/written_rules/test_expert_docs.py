"""The page about expert rules shows what really comes out."""

import doctest
import re
from pathlib import Path

PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "expert-rules.md"


def test_every_example_gives_what_the_page_shows():
    text = re.sub(r"^```.*$", "", PAGE.read_text(), flags=re.MULTILINE)
    examples = doctest.DocTestParser().get_doctest(text, {}, PAGE.name, None, None)
    failures: list[str] = []
    result = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(examples, out=failures.append)
    assert result.attempted > 10
    assert not result.failed, "".join(failures)
