"""River's learners on the streams of `drift_streams.py`, one seed; `drift.py` shows them beside the product.

    python benchmarks/drift_peers.py                                   # all streams; continues an earlier run
    python benchmarks/drift_peers.py --streams sea flip --learners forest --again

Results are written to benchmarks/results/drift_peers.json after every stream and learner, so a run can be stopped and
continued. The forest needs 2 to 60 ms per row, and the whole command hours. Streams with one label per row are learned
as classes; all others have one binary learner per label, and streams of more than 20 labels are left out.
"""

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import river
from drift_streams import MORE, NINE, PLAIN, SENSORS, Stream, make_stream
from river import compose, ensemble, forest, linear_model, multiclass, preprocessing, tree
from shared import result_files

SEED = 13
MOST_LABELS = 20
STREAMS = (NINE, ("flip",), PLAIN, SENSORS, tuple(name for name in MORE if name != "flip"))


def logistic() -> Any:
    """Return river's logistic regression on standard scores, one against the rest."""
    classes = multiclass.OneVsRestClassifier(linear_model.LogisticRegression())
    return compose.Pipeline(preprocessing.StandardScaler(), classes)


LEARNERS: dict[str, Callable[[], Any]] = {
    "logistic": logistic,
    "adaptive tree": lambda: tree.HoeffdingAdaptiveTreeClassifier(seed=SEED),
    "forest": lambda: forest.ARFClassifier(seed=SEED),
    "bagging": lambda: ensemble.LeveragingBaggingClassifier(tree.HoeffdingAdaptiveTreeClassifier(seed=SEED), seed=SEED),
}
"""Logistic regression; Hoeffding adaptive tree; adaptive random forest; leveraging bagging of ten such trees."""


def main() -> None:
    """Measure what the file does not have yet, and write it after every stream and learner."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    everything = [name for group in STREAMS for name in group]
    parser.add_argument("--streams", nargs="+", choices=everything, default=everything, metavar="NAME")
    parser.add_argument("--learners", nargs="+", choices=LEARNERS, default=list(LEARNERS), metavar="NAME")
    parser.add_argument("--again", action="store_true", help="also what the file has already")
    options = parser.parse_args()
    cases = [
        (name, learner)
        for group in STREAMS
        for learner in options.learners
        for name in group
        if name in options.streams
    ]
    for name, learner in cases:
        if options.again or learner not in known()["streams"].get(name, {}):
            stream = make_stream(name, SEED)
            if stream.Y.shape[1] <= MOST_LABELS:
                keep(name, learner, measured(stream, LEARNERS[learner]))


def known() -> dict[str, Any]:
    """Return what the file has."""
    empty = {"seed": SEED, "river": river.__version__, "streams": {}}
    return dict(result_files.read_if_any("drift_peers", empty))


def keep(name: str, learner: str, run: dict[str, float | None]) -> None:
    """Add the `run` of `learner` on the stream `name` to the file as it is now, and print it."""
    found = known()
    found["streams"].setdefault(name, {})[learner] = run
    result_files.write("drift_peers", found)
    print(f"{name:18} {learner:14}", run, flush=True)


def measured(stream: Stream, make: Callable[[], Any]) -> dict[str, float | None]:
    """Return accuracy, accuracy after a drift (None without one) and milliseconds per row of the learner of `make`."""
    start = time.process_time()
    outputs = as_classes(stream, make()) if stream.one_label else label_by_label(stream, make)
    ms = 1e3 * (time.process_time() - start) / len(outputs)
    accuracy, after = stream.score(outputs)
    return {
        "accuracy": round(accuracy, 4),
        "after": None if np.isnan(after) else round(after, 4),
        "ms_per_row": round(ms, 3),
    }


def as_classes(stream: Stream, learner: Any) -> np.ndarray:
    """Return 1 for the class that `learner` predicts before it learns the row, and 0 for the other classes."""
    outputs = np.zeros_like(stream.Y)
    for row, (x, label) in enumerate(zip(stream.X.tolist(), stream.Y.argmax(axis=1).tolist(), strict=True)):
        named = dict(enumerate(x))
        predicted = learner.predict_one(named)
        if predicted is not None:
            outputs[row, predicted] = 1.0
        learner.learn_one(named, label)
    return outputs


def label_by_label(stream: Stream, make: Callable[[], Any]) -> np.ndarray:
    """Return 0 or 1 for every label, from one learner of `make` per label that predicts and then learns."""
    learners = [make() for _ in range(stream.Y.shape[1])]
    outputs = np.zeros_like(stream.Y)
    for row, (x, labels) in enumerate(zip(stream.X.tolist(), (stream.Y > 0.5).tolist(), strict=True)):
        named = dict(enumerate(x))
        for number, (learner, label) in enumerate(zip(learners, labels, strict=True)):
            outputs[row, number] = bool(learner.predict_one(named))
            learner.learn_one(named, label)
    return outputs


if __name__ == "__main__":
    main()
