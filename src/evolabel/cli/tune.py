"""`evolabel tune`: parameters for a stream, found on its initial batch."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from rich.text import Text

from evolabel import EvolvingFuzzyClassifier
from evolabel._utils.atomic_files import write_atomically
from evolabel._utils.text import one_line
from evolabel.cli.columns import NO_OPTIONS, ColumnOptions
from evolabel.cli.output import check_folder, empty_table, print_json, print_message, print_table, write_json
from evolabel.cli.ready import compile_kernels
from evolabel.cli.source import Protocol, default_data, open_source, split_names
from evolabel.errors import ParameterError
from evolabel.evaluate.source import initial_rows
from evolabel.explain.figures.canvas import as_svg, figure_of
from evolabel.tuning import PAPER_GRID, GridSearch, heat_map

if TYPE_CHECKING:
    from evolabel.streams import Dataset

_POINTS_SHOWN = 10


def tune(
    data: str | None = None,
    *,
    labels: str = "",
    drop: str = "",
    columns: ColumnOptions = NO_OPTIONS,
    profile: Literal["default", "paper"] = "default",
    vigilance: str = "",
    alpha: str = "",
    beta: str = "",
    score: str = "pa",
    cv: int = 5,
    protocol: Protocol | None = None,
    initial: float | None = None,
    seed: int = 0,
    jobs: int = -1,
    out: Path | None = None,
    json: bool = False,
    quiet: bool = False,
) -> None:
    """Search for parameters by cross-validation on the initial batch of a stream, and on nothing else.

    By default this tries the paper's grid: 17 values of vigilance, 10 of alpha, 8 of beta. All values of alpha and beta
    share one pass over the data. The same command with --out continues an interrupted search.

    For example:

    `evolabel tune emotions --profile paper --out tuned`

    `evolabel run emotions --params tuned/best.json`

    `evolabel tune my.csv --labels fault_a,fault_b --vigilance 0.3,0.5 --alpha 0,0.1 --beta 0,1`

    Parameters
    ----------
    data
        As in `evolabel run`.
    labels
        Columns of a file that are labels, as in `evolabel run`.
    drop
        Columns to leave out, as in `evolabel run`.
    columns
        Options on the columns of a file, as in `evolabel run`.
    profile
        Gives all other parameters.
    vigilance
        Values separated by commas, instead of the paper's.
    alpha
        Values separated by commas, instead of the paper's.
    beta
        Values separated by commas, instead of the paper's.
    score
        What to maximise: a metric of `evolabel run`.
    cv
        Number of folds.
    protocol
        As in `evolabel run`.
    initial
        Initial batch: a share below 1, or a number of rows.
    seed
        Random seed of the order of a known data set, and of the folds.
    jobs
        Number of processes; -1 for all cores.
    out
        Folder for best.json, surface.csv, the heat map and the checkpoint of the search.
    json
        Print the result as JSON instead of a table.
    quiet
        No progress bar.
    """
    name = default_data() if data is None else data
    given, dropped = split_names(labels), split_names(drop)
    source = open_source(name, given, protocol=protocol, initial=initial, drop=dropped, columns=columns)
    stream = source.stream(seed)
    rows = initial_rows(source.initial, stream, len(stream))
    if rows == 0:
        raise ParameterError("--initial 0 leaves nothing to search on; give the initial batch some rows, such as 0.2")
    batch = stream.take(rows)
    if out is not None:
        check_folder(out)
    compile_kernels(quiet=quiet or json)
    base = EvolvingFuzzyClassifier.paper() if profile == "paper" else EvolvingFuzzyClassifier()
    grid = {**PAPER_GRID, **_read_values(vigilance=vigilance, alpha=alpha, beta=beta)}
    checkpoint = None if out is None else out / "checkpoint.jsonl"
    search = GridSearch(base, grid, cv=cv, score=score, seed=seed, n_jobs=jobs, checkpoint=checkpoint)
    _fit(search, batch, quiet=quiet or json)
    best = {
        "data": stream.name,
        "rows": len(batch),
        "profile": profile,
        "score": score,
        "best_score": search.best_score_,
        "best_params": search.best_params_,
    }
    if json:
        print_json(best)
    else:
        print_table(_table(search, best))
    if out is not None:
        _write(search, best, out)


def _read_values(**texts: str) -> dict[str, tuple[float, ...]]:
    """Return the numbers in `texts` by parameter; parameters with an empty text are left out."""
    try:
        return {name: tuple(float(part) for part in split_names(text)) for name, text in texts.items() if text}
    except ValueError as error:
        raise ParameterError(f"a value of the grid is no number ({error}); write them as 0.1,0.5,1") from None


def _fit(search: GridSearch, batch: "Dataset", *, quiet: bool) -> None:
    """Run `search` on `batch`, with a progress bar unless `quiet`."""
    with Progress(console=Console(stderr=True), transient=True, disable=quiet) as bar:
        task = bar.add_task("structures x folds", total=None)
        search.progress = lambda done, total: bar.update(task, completed=done, total=total)
        search.fit(batch.X, batch.Y)


def _table(search: GridSearch, best: dict[str, Any]) -> Table:
    """Return the points with the highest scores as a table."""
    names = list(search.best_params_)
    table = empty_table(f"{best['data']}: the best points on {best['rows']} rows", [*names, best["score"]])
    for point in sorted(search.surface_, key=lambda point: -point["score"])[:_POINTS_SHOWN]:
        table.add_row(*(Text(one_line(f"{point[name]}")) for name in names), f"{point['score']:.4f}")
    return table


def _write(search: GridSearch, best: dict[str, Any], out: Path) -> None:
    """Write best.json, surface.csv and the heat map into the folder `out`."""
    out.mkdir(parents=True, exist_ok=True)
    write_json(out / "best.json", best)
    heads = [name for name in search.surface_[0] if name != "folds"]
    lines = [",".join(heads), *(",".join(str(point[name]) for name in heads) for point in search.surface_)]
    write_atomically(out / "surface.csv", ("\n".join(lines) + "\n").encode())
    write_atomically(out / "heat-map.svg", as_svg(figure_of(heat_map(search))).encode())
    print_message(f"Parameters: {out / 'best.json'}")
