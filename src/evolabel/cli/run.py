"""`evolabel run`: learn a stream and see how well it goes, beside what one would use instead."""

from json import dumps
from pathlib import Path

from rich.console import Console

from evolabel.baselines import LEARNERS, make_learner
from evolabel.cli.progress import LiveBars
from evolabel.cli.source import Protocol, default_data, open_source, split_names
from evolabel.cli.tables import terminal_table
from evolabel.errors import ParameterError
from evolabel.evaluate import Repeated, Results, prequential, repeat
from evolabel.streams import Dataset

OURS = "evolabel"
SHORTEST_WINDOW = 50


def run(
    data: str | None = None,
    *,
    labels: str = "",
    against: str = "",
    learner: str = OURS,
    seeds: int = 1,
    metrics: str = "pa,ap,macro_f1,subset_accuracy",
    protocol: Protocol | None = None,
    initial: float | None = None,
    samples: int | None = None,
    delay: int = 0,
    annotated: float = 1.0,
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

    `evolabel run my.csv --labels fault_a,fault_b --out results`

    `evolabel run drift:recurring --samples 20000 --json`

    Parameters
    ----------
    data
        A known data set (`evolabel datasets` lists them), a .csv, .arff, .parquet or .npz file, or a synthetic stream:
        drift, drift:none, drift:gradual, drift:incremental, drift:recurring, drift:new_label.
    labels
        Columns of a CSV, Parquet or ARFF file that are labels, separated by commas.
    against
        Rivals in the same run, separated by commas: ovr, chain, static, paper, rfwls, rls, knn, prior, forest,
        river-br-lr, river-cc-lr, river-br-ht, river-cc-ht; or all (those that need neither river nor patience).
    learner
        Who the rivals are compared with.
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
        Labels arrive so many samples late.
    annotated
        Share of the labels the learners see.
    window
        Rows the sliding trend lines look back; a tenth of the stream if not given.
    every
        Rows between two points of the trend lines; a hundred points if not given.
    out
        Folder for results (JSON, JSON lines, Parquet), figures and an HTML report.
    json
        Print the summary as JSON instead of a table.
    quiet
        No progress bars.
    """
    names = learner_names(learner, against)
    source = open_source(data or default_data(), split_names(labels), protocol, initial, samples)
    with LiveBars(names, quiet=quiet or json) as bars:

        def once(seed: int) -> Results:
            bars.begin(f"seed {seed}" if seeds > 1 else source.name)
            stream = source.stream(seed)
            return prequential(
                {name: make_learner(name, seed) for name in names},
                stream,
                initial=source.initial,
                metrics=split_names(metrics),
                window=window or max(len(stream) // 10, SHORTEST_WINDOW),
                every=every or max(len(stream) // 100, 1),
                delay=delay,
                annotated=annotated,
                seed=seed,
                progress=bars.step,
            )

        repeated = repeat(once, seed_range(seeds))
    show(repeated, source.stream(0), out, as_json=json)


def show(repeated: Repeated, columns: Dataset, out: Path | None, *, as_json: bool) -> None:
    """Print the outcome, and write it where it was asked for."""
    if as_json:
        print_json(repeated.document())
    else:
        Console().print(terminal_table(repeated))
    if out is not None:
        from evolabel.report import write_report

        repeated.write(out)
        page = write_report(repeated, out, columns)
        Console(stderr=True, soft_wrap=True).print(f"Report: {page}", highlight=False)


def print_json(document: object) -> None:
    """For machines: nothing else goes to standard output."""
    Console(soft_wrap=True).print(dumps(document, indent=1), markup=False, highlight=False)


def learner_names(first: str, against: str) -> list[str]:
    """Our learner and its rivals, each once."""
    quick = [name for name in LEARNERS if not name.startswith("river-") and name != "forest"]
    rivals = quick if against == "all" else split_names(against)
    names = list(dict.fromkeys([first, *rivals]))
    for name in names:
        if name not in LEARNERS:
            raise ParameterError(f"there is no learner {name!r}; use one of {', '.join(LEARNERS)}, or all")
    return names


def seed_range(seeds: int) -> range:
    """0, 1, 2 ..."""
    if seeds < 1:
        raise ParameterError(f"--seeds {seeds} is not allowed; use at least 1")
    return range(seeds)
