"""Results as tables: for the terminal, and in Markdown."""

from math import isnan

from rich.box import SIMPLE
from rich.table import Table

from evolabel.evaluate import METRICS, Repeated, Spread, Standing

HEADS = {key: metric.name for key, metric in METRICS.items()}


def heads(repeated: Repeated) -> list[str]:
    """Titles of the columns."""
    return ["learner", *(HEADS.get(name, name) for name in repeated.metrics), "rules", "ms"]


def cells(standing: Standing) -> list[str]:
    """One line of the table."""
    rules = "" if isnan(standing.rules.mean) else f"{standing.rules.mean:.0f}"
    scores = [_told(spread) for spread in standing.metrics.values()]
    return [standing.learner, *scores, rules, f"{standing.ms_per_sample.mean:.3f}"]


def terminal_table(repeated: Repeated) -> Table:
    """All learners; the best value of each metric is bold."""
    standings = repeated.standings()
    best = {name: _best(standings, name) for name in repeated.metrics}
    table = Table(*heads(repeated), title=title(repeated), box=SIMPLE, pad_edge=False)
    for standing in standings:
        line = cells(standing)
        for place, (name, value) in enumerate(standing.metrics.items(), start=1):
            if value.mean == best[name]:
                line[place] = f"[bold]{line[place]}[/bold]"
        table.add_row(*line)
    return table


def markdown_table(repeated: Repeated) -> str:
    """The same as Markdown."""
    lines = [heads(repeated), ["---"] * len(heads(repeated)), *map(cells, repeated.standings())]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def title(repeated: Repeated) -> str:
    """What was run, in one line."""
    run, seeds = repeated.settings, len(repeated.runs)
    told = (
        f"{run['stream']}: {run['features']} features, {run['labels']} labels, {run['rows'] - run['initial']} streamed"
    )
    return f"{told} after {run['initial']} initial rows" + (f", mean of {seeds} seeds" if seeds > 1 else "")


def _told(spread: Spread) -> str:
    """Without the leading zeros that every score has: the table fits into a narrow terminal."""
    return f"{spread:.4f}".replace("0.", ".").replace(" ± ", " ±")


def _best(standings: list[Standing], metric: str) -> float:
    choose = max if metric not in METRICS or METRICS[metric].bigger_is_better else min
    return choose(standing.metrics[metric].mean for standing in standings)
