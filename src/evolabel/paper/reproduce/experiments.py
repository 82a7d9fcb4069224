"""The experiments of the paper as data: which metric, data sets and methods each figure or table shows."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from evolabel.errors import ParameterError
from evolabel.paper.reproduce.methods import PROFILES, Profile

ExperimentKind = Literal["trend lines", "vigilances", "sizes", "times"]

SMALL_SETS = ("birds", "emotions", "water-quality", "yeast")
MEDIAMILL = "mediamill"
PAPER_SETS = (*SMALL_SETS, MEDIAMILL)

_COMPARED = ("ours", "ovr", "chain", "static")
_LABEL_BUDGETS = ("labels-30", "labels-20", "labels-10")
_SAMPLE_BUDGETS = ("samples-30", "samples-20", "samples-10")


@dataclass(frozen=True)
class Panel:
    """One pair of axes: a `dataset`, and the `metric` drawn along its stream ("pa", "ap" or "rules")."""

    dataset: str
    metric: str


@dataclass(frozen=True)
class Experiment:
    """A figure or a table of the paper, of this `kind`; `key` is its number there: "fig4", "table2".

    The report has it below a `title`, with a `caption`. `panels` are in the paper's order, two in a row, `methods` keys
    of `METHODS`.
    """

    key: str
    title: str
    caption: str
    panels: tuple[Panel, ...]
    methods: tuple[str, ...]
    kind: ExperimentKind = "trend lines"
    profiles: tuple[Profile, ...] = PROFILES

    @property
    def label(self) -> str:
        """The key in words, such as "Figure 4"; experiments that are not in the paper begin with a capital."""
        if self.kind == "vigilances":
            return self.key.capitalize()
        return self.key.replace("fig", "Figure ").replace("table", "Table ")

    def panels_for(self, extra: Iterable[str]) -> tuple[Panel, ...]:
        """The panels, with one for each data set of `extra` where the experiment shows the paper's four small sets."""
        shown = {panel.dataset for panel in self.panels}
        if not set(SMALL_SETS) <= shown:
            return self.panels
        return (*self.panels, *(Panel(name, self.panels[0].metric) for name in extra))


def _each(sets: Iterable[str], metric: str) -> tuple[Panel, ...]:
    return tuple(Panel(name, metric) for name in sets)


def _both(dataset: str) -> tuple[Panel, ...]:
    return Panel(dataset, "pa"), Panel(dataset, "ap")


EXPERIMENTS: dict[str, Experiment] = {
    experiment.key: experiment
    for experiment in (
        Experiment("table1", "Data sets", "Sizes of the sets as they were run.", _each(PAPER_SETS, "pa"), (), "sizes"),
        Experiment(
            "fig4",
            "Partial accuracy with permanent updates",
            "Accumulated partial accuracy; every sample is answered, then learned.",
            _each(SMALL_SETS, "pa"),
            _COMPARED,
        ),
        Experiment(
            "fig5",
            "Average precision with permanent updates",
            "Accumulated average precision of the same runs.",
            _each(SMALL_SETS, "ap"),
            _COMPARED,
        ),
        Experiment(
            "fig6",
            "Number of rules",
            "Rules along the stream; for one-versus-rest and the chain the mean over their classifiers, one per label.",
            _each(("emotions", "water-quality"), "rules"),
            _COMPARED,
        ),
        Experiment(
            "rules",
            "One rule or many",
            "Not in the paper: ours at every vigilance, with the best alpha and beta there. Partial accuracy in the "
            "cross-validation and along the stream, by the number of rules that the vigilance leaves.",
            _each(SMALL_SETS, "pa"),
            ("ours",),
            "vigilances",
            ("paper",),
        ),
        Experiment(
            "fig7",
            "Mediamill with permanent updates",
            "Partial accuracy and average precision; RFWLS only: without the correlation step.",
            _both(MEDIAMILL),
            (*_COMPARED, "rfwls"),
        ),
        Experiment(
            "fig8",
            "Active learning, budget of labels",
            "Partial accuracy with 30, 20 and 10 % of the labels, 10 % drawn at random, all labels, and none.",
            _each(SMALL_SETS, "pa"),
            ("ours", *_LABEL_BUDGETS, "random-10", "static"),
        ),
        Experiment(
            "fig9",
            "Active learning, budget of samples",
            "The same with queries for all labels of a sample.",
            _each(SMALL_SETS, "pa"),
            ("ours", *_SAMPLE_BUDGETS, "static"),
        ),
        Experiment(
            "fig10",
            "Active learning with instability",
            "10 % of the labels, with and without instability of the parameters as a third criterion.",
            _each(SMALL_SETS, "pa"),
            ("ours", "labels-10", "labels-10-instability", "static"),
        ),
        Experiment(
            "fig11",
            "Active learning on mediamill",
            "Partial accuracy and average precision with budgets of samples.",
            _both(MEDIAMILL),
            ("ours", *_SAMPLE_BUDGETS, "random-10", "static"),
        ),
        Experiment(
            "table2",
            "Update times",
            "Milliseconds of processor time to answer and learn one sample, all methods in the same run.",
            _each(PAPER_SETS, "pa"),
            (*_COMPARED[:3], "samples-10"),
            "times",
        ),
    )
}


def chosen_experiments(what: str) -> list[Experiment]:
    """The experiments named by `what`: "all", or the key of one; raises ParameterError for any other word.

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
