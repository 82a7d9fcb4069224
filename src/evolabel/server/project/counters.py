"""`WorkerCounters`: what the worker of a project has done since the process began, for /metrics."""

from collections import Counter
from collections.abc import Sequence

from evolabel.server.log.records import NewRecord

_RESPONSES = ("answer", "refusal", "withdrawal", "correction")


class WorkerCounters:
    """Counts of committed records, and the seconds that batches took. Written by the worker, read by others."""

    def __init__(self) -> None:
        self.samples = 0
        self.asked: Counter[str] = Counter()
        """Questions by reason; one with several reasons counts under each."""
        self.held: Counter[str] = Counter()
        self.closed: Counter[str] = Counter()
        self.responses: Counter[str] = Counter()
        """Records of what people sent, by kind: a changed answer is one more, the service's own corrections are not."""
        self.rebuilds: Counter[str] = Counter()
        self.batches = 0
        self.apply_seconds = 0.0
        self.commits = 0
        self.commit_seconds = 0.0
        self.commit_rows = 0

    def add_batch(self, seconds: float) -> None:
        """Count a batch that was applied in this many `seconds`."""
        self.batches += 1
        self.apply_seconds += seconds

    def add_commit(self, entries: Sequence[NewRecord], seconds: float) -> None:
        """Count `entries` that were committed in this many `seconds`."""
        self.commits += 1
        self.commit_seconds += seconds
        self.commit_rows += len(entries)
        for entry in entries:
            self._add(entry)

    def _add(self, entry: NewRecord) -> None:
        if entry.kind == "sample":
            self.samples += 1
            if "held" in entry.outcome:
                self.held[entry.outcome["held"]] += 1
            if (question := entry.outcome["question"]) is not None:
                self.asked.update({reason for why in question["reasons"].values() for reason in why})
        elif entry.kind in _RESPONSES and entry.actor_id is not None:
            self.responses[entry.kind] += 1
        elif entry.kind == "close" or entry.outcome.get("closes"):
            self.closed[entry.payload.get("cause", "answered")] += 1
