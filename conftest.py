"""Which files are searched for doctests: to search those without any takes seconds in every process."""

import pytest
from _pytest.doctest import DoctestModule


@pytest.hookimpl(wrapper=True)
def pytest_collect_file():
    """Leave out files without a prompt."""
    return [one for one in (yield) if not isinstance(one, DoctestModule) or ">>> " in one.path.read_text("utf-8")]
