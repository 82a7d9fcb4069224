"""The rivals on the plant, in a process of their own: `python -m evolabel.demo.rivals`.

    python -m evolabel.demo.rivals           # prints one line of JSON for each rival, as it ends
    python -m evolabel.demo.rivals --write   # without a limit of time; writes measured.json beside this file

A rival that needs more than `MOST_SECONDS` is stopped, and its line has no scores; the page has those of
`measured.json` then, and states so.
"""

import json
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from evolabel._utils.optional import load
from evolabel.baselines import RiverLearner, river_model
from evolabel.demo.standing import SAMPLES, SCORED_FROM, Interval, Standing, standing
from evolabel.streams import Dataset, PlantStream
from evolabel.typing import FloatArray

MEASURED = Path(__file__).with_name("measured.json")
MOST_SECONDS = 20.0
FOREST, LOGISTIC = "adaptive random forest (river)", "logistic regression (river)"
RECENT_ROWS, ALL_ROWS = "boosted trees, refitted to the last 1,000 rows", "boosted trees, refitted to all rows"
_WINDOW, _REFITTED_EVERY = 1000, 200  # rows
_STEP = 50  # rows between two looks at the clock


def stepwise(learner: Any) -> Callable[[Dataset], Iterator[FloatArray]]:
    """Return a function that yields the outputs of `learner` for a data set, a few rows at a time."""

    def outputs(rows: Dataset) -> Iterator[FloatArray]:
        learner.fit(rows.X[:SCORED_FROM], rows.Y[:SCORED_FROM])
        for at in range(SCORED_FROM, len(rows), _STEP):
            yield learner.test_then_train(rows.X[at : at + _STEP], rows.Y[at : at + _STEP])

    return outputs


def boosted(rows: Dataset, window: int = _WINDOW) -> Iterator[FloatArray]:
    """Yield the outputs of boosted trees that are fitted anew to the last `window` of `rows`, one model per label."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    for at in range(SCORED_FROM, len(rows), _REFITTED_EVERY):
        known, asked = slice(max(0, at - window), at), slice(at, at + _REFITTED_EVERY)
        columns = []
        for y in rows.Y[known].T:
            if len(np.unique(y)) > 1:
                model = HistGradientBoostingClassifier(random_state=0).fit(rows.X[known], y)
                columns.append(model.predict_proba(rows.X[asked])[:, 1])
            else:
                columns.append(np.full(len(rows.X[asked]), y[0]))
        yield np.column_stack(columns)


def forest() -> RiverLearner:
    """Return river's adaptive random forest, one per label."""
    trees = load("river.forest", "river", "this rival").ARFClassifier(seed=0)
    return RiverLearner(load("river.multioutput", "river", "this rival").PerOutputClassifier(trees))


RIVALS: dict[str, Callable[[], Callable[[Dataset], Iterator[FloatArray]]]] = {
    LOGISTIC: lambda: stepwise(RiverLearner(river_model("per_output", "logistic"))),
    RECENT_ROWS: lambda: boosted,
    ALL_ROWS: lambda: partial(boosted, window=SAMPLES),
    FOREST: lambda: stepwise(forest()),
}
"""By name, what makes the function that yields outputs; the slowest comes last."""


def measure(name: str, rows: Dataset, most: float) -> Standing | None:
    """Return the scores of the rival `name` on `rows`; None if it needs more than `most` seconds."""
    found, start = [], time.perf_counter()
    with threadpool_limits(1):
        for outputs in RIVALS[name]()(rows):
            found.append(outputs)
            if time.perf_counter() - start > most:
                return None
    seconds = time.perf_counter() - start
    return standing(name, np.vstack(found) >= 0.5, rows.Y[SCORED_FROM:], seconds)


def read_standing(document: dict[str, Any]) -> Standing:
    """Return the scores in a `document` that `Standing._asdict` made and JSON has stored."""
    intervals = {name: Interval(*document[name]) for name in ("macro_f1", "accuracy")}
    return Standing(**{**document, **intervals})


def measured() -> dict[str, Standing]:
    """Return the scores of all rivals in the results file, by name."""
    return {name: read_standing(document) for name, document in json.loads(MEASURED.read_text("utf-8")).items()}


def run_rivals() -> None:
    """Measure all rivals, and print or write what they reach."""
    rows, write = PlantStream().dataset(SAMPLES), sys.argv[1:] == ["--write"]
    found = {}
    for name in RIVALS:
        scores = measure(name, rows, np.inf if write else MOST_SECONDS)
        found[name] = None if scores is None else scores._asdict()
        if not write:
            sys.stdout.write(json.dumps({name: found[name]}) + "\n")
            sys.stdout.flush()
    if write:
        MEASURED.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    run_rivals()
