"""`BudgetCount`: what was asked, counted from the records alone, apart from the learner."""

from fractions import Fraction

from evolabel.active.selection.token_bucket import exact_share
from evolabel.server.log.log import LogError, Record


class BudgetCount:
    """Counts samples, questions asked, their cost, and what the budget allowed."""

    def __init__(self) -> None:
        self.per = "labels"
        self.n_labels = 0
        self.share = Fraction(0)
        self.earned = Fraction(0)
        self.samples = self.asked = self.cost = 0

    def read(self, record: Record) -> None:
        """Count one `record`; LogError if more was asked than the budget in force allows."""
        kind, payload, outcome = record.entry.kind, record.entry.payload, record.entry.outcome
        if kind == "project.created":
            settings = payload["settings"]
            self.per, self.n_labels = settings["per"], len(payload["labels"])
            self.share = exact_share(settings["budget"])
        elif kind == "settings.changed" and "budget" in payload["changed"]:
            self.share = exact_share(payload["changed"]["budget"])
        elif kind == "label.added":
            self.n_labels += 1
        elif kind == "sample":
            self.samples += 1
            self.earned += self.share * (self.n_labels if self.per == "labels" else 1)
            self.asked += outcome["question"] is not None
            self.cost += outcome["question"]["cost"] if outcome["question"] else 0
        if self.cost > self.earned:
            raise LogError(
                f"record {record.seq}: {self.cost} {self.per} were asked, {float(self.earned):.2f} were allowed"
            )
