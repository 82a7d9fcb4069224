"""Notes on results: metrics that are constant for one label, and labels that were never predicted."""

from evolabel.evaluate.label_statistics import LabelScores
from evolabel.evaluate.metrics import METRICS
from evolabel.evaluate.metrics.ranking import ONE_LABEL, AveragePrecision, Coverage, OneError, RankingLoss
from evolabel.evaluate.repeated import Repeated

FEWEST_POSITIVES = 5  # of a label that should have been predicted at least once
_OF_RANKINGS = (AveragePrecision, RankingLoss, OneError, Coverage)
_MOST_NAMED = 5  # labels


def run_notes(repeated: Repeated) -> list[str]:
    """Return the notes on `repeated`, one line each, about the metrics and about its first learner."""
    rows = repeated.labels(repeated.learners[0])
    rankings = [METRICS[name].name for name in repeated.metrics if METRICS.get(name) in _OF_RANKINGS]
    notes = []
    if repeated.settings.get("labels") == 1 and rankings:
        notes.append(f"{', '.join(rankings)}: the same whatever the scores, because {ONE_LABEL}")
    if never := [row for row in rows if row.support >= FEWEST_POSITIVES and row.predicted == 0]:
        notes.append(_never_predicted(never))
    return notes


def _never_predicted(rows: list[LabelScores]) -> str:
    """The note on labels that occurred but were never predicted, `rows`."""
    named = ", ".join(f"{row.label} ({row.support} of {row.known} samples)" for row in rows[:_MOST_NAMED])
    more = f" and {len(rows) - _MOST_NAMED} more" if len(rows) > _MOST_NAMED else ""
    advice = 'optimise="macro_f1" or "balanced" predicts rare labels, too (--against macro-f1 shows what it costs)'
    return f"never predicted: {named}{more}; {advice}"
