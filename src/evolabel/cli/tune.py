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
from evolabel.cli.json_output import print_json, write_json
from evolabel.cli.ready import compile_kernels, ready_folder, tell
from evolabel.cli.source import Protocol, default_data, open_source, split_names, usable
from evolabel.cli.tables import plain_table, print_table
from evolabel.errors import ParameterError
from evolabel.evaluate.source import initial_rows
from evolabel.explain.figures.canvas import as_svg, figure_of
from evolabel.tuning import PAPER_GRID, GridSearch, HalvingSearch, heat_map

if TYPE_CHECKING:
    from evolabel.streams import Dataset

SHOWN = 10
Profile = Literal["default", "paper"]


def tune(
    data: str | None = None,
    *,
    labels: str = "",
    drop: str = "",
    profile: Profile = "default",
    vigilance: str = "",
    alpha: str = "",
    beta: str = "",
    quick: bool = False,
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
    """Find parameters by cross-validation on the initial batch of a stream, and nothing but that.

    By default the paper's grid: 17 values of vigilance, 10 of alpha, 8 of beta. One pass over the structure serves all
    values of alpha and beta. An interrupted search with --out goes on where it was.

    For example:

    `evolabel tune emotions --profile paper --out tuned`

    `evolabel tune my.csv --labels fault_a,fault_b --vigilance 0.3,0.5 --alpha 0,0.1 --beta 0,1`

    `evolabel tune yeast --quick`

    Parameters
    ----------
    data
        As in `evolabel run`.
    labels
        Columns of a file that are labels, as in `evolabel run`.
    drop
        Columns to leave out, as in `evolabel run`.
    profile
        Where all other parameters come from.
    vigilance
        Values separated by commas, instead of the paper's.
    alpha
        Values separated by commas, instead of the paper's.
    beta
        Values separated by commas, instead of the paper's.
    quick
        Not a grid but a draw from all parameters, the worse ones dropped early (successive halving); those of the
        profile stay to the end.
    score
        What to maximise: a metric of `evolabel run`.
    cv
        Folds.
    protocol
        As in `evolabel run`.
    initial
        Initial batch: a share below 1, or a number of rows.
    seed
        Of the order of a known data set, and of the folds.
    jobs
        Processes; -1 for all cores.
    out
        Folder for best.json, surface.csv, and (not with --quick) the heat map and the notes from which an interrupted
        search goes on.
    json
        Print the outcome as JSON instead of a table.
    quiet
        No progress bar.
    """
    name = default_data() if data is None else data
    source = open_source(name, split_names(labels), protocol, initial, None, split_names(drop))
    stream = source.stream(seed)
    rows = initial_rows(source.initial, stream, len(stream))
    if rows == 0:
        raise ParameterError("--initial 0 leaves nothing to search on; give the initial batch some rows, such as 0.2")
    batch = usable(stream.take(rows))
    if out is not None:
        ready_folder(out)
    compile_kernels(quiet=quiet or json)
    base = EvolvingFuzzyClassifier.paper() if profile == "paper" else EvolvingFuzzyClassifier()
    search: GridSearch | HalvingSearch
    given = _given(vigilance=vigilance, alpha=alpha, beta=beta)
    if quick and given:
        raise ParameterError(f"--quick draws from all parameters by itself; leave --{' --'.join(given)} away")
    if quick:
        search = HalvingSearch(base, cv=cv, score=score, seed=seed, n_jobs=jobs).fit(batch.X, batch.Y)
    else:
        grid = {**PAPER_GRID, **given}
        notes = None if out is None else out / "notes.jsonl"
        search = GridSearch(base, grid, cv=cv, score=score, seed=seed, n_jobs=jobs, checkpoint=notes)
        _watched(search, batch, quiet=quiet or json)
    outcome = {
        "data": stream.name,
        "rows": len(batch),
        "profile": profile,
        "score": score,
        "best_score": search.best_score_,
        "best_params": search.best_params_,
    }
    if json:
        print_json(outcome)
    else:
        print_table(_table(search, outcome))
    if out is not None:
        _write(search, outcome, out)


def _given(**texts: str) -> dict[str, tuple[float, ...]]:
    try:
        return {name: tuple(float(part) for part in split_names(text)) for name, text in texts.items() if text}
    except ValueError as error:
        raise ParameterError(f"a value of the grid is no number ({error}); write them as 0.1,0.5,1") from None


def _watched(search: GridSearch, batch: "Dataset", *, quiet: bool) -> None:
    with Progress(console=Console(stderr=True), transient=True, disable=quiet) as bar:
        task = bar.add_task("structures x folds", total=None)
        search.progress = lambda done, total: bar.update(task, completed=done, total=total)
        search.fit(batch.X, batch.Y)


def _table(search: GridSearch | HalvingSearch, outcome: dict[str, Any]) -> Table:
    """The best points; of a search in rounds, those that were judged by all rows."""
    names, most = list(search.best_params_), outcome["rows"]
    judged = [point for point in search.surface_ if point.get("rows", most) == most]
    title = f"{outcome['data']}: the best points on {most} rows"
    table = plain_table(title, [*names, outcome["score"]])
    for point in sorted(judged, key=lambda point: -point["score"])[:SHOWN]:
        table.add_row(*(Text(one_line(f"{point[name]}")) for name in names), f"{point['score']:.4f}")
    return table


def _write(search: GridSearch | HalvingSearch, outcome: dict[str, Any], out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    write_json(out / "best.json", outcome)
    heads = [name for name in search.surface_[0] if name != "folds"]
    lines = [",".join(heads), *(",".join(str(point[name]) for name in heads) for point in search.surface_)]
    write_atomically(out / "surface.csv", ("\n".join(lines) + "\n").encode())
    if isinstance(search, GridSearch):
        write_atomically(out / "heat-map.svg", as_svg(figure_of(heat_map(search))).encode())
    tell(f"Parameters: {out / 'best.json'}")
