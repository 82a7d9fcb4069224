"""`evolabel tune`: parameters for a stream, found on its initial batch and compared with the defaults on later rows."""

from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from joblib import effective_n_jobs
from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from rich.text import Text
from threadpoolctl import threadpool_limits

from evolabel import EvolvingFuzzyClassifier
from evolabel._utils.files import write_atomically
from evolabel._utils.table_lines import csv_line
from evolabel._utils.text import one_line
from evolabel.cli.classes import ClassLearner, classes_of
from evolabel.cli.columns import NO_OPTIONS, ColumnOptions
from evolabel.cli.output import Quiet, check_folder, empty_table, print_json, print_message, print_table, write_json
from evolabel.cli.parameters import read_setting
from evolabel.cli.ready import compile_kernels
from evolabel.cli.source import Drop, Labels, Protocol, default_data, open_source, split_names
from evolabel.errors import DataError, ParameterError
from evolabel.evaluate import METRICS, prequential
from evolabel.evaluate.source import initial_rows
from evolabel.tuning import heat_map, stream_score
from evolabel.tuning.checkpoint import SearchCheckpoint, fingerprint
from evolabel.tuning.searches import check_search
from evolabel.tuning.stream_scorer import MEASURES
from evolabel.words.figures.canvas import as_svg, figure_of

if TYPE_CHECKING:
    from evolabel.streams import Dataset

Params = dict[str, Any]
Optimise = Literal["accuracy", "balanced", "macro_f1", "micro_f1", "subset_accuracy"]

_VALUES: dict[str, tuple[Any, ...]] = {
    "vigilance": (0.25, 0.5, 1.0),
    "ridge": ("press", 10.0, 100.0, 1000.0),
    "threshold_rules": (True, False),
}
_SETTINGS_SHOWN = 10


def tune(
    data: str | None = None,
    *,
    labels: Labels = "",
    drop: Drop = "",
    columns: ColumnOptions = NO_OPTIONS,
    optimise: Optimise = "accuracy",
    vigilance: str = "",
    ridge: str = "",
    threshold_rules: str = "",
    cv: int = 3,
    protocol: Protocol | None = None,
    initial: float | None = None,
    seed: int = 0,
    jobs: int = -1,
    out: Path | None = None,
    json: bool = False,
    quiet: Quiet = False,
) -> None:
    """Search for parameters on the initial batch of a stream, and compare them with the defaults on the rows after it.

    Settings are compared on the initial batch alone: each is trained on its first rows, and predicts every further row
    before it learns it. The defaults are one of the settings. The best setting and the defaults are then run along the
    rows after the batch. What is returned are the defaults, unless the best setting is better on both parts. The same
    command with --out continues an interrupted search.

    For example:

    `evolabel tune emotions --optimise macro_f1 --out tuned`

    `evolabel run emotions --params tuned/best.json`

    `evolabel tune my.csv --labels fault_a,fault_b --vigilance 0.3,0.5 --ridge press,50 --initial 0.5`

    Parameters
    ----------
    data
        As in `evolabel run`.
    optimise
        The parameter of the classifier, and the measure to maximise: accuracy is PA, balanced the balanced accuracy.
    vigilance
        Values separated by commas, beside the default; 0.25, 0.5 and 1 if not given.
    ridge
        Values separated by commas, beside the default; press, 10, 100 and 1000 if not given.
    threshold_rules
        Values separated by commas, beside the default; true and false if not given.
    cv
        Number of parts of the initial batch that are predicted, each after training on all rows before it.
    protocol
        As in `evolabel run`.
    initial
        Initial batch: a share below 1, or a number of rows.
    seed
        Random seed of the order of a known data set.
    jobs
        Number of processes; -1 for all cores.
    out
        Folder for best.json, surface.csv, the heat map and the checkpoint of the search.
    json
        Print the result as JSON instead of a table.
    """
    check_search(cv, seed, jobs)
    settings = _settings({**_VALUES, **_read_values(vigilance=vigilance, ridge=ridge, threshold_rules=threshold_rules)})
    name = default_data() if data is None else data
    given, dropped = split_names(labels), split_names(drop)
    source = open_source(name, given, protocol=protocol, initial=initial, drop=dropped, columns=columns)
    stream = source.stream(seed)
    batch = stream.take(initial_rows(source.initial, stream, len(stream)))
    _check_parts(stream, len(batch), cv)
    if out is not None:
        check_folder(out)
    compile_kernels(quiet=quiet or json)
    search = _Search(EvolvingFuzzyClassifier(optimise=optimise), settings, cv, jobs)
    surface = search.run(batch, None if out is None else out / "checkpoint.jsonl", quiet=quiet or json)
    result = _compared(surface, stream, len(batch), optimise)
    print_message(_summary(result))
    if json:
        print_json(result)
    else:
        print_table(_table(surface, result))
    if out is not None:
        _write(surface, result, out)


