"""`RowContext`: what earlier answers add to the scores of some rows; `active/query_context.py` derives it."""

from typing import NamedTuple

from evolabel.stages.feedback.stage import Correction
from evolabel.typing import FloatArray


class RowContext(NamedTuple):
    """What earlier answers add to the scores of some rows."""

    correction: Correction | None
    """Correction of their outputs by recent errors."""
    exploration: FloatArray | None
    """Exploration weights of their labels, (n, K), see `NewLabelExploration`."""
    novelty_weight: FloatArray | None
    """Factor of their selector values, (n,): smaller where recent answers already cover the row."""


NO_CONTEXT = RowContext(None, None, None)
