"""Real streams in their own order: what each learner predicts row by row, and what it keeps of rows that were left out.

    python benchmarks/real_streams.py FOLDER                                # continues an earlier run
    python benchmarks/real_streams.py FOLDER --streams eeg --learners evolabel forest --rows 20000 --again
    python benchmarks/real_streams.py --only-tables

FOLDER has the files below: gzipped CSV, one row per sample in the order of time, a column `label` with classes or
columns `label_0`, `label_1`, ... of 0 and 1, and an empty cell for a missing value.

| stream      | file      | features | classes or labels | rows                                              |
|-------------|-----------|---------:|-------------------|---------------------------------------------------|
| electricity | elec      |        8 | 2 classes         | prices of electricity every half an hour          |
| weather     | noaa      |        8 | 2 classes         | rain, day by day                                  |
| occupancy   | occupancy |        5 | 2 classes         | an office room, minute by minute                  |
| eeg         | eeg       |       14 | 2 classes         | eyes open or closed, in long runs                 |
| ozone       | ozone     |       72 | 2 classes         | days of high ozone                                |
| power       | power     |        2 | 24 classes        | hour of the day by the supply of power            |
| thyroid     | thyroid   |       29 | 7 labels          | records of patients                               |
| rivers      | wq        |       16 | 14 labels         | species found at sites of rivers                  |

Two figures. **In order**: every row is predicted right before it is learned; `kappa` is kappa-temporal, the accuracy
above the one of the last answer. **Left out**: a random tenth of the rows is never learned, and predicted at the end
without the last answers. With labels, accuracy is the share of labels that are right. The column `+ last` has the
outputs of a rival after the stage of the last answers, the same that evolabel uses, so that both have what persists.
A tenth is one draw, and its rows have neighbours that were learned. So evolabel and what it is without following, and
without threshold rules, are also measured on tenths of other seeds, and, with rivals that are quick, on ten blocks of
one hundredth of the rows each. Where there are several labels, F1 is stored by label.
Results are written to benchmarks/results/real_streams.json after every stream and learner.
"""

import argparse
import time
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from real_learners import OURS, RIVALS, SIMPLE, Outputs, Task, learn
from shared import result_files

from evolabel.core.rows import Rows
from evolabel.stages.last_answers.stage import LastAnswers

FILES = {
    "electricity": "elec",
    "weather": "noaa",
    "occupancy": "occupancy",
    "eeg": "eeg",
    "ozone": "ozone",
    "power": "power",
    "thyroid": "thyroid",
    "rivers": "wq",
}
EVERYONE = (*OURS, *RIVALS, *SIMPLE)
MOST_ROWS = 10_000
LEFT_OUT, SEED, FURTHER_SEEDS, BLOCKS = 0.1, 5, (20, 21, 22, 23, 24), 10
REPEATED = ("evolabel", "without following", "rules alone")
IN_BLOCKS = (*REPEATED, "logistic", "boosting", *SIMPLE)
COMPILED = 500
BINS = 15  # of the calibration error


class RealStream(NamedTuple):
    """Rows X in the order of time with targets Y, (n, K), of 0 and 1; classes if `one_label`."""

    X: np.ndarray
    Y: np.ndarray
    one_label: bool


