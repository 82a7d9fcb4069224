"""What commands print and write: messages, JSON, tables, progress bars, and checks of the places to write to.

Results go to standard output; messages and progress bars go to standard error, so that results can be piped on.
"""

import os
import re
import sys
import tempfile
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from json import dumps
from math import isnan
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from rich.box import SIMPLE
from rich.console import Console, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from evolabel._utils.files import write_atomically
from evolabel._utils.optional import load
from evolabel._utils.text import counted, one_line
from evolabel.core.events import SHIFTS, Event
from evolabel.errors import ParameterError
from evolabel.evaluate import METRICS, RankingRow, Repeated, Spread, best_value
from evolabel.evaluate import Progress as Step
from evolabel.evaluate.label_statistics import LABEL_COLUMNS, label_cells
from evolabel.evaluate.shifts import episodes
from evolabel.words import markup

REPORT_PACKAGES = {"matplotlib": "report", "jinja2": "report"}
"""Optional packages that a report needs, and the extra that installs them."""

Unmarked = Annotated[
    bool,
    Parameter(
        negative="",
        help="Write texts that a spreadsheet would compute, which begin with = + - @ or a tab, without an apostrophe.",
    ),
]
Force = Annotated[bool, Parameter(negative="", help="Replace files that exist.")]
Quiet = Annotated[bool, Parameter(help="No progress bars.")]
OutFile = Annotated[Path | None, Parameter(help="File to write to, instead of the terminal.")]
"""Options of several commands."""

_PIPED_WIDTH = 240  # columns of a table that does not go to a terminal
_COLUMN_NAMES = {key: metric.name for key, metric in METRICS.items()}
_BAR_METRICS = ("pa", "ap")  # the two scores of the paper, where they are measured
_MAX_EVENTS_LIVE = 3  # below the progress bars
_MAX_SHIFTS = 20  # rows of the table of shifts
_MAX_LABELS = 20  # rows of the table of labels


# ---------------------------------------------------------------------- messages and files


def print_message(message: str) -> None:
    """Print `message` as one line on standard error."""
    Console(stderr=True, soft_wrap=True, highlight=False, markup=False, emoji=False).print(one_line(message))


def print_json(document: object) -> None:
    """Print `document` as JSON on standard output."""
    sys.stdout.write(_json(document))


def write_json(path: Path, document: object) -> None:
    """Write `document` as JSON to the file `path`."""
    write_atomically(path, _json(document).encode())


def _json(document: object) -> str:
    return dumps(document, indent=1) + "\n"


def print_or_write(content: str, out: Path | None, note: str = "") -> None:
    """Print `content`, or write it to the file `out` and report that with `note` at the end of the message."""
    if out is None:
        sys.stdout.write(content)
        return
    with file_errors(out):
        write_atomically(out, content.encode())
    print_message(f"Written: {out}{note}")


@contextmanager
def file_errors(out: Path) -> Iterator[None]:
    """Raise errors of the operating system as a ParameterError that names the file `out`."""
    try:
        yield
    except OSError as error:
        raise ParameterError(f"cannot write {out} ({error.strerror or error}); choose another file") from None


def check_folder(out: Path, packages: Mapping[str, str] = REPORT_PACKAGES, purpose: str = "a report") -> None:
    """Create the folder `out`; raise before a long run if it cannot be written or a package is missing.

    `packages` are optional packages with the extras that install them, `purpose` what they are needed for.
    """
    try:
        out.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=out):
            pass
    except OSError as error:
        raise ParameterError(f"cannot write into {out} ({error.strerror or error}); choose another folder") from None
    for package, extra in packages.items():
        load(package, extra, purpose)


def check_overwriting(files: Iterable[Path | None], *, force: bool) -> None:
    """Raise ParameterError if one of `files` exists, unless `force` or the person at the terminal agrees.

    None and devices such as /dev/stdout are never in the way.
    """
    existing = next((file for file in files if file is not None and file.is_file()), None)
    if force or existing is None or _agrees(existing):
        return
    raise ParameterError(f"{existing} exists; use --force to replace it, or another place to write to")


