"""Tables of what threshold rules bring, from the files of the last runs: `python benchmarks/concept_tables.py`."""

from collections.abc import Callable, Iterable, Mapping
from statistics import mean, median, stdev
from typing import Any

from drift_streams import NINE, PLAIN, SENSORS
from drift_tables import if_measured, number, signed
from shared import result_files

from evolabel._utils.text import counted
from evolabel.words.markup import table

TITLES = {
    "agrawal0": "Agrawal 0",
    "agrawal2": "Agrawal 2",
    "agrawal4": "Agrawal 4",
    "agrawal6": "Agrawal 6 (linear)",
    "sine": "Sine",
    "mixed": "Mixed",
    "stagger": "STAGGER",
    "sea": "SEA, 5 % noise",
    "randomtree": "RandomTree (30 columns)",
    "led": "LED, 10 % noise",
    "waveform": "Waveform",
    "segments": "ImageSegments",
    "phishing": "Phishing",
    "xor": "XOR, 2 of 8",
    "xornoise": "XOR, 10 % of the labels flipped",
    "five": "five of 100 (F1)",
    "plant": "plant (F1)",
    "plantmove": "plant, edges move (F1)",
    "agrawal0to2": "Agrawal 0, then 2 from half on",
    "moving": "thresholds move at half",
}
WAYS = {"off": "without", "on": "with"}

Found = Mapping[str, Any]
"""Results of a part, by stream or set and by seed."""


def all_tables() -> str:
    """Return all tables for which there are results."""
    product, peers = (result_files.read_if_any(name, {}) for name in ("concepts", "concepts_peers"))
    parts: dict[str, Callable[[], str]] = {
        "Streams, means of the seeds": lambda: streams(product["streams"]),
        "Reading the rules": lambda: readings(product["reading"]),
        "The five data sets": lambda: sets(product["sets"]),
        "Drifting streams": lambda: drifts(product["drift"]),
        "A label that becomes its opposite at half": lambda: flips(product["flips"]),
        "Processor time": lambda: times(product["time"]),
        "Missing labels and features, weights (F1)": lambda: changes(product["missing"]),
        "With few labels answered": lambda: asking(product["asking"]),
        "Beside other learners, means of the seeds": lambda: beside_peers(peers["streams"], product.get("streams", {})),
    }
    return "\n\n".join(f"{title}\n\n{body}" for title, part in parts.items() if (body := if_measured(part)))


def seed_mean(runs: Mapping[str, Any], *keys: str) -> float:
    """Return the mean over the seeds in `runs` of the number that `keys` lead to."""
    values = []
    for run in runs.values():
        for key in keys:
            run = run[key]
        values.append(run)
    return mean(values)


def streams(found: Found) -> str:
    """Return scores over all rows and in the last quarter, with and without."""
    columns = [(way, key) for key in ("score", "last quarter") for way in WAYS]
    rows, cells = [], []
    for name, runs in found.items():
        values = [seed_mean(runs, way, key) for way, key in columns]
        cells.append(values)
        rows.append([TITLES[name], *map(number, values)])
    rows.append([f"**mean of {len(cells)}**", *(number(mean(column)) for column in zip(*cells, strict=True))])
    heads = [f"{key}{way}" for key in ("", "last quarter, ") for way in WAYS.values()]
    return table(["accuracy, or macro F1", *heads], rows)


def readings(found: Found) -> str:
    """Return true conditions, errors of edges in percent of the range, and rules per run."""
    rows = [[TITLES[name], *read(runs.values())] for name, runs in found.items()]
    rows.append(["**all**", *read(run for runs in found.values() for run in runs.values())])
    return table(["stream", "conditions that name a true feature", "edge error, median / mean, %", "rules"], rows)