def _read_values(**texts: str) -> dict[str, tuple[Any, ...]]:
    """Return the checked values in `texts` by parameter; parameters with an empty text are left out."""
    read = {name: [read_setting(f"{name}={part}")[1] for part in split_names(text)] for name, text in texts.items()}
    return {name: tuple(values) for name, values in read.items() if values}


def _settings(values: dict[str, tuple[Any, ...]]) -> list[Params]:
    """Return the defaults, and then all other combinations of `values`."""
    declared = EvolvingFuzzyClassifier().get_params()
    defaults = {name: declared[name] for name in values}
    every = [dict(zip(values, point, strict=True)) for point in product(*values.values())]
    return [defaults, *(point for point in every if point != defaults)]


def _check_parts(stream: "Dataset", rows: int, cv: int) -> None:
    """Raise an error unless the first `rows` rows of `stream` can be scored in `cv` parts, and those after them."""
    from sklearn.model_selection import TimeSeriesSplit

    if not rows:
        raise ParameterError("--initial 0 leaves nothing to search on; give the initial batch some rows, such as 0.2")
    if rows < 2 * (cv + 1):
        raise DataError(f"{rows} rows are too few for {cv} folds; use a larger initial batch or fewer folds")
    parts = [part for fold in TimeSeriesSplit(cv).split(stream.Y[:rows]) for part in fold]
    if any(np.isnan(stream.Y[part]).all() for part in parts):
        raise DataError(
            "a fold has too few annotated labels to be learned and scored; use fewer folds or a larger batch"
        )
    if np.isnan(stream.Y[rows:]).all():
        raise DataError("the rows after the initial batch have no labels to compare with; use a smaller initial batch")


@dataclass(frozen=True)
class _Search:
    """The search of scikit-learn, run in rounds: after each there is progress, and scores are stored."""

    base: EvolvingFuzzyClassifier
    settings: list[Params]
    cv: int
    jobs: int

    def run(self, batch: "Dataset", checkpoint: Path | None, *, quiet: bool) -> list[dict[str, Any]]:
        """Return every setting with mean and deviation of its scores on `batch`.

        Scores are read from and added to the file `checkpoint`. There is a progress bar unless `quiet`.
        """
        known = {"estimator": self.base.get_params(), "settings": self.settings, "cv": self.cv}
        stored = SearchCheckpoint(checkpoint, {**known, "data": fingerprint(batch.X, batch.Y)})
        waiting = [at for at in range(len(self.settings)) if (at, self.cv - 1) not in stored.scores]
        size = effective_n_jobs(self.jobs)
        with Progress(console=Console(stderr=True), transient=True, disable=quiet) as bar, threadpool_limits(1):
            task = bar.add_task("settings", total=len(self.settings), completed=len(self.settings) - len(waiting))
            for start in range(0, len(waiting), size):
                self._score(waiting[start : start + size], batch, stored)
                bar.advance(task, size)
        scores = [[stored.scores[at, part][0] for part in range(self.cv)] for at in range(len(self.settings))]
        return [
            {**setting, "score": float(np.mean(found)), "deviation": float(np.std(found, ddof=1))}
            for setting, found in zip(self.settings, scores, strict=True)
        ]

    def _score(self, places: list[int], batch: "Dataset", stored: SearchCheckpoint) -> None:
        """Add the scores of the settings at `places` on `batch` to `stored`."""
        from sklearn.model_selection import GridSearchCV, TimeSeriesSplit  # slow to import; no other command needs it

        grids = [{name: [value] for name, value in self.settings[at].items()} for at in places]
        y = classes_of(batch.Y, batch.label_names) if batch.one_per_row else batch.Y
        search = GridSearchCV(
            self.base,
            grids,
            scoring=stream_score,
            cv=TimeSeriesSplit(self.cv),
            n_jobs=self.jobs,
            refit=False,
            error_score="raise",
        ).fit(batch.X, y)
        for row, at in enumerate(places):
            for part in range(self.cv):
                stored.add((at, part), [float(search.cv_results_[f"split{part}_test_score"][row])])


