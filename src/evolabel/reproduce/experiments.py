"""The experiments of the paper, as data: what is drawn, on which sets, with which methods."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from evolabel.errors import ParameterError

Kind = Literal["trend lines", "sizes", "times"]

FOUR = ("birds", "emotions", "water-quality", "yeast")
MEDIAMILL = "mediamill"
SETS = (*FOUR, MEDIAMILL)

RIVALS = ("ours", "ovr", "chain", "static")
BY_LABELS = ("labels-30", "labels-20", "labels-10")
BY_SAMPLES = ("samples-30", "samples-20", "samples-10")


@dataclass(frozen=True)
class Panel:
    """One pair of axes: a set, and what is followed along its stream ("pa", "ap" or "rules")."""

    dataset: str
    metric: str


@dataclass(frozen=True)
class Experiment:
    """A figure or a table of the paper.

    Parameters
    ----------
    key : str
        As the paper numbers it: "fig4", "table2".
    title : str
    caption : str
        What to look at.
    panels : tuple of Panel
        In the paper's order, two in a row.
    methods : tuple of str
        Keys of `METHODS`.
    kind : str
    """

    key: str
    title: str
    caption: str
    panels: tuple[Panel, ...]
    methods: tuple[str, ...]
    kind: Kind = "trend lines"

    @property
    def label(self) -> str:
        """The key as a person writes it: Figure 4."""
        return self.key.replace("fig", "Figure ").replace("table", "Table ")

    def panels_for(self, extra: Iterable[str]) -> tuple[Panel, ...]:
        """Sets that are not the paper's join where the paper shows its four."""
        shown = {panel.dataset for panel in self.panels}
        if not set(FOUR) <= shown:
            return self.panels
        return (*self.panels, *(Panel(name, self.panels[0].metric) for name in extra))


def _each(sets: Iterable[str], metric: str) -> tuple[Panel, ...]:
    return tuple(Panel(name, metric) for name in sets)


def _both(dataset: str) -> tuple[Panel, ...]:
    return Panel(dataset, "pa"), Panel(dataset, "ap")


EXPERIMENTS: dict[str, Experiment] = {
    experiment.key: experiment
    for experiment in (
        Experiment("table1", "Data sets", "Sizes of the sets as they were run.", _each(SETS, "pa"), (), "sizes"),
        Experiment(
            "fig4",
            "Partial accuracy with permanent updates",
            "Accumulated partial accuracy; every sample is answered, then learned.",
            _each(FOUR, "pa"),
            RIVALS,
        ),
        Experiment(
            "fig5",
            "Average precision with permanent updates",
            "Accumulated average precision of the same runs.",
            _each(FOUR, "ap"),
            RIVALS,
        ),
        Experiment(
            "fig6",
            "Number of rules",
            "Rules along the stream; for one-versus-rest and the chain the mean over their classifiers, one per label.",
            _each(("emotions", "water-quality"), "rules"),
            RIVALS,
        ),
        Experiment(
            "fig7",
            "Mediamill with permanent updates",
            "Partial accuracy and average precision; RFWLS only leaves the correlation step away.",
            _both(MEDIAMILL),
            (*RIVALS, "rfwls"),
        ),
        Experiment(
            "fig8",
            "Active learning, budget of labels",
            "Partial accuracy with 30, 20 and 10 % of the labels, beside a full update, none, and 10 % by chance.",
            _each(FOUR, "pa"),
            ("ours", *BY_LABELS, "random-10", "static"),
        ),
        Experiment(
            "fig9",
            "Active learning, budget of samples",
            "The same where every sample in question is annotated as a whole.",
            _each(FOUR, "pa"),
            ("ours", *BY_SAMPLES, "static"),
        ),
        Experiment(
            "fig10",
            "Active learning with instability",
            "10 % of the labels, with and without instability of the parameters as a third criterion.",
            _each(FOUR, "pa"),
            ("ours", "labels-10", "labels-10-instability", "static"),
        ),
        Experiment(
            "fig11",
            "Active learning on mediamill",
            "Partial accuracy and average precision with budgets of samples.",
            _both(MEDIAMILL),
            ("ours", *BY_SAMPLES, "random-10", "static"),
        ),
        Experiment(
            "table2",
            "Update times",
            "Milliseconds of processor time to answer and learn one sample, all methods in the same run.",
            _each(SETS, "pa"),
            (*RIVALS[:3], "samples-10"),
            "times",
        ),
    )
}


def chosen_experiments(what: str) -> list[Experiment]:
    """The experiments a word stands for: "all", or the key of one.

    Examples
    --------
    >>> [experiment.label for experiment in chosen_experiments("fig4")]
    ['Figure 4']
    """
    if what == "all":
        return list(EXPERIMENTS.values())
    if what not in EXPERIMENTS:
        raise ParameterError(f"there is no experiment {what!r}; use all or one of {', '.join(EXPERIMENTS)}")
    return [EXPERIMENTS[what]]
