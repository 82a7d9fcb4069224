"""Tables of `benchmarks/trust.py`: probabilities and sets, before and after, and the targets."""

from collections.abc import Callable, Iterable, Mapping
from statistics import mean
from typing import Any

import result_files
from drift_tables import Target, at_least

from evolabel.words.markup import table

MOST_ECE = {
    "emotions": 0.032,
    "yeast": 0.013,
    "water-quality": 0.020,
    "digits": 0.018,
    "breast_cancer": 0.022,
    "ImageSegments": 0.018,
}
LOG_LOSS_MARGIN = {"breast_cancer": 0.015}  # above logistic regression, at most; 0 for the others
NARROW = ("emotions", "yeast", "water-quality")  # sets whose coverage must not be far above what is asked for
MOST_MICROSECONDS = 5.0
MOST_FLAGGED = 0.03  # of ordinary rows
WAYS = ("before", "after", "logistic")
SHOWN_WAYS = {
    "plain": "default",
    "macro_f1": '`optimise="macro_f1"`',
    "balanced": '`optimise="balanced"`',
    "costs": "`class_weight`, all 10",
}
SOURCE = {
    "levels": "sets",
    "subset": "decide",
    "weights": "decide",
    "rare": "maps",
    "classes": "maps",
    "by_p": "maps",
}  # other parts that tables are from
LEVELS = ("0.8", "0.9", "0.95", "0.99")

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
    return "\n\n".join([*texts, targets(found)])


def table_of(part: str) -> str:
    """Return the table of a `part` of the last run."""
    return MAKERS[part](result_files.read("trust")[SOURCE.get(part, part)])


def probability_table(found: Found) -> str:
    """Return ECE, log loss and Brier score along the stream."""
    heads = ["set", "ECE before", "ECE", "floor", "ECE LR", "log loss before", "log loss", "LR"]
    rows = []
    for name, runs in found.items():
        numbers = [average(runs, "before", "ece"), average(runs, "after", "ece"), average(runs, "after", "floor")]
        numbers += [average(runs, "logistic", "ece")]
        for measure in ("log_loss", "brier"):
            numbers += [average(runs, who, measure) for who in WAYS]
        rows.append([name, *(f"{value:.3f}" for value in numbers)])
    return table([*heads, "Brier before", "Brier", "LR"], rows)


def level_table(found: Found) -> str:
    """Return coverage and size of the sets along the stream, at four levels."""
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
    """Return what rare labels gain, and what it costs, by way of deciding."""
    rows = []
    for name, runs in found.items():
        for way, shown in SHOWN_WAYS.items():
            has_rare = all(run[way]["rare_recall"] is not None for run in runs.values())
            keys = ("balanced_accuracy", "rare_recall", "macro_f1", "pa")
            cells = [f"{average(runs, way, k):.3f}" if has_rare or k != "rare_recall" else "-" for k in keys]
            rows.append([name, shown, *cells, f"{average(runs, way, 'cost'):.2f}"])
    heads = ["set", "decisions", "balanced accuracy", "recall of rare labels", "macro F1", "PA"]
    return table([*heads, "cost per row"], rows)


def novel_table(found: Found) -> str:
    """Return the shares of ordinary rows and of wild values that are outside the range seen."""
    keys = ("outside", "flagged", "wild", "still")
    rows = [[name, *(f"{average(runs, key):.3f}" for key in keys)] for name, runs in found.items()]
    heads = ["set", "rows outside at all", "rows flagged", "wild values flagged", "flagged after one was learned"]
    return table(heads, rows)


OF_CLASSES = ("digits", "breast_cancer", "ImageSegments")


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


def map_table(found: Found) -> str:
    """Return the mean ECE and log loss of each map over the data sets of labels."""
    named = {name: runs for name, runs in found.items() if name not in OF_CLASSES}
    ways = next(iter(next(iter(named.values())).values()))["maps"]
    rows = []
    for way in ways:
        each = [[average(runs, "maps", way, key) for key in ("ece", "log_loss", "brier")] for runs in named.values()]
        rows.append([way, *(f"{mean(column):.4f}" for column in zip(*each, strict=True))])
    return table(["map", "ECE", "log loss", "Brier"], rows)


def class_table(found: Found) -> str:
    """Return ECE and log loss of each temperature on the data sets of classes."""
    named = {name: runs for name, runs in found.items() if name in OF_CLASSES}
    ways = next(iter(next(iter(named.values())).values()))["maps"]
    rows = []
    for way in ways:
        cells = [
            f"{average(runs, 'maps', way, 'ece'):.3f} / {average(runs, 'maps', way, 'log_loss'):.3f}"
            for runs in named.values()
        ]
        rows.append([way, *cells])
    return table(["temperature (ECE / log loss)", *named], rows)


def rare_table(found: Found) -> str:
    """Return the log loss of each map for labels of birds with 5 to 20 positives, and the positives it promises."""
    runs = found["birds"]
    ways = next(iter(runs.values()))["rare"]
    rows = [
        [way, f"{average(runs, 'rare', way, 'log_loss'):.4f}", f"{average(runs, 'rare', way, 'promised'):.2f}"]
        for way in ways
    ]
    return table(["map", "log loss", "positives promised per one that came"], rows)


