"""Tables of `benchmarks/trust.py`: probabilities and sets, before and after."""

from collections.abc import Callable, Mapping
from statistics import mean
from typing import Any

from shared import result_files

from evolabel.words.markup import table

WAYS = ("before", "after", "logistic")
SHOWN_WAYS = {
    "plain": "default",
    "macro_f1": '`optimise="macro_f1"`',
    "balanced": '`optimise="balanced"`',
    "costs": "`class_weight`, all 10",
}
SOURCE = {"levels": "sets", "subset": "decide", "weights": "decide"}  # other parts that tables are from
LEVELS = ("0.8", "0.9", "0.99")

Found = Mapping[str, Any]


def average(runs: Found, *keys: str) -> float:
    """Return the mean over the seeds of the number under `keys`."""
    values = []
    for run in runs.values():
        value: Any = run
        for key in keys:
            value = value[key]
        values.append(float(value))
    return mean(values)


def all_tables(found: Found) -> str:
    """Return all tables of the numbers in `found`."""
    texts = []
    for name, make in MAKERS.items():
        try:
            text = make(found[SOURCE.get(name, name)])
        except KeyError:
            text = "not measured"
        texts.append(f"**{name}**\n\n{text}")
    return "\n\n".join(texts)


def table_of(part: str) -> str:
    """Return the table of a `part` of the last run."""
    return MAKERS[part](result_files.read("trust")[SOURCE.get(part, part)])


def probability_table(found: Found) -> str:
    """Return ECE and log loss along the stream."""
    heads = ["set", "ECE before", "ECE", "floor", "ECE LR", "log loss before", "log loss", "LR"]
    rows = []
    for name, runs in found.items():
        numbers = [average(runs, "before", "ece"), average(runs, "after", "ece"), average(runs, "after", "floor")]
        numbers += [average(runs, "logistic", "ece")]
        numbers += [average(runs, who, "log_loss") for who in WAYS]
        rows.append([name, *(f"{value:.3f}" for value in numbers)])
    return table(heads, rows)


def level_table(found: Found) -> str:
    """Return coverage and size of the sets along the stream, at some levels."""
    rows = []
    for name, runs in found.items():
        cells = []
        for level in LEVELS:
            cells.append(f"{average(runs, 'levels', level, 'coverage'):.3f}")
            cells.append(f"{average(runs, 'levels', level, 'size'):.2f}")
        least, most = (average(runs, "levels", "0.9", key) for key in ("least_label", "largest_label"))
        rows.append([name, *cells, f"{least:.3f} to {most:.3f}"])
    heads = [text for level in LEVELS for text in (f"at {level}", "size")]
    return table(["set", *heads, "labels at 0.9"], rows)


def fitted_table(found: Found) -> str:
    """Return ECE and log loss of models that were fitted once."""
    rows = []
    for name, runs in found.items():
        ways = [f"{average(runs, way, 'ece'):.3f} / {average(runs, way, 'log_loss'):.3f}" for way in WAYS]
        rows.append([name, *ways, f"{average(runs, 'sets', 'coverage'):.3f}", f"{average(runs, 'sets', 'size'):.2f}"])
    return table(["set (ECE / log loss)", "before", "after", "LR", "covered at .9", "size"], rows)


def drift_table(found: Found) -> str:
    """Return ECE, log loss and the worst window of drifting streams."""
    rows = []
    for name, runs in found.items():
        numbers = [average(runs, way, key) for key in ("ece", "log_loss") for way in ("before", "after")]
        numbers += [average(runs, "sets", key) for key in ("coverage", "worst_window", "size")]
        rows.append([name, *(f"{value:.3f}" for value in numbers)])
    heads = ["stream", "ECE before", "ECE", "log loss before", "log loss", "covered at .9", "worst 250 rows", "size"]
    return table(heads, rows)


def small_table(found: Found) -> str:
    """Return ECE, log loss and coverage."""
    rows = []
    for name, runs in found.items():
        numbers = [average(runs, way, key) for key in ("ece", "log_loss") for way in ("before", "after")]
        numbers += [average(runs, "sets", key) for key in ("coverage", "size")]
        rows.append([name, *(f"{value:.3f}" for value in numbers)])
    return table(["set", "ECE before", "ECE", "log loss before", "log loss", "covered at .9", "size"], rows)


def subset_table(found: Found) -> str:
    """Return subset accuracy and partial accuracy of plain decisions and of those on whole label sets."""
    rows = []
    for name, runs in found.items():
        cells = [f"{average(runs, way, 'subset_accuracy'):.3f}" for way in ("plain", "subset")]
        plain, subset = (average(runs, way, "pa") for way in ("plain", "subset"))
        rows.append([name, *cells, f"{plain:.4f}", f"{subset - plain:+.4f}"])
    heads = ["set", "subset accuracy, default", '`optimise="subset_accuracy"`', "PA, default", "PA changes by"]
    return table(heads, rows)


def weight_table(found: Found) -> str:
    """Return what rare labels gain, and what it costs, by way of deciding, on sets that have rare labels."""
    rows, keys = [], ("balanced_accuracy", "rare_recall", "macro_f1", "pa")
    for name, runs in found.items():
        if any(run["plain"]["rare_recall"] is None for run in runs.values()):
            continue
        for way, shown in SHOWN_WAYS.items():
            cells = [f"{average(runs, way, key):.3f}" for key in keys]
            rows.append([name, shown, *cells, f"{average(runs, way, 'cost'):.2f}"])
    heads = ["set", "decisions", "balanced accuracy", "recall of rare labels", "macro F1", "PA"]
    return table([*heads, "cost per row"], rows)


def novel_table(found: Found) -> str:
    """Return the shares of wild values and of ordinary rows that are outside the range seen."""
    shares = {key: [average(runs, key) for runs in found.values()] for key in ("outside", "flagged", "wild", "still")}
    return (
        f"On {', '.join(found)} {min(shares['wild']):.0%} of the wild values are flagged, "
        f"{min(shares['still']):.0%} after one was learned.\n"
        f"Of the ordinary rows {min(shares['flagged']):.1%} to {max(shares['flagged']):.1%} are flagged, and "
        f"{min(shares['outside']):.1%} to {max(shares['outside']):.1%} are outside the range at all."
    )


def asking_table(found: Found) -> str:
    """Return ECE and coverage where a tenth of the labels is asked for: by the batch, and with the answers."""
    rows = []
    for name, runs in found.items():
        numbers = [average(runs, way, "ece") for way in ("before", "batch_maps", "after")]
        numbers += [average(runs, way, "log_loss") for way in ("before", "after")]
        numbers += [average(runs, way, "coverage") for way in ("asked_sets", "batch_sets", "sets")]
        rows.append([name, *(f"{value:.3f}" for value in numbers), f"{average(runs, 'sets', 'size'):.2f}"])
    heads = ["set", "ECE before", "maps of the batch", "ECE", "log loss before", "log loss"]
    covered = ["covered at .9, if answers moved thresholds", "thresholds of the batch", "covered at .9", "size"]
    return table([*heads, *covered], rows)


MAKERS: dict[str, Callable[[Found], str]] = {
    "sets": probability_table,
    "levels": level_table,
    "fitted": fitted_table,
    "drift": drift_table,
    "asking": asking_table,
    "hidden": small_table,
    "novel": novel_table,
    "subset": subset_table,
    "weights": weight_table,
}
