"""Arrays of the recent errors.

| symbol | array | meaning                                  |
|--------|-------|------------------------------------------|
| e      | (K,)  | mean error of recent answers, by label   |
| n      | (K,)  | answers, by label                        |
"""

from typing import Annotated, NamedTuple

from evolabel.core.schema import Schema, array
from evolabel.typing import FloatArray


class ErrorArrays(NamedTuple):
    """Mean errors and counts of answers."""

    e: Annotated[FloatArray, array("label", low=-2.0, high=2.0)]
    n: Annotated[FloatArray, array("label", low=0.0)]


ERROR_ARRAYS = Schema(ErrorArrays)