def by_p_table(found: Found) -> str:
    """Return what changes if labels are decided by p >= .5 instead of by the output."""
    rows = [
        [name, f"{average(runs, 'pa_by_p'):+.4f}", f"{100 * average(runs, 'changed_by_p'):.1f} %"]
        for name, runs in found.items()
        if name not in OF_CLASSES
    ]
    return table(["set", "PA by p >= .5 less PA by f >= .5", "decisions that change"], rows)


def fading_table(found: Found) -> str:
    """Return log loss with and without fading, and the worst window with fixed and with moving alpha."""
    rows = []
    for name, runs in found.items():
        numbers = [average(runs, key) for key in ("kept", "faded", "kept_after", "faded_after")]
        numbers += [average(runs, way, "worst_window") for way in ("fixed", "moving")]
        numbers += [average(runs, way, "size") for way in ("fixed", "moving")]
        rows.append([name, *(f"{value:.3f}" for value in numbers)])
    heads = ["stream", "log loss, never forgets", "memory 500", "first 1,000 rows after the drift", "memory 500"]
    return table([*heads, "worst 250 rows, fixed alpha", "moving", "size, fixed", "moving"], rows)


MAKERS: dict[str, Callable[[Found], str]] = {
    "sets": probability_table,
    "levels": level_table,
    "fitted": fitted_table,
    "drift": drift_table,
    "asking": asking_table,
    "hidden": small_table,
    "novel": novel_table,
    "maps": map_table,
    "classes": class_table,
    "rare": rare_table,
    "by_p": by_p_table,
    "fading": fading_table,
    "subset": subset_table,
    "weights": weight_table,
}

# ---------------------------------------------------------------- targets


def targets(found: Found) -> str:
    """Return every target beside what was reached; those whose part was not measured are listed as such."""
    makers: dict[str, Callable[[Found], Iterable[Target]]] = {
        "sets": of_streams,
        "fitted": lambda part: [at_most("ECE after fit only, digits", 0.025, average(part["digits"], "after", "ece"))],
        "drift": of_drift,
        "asking": lambda part: [_covered("asking", name, runs, ("sets",), 0.88) for name, runs in part.items()],
        "decide": of_decisions,
        "novel": of_novelty,
        "time": lambda part: [
            at_most("microseconds per learned row, 14 labels", MOST_MICROSECONDS, average(part["14"], "microseconds"))
        ],
    }
    rows = []
    for name, make in makers.items():
        try:
            rows += [[what, limit, reached, "yes" if met else "NO"] for what, limit, reached, met in make(found[name])]
        except KeyError:
            rows.append([name, "", "not measured", ""])
    return table(["what", "target", "reached", "met"], rows)


def at_most(what: str, limit: float, reached: float) -> Target:
    """Return a target that holds if `reached` is `limit` or less."""
    return Target(what, f"<= {limit:.3g}", f"{reached:.3f}", reached <= limit)


def _covered(what: str, name: str, runs: Found, keys: tuple[str, ...], limit: float) -> Target:
    return at_least(f"coverage at .9, {what}, {name}", limit, average(runs, *keys, "coverage"))


def of_streams(found: Found) -> Iterable[Target]:
    """Return the targets of the six data sets along the stream."""
    for name, limit in MOST_ECE.items():
        yield at_most(f"ECE, {name}", limit, average(found[name], "after", "ece"))
    for name, runs in found.items():
        limit = average(runs, "logistic", "log_loss") + LOG_LOSS_MARGIN.get(name, 0.0)
        yield at_most(f"log loss, {name}", limit, average(runs, "after", "log_loss"))
    for name, runs in found.items():
        for level in LEVELS:
            reached, asked = average(runs, "levels", level, "coverage"), float(level)
            low, high = asked - 0.02, min(asked + 0.02, 1.0) if name in NARROW and asked >= 0.9 else 1.0
            met = low <= reached <= high
            yield Target(f"coverage at {level}, {name}", f"{low:.2f} to {high:.2f}", f"{reached:.3f}", met)
    wrong = sum(run["zero_or_one"] for runs in found.values() for run in runs.values())
    yield Target("probabilities of 0 or 1", "0", str(wrong), wrong == 0)
    same = all(run["same_outputs"] for runs in found.values() for run in runs.values())
    yield Target("outputs as without probabilities, bit for bit", "all", "all" if same else "not all", same)


def of_decisions(found: Found) -> Iterable[Target]:
    """Return the targets of decisions on whole label sets."""
    yeast = found["yeast"]
    yield at_least("subset accuracy, yeast", 0.225, average(yeast, "subset", "subset_accuracy"))
    yield at_least("change of PA, yeast", -0.004, average(yeast, "subset", "pa") - average(yeast, "plain", "pa"))
    for name, runs in found.items():
        changed = average(runs, "subset", "subset_accuracy") - average(runs, "plain", "subset_accuracy")
        yield at_least(f"change of subset accuracy, {name}", -0.003, changed)


def of_novelty(found: Found) -> Iterable[Target]:
    """Return the targets of values outside the range seen."""
    for name, runs in found.items():
        yield at_most(f"ordinary rows flagged, {name}", MOST_FLAGGED, average(runs, "flagged"))
        yield at_least(f"wild values flagged, also after one was learned, {name}", 1.0, average(runs, "still"))


def of_drift(found: Found) -> Iterable[Target]:
    """Return the targets of the drifting streams."""
    for name in ("flip", "ds-abrupt"):
        yield at_least(f"worst 250 rows at .9, {name}", 0.85, average(found[name], "sets", "worst_window"))
