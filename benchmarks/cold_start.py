"""Accuracy in the first rows of streams without an initial batch: label shares beside the model of the first rows.

    python benchmarks/cold_start.py                      # writes benchmarks/results/cold_start.json

Test-then-train from the first row on, seeds 13 to 17, twelve streams: the nine drifting ones, emotions, water-quality
and yeast. "Shares" are running label frequencies until row 80, as before; later rows are the same in both.
"""

import argparse

import numpy as np
import result_files
from datasets import load
from drift_streams import NINE, Stream, make_stream

from evolabel import EvolvingFuzzyClassifier

SEEDS = range(13, 18)
SETS = ("emotions", "water-quality", "yeast")
ROWS, WARM_UP = 600, 80
SPANS = {"10-40": (10, 40), "10-80": (10, 80), "80-320": (80, 320), "320-600": (320, 600)}


def main() -> None:
    """Measure all streams, print a table and write JSON."""
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    found = {name: measured(name) for name in (*NINE, *SETS)}
    found["mean"] = {
        way: {span: round(float(np.mean([found[name][way][span] for name in found])), 4) for span in SPANS}
        for way in ("shares", "first model")
    }
    for name, ways in found.items():
        print(f"{name:15}", *(f"{way} {spans}" for way, spans in ways.items()))
    result_files.write("cold_start", {"seeds": list(SEEDS), "streams": found})


def measured(name: str) -> dict[str, dict[str, float]]:
    """Return the mean accuracy over the seeds, by way and span of rows."""
    lines: dict[str, list[np.ndarray]] = {"shares": [], "first model": []}
    for seed in SEEDS:
        stream = first_rows(name, seed)
        outputs = EvolvingFuzzyClassifier(warm_up=WARM_UP).test_then_train(stream.X, stream.Y)
        lines["first model"].append(stream.right(outputs))
        outputs = outputs.copy()
        counts = np.vstack([np.zeros(stream.Y.shape[1]), np.cumsum(stream.Y, axis=0)[: WARM_UP - 1]])
        outputs[:WARM_UP] = counts / np.maximum(np.arange(WARM_UP), 1)[:, None]
        lines["shares"].append(stream.right(outputs))
    return {
        way: {span: round(float(np.mean([line[slice(*rows)] for line in of])), 4) for span, rows in SPANS.items()}
        for way, of in lines.items()
    }


def first_rows(name: str, seed: int) -> Stream:
    """Return the first rows of a stream, or of a data set shuffled by `seed`."""
    if name in SETS:
        X, Y, _ = load(name, seed)
        return Stream(X[:ROWS], Y[:ROWS], (), one_label=False)
    stream = make_stream(name, seed)
    return stream._replace(X=stream.X[:ROWS], Y=stream.Y[:ROWS], drifts=())


if __name__ == "__main__":
    main()
