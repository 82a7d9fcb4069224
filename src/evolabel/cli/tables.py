"""Results as tables: for the terminal, and in Markdown."""

import os
import re
from math import isnan

from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table
from rich.text import Text

from evolabel._utils.text import counted, one_line
from evolabel.evaluate import METRICS, RankingRow, Repeated, Spread, best_value
from evolabel.explain import markup

WIDE = 240  # columns of a table that is piped on

HEADS = {key: metric.name for key, metric in METRICS.items()}


def heads(repeated: Repeated) -> list[str]:
    """Titles of the columns."""
    asked = ["asked"] if _asks(repeated) else []
    return ["learner", *(HEADS.get(name, name) for name in repeated.metrics), "rules", "ms", *asked]


def cells(standing: RankingRow, *, asked: bool = False) -> list[str]:
    """One line of the table, with what was asked for if wished."""
    rules = "" if isnan(standing.rules.mean) else f"{standing.rules.mean:.0f}"
    scores = [_told(spread) for spread in standing.metrics.values()]
    questions = [str(standing.questions or "")] if asked else []
    return [standing.learner, *scores, rules, f"{standing.ms_per_sample:.3f}".replace(" ± ", " ±"), *questions]


def terminal_table(repeated: Repeated) -> Table:
    """All learners; the best value of each metric is bold."""
    standings = repeated.ranking()
    best = {name: best_value(standings, name) for name in repeated.metrics}
    table = plain_table(title(repeated), heads(repeated))
    for standing in standings:
        line = [Text(one_line(cell)) for cell in cells(standing, asked=_asks(repeated))]
        for place, (name, value) in enumerate(standing.metrics.items(), start=1):
            if value.mean == best[name]:
                line[place].stylize("bold")
        table.add_row(*line)
    return table


def plain_table(title: str, heads: list[str]) -> Table:
    """An empty table in the look of all commands; cells are folded where the terminal is narrow, never cut."""
    table = Table(title=Text(one_line(title)), box=SIMPLE, pad_edge=False)
    for head in heads:
        table.add_column(Text(one_line(head)), overflow="fold")
    return table


def print_table(table: Table) -> None:
    """To standard output; as wide as it needs to be where nobody watches."""
    console = Console()
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console = Console(width=WIDE)
    console.print(table)


def markdown_table(repeated: Repeated) -> str:
    """The same as Markdown."""
    told = [cells(standing, asked=_asks(repeated)) for standing in repeated.ranking()]
    rows = [[markup.cell(text) for text in line] for line in (heads(repeated), *told)]
    return markup.table(rows[0], rows[1:]) + "\n"


def title(repeated: Repeated) -> str:
    """What was run, in one line."""
    run, seeds = repeated.settings, len(repeated.runs)
    width = f"{counted(run['features'], 'feature')}, {counted(run['labels'], 'label')}"
    told = f"{run['stream']}: {width}, {run['rows'] - run['initial']} streamed"
    return f"{told} after {run['initial']} initial rows" + (f", mean of {seeds} seeds" if seeds > 1 else "")


def _asks(repeated: Repeated) -> bool:
    """Is there a learner that asks for labels?"""
    return any(standing.questions is not None for standing in repeated.ranking())


def _told(spread: Spread) -> str:
    """Without the leading zeros that every score has: the table fits into a narrow terminal."""
    return re.sub(r"(?<!\d)0\.", ".", f"{spread:.4f}").replace(" ± ", " ±")
