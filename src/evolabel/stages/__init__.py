"""The stages of an answer, one package each; what users need to write one: `OwnStage`, `Schema`, `array`, `Rows`."""

from evolabel.core.rows import Rows
from evolabel.core.schema import Schema, array
from evolabel.core.stage import OwnStage, StagePart

__all__ = ["OwnStage", "Rows", "Schema", "StagePart", "array"]
