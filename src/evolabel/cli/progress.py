"""A live bar per learner: how far it is, how well it does, how fast it goes."""

from collections.abc import Sequence
from math import isnan
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from evolabel._utils.text import one_line
from evolabel.evaluate import Progress as Step

SHOWN = ("pa", "ap")  # the two scores of the paper, where they are measured


class LiveBars:
    """Bars for the learners of a run, on the error stream: results can be piped on.

    Parameters
    ----------
    learners : sequence of str
    quiet : bool
        Draw nothing.
    """

    def __init__(self, learners: Sequence[str], *, quiet: bool = False) -> None:
        console = Console(stderr=True)
        self._bars = Progress(
            TextColumn("{task.description}", style="bold", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[state]}", markup=False),
            TimeRemainingColumn(),
            console=console,
            disable=quiet or not console.is_terminal,
            transient=True,
        )
        self._learners = learners
        self._tasks: dict[str, TaskID] = {}

    def begin(self, title: str) -> None:
        """A new run starts: all bars at zero."""
        for task in self._tasks.values():
            self._bars.remove_task(task)
        self._tasks = {
            name: self._bars.add_task(one_line(f"{title} {name}"), total=None, state="initial batch")
            for name in self._learners
        }

    def step(self, step: Step) -> None:
        """A learner has come further."""
        self._bars.update(self._tasks[step.learner], completed=step.done, total=step.total, state=told(step))

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(self, *trouble: object) -> None:
        self._bars.stop()


def told(step: Step) -> str:
    """Scores, rules and speed as one short text."""
    parts = [f"{name.upper()} {step.metrics[name]:.3f}" for name in SHOWN if name in step.metrics]
    if not isnan(step.rules):
        parts.append(f"{step.rules:.0f} rules")
    return "  ".join([*parts, f"{step.samples_per_second:,.0f}/s"])
