"""`prequential`: every sample is answered first and learned afterwards."""

import copy
from collections.abc import Mapping

from evolabel.errors import DataError
from evolabel.evaluate.learner import Learner, described, named_learners
from evolabel.evaluate.plan import Metrics, read_plan
from evolabel.evaluate.results import Results
from evolabel.evaluate.run import Listener, Run
from evolabel.evaluate.source import Source, Stream, initial_rows, name_of, open_stream


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
    progress: Listener | None = None,
) -> Results:
    """Test, then train: fit an initial batch, then answer every further sample before its labels are learned.

    All learners walk through the stream together, in one pass. The learners passed stay as they are; the trained
    copies are in the results.

    Parameters
    ----------
    learners : Learner or dict of str to Learner
        A single learner goes by the name of its class.
    stream : Dataset, tuple (X, Y), or iterable of pairs (x, y)
    initial : float, int or "split"
        Initial batch: a share of the rows, a number of rows, or the official training part of a Dataset. Without one
        (0), `partial_fit` is the first call; the scores of a learner that has learned nothing yet count as 0.
    samples : int, optional
        Most rows to use, the initial batch included; needed where the stream is endless.
    metrics : names, metrics, or one of these
        See `evolabel.evaluate.metrics`. They always compare with the true labels, whatever the learners see of them.
    window : int
        Rows the sliding form of each metric looks back.
    every : int
        Rows between two points of the trend lines. This is also how many rows a learner with `test_then_train` gets
        at a time; the scores do not depend on it.
    delay : int or tuple (shortest, longest)
        How many further samples are answered before the labels of a sample arrive; with two numbers each delay is
        drawn evenly between them, and labels overtake each other. Labels still on their way at the end are not learned.
    annotated : float
        Share of the labels that learners see, the others are NaN for them. The initial batch keeps all its labels.
    seed : int
        Of the random delays and of the labels seen.
    keep_scores : bool
        Keep every learner's scores in the results.
    progress : callable, optional
        Receives a `Progress` after every step of each learner.

    Returns
    -------
    Results

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
    """
    plan = read_plan(metrics, window, every, delay, annotated, seed, keep_scores)
    named = named_learners(learners)
    source = open_stream(stream, samples)
    n_initial = initial_rows(initial, stream, source.n_rows)
    settings = {
        "stream": name_of(stream),
        "rows": source.n_rows,
        "features": source.n_features,
        "labels": source.n_labels,
        "initial": n_initial,
        "learners": {name: described(learner) for name, learner in named.items()},
        **plan.settings(),
    }
    copies = {name: copy.deepcopy(learner) for name, learner in named.items()}
    run = Run(copies, plan, source.n_rows - n_initial)
    X, Y = source.take(n_initial)
    run.begin(X, Y)
    _walk(run, source, plan.every, progress)
    if run.done == 0:
        raise DataError(f"the stream has ended after {len(X)} row(s), within the initial batch; make that smaller")
    return run.results(settings)


def _walk(run: Run, source: Source, every: int, progress: Listener | None) -> None:
    """Pass the rest of the stream to `run`, `every` rows at a time."""
    while len((block := source.take(every))[0]):
        run.step(*block, progress)
