"""`evolabel run`: learn a stream and measure the accuracy, beside other learners."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from threadpoolctl import threadpool_limits

from evolabel import EvolvingFuzzyClassifier
from evolabel.classifier.silent_labels import cost_of_f1
from evolabel.cli.budgets import BudgetOptions, compiling_learners, trained_classifier, with_budgets
from evolabel.cli.classes import classifier_inside, learning_classes
from evolabel.cli.columns import NO_OPTIONS, ColumnOptions
from evolabel.cli.learners import Factory, chosen_learners, weighted_by_order
from evolabel.cli.output import (
    Force,
    LiveBars,
    Quiet,
    check_folder,
    check_overwriting,
    label_table,
    print_json,
    print_message,
    print_table,
    result_table,
    shift_table,
)
from evolabel.cli.parameters import given_parameters
from evolabel.cli.ready import compile_kernels
from evolabel.cli.source import DataSource, Drop, Labels, Protocol, default_data, open_source, split_names
from evolabel.errors import ParameterError
from evolabel.evaluate import Learner, Repeated, Results, prequential, repeat
from evolabel.evaluate.repeated import FEWEST_POSITIVES, run_notes
from evolabel.explain.rule_set import persistence_lines
from evolabel.streams import Dataset

_MIN_WINDOW = 50  # rows
_MODEL = "model.safetensors"
_FILES = ("summary.json", "report.html", _MODEL)  # in the folder of a run
_NO_BUDGET = BudgetOptions()  # all labels are given


def run(
    data: str | None = None,
    *,
    labels: Labels = "",
    drop: Drop = "",
    columns: ColumnOptions = NO_OPTIONS,
    against: str = "",
    learner: str = "evolabel",
    params: str | None = None,
    settings: Annotated[tuple[str, ...], Parameter(name="--set", negative="", show_default=False)] = (),
    seeds: int = 1,
    metrics: str = "pa,ap,macro_f1,subset_accuracy",
    protocol: Protocol | None = None,
    initial: float | None = None,
    samples: int | None = None,
    delay: str = "0",
    annotated: float = 1.0,
    active: BudgetOptions = _NO_BUDGET,
    window: int | None = None,
    every: int | None = None,
    out: Path | None = None,
    force: Force = False,
    json: bool = False,
    quiet: Quiet = False,
) -> None:
    """Learn a stream in one pass and show the accuracy, beside other learners if you name some.

    Every sample is predicted before its labels are learned (test-then-train). A second table has precision, recall and
    further measures of each label, a third the labels that have changed their meaning on the way, and the sensors that
    have moved. Without arguments the stream is yeast, one of the
    paper's data sets (it comes with river; without river, a synthetic drifting stream).

    For example:

    `evolabel run`

    `evolabel run emotions --against ovr,chain,static,rls,knn --seeds 5`

    `evolabel run my.csv --labels fault_a,fault_b --drop serial --time time --out results`

    `evolabel run yeast --budget 0.1,0.2 --per labels`

    `evolabel run drift:recurring --samples 20000 --json`

    Parameters
    ----------
    data
        A known data set (`evolabel datasets` lists them), a .csv, .jsonl, .xlsx, .arff, .parquet or .npz file, or a
        synthetic stream: drift, drift:none, drift:gradual, drift:incremental, drift:recurring, drift:new_label.
    against
        Other learners in the same run, separated by commas: ovr, chain, static, macro-f1, feedback, paper, rfwls, rls,
        knn, prior, no-change, tuned, paper-tuned, forest, river-br-lr, river-cc-lr, river-br-ht, river-cc-ht; or all
        (without those of river and the slow tuned, paper-tuned and forest).
    learner
        The learner that the others are compared with.
    params
        Parameters as JSON, a file or inline as in '{"vigilance": 0.4}', or the best.json of `evolabel tune`: a
        classifier with these parameters comes first.
    settings
        One parameter, as in `--set vigilance=0.4` or `--set 'class_weight={"leak": 20}'`; may be given several times,
        and wins over --params. Those of the paper's formulas, such as alpha, go with --learner paper.
    seeds
        Number of repetitions: other orders of a known data set, other synthetic streams.
    metrics
        What to measure, separated by commas: pa, ap, hamming_loss, subset_accuracy, example_f1, micro_f1, macro_f1,
        balanced_accuracy, kappa_temporal, ranking_loss, one_error, coverage, set_coverage and set_size (of prediction
        sets at 0.9; evolabel only).
    protocol
        benchmark: rows shuffled by the seed, a fifth as initial batch (known sets); paper: official split, or the first
        third; order: rows as they come (files).
    initial
        Initial batch: a share below 1, or a number of rows; 0 for none, which --budget does not allow.
    samples
        Number of rows to use; all if not given.
    delay
        Number of samples by which labels are late; "0,50" draws a delay from this range for each sample.
    annotated
        Share of the labels that the learners get.
    window
        Number of rows of the sliding trend lines; a tenth of the stream if not given.
    every
        Rows between two points of the trend lines; if not given, so many that there are a hundred points.
    out
        Folder for results (JSON, JSON lines, Parquet), figures, an HTML report and the trained model.
    json
        Print the summary as JSON instead of a table.
    """
    trained = _chosen(learner, against, params, settings)
    given, dropped = split_names(labels), split_names(drop)
    name = default_data() if data is None else data
    source = open_source(
        name, given, protocol=protocol, initial=initial, samples=samples, drop=dropped, columns=columns
    )
    first = source.stream(0)
    trained = _for_labels(trained, first, active)
    learners = with_budgets(trained, active, source.initial)
    check_seeds(seeds, source, annotated)
    _check_out(out, force=force)
    compile_kernels(compiling_learners(trained, active), quiet=quiet or json)
    beside = {} if active.budget or "no-change" in learners else chosen_learners("no-change", "")
    with threadpool_limits(1), LiveBars(list(learners), quiet=quiet or json) as bars:

        def once(seed: int) -> Results:
            bars.begin(f"seed {seed}" if seeds > 1 else source.name)
            stream = source.stream(seed) if seed else first
            results = prequential(
                {name: make(seed) for name, make in {**learners, **beside}.items()},
                stream,
                initial=source.initial,
                metrics=split_names(metrics),
                window=max(len(stream) // 10, _MIN_WINDOW) if window is None else window,
                every=max(len(stream) // 100, 1) if every is None else every,
                delay=_read_delay(delay),
                annotated=annotated,
                seed=seed,
                progress=lambda step: bars.step(step) if step.learner in learners else None,
                on_event=bars.show_event,
            )
            return _with_first_alone(results, list(learners), beside, seed)

        repeated = repeat(once, range(seeds))
    _show(repeated, first, out, as_json=json)


def persistence_of(learner: Learner, labels: Sequence[str] = ()) -> list[str]:
    """Return the line on how much the answers persist by a trained `learner`; none where they do not.

    Where there is a name in `labels` for each label, these are printed instead of those of the learner.
    """
    if isinstance(learner, EvolvingFuzzyClassifier) and learner.inner.is_fitted:
        independent = learner.rules_.independent
        names = labels if len(labels) == len(independent) else list(independent)
        return persistence_lines(dict(zip(names, independent.values(), strict=True)))
    return []


def _with_first_alone(results: Results, learners: list[str], beside: dict[str, Factory], seed: int) -> Results:
    """Return `results` with the first of the trained `learners` alone: the others may be large.

    Learners `beside` them are dropped unless answers persist, by the run of the first `seed`.
    """
    main = classifier_inside(trained_classifier(results.learners[learners[0]]))
    if seed == 0 and not persistence_of(main):
        beside.clear()
    names = [*learners, *beside]
    return replace(
        results,
        summary={name: results.summary[name] for name in names},
        trend=tuple(point for point in results.trend if point.learner in names),
        settings={**results.settings, "learners": {name: results.settings["learners"][name] for name in names}},
        learners={learners[0]: main},
        label_counts={name: counts for name, counts in results.label_counts.items() if name in names},
    )


def _for_labels(learners: dict[str, Factory], columns: Dataset, active: BudgetOptions) -> dict[str, Factory]:
    """Return `learners` for the labels of `columns`, which may be classes; single ones are asked for if `active`."""
    by_class = columns.one_per_row and not active.budget
    return (learning_classes if by_class else weighted_by_order)(learners, columns.label_names)


def _check_out(out: Path | None, *, force: bool) -> None:
    """Raise an error if results cannot be written into the folder `out`, or must not replace those in it."""
    if out is not None:
        check_overwriting((out / file for file in _FILES), force=force)
        check_folder(out)


def _chosen(learner: str, against: str, params: str | None, settings: tuple[str, ...]) -> dict[str, Factory]:
    """Return the learners by name; a message names the one with the parameters of `params` and `settings`."""
    given = given_parameters(params, settings)
    learners = chosen_learners(learner, against, given)
    if given is not None:
        print_message(f'"{next(iter(learners))}" has the parameters of {given.source}, the other learners have theirs')
    return learners


def _show(repeated: Repeated, columns: Dataset, out: Path | None, *, as_json: bool) -> None:
    """Write the results into the folder `out`, and print them; `columns` has the names of features and labels.

    They are written first: the reader of the table may go away, as `head` does.
    """
    try:
        written = [] if out is None else _write(repeated, columns, out)
    finally:
        _print(repeated, columns.label_names, as_json=as_json)
    for message in written:
        print_message(message)


def _print(repeated: Repeated, labels: Sequence[str], *, as_json: bool) -> None:
    """Print notes and results of these `labels`, as tables or as JSON."""
    trained = list(repeated.runs.values())[-1].learners[repeated.learners[0]]
    for note in [*run_notes(repeated), *_cost_of_f1(repeated, trained), *persistence_of(trained, labels)]:
        print_message(note)
    if as_json:
        print_json(repeated.document())
        return
    print_table(result_table(repeated))
    print_table(label_table(repeated))
    if (shifts := shift_table(repeated)) is not None:
        print_table(shifts)


def _cost_of_f1(repeated: Repeated, trained: Learner) -> list[str]:
    """Return the line on what optimise="macro_f1" would do to a `trained` learner; none if it predicts all labels."""
    silent = any(row.support >= FEWEST_POSITIVES and not row.predicted for row in repeated.labels(repeated.learners[0]))
    if not (silent and isinstance(trained, EvolvingFuzzyClassifier) and trained.inner.is_fitted):
        return []
    cost = cost_of_f1(trained.inner.any_model)
    return [f'with optimise="macro_f1" {cost}'] if cost else []


def _write(repeated: Repeated, columns: Dataset, out: Path) -> list[str]:
    """Write results, report and model into the folder `out`, and return where they are, in words.

    The model is the first learner, trained with the last seed, if it can be saved.
    """
    from evolabel.report import write_report

    repeated.write(out)
    written = [f"Report: {write_report(repeated, out, columns)}"]
    trained = list(repeated.runs.values())[-1].learners[repeated.learners[0]]
    if isinstance(trained, EvolvingFuzzyClassifier):
        labels = trained.inner.label_names if columns.one_per_row else columns.label_names
        trained.name_columns(columns.feature_names, labels, columns.kinds).save(out / _MODEL)
        written.append(f"Model: {out / _MODEL}")
    return written


def _read_delay(text: str) -> int | tuple[int, int]:
    """Return a number of samples, or the range "shortest,longest" as a pair."""
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
    """Raise ParameterError if `seeds` < 1, or if several seeds of `source` would give the same run.

    They differ if `source` depends on the seed, or if labels are drawn because the share `annotated` is below 1.
    """
    if seeds < 1:
        raise ParameterError(f"--seeds {seeds} is not allowed; use at least 1")
    if seeds > 1 and not source.by_seed and annotated == 1.0:
        raise ParameterError(
            f"{source.name} has one order, so all seeds give the same results; use --protocol benchmark"
        )