def read(runs: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the cells of `runs`: true conditions, errors of edges, rules."""
    known = list(runs)
    errors = [error for run in known for error in run["errors"]]
    true, conditions = (sum(run[key] for run in known) for key in ("true", "conditions"))
    share = f" ({true / conditions:.1%})" if conditions else ""
    missed = f"{median(errors):.2f} / {mean(errors):.2f}" if errors else "-"
    return [f"{true} of {conditions}{share}", missed, f"{mean(run['rules'] for run in known):.1f}"]


def sets(found: Found) -> str:
    """Return PA and AP without and with, and their differences."""
    rows = []
    for name, runs in found.items():
        pairs = [" / ".join(number(seed_mean(runs, way, key)) for key in ("pa", "ap")) for way in WAYS]
        rows.append([name, *pairs, " / ".join(f"{lost:+.5f}" for lost in differences(runs, ("pa", "ap")))])
    return table(["PA / AP", *WAYS.values(), "difference"], rows)


def drifts(found: Found) -> str:
    """Return accuracy and that after a drift, without and with, by group of streams, and drifts that were seen."""
    rows = []
    groups = {"nine that drift": NINE, "the same without drift": PLAIN, "sensors or inputs move": SENSORS}
    for title, names in groups.items():
        runs = [run for name in names for run in found[name].values()]
        cells = [number(mean(run[way]["score"] for run in runs)) for way in WAYS]
        later = [run for run in runs if run["on"]["after"] is not None]
        cells += [number(mean(run[way]["after"] for run in later)) if later else "" for way in WAYS]
        rows.append([title, *cells, str(sum(run["on"]["drift"] for run in runs))])
    after = [f"after a drift, {way}" for way in WAYS.values()]
    return table(["accuracy", *WAYS.values(), *after, "drifts, with"], rows)


def flips(found: Found) -> str:
    """Return how often the label is right before and after it has changed, without and with, and when it is noticed."""
    windows = [key for key in next(iter(next(iter(found.values())).values()))["on"] if key != "drift"]
    rows = []
    for name, runs in found.items():
        cells = [number(seed_mean(runs, way, window)) for way in WAYS for window in windows]
        noticed = sorted(run["on"]["drift"] for run in runs.values() if run["on"]["drift"] is not None)
        cells.append(f"{noticed[0]} to {noticed[-1]} ({len(noticed)} of {len(runs)})" if noticed else "never")
        rows.append([TITLES[name].removesuffix(" (F1)"), *cells])
    heads = [f"{window}, {way}" for way in WAYS.values() for window in windows]
    return table(["share of right predictions", *heads, "drift, with"], rows)


def differences(runs: Mapping[str, Any], keys: Iterable[str]) -> list[float]:
    """Return for each of `keys` its mean with threshold rules minus that without."""
    return [seed_mean(runs, "on", key) - seed_mean(runs, "off", key) for key in keys]


def times(found: Found) -> str:
    """Return microseconds per row and the longest call, without and with."""
    rows = []
    for name, runs in found.items():
        (run,) = runs.values()
        off, on = run["off"], run["on"]
        more = on["us"] - off["us"]
        shown = [f"{off['us']:.1f}", f"{on['us']:.1f}", f"{more:.1f}", f"{more / off['us']:.2f}"]
        longest = [f"{off['longest_ms']:.2f}", f"{on['longest_ms']:.2f}"]
        rows.append([name, f"{run['features']} x {run['labels']}", *shown, *longest])
    heads = ["us per row, without", "with", "more", "more / without", "longest call, ms, without", "with"]
    return table(["stream", "features x labels", *heads], rows)


def changes(found: Found) -> str:
    """Return macro F1 over all rows and in the last quarter, by what was changed, without and with."""
    cases = next(iter(next(iter(found.values())).values()))
    columns = [(name, way) for name in found for way in WAYS]

    def cell(name: str, *keys: str) -> str:
        return " / ".join(number(seed_mean(found[name], *keys, key), 3) for key in ("score", "last quarter"))

    rows = [[case, *(cell(name, case, way) for name, way in columns)] for case in cases]
    heads = [f"{name}, {WAYS[way]}" for name, way in columns]
    return table(["all rows / last quarter", *heads], rows)


def asking(found: Found) -> str:
    """Return scores over all rows and in the last quarter by stream, budget, what is counted and how it is chosen."""
    first = next(iter(next(iter(found.values())).values()))
    ways = [(per, way) for way in ("random", "chosen") for per in ("labels", "samples")]
    rows = [
        [TITLES[name], f"{float(budget):.0%}"]
        + [
            " / ".join(number(seed_mean(runs, budget, per, way, key), 3) for key in ("score", "last quarter"))
            for per, way in ways
        ]
        for name, runs in found.items()
        for budget in first
    ]
    return table(["all rows / last quarter", "budget", *(f"{way} {per}" for per, way in ways)], rows)


def beside_peers(peers: Found, product: Found) -> str:
    """Return the scores of the `peers` and of the product by stream, means of the seeds that a stream has of both.

    The last row has the means of the differences, with their standard deviation over the seeds.
    """
    learners = list(dict.fromkeys(learner for runs in peers.values() for run in runs.values() for learner in run))
    rows = []
    for name, title in TITLES.items():
        both = {seed: run for seed, run in peers.get(name, {}).items() if seed in product.get(name, {})}
        own = [number(mean(product[name][seed][way]["score"] for seed in both)) if both else "" for way in WAYS]
        rows.append([title, *own, *(_mean_score(both or peers.get(name, {}), learner) for learner in learners)])
    if product:
        leads = (signed_leads(peers, product, learner) for learner in learners)
        rows.append(["**mean difference, with - peer**", "", "", *leads])
    return table(["accuracy, or macro F1", *WAYS.values(), *learners], rows)


def _mean_score(runs: Found, learner: str) -> str:
    """Return the mean score of `learner` in `runs` by seed as text, a dash where it has none."""
    scores = [run[learner]["score"] for run in runs.values() if learner in run]
    return number(mean(scores)) if scores else "-"


def whole_seeds(peers: Found) -> list[str]:
    """Return the seeds of which all of the streams of the `peers` have all learners."""
    runs = [(seed, set(run)) for by_seed in peers.values() for seed, run in by_seed.items()]
    every = set().union(*(learners for _, learners in runs))
    whole = [seed for seed, learners in runs if learners == every]
    return [seed for seed in dict.fromkeys(whole) if whole.count(seed) == len(peers)]


def signed_leads(peers: Found, product: Found, learner: str) -> str:
    """Return by how much the product is ahead of `learner` on the mean of the streams that a seed has of both."""
    by_seed: dict[str, list[float]] = {}
    for name, runs in peers.items():
        for seed, run in runs.items():
            if learner in run and seed in product.get(name, {}):
                by_seed.setdefault(seed, []).append(product[name][seed]["on"]["score"] - run[learner]["score"])
    if not by_seed:
        return "-"
    streams = max(map(len, by_seed.values()))
    leads = [mean(each) for each in by_seed.values() if len(each) == streams]  # a seed may be measured in part
    spread = f" ± {number(stdev(leads))}" if len(leads) > 1 else ""
    return f"{signed(mean(leads))}{spread} ({counted(streams, 'stream')}, {counted(len(leads), 'seed')})"


if __name__ == "__main__":
    print(all_tables())