def _agrees(file: Path) -> bool:
    """Return whether the person at the terminal agrees that `file` is replaced; False where there is no terminal."""
    if not (sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    sys.stderr.write(one_line(f"{file} exists; replace it? [y/N] "))
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


# ---------------------------------------------------------------------- tables


def empty_table(title: str, heads: Sequence[str]) -> Table:
    """Return a table with `title` and columns `heads`; cells are folded where the terminal is narrow, never cut."""
    table = Table(title=Text(one_line(title)), box=SIMPLE, pad_edge=False)
    for head in heads:
        table.add_column(Text(one_line(head)), overflow="fold")
    return table


def print_table(table: Table) -> None:
    """Print `table` on standard output, wide enough for all columns where that is no terminal."""
    console = Console()
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console = Console(width=_PIPED_WIDTH)
    console.print(table)


def result_table(repeated: Repeated) -> Table:
    """Return the results of all learners in `repeated` as a table; the best value of each metric is bold."""
    standings = repeated.ranking()
    best = {name: best_value(standings, name) for name in repeated.metrics}
    heads, *rows = _result_rows(repeated)
    table = empty_table(result_title(repeated), heads)
    for standing, cells in zip(standings, rows, strict=True):
        line = [Text(one_line(cell)) for cell in cells]
        for column, (name, value) in enumerate(standing.metrics.items(), start=1):
            if value.mean == best[name]:
                line[column].stylize("bold")
        table.add_row(*line)
    return table


def markdown_table(repeated: Repeated) -> str:
    """Return the results of all learners in `repeated` as a Markdown table."""
    heads, *rows = [[markup.cell(text) for text in line] for line in _result_rows(repeated)]
    return markup.table(heads, rows) + "\n"


def shift_table(repeated: Repeated) -> Table | None:
    """Return the changes of the stream that the first learner of `repeated` has reported; None if there are none."""
    name, several = repeated.learners[0], len(repeated.runs) > 1
    found = [(seed, change) for seed, events in repeated.shifts(name).items() for change in episodes(events)]
    if not found:
        return None
    left_out = f" (the first {_MAX_SHIFTS} of {len(found)})" if len(found) > _MAX_SHIFTS else ""
    heads = [*(["seed"] if several else []), "what has changed", "at sample", "by", "then"]
    table = empty_table(f"Changes of the stream, as {name} has found them{left_out}", heads)
    for seed, change in found[:_MAX_SHIFTS]:
        cells = [change.about, f"{change.sample:,}", change.size, change.outcome]
        table.add_row(*(Text(one_line(cell)) for cell in ([str(seed)] if several else []) + cells))
    return table


def label_table(repeated: Repeated) -> Table:
    """Return the results of each label of the first learner in `repeated`, at most 20, those with most support."""
    name = repeated.learners[0]
    rows = repeated.labels(name)
    shown = sorted(sorted(range(len(rows)), key=lambda k: -rows[k].support)[:_MAX_LABELS])
    left_out = f" (the {_MAX_LABELS} of {len(rows)} with most support)" if len(rows) > _MAX_LABELS else ""
    table = empty_table(f"Labels, as {name} predicted them{left_out}", LABEL_COLUMNS)
    for k in shown:
        table.add_row(*(Text(one_line(cell)) for cell in label_cells(rows[k])))
    return table


def _result_rows(repeated: Repeated) -> list[list[str]]:
    """Return the heads of the columns, and the cells of every learner."""
    standings = repeated.ranking()
    asked = any(standing.questions is not None for standing in standings)
    names = [_COLUMN_NAMES.get(name, name) for name in repeated.metrics]
    heads = ["learner", *names, "rules", "ms", *(["asked"] if asked else [])]
    return [heads, *(result_cells(standing, asked=asked) for standing in standings)]


def result_cells(standing: RankingRow, *, asked: bool = False) -> list[str]:
    """Return the cells of one learner, `standing`; with `asked` also the share of labels it asked for."""
    rules = "" if isnan(standing.rules.mean) else f"{standing.rules.mean:.0f}"
    scores = [_score_text(spread) for spread in standing.metrics.values()]
    queries = [str(standing.questions or "")] if asked else []
    return [standing.learner, *scores, rules, f"{standing.ms_per_sample:.3f}".replace(" ± ", " ±"), *queries]


def result_title(repeated: Repeated) -> str:
    """Return the stream, its size and the number of seeds of `repeated` in one line."""
    run, seeds = repeated.settings, len(repeated.runs)
    width = f"{counted(run['features'], 'feature')}, {counted(run['labels'], 'label')}"
    title = f"{run['stream']}: {width}, {run['rows'] - run['initial']} streamed after {run['initial']} initial rows"
    return title + (f", mean of {seeds} seeds" if seeds > 1 else "")


def _score_text(spread: Spread) -> str:
    """Return mean and deviation without leading zeros, so that the table fits into a narrow terminal."""
    return re.sub(r"(?<!\d)0\.", ".", f"{spread:.4f}").replace(" ± ", " ±")


# ---------------------------------------------------------------------- progress bars


class StateBars(Progress):
    """Progress bars on standard error, each with a text behind it; `quiet`: draw nothing."""

    def __init__(self, *, quiet: bool = False) -> None:
        console = Console(stderr=True)
        super().__init__(
            TextColumn("{task.description}", style="bold", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[state]}", markup=False),
            TimeRemainingColumn(),
            console=console,
            disable=quiet or not console.is_terminal,
            transient=True,
        )


class LiveBars(StateBars):
    """One progress bar for each of `learners` on standard error: rows done, scores, rules, speed; none if `quiet`."""

    def __init__(self, learners: Sequence[str], *, quiet: bool = False) -> None:
        self._events: deque[str] = deque(maxlen=_MAX_EVENTS_LIVE)  # rich draws as it starts
        super().__init__(quiet=quiet)
        self._learners = learners
        self._bars: dict[str, TaskID] = {}

    def begin(self, title: str) -> None:
        """Set all bars to zero for a new run called `title`."""
        self._events.clear()
        for bar in self._bars.values():
            self.remove_task(bar)
        self._bars = {
            name: self.add_task(one_line(f"{title} {name}"), total=None, state="initial batch")
            for name in self._learners
        }

    def step(self, step: Step) -> None:
        """Move the bar of the learner of `step`."""
        self.update(self._bars[step.learner], completed=step.done, total=step.total, state=_bar_text(step))

    def show_event(self, learner: str, event: Event) -> None:
        """Show `event` of `learner` below the bars, if it is a shift of the stream."""
        if event.kind in SHIFTS:
            self._events.append(one_line(f"{learner}, {event}" if len(self._learners) > 1 else str(event)))

    def get_renderables(self) -> Iterable[RenderableType]:
        """Yield the bars and the last shifts of the stream."""
        yield from super().get_renderables()
        yield from (Text(line, style="dim") for line in tuple(self._events))  # another thread draws


def _bar_text(step: Step) -> str:
    """Return scores, number of rules and speed as one short text."""
    parts = [f"{name.upper()} {step.metrics[name]:.3f}" for name in _BAR_METRICS if name in step.metrics]
    if not isnan(step.rules):
        parts.append(f"{step.rules:.0f} rules")
    return "  ".join([*parts, f"{step.samples_per_second:,.0f}/s"])
