"""`evolabel run`: learn a stream and see how well it goes, beside what one would use instead."""

from dataclasses import replace
from pathlib import Path

from threadpoolctl import threadpool_limits

from evolabel import EvolvingFuzzyClassifier
from evolabel.cli.budgets import Asking, classifier_of, rehearsing, with_budgets
from evolabel.cli.json_output import print_json
from evolabel.cli.learners import chosen_learners
from evolabel.cli.progress import LiveBars
from evolabel.cli.ready import compile_kernels, ready_folder, tell
from evolabel.cli.source import DataSource, Protocol, default_data, open_source, split_names, usable
from evolabel.cli.tables import print_table, terminal_table
from evolabel.errors import ParameterError
from evolabel.evaluate import Repeated, Results, prequential, repeat
from evolabel.streams import Dataset

OURS = "evolabel"
SHORTEST_WINDOW = 50
EVERYTHING = Asking()  # nobody is asked: all labels come by themselves


def run(
    data: str | None = None,
    *,
    labels: str = "",
    drop: str = "",
    against: str = "",
    learner: str = OURS,
    params: Path | None = None,
    seeds: int = 1,
    metrics: str = "pa,ap,macro_f1,subset_accuracy",
    protocol: Protocol | None = None,
    initial: float | None = None,
    samples: int | None = None,
    delay: str = "0",
    annotated: float = 1.0,
    asking: Asking = EVERYTHING,
    window: int | None = None,
    every: int | None = None,
    out: Path | None = None,
    json: bool = False,
    quiet: bool = False,
) -> None:
    """Learn a stream in one pass, test-then-train, and show how well.

    Without arguments it learns yeast, one of the paper's data sets (river brings it along; without river, a synthetic
    drifting stream). Every sample is answered before its labels are learned.

    Examples:
    `evolabel run emotions --against ovr,chain,static,rls,knn --seeds 5`

    `evolabel run my.csv --labels fault_a,fault_b --drop time --out results`

    `evolabel run yeast --budget 0.1,0.2 --per labels`

    `evolabel run drift:recurring --samples 20000 --json`

    Parameters
    ----------
    data
        A known data set (`evolabel datasets` lists them), a .csv, .arff, .parquet or .npz file, or a synthetic stream:
        drift, drift:none, drift:gradual, drift:incremental, drift:recurring, drift:new_label.
    labels
        Columns of a CSV, Parquet or ARFF file that are labels, separated by commas; -n for the last n, as in
        `--labels=-2`.
    drop
        Columns to leave out, separated by commas, such as times and serial numbers.
    against
        Rivals in the same run, separated by commas: ovr, chain, static, macro-f1, feedback, paper, rfwls, rls, knn,
        prior, tuned, paper-tuned, forest, river-br-lr, river-cc-lr, river-br-ht, river-cc-ht; or all (those that need
        neither river nor patience).
    learner
        Who the rivals are compared with.
    params
        The best.json of `evolabel tune`: its classifier joins in as "best.json".
    seeds
        Repetitions: other orders of a known data set, other synthetic streams.
    metrics
        Separated by commas: pa, ap, hamming_loss, subset_accuracy, example_f1, micro_f1, macro_f1, ranking_loss,
        one_error, coverage.
    protocol
        benchmark: rows shuffled by the seed, a fifth as initial batch (known sets); paper: official split, or the first
        third; order: rows as they come (files).
    initial
        Initial batch: a share below 1, or a number of rows; 0 for a cold start.
    samples
        Use only so many rows.
    delay
        Labels arrive so many samples late; "0,50" draws a delay from this range for each sample.
    annotated
        Share of the labels the learners see.
    asking
        How labels are asked for.
    window
        Rows the sliding trend lines look back; a tenth of the stream if not given.
    every
        Rows between two points of the trend lines; a hundred points if not given.
    out
        Folder for results (JSON, JSON lines, Parquet), figures, an HTML report and the trained model.
    json
        Print the summary as JSON instead of a table.
    quiet
        No progress bars.
    """
    taught = chosen_learners(learner, against, params)
    name = default_data() if data is None else data
    source = open_source(name, split_names(labels), protocol, initial, samples, split_names(drop))
    learners = with_budgets(taught, asking, source.initial)
    first = usable(source.stream(0))
    check_seeds(seeds, source, annotated)
    if out is not None:
        ready_folder(out)
    compile_kernels(rehearsing(taught, asking), quiet=quiet or json)
    with threadpool_limits(1), LiveBars(list(learners), quiet=quiet or json) as bars:

        def once(seed: int) -> Results:
            bars.begin(f"seed {seed}" if seeds > 1 else source.name)
            stream = source.stream(seed) if seed else first
            results = prequential(
                {name: make(seed) for name, make in learners.items()},
                stream,
                initial=source.initial,
                metrics=split_names(metrics),
                window=max(len(stream) // 10, SHORTEST_WINDOW) if window is None else window,
                every=max(len(stream) // 100, 1) if every is None else every,
                delay=read_delay(delay),
                annotated=annotated,
                seed=seed,
                progress=bars.step,
            )
            kept = next(iter(learners))  # the others are not looked at any more, and may be large
            return replace(results, learners={kept: classifier_of(results.learners[kept])})

        repeated = repeat(once, range(seeds))
    show(repeated, first, out, as_json=json)


def show(repeated: Repeated, columns: Dataset, out: Path | None, *, as_json: bool) -> None:
    """Print the outcome, and write it where it was asked for."""
    if as_json:
        print_json(repeated.document())
    else:
        print_table(terminal_table(repeated))
    if out is not None:
        from evolabel.report import write_report

        repeated.write(out)
        page = write_report(repeated, out, columns)
        _save_model(repeated, columns, out / "model.safetensors")
        tell(f"Report: {page}")


def _save_model(repeated: Repeated, columns: Dataset, path: Path) -> None:
    """The learner in question as it stands after the last seed, if it can be saved; with the names of its columns."""
    last = list(repeated.runs.values())[-1]
    trained = last.learners[repeated.learners[0]]
    if isinstance(trained, EvolvingFuzzyClassifier):
        trained.name_columns(columns.feature_names, columns.label_names).save(path)


def read_delay(text: str) -> int | tuple[int, int]:
    """A number, or "shortest,longest"."""
    try:
        ends = [int(part) for part in split_names(text)]
    except ValueError:
        ends = []
    if len(ends) == 1:
        return ends[0]
    if len(ends) == 2:
        return ends[0], ends[1]
    raise ParameterError(f"--delay {text} is not allowed; use a whole number, or two as in 0,50")


def check_seeds(seeds: int, source: DataSource, annotated: float) -> None:
    """Several seeds make sense only where they change something."""
    if seeds < 1:
        raise ParameterError(f"--seeds {seeds} is not allowed; use at least 1")
    if seeds > 1 and not source.by_seed and annotated == 1.0:
        raise ParameterError(f"{source.name} comes in one order, so all seeds give the same; use --protocol benchmark")