def _compared(surface: list[dict[str, Any]], stream: "Dataset", rows: int, optimise: Optimise) -> dict[str, Any]:
    """Return the best setting of `surface` and the defaults, the first, with their scores, also after `rows` rows."""
    best = max(surface, key=lambda setting: setting["score"])  # of equals the first
    defaults = _with_held_out(surface[0], stream, rows, optimise)
    found = defaults if best is surface[0] else _with_held_out(best, stream, rows, optimise)
    beats = found["score"] > defaults["score"] and found["held_out"] > defaults["held_out"]
    return {
        "data": stream.name,
        "optimise": optimise,
        "measure": MEASURES[optimise],
        "rows": rows,
        "held_out_rows": len(stream) - rows,
        "beats_defaults": beats,
        "best_params": {**(found if beats else defaults)["params"], "optimise": optimise},
        "defaults": defaults,
        "found": found,
    }


def _with_held_out(setting: dict[str, Any], stream: "Dataset", rows: int, optimise: Optimise) -> dict[str, Any]:
    """Return parameters and score of `setting`, and its score along `stream` after the first `rows` rows."""
    params = {name: value for name, value in setting.items() if name in _VALUES}
    score = held_out_score({**params, "optimise": optimise}, stream, rows)
    return {"params": params, "score": setting["score"], "held_out": score}


def held_out_score(params: Params, stream: "Dataset", rows: int) -> float:
    """Return the measure of a classifier with `params` along `stream` after `rows` initial rows, as `evolabel run`."""
    classifier, measure = EvolvingFuzzyClassifier(**params), MEASURES[params["optimise"]]
    learner = ClassLearner(classifier, stream.label_names) if stream.one_per_row else classifier
    with threadpool_limits(1):
        results = prequential({"classifier": learner}, stream, initial=rows, metrics=[measure])
    return results.summary["classifier"].metrics[measure]


def _summary(result: dict[str, Any]) -> str:
    """Return in words whether the defaults are beaten, with both numbers on the held-out rows."""
    defaults, found, measure = result["defaults"], result["found"], METRICS[result["measure"]].name
    if found["params"] == defaults["params"]:
        text = f"no other setting has a higher {measure} on the initial batch"
        return f"Nothing beats the defaults: {text}. On the {result['held_out_rows']} held-out rows: {_held(defaults)}"
    numbers = f"{_held(found)}, with the defaults {_held(defaults)}"
    head = "" if result["beats_defaults"] else "Nothing beats the defaults: of the best other setting, "
    return f"{head}{measure} on the {result['held_out_rows']} held-out rows: {numbers}"


def _held(setting: dict[str, Any]) -> str:
    return f"{setting['held_out']:.4f}"


def _table(surface: list[dict[str, Any]], result: dict[str, Any]) -> Table:
    """Return the settings with the highest scores, and the defaults, as a table."""
    names, measure = list(result["defaults"]["params"]), METRICS[result["measure"]].name
    rows = f"{result['rows']} rows, and on the {result['held_out_rows']} held-out rows"
    table = empty_table(f"{result['data']}: settings by {measure} on {rows}", [*names, measure, "held-out", ""])
    ranked = sorted(surface, key=lambda setting: -setting["score"])
    shown = ranked[:_SETTINGS_SHOWN] + [setting for setting in ranked[_SETTINGS_SHOWN:] if setting is surface[0]]
    held = {id(surface[0]): _held(result["defaults"]), id(ranked[0]): _held(result["found"])}
    for setting in shown:
        cells = [*(str(setting[name]) for name in names), f"{setting['score']:.4f}", held.get(id(setting), "")]
        table.add_row(*(Text(one_line(cell)) for cell in cells), "defaults" if setting is surface[0] else "")
    return table


@dataclass
class _Surface:
    """What `heat_map` draws of a search."""

    surface_: list[dict[str, Any]]
    best_params_: Params
    score: str


def _write(surface: list[dict[str, Any]], result: dict[str, Any], out: Path) -> None:
    """Write best.json, surface.csv and the heat map into the folder `out`."""
    write_json(out / "best.json", result)
    lines = [csv_line(surface[0]), *(csv_line(setting.values()) for setting in surface)]
    write_atomically(out / "surface.csv", "".join(lines).encode())
    searched = _Surface(surface, result["best_params"], METRICS[result["measure"]].name)
    write_atomically(out / "heat-map.svg", as_svg(figure_of(heat_map(searched, "ridge", "vigilance"))).encode())
    print_message(f"Parameters: {out / 'best.json'}")
