"""Commands write their figures without a drawing, unless a test is marked `drawn`."""

import pytest


@pytest.fixture(autouse=True)
def _figures(request):
    if not request.node.get_closest_marker("drawn"):
        request.getfixturevalue("undrawn")
