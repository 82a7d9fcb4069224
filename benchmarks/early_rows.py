"""The first rows of a stream: accuracy with and without the tree of the first rows, without an initial batch.

    python benchmarks/early_rows.py                          # streams that drift; writes results/early_rows.json
    python benchmarks/early_rows.py --sets --real FOLDER     # and shuffled sets, and files of real streams

| group    | streams                                                                                                |
|----------|--------------------------------------------------------------------------------------------------------|
| drifting | the nine of `drift_streams.py`, seeds 35 to 39; settings were chosen on seeds 21, 22 and 31 to 34      |
| shuffled | the data sets of `accuracy.py`, four shuffles of each; needs EVOLABEL_DATA                             |
| real     | every NAME.csv.gz of a folder in its own order: features, then `label` or `label_0`, `label_1`, ...;   |
|          | from its first row on, and from its middle on                                                          |

Each row is predicted, then learned. Groups that are not measured stay in the file as they are.
"""

import argparse
import csv
import gzip
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import numpy as np
from drift_streams import NINE, Stream, make_stream
from shared import datasets, result_files

from evolabel import EvolvingFuzzyClassifier
from evolabel.model import pipeline

SEEDS = range(35, 40)
SHUFFLES = range(20, 24)
ROWS = 400
PARTS = {"10-150": slice(10, 150), "150-400": slice(150, 400)}


def main() -> None:
    """Measure the groups that were asked for, print their means, and write JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", action="store_true", help="the shuffled sets, too")
    parser.add_argument("--real", type=Path, help="folder of real streams")
    options = parser.parse_args()
    groups = {"drifting": drifting()}
    if options.sets:
        groups["shuffled"] = shuffled()
    if options.real is not None:
        groups["real"] = real(options.real)
    result = result_files.read_if_any("early_rows", {})
    for group, streams in groups.items():
        result[group] = {name: measured(stream) for name, stream in streams}
        print(group, summary(result[group]))
    result_files.write("early_rows", result)


def drifting() -> Iterator[tuple[str, Stream]]:
    """Yield the drifting streams by name and seed."""
    for seed in SEEDS:
        for name in NINE:
            yield f"{name}, seed {seed}", make_stream(name, seed)


def shuffled() -> Iterator[tuple[str, Stream]]:
    """Yield shuffles of the data sets."""
    for name in datasets.NAMES:
        for seed in SHUFFLES:
            X, Y, _ = datasets.load(name, seed)
            yield f"{name}, shuffle {seed}", Stream(X, Y, (), one_label=False)


def real(folder: Path) -> Iterator[tuple[str, Stream]]:
    """Yield the real streams in `folder`, from the first and from the middle row on."""
    for file in sorted(folder.glob("*.csv.gz")):
        stream = read(file)
        for name, start in ((file.name.split(".")[0], 0), (f"{file.name.split('.')[0]}, middle", len(stream.X) // 2)):
            yield name, stream._replace(X=stream.X[start : start + ROWS], Y=stream.Y[start : start + ROWS])


def read(file: Path) -> Stream:
    """Return the stream in `file`, one class or several labels per row; empty cells are missing."""
    with gzip.open(file, "rt", encoding="utf-8") as text:
        names, *rows = csv.reader(text)
    labels = [place for place, name in enumerate(names) if name.startswith("label")]
    cells = np.array(rows)
    X = np.array([[float(cell or "nan") for cell in row] for row in np.delete(cells, labels, axis=1)])
    if len(labels) > 1:
        return Stream(X, cells[:, labels].astype(float), (), one_label=False)
    classes, codes = np.unique(cells[:, labels[0]], return_inverse=True)
    return Stream(X, np.eye(len(classes))[codes], (), one_label=True)


def measured(stream: Stream) -> dict[str, dict[str, float]]:
    """Return the accuracy in each of the `PARTS`, with and without the tree."""
    found = {"with": right(stream)}
    with patch.object(pipeline, "first_tree_of", return_value=None):
        found["without"] = right(stream)
    return {kind: {part: float(share[rows].mean()) for part, rows in PARTS.items()} for kind, share in found.items()}


def right(stream: Stream) -> np.ndarray:
    """Return the share of right labels of each of the first rows of `stream`."""
    X, Y = np.ascontiguousarray(stream.X[:ROWS]), stream.Y[:ROWS]
    learner = EvolvingFuzzyClassifier()
    if not stream.one_label:
        return stream._replace(Y=Y).right(learner.test_then_train(X, Y))
    outputs = np.zeros(Y.shape)
    found = learner.test_then_train(X, Y.argmax(axis=1))
    outputs[:, np.asarray(learner.classes_)] = found
    return stream._replace(Y=Y).right(outputs)


def summary(streams: dict[str, dict[str, dict[str, float]]]) -> str:
    """Return means over `streams` without and with the tree, and the largest loss on one of them."""
    texts = []
    for part in PARTS:
        without, with_tree = (np.array([each[kind][part] for each in streams.values()]) for kind in ("without", "with"))
        worst = (with_tree - without).min()
        texts.append(f"rows {part}: {without.mean():.4f} -> {with_tree.mean():.4f} (worst {worst:+.4f})")
    return "; ".join(texts)


if __name__ == "__main__":
    main()
