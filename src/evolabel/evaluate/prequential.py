"""`prequential`: test-then-train evaluation; every sample is predicted first and trained on afterwards."""

import copy
from collections.abc import Mapping

from evolabel._utils.validation import check_number, whole_number
from evolabel.errors import DataError
from evolabel.evaluate.learner import Learner, named_learners, stable_repr
from evolabel.evaluate.results import Results
from evolabel.evaluate.run import Metrics, Plan, ProgressCallback, Run, delay_range, named_metrics
from evolabel.evaluate.shifts import EventCallback, ShiftLog
from evolabel.evaluate.source import Stream, initial_rows, open_stream, stream_name, without_empty_rows
from evolabel.streams import Dataset


def prequential(
    learners: Learner | Mapping[str, Learner],
    stream: Stream,
    *,
    initial: float | str = 0.2,
    samples: int | None = None,
    metrics: Metrics = ("pa", "ap", "macro_f1", "subset_accuracy"),
    window: int = 500,
    every: int = 100,
    delay: int | tuple[int, int] = 0,
    annotated: float = 1.0,
    seed: int = 0,
    keep_scores: bool = False,
    watch_drift: bool = False,
    progress: ProgressCallback | None = None,
    on_event: EventCallback | None = None,
) -> Results:
    """Evaluate learners on a stream: fit an initial batch, then predict every sample before its labels are learned.

    All learners receive the same rows, in one pass over the stream. The learners passed are not changed; trained
    copies of them are in the results.

    Parameters
    ----------
    learners : Learner or dict of str to Learner
        A single learner gets the name of its class.
    stream : Dataset, tuple (X, Y), or iterable of pairs (x, y)
        Features, NaN where missing, and labels of 0, 1 or NaN (not annotated).
    initial : float, int or "split"
        Initial batch: a share of the rows, a number of rows, or the official training part of a Dataset. Without one
        (0), `partial_fit` is the first call; the scores of a learner that was not trained yet count as 0.
    samples : int, optional
        Maximum number of rows, the initial batch included; required if the stream is endless.
    metrics : str, Metric, or iterable of these
        See `evolabel.evaluate.metrics`. Metrics compare with the true labels, including those hidden from the learners.
        `set_coverage` and `set_size`, of prediction sets at 0.9, are NaN for learners without sets and with `delay`.
    window : int
        Number of rows in the sliding form of each metric.
    every : int
        Rows between two points of the trend. A learner with `test_then_train` also receives so many rows at a time;
        the scores do not depend on it.
    delay : int or tuple (shortest, longest)
        Number of further samples predicted before the labels of a sample arrive. With two numbers each delay is drawn
        uniformly between them, and labels can arrive out of order. Labels that have not arrived at the end are not
        learned.
    annotated : float
        Share of the labels that the learners receive; the others are NaN. The initial batch keeps all its labels.
    seed : int
        Seed of the random delays and of the hidden labels.
    keep_scores : bool
        Store every learner's scores in the results.
    watch_drift : bool
        Watch the squared errors of every learner by a `DriftAlarm`; the samples at which they jump are in the results,
        as `drifts` of each summary. Errors count all true labels, as metrics do.
    progress : callable, optional
        Called with a `Progress` after every step of each learner.
    on_event : callable, optional
        Called with the name of a learner and each `Event` that it reports: births and merges of rules, labels that have
        drifted, sensors that have moved. Those of the stream are also in the results, as `events` of each summary.

    Returns
    -------
    Results
        Metrics, trend, settings, and the trained learners.

    Raises
    ------
    ParameterError
        If a parameter is not allowed.
    DataError
        If the stream cannot be read, ends within the initial batch, or a learner returns unusable scores.

    Examples
    --------
    >>> from evolabel import EvolvingFuzzyClassifier
    >>> from evolabel.streams import DriftingStream
    >>> learners = {"default": EvolvingFuzzyClassifier(), "few rules": EvolvingFuzzyClassifier(max_rules=3)}
    >>> results = prequential(learners, DriftingStream(seed=0), samples=600, delay=10, annotated=0.5)
    >>> for name, summary in results.summary.items():
    ...     print(f"{name}: PA {summary.metrics['pa']:.2f}, AP {summary.metrics['ap']:.2f}, {summary.rules:.0f} rules")
    default: PA 0.81, AP 0.90, 30 rules
    few rules: PA 0.81, AP 0.89, 3 rules

    A label that becomes its opposite in row 1,000, 200 rows after the initial batch, and a learner without rules:

    >>> import numpy as np
    >>> from evolabel.baselines import GlobalRLS
    >>> X = np.random.default_rng(0).normal(size=(2000, 2))
    >>> Y = (X > 0.0).astype(float)
    >>> Y[1000:, 1] = 1.0 - Y[1000:, 1]
    >>> prequential(GlobalRLS(), (X, Y), initial=800, watch_drift=True).summary["GlobalRLS"].drifts
    [[], [230]]
    """
    plan = Plan(
        metrics=named_metrics(metrics),
        window=whole_number("window", window, 1),
        every=whole_number("every", every, 1),
        delay=delay_range(delay),
        annotated=check_number("annotated", annotated, 0, 1, open_low=True),
        seed=whole_number("seed", seed, 0),
        keep_scores=bool(keep_scores),
        watch_drift=bool(watch_drift),
    )
    named = named_learners(learners)
    stream = without_empty_rows(stream)
    source = open_stream(stream, samples)
    n_initial = initial_rows(initial, stream, source.n_rows)
    settings = {
        "stream": stream_name(stream),
        "rows": source.n_rows,
        "features": source.n_features,
        "labels": source.n_labels,
        "initial": n_initial,
        "learners": {name: stable_repr(learner) for name, learner in named.items()},
        **plan.settings(),
    }
    copies = {name: copy.deepcopy(learner) for name, learner in named.items()}
    columns = (stream.feature_names, stream.label_names) if isinstance(stream, Dataset) else ((), ())
    names = columns[1] or [f"label{k}" for k in range(source.n_labels)]
    run = Run(copies, plan, source.n_rows - n_initial, lambda name: ShiftLog(name, *columns, on_event), names)
    X, Y = source.take(n_initial)
    run.fit_initial(X, Y)
    while len((block := source.take(plan.every))[0]):
        run.step(*block, progress)
    if run.done == 0:
        raise DataError(f"the stream has ended after {len(X)} row(s), within the initial batch; make that smaller")
    return run.results(settings)