def main() -> None:
    """Measure what the file does not have yet, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--streams", nargs="+", choices=FILES, default=list(FILES), metavar="NAME")
    parser.add_argument("--learners", nargs="+", choices=EVERYONE, default=list(EVERYONE), metavar="NAME")
    parser.add_argument("--rows", type=int, default=MOST_ROWS, help="most rows of a stream")
    parser.add_argument("--again", action="store_true", help="also what the file has already")
    parser.add_argument("--only-tables", action="store_true")
    options = parser.parse_args()
    if options.folder is None and not options.only_tables:
        parser.error("the folder of the streams is missing; --only-tables prints the last results")
    for name in () if options.only_tables else options.streams:
        stream = read_stream(options.folder, name, options.rows)
        for learner in options.learners:
            key = key_of(name, options.rows)
            if options.again or learner not in known().get(key, {}):
                keep(key, learner, measured(stream, learner))
            if learner in IN_BLOCKS and "blocks" not in known()[key][learner]:
                keep(key, learner, known()[key][learner] | further_left_out(stream, learner))
    print(tables(options.rows))


def read_stream(folder: Path, name: str, most: int) -> RealStream:
    """Return the first `most` rows of the stream `name` from its file in `folder`."""
    import pandas as pd

    table = pd.read_csv(folder / f"{FILES[name]}.csv.gz", nrows=most)
    targets = [column for column in table if str(column).startswith("label")]
    X = table.drop(columns=targets).to_numpy(float)
    one_label = targets == ["label"]
    Y = pd.get_dummies(table["label"]).to_numpy(float) if one_label else table[targets].to_numpy(float)
    return RealStream(X, Y, one_label)


# ---------------------------------------------------------------------- figures


def measured(stream: RealStream, learner: str) -> dict[str, Any]:
    """Return the figures of `learner` on `stream`; of a rival also those of its outputs with the last answers."""
    X, Y, one_label = stream
    out = tenth(len(X), SEED)
    if learner in OURS:
        learn(learner, Task(X[:COMPILED], Y[:COMPILED], X[:1], one_label))  # compiles what the figures shall not count
    start = time.process_time()
    outputs = learn(learner, Task(X[~out], Y[~out], X[out], one_label))
    seconds = time.process_time() - start
    run = {
        "in_order": figures(outputs.before, Y[~out], one_label),
        "left_out": figures(outputs.after, Y[out], one_label),
        "drift_events": outputs.drifts,
        "sensors_moved": outputs.sensors,
        "ms_per_row": round(1e3 * seconds / len(X), 3),
    }
    if learner in RIVALS:
        run["with_last_answers"] = figures(with_last_answers(stream, out, outputs), Y[~out], one_label)
    return run


def further_left_out(stream: RealStream, learner: str) -> dict[str, Any]:
    """Return the accuracy of `learner` on rows of `stream` that were left out: blocks, and tenths by seed."""
    X, Y, one_label = stream

    def accuracy(out: np.ndarray) -> float:
        after = learn(learner, Task(X[~out], Y[~out], X[out], one_label)).after
        return figures(after, Y[out], one_label)["accuracy"]

    tenths = {str(seed): accuracy(tenth(len(X), seed)) for seed in FURTHER_SEEDS if learner in REPEATED}
    return {"blocks": accuracy(blocks(len(X))), "tenths": tenths}


def tenth(n: int, seed: int) -> np.ndarray:
    """Return which of `n` rows are left out, a random tenth drawn by `seed`."""
    return np.random.default_rng(seed).random(n) < LEFT_OUT


def blocks(n: int) -> np.ndarray:
    """Return which of `n` rows are left out: `BLOCKS` blocks of one hundredth each, evenly spaced."""
    out = np.zeros(n, bool)
    for b in range(BLOCKS):
        start = int((b + 0.5) * n / BLOCKS)
        out[start : start + n // 100] = True
    return out


def with_last_answers(stream: RealStream, out: np.ndarray, outputs: Outputs) -> np.ndarray:
    """Return the `outputs` in order of a rival after the stage of the last answers, which learns beside it."""
    X, Y = stream.X[~out], stream.Y[~out]
    rows = Rows(X, Y, outputs=np.clip(outputs.before, 0.0, 1.0))
    rows.followed = np.empty(Y.shape)
    LastAnswers(X.shape[1], Y.shape[1], exclusive=stream.one_label).learn(rows)
    return rows.followed


def figures(outputs: np.ndarray, Y: np.ndarray, one_label: bool) -> dict[str, Any]:
    """Return accuracy, kappa-temporal, macro F1 and the expected calibration error of `outputs` for targets `Y`.

    Where there are several labels, the F1 of each is added.
    """
    said = np.eye(Y.shape[1])[outputs.argmax(axis=1)] if one_label else (outputs >= 0.5).astype(float)
    right = (said * Y).sum(axis=1) if one_label else (said == Y).mean(axis=1)
    same = (Y[1:] * Y[:-1]).sum(axis=1) if one_label else (Y[1:] == Y[:-1]).mean(axis=1)
    accuracy, stays = float(right.mean()), float(same.mean())
    hits, everyone = (said * Y).sum(axis=0), said.sum(axis=0) + Y.sum(axis=0)
    present = Y.any(axis=0)
    f1 = 2.0 * hits / np.maximum(everyone, 1.0)
    sure = outputs.max(axis=1) if one_label else np.maximum(outputs, 1.0 - outputs).ravel()
    return {
        "accuracy": round(accuracy, 4),
        "kappa_temporal": round((accuracy - stays) / (1.0 - stays), 3),
        "macro_f1": round(float(f1[present].mean()), 4),
        "ece": round(calibration_error(sure, right if one_label else (said == Y).ravel().astype(float)), 4),
        **({} if one_label else {"f1_by_label": f1.round(3).tolist()}),
    }


def calibration_error(sure: np.ndarray, right: np.ndarray) -> float:
    """Return the mean difference, over bins of `sure`, between the mean probability and the share of `right` ones."""
    place = np.minimum((sure * BINS).astype(int), BINS - 1)
    parts = [abs((sure - right)[place == b].sum()) for b in range(BINS)]
    return float(sum(parts) / len(sure))


# ---------------------------------------------------------------------- results


def key_of(name: str, rows: int) -> str:
    """Return the key of the stream `name` of at most so many `rows` in the file."""
    return f"{name}, {rows} rows at most"


def known() -> dict[str, Any]:
    """Return what the file has, by stream and learner."""
    return dict(result_files.read_if_any("real_streams", {}))


def keep(key: str, learner: str, run: dict[str, Any]) -> None:
    """Add the `run` of `learner` on the stream of `key` to the file as it is now, and print it."""
    found = known()
    found.setdefault(key, {})[learner] = run
    result_files.write("real_streams", found)
    print(f"{key:32} {learner:22}", run, flush=True)


def tables(rows: int) -> str:
    """Return the tables of accuracies in order and left out, and those of the other figures, of at most `rows` rows."""
    rivals = [f"{name} + last" for name in RIVALS]
    parts = [
        table("In order, accuracy", rows, [*OURS, *RIVALS, *rivals, *SIMPLE], "in_order", "accuracy"),
        table("In order, kappa-temporal", rows, [*OURS, *RIVALS, *rivals], "in_order", "kappa_temporal"),
        table("In order, macro F1", rows, [*OURS, *RIVALS, *rivals, *SIMPLE], "in_order", "macro_f1"),
        table("In order, expected calibration error", rows, [*OURS, *RIVALS, *rivals], "in_order", "ece"),
        table("Left out, accuracy", rows, [*OURS, *RIVALS, *SIMPLE], "left_out", "accuracy"),
        table(f"Left out, mean accuracy over {1 + len(FURTHER_SEEDS)} tenths", rows, list(REPEATED), "tenths"),
        table("Left out, ten blocks of one hundredth", rows, list(IN_BLOCKS), "blocks"),
        table("Drift events", rows, list(OURS), "drift_events"),
        table("Sensors moved", rows, list(OURS), "sensors_moved"),
        table("Milliseconds per row", rows, [*OURS, *RIVALS], "ms_per_row"),
    ]
    return "\n\n".join(parts)


def table(title: str, rows: int, learners: list[str], part: str, figure: str | None = None) -> str:
    """Return a table: a row per learner, a column per stream."""
    lines = [f"{title}\n", f"{'':24}" + "".join(f"{name:>13}" for name in FILES)]
    for learner in learners:
        cells = (cell(known().get(key_of(name, rows), {}), learner, part, figure) for name in FILES)
        lines.append(f"{learner:24}" + "".join(f"{text:>13}" for text in cells))
    return "\n".join(lines)


def cell(runs: dict[str, Any], learner: str, part: str, figure: str | None) -> str:
    """Return one figure of a `learner` among the `runs` of a stream as text, - where it was not measured."""
    plain = learner.removesuffix(" + last")
    run = runs.get(plain)
    if run is None or part not in run:
        return "-"
    if part == "tenths":
        return f"{np.mean([run['left_out']['accuracy'], *run['tenths'].values()]):.4f}"
    found = run["with_last_answers" if plain != learner else part]
    return str(found if figure is None else found[figure])


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
