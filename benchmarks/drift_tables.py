"""Tables of how drift is followed, from the files of the last runs: `python benchmarks/drift.py --only-tables`."""

from collections.abc import Callable, Iterable
from statistics import mean, median, stdev
from typing import Any

from drift_streams import MORE, NINE, PLAIN, SENSORS
from shared import result_files

from evolabel.words.markup import table

GROUPS = {"nine": NINE, "plain": PLAIN, "more": MORE, "sensors": SENSORS}
KINDS = ("drift", "recovered", "settled", "renewed", "sensor moved", "inputs moved", "correction dropped")
SPANS = ("before", "200-500", "500-1000", "500-1500", "2000-3000")
FORMS = {"on": "follows", "off": "does not"}


def all_tables() -> str:
    """Return all tables for which there are results."""
    product, peers = (result_files.read_if_any(name, {}) for name in ("drift", "drift_peers"))
    parts: dict[str, Callable[[], str]] = {
        "Streams, means of the seeds": lambda: streams(product["streams"]),
        "The flipped label by itself": lambda: flipped(product["streams"]),
        "Rows until a drift is noticed": lambda: noticed(product["streams"]),
        "Thirty seeds": lambda: many_seeds(product["repeats"]),
        "Data sets, following minus not following": lambda: sets(product["sets"]),
        "A rare label that moves to the other tail": lambda: rare(product["rare"]),
        "Processor time and saved model": lambda: times(product["time"]),
        "With 10 % of the labels, or of the samples, answered": lambda: asking(product["asking"]),
        "River's learners, one seed": lambda: beside_peers(peers["streams"], product.get("streams", {})),
    }
    return "\n\n".join(f"{title}\n\n{body}" for title, part in parts.items() if (body := if_measured(part)))


def if_measured(part: Callable[[], str]) -> str:
    """Return the table that `part` makes, or nothing if its results are missing."""
    try:
        return part()
    except KeyError:
        return ""


# ---------------------------------------------------------------- numbers


def mean_of(runs: Iterable[dict[str, Any]], key: str) -> float | None:
    """Return the mean of `key` over `runs`, None if any run has none."""
    values = [run[key] for run in runs]
    return None if None in values else mean(values)


def group_mean(found: dict[str, Any], way: str, names: Iterable[str], key: str = "accuracy") -> float | None:
    """Return the mean of `key` over the streams `names` that have one; None if there is no such stream."""
    values = [value for name in names if (value := mean_of(found[name][way], key)) is not None]
    return mean(values) if values else None


KEYS = {"accuracy": "", "after": " after"}
"""Scores of a run, and what they add to the name of a group."""


def number(value: float | None, digits: int = 4) -> str:
    """Return `value` as text, "-" for None."""
    return "-" if value is None else f"{value:.{digits}f}"


def signed(value: float) -> str:
    return f"{value:+.4f}"


def delays(values: Iterable[int | None]) -> str:
    """Return the delays in rising order; "-" for every seed without one."""
    return ", ".join("-" if value is None else str(value) for value in sorted(values, key=lambda v: (v is None, v)))


# ---------------------------------------------------------------- tables


def streams(found: dict[str, Any]) -> str:
    """Return accuracy, accuracy after a drift and events per run, stream by stream and for every group."""
    heads = ["accuracy / after the drift", *FORMS.values(), ", ".join(KINDS)]

    def score(way: str, streams: Iterable[str]) -> str:
        return " / ".join(number(group_mean(found, way, streams, key)) for key in KEYS)

    rows = []
    for group, members in GROUPS.items():
        for name in members:
            kinds = [mean(run["events"].get(kind, 0) for run in found[name]["on"]) for kind in KINDS]
            cells = [score(way, [name]) for way in FORMS]
            rows.append([name, *cells, ", ".join(f"{kind:.1f}".removesuffix(".0") for kind in kinds)])
        rows.append([f"**mean of {group}**", *(score(way, members) for way in FORMS), ""])
    return table(heads, rows)


def flipped(found: dict[str, Any]) -> str:
    """Return the accuracy of the flipped label by rows after the flip, and the rows until its two events."""
    rows = []
    for way, title in FORMS.items():
        runs = [run["flipped"] for run in found["flip"][way]]
        spans = [number(mean_of(runs, span), 3) for span in SPANS]
        rows.append([title, *spans, *(delays(run[k] for run in runs) for k in KINDS[:2])])
    return table(["rows after the flip", *SPANS, "drift after rows", "recovered after rows"], rows)


def noticed(found: dict[str, Any]) -> str:
    """Return, by kind of event, how many drifts of all seeds have one, and its median delay and range."""
    drifting = {name: runs for name, ways in found.items() if "noticed" in (runs := ways["on"])[0]}
    kinds = list(next(iter(drifting.values()))[0]["noticed"]) if drifting else []
    rows = []
    for name, runs in drifting.items():
        delays = {kind: [delay for run in runs for delay in run["noticed"][kind]] for kind in kinds}
        rows.append([name, str(len(delays[kinds[0]])), *map(spread, delays.values())])
    return table(["stream", "drifts", *kinds], rows) if rows else ""


def spread(delays: list[int | None]) -> str:
    """Return how many `delays` there are beside None, their median, least and largest, as text."""
    found = [delay for delay in delays if delay is not None]
    return f"{len(found)}: {median(found):.0f} ({min(found)} to {max(found)})" if found else "-"


def many_seeds(found: dict[str, Any]) -> str:
    """Return accuracy on minus off with its standard error and false "drift" events; delays of the flipped label."""
    rows = []
    for name in PLAIN:
        on, off = ([run["accuracy"] for run in found[name][way]] for way in FORMS)
        gains = [a - b for a, b in zip(on, off, strict=True)]
        drifts = sum(run["events"].get("drift", 0) for run in found[name]["on"])
        error = stdev(gains) / len(gains) ** 0.5
        rows.append([name, number(mean(on)), number(mean(off)), f"{signed(mean(gains))} +- {error:.4f}", str(drifts)])
    runs = [run["flipped"] for run in found["flip"]["on"]]
    lines = [f'Flipped label, rows until "{kind}": {delays(run[kind] for run in runs)}.' for kind in KINDS[:2]]
    heads = ["stream", "follows", "does not", "difference", f'"drift" in {len(runs)} runs']
    return "\n\n".join([table(heads, rows), *lines])


def sets(found: dict[str, Any]) -> str:
    """Return differences in PA and AP, and "drift" events, set by set."""
    rows = []
    for kind, by_name in found.items():
        for name, ways in by_name.items():
            cells = [signed(difference(ways, key)) for key in ("pa", "ap", "pa second half")]
            drifts = sum(run["events"].get("drift", 0) for run in ways["on"])
            rows.append([name, kind, *(number(mean_of(ways["on"], key)) for key in ("pa", "ap")), *cells, str(drifts)])
    heads = ["set", "labels", "PA", "AP", "PA, on - off", "AP, on - off", "PA of the second half, on - off"]
    return table([*heads, '"drift" in all runs'], rows)


def difference(ways: dict[str, Any], key: str) -> float:
    """Return the mean of `key` with following drift minus that without."""
    return mean(run[key] for run in ways["on"]) - mean(run[key] for run in ways["off"])


def rare(found: dict[str, Any]) -> str:
    """Return rows until "drift" for every seed, and false "drift" events per 10,000 rows, by share of the label."""
    rows = []
    for share, runs in found.items():
        noticed = [value for value in runs["delay"] if value is not None]
        false = [number(mean(runs[key]), 1) for key in ("false", "false of other labels")]
        rows.append([f"{float(share):.1%}", f"{len(noticed)} of {len(runs['delay'])}", delays(noticed), *false])
    heads = ["share", '"drift" found', "after rows", 'false "drift" per 10,000 rows', "of the four other labels"]
    return table(heads, rows)


def times(found: list[dict[str, Any]]) -> str:
    """Return microseconds per row and bytes of the saved model, on and off."""
    rows = [
        [
            row["stream"],
            f"{row['features']} x {row['labels']}",
            *(str(row[key]) for key in ("us_off", "us_on", "ratio")),
            *(f"{row[key]:,}" for key in ("bytes_off", "bytes_on")),
            f"{row['bytes_on'] / row['bytes_off']:.2f}",
        ]
        for row in found
    ]
    heads = ["stream", "features x labels", "us per row, off", "on", "ratio", "bytes saved, off", "on", "ratio"]
    return table(heads, rows)


def asking(found: dict[str, Any]) -> str:
    """Return accuracy and "drift" events per run of each way to ask."""
    ways = list(found["flip"])
    rows = [
        [name, *(number(mean_of(runs[way], key), 3) for way in ways for key in ("accuracy", "drift"))]
        for name, runs in found.items()
    ]
    for way, runs in found["flip"].items():
        noticed = [delays(run[key] for run in runs) for key in ("answers", "rows")]
        rows.append([f'flip, {way}: answers; rows until "drift"', *noticed, *[""] * (2 * len(ways) - 2)])
    for title, names in (("mean of the nine", NINE), ("mean of the plain ones", PLAIN)):
        means = [group_mean(found, way, names, key) for way in ways for key in ("accuracy", "drift")]
        rows.append([title, *(number(value) for value in means)])
    return table(["stream", *(head for way in ways for head in (way, '"drift"'))], rows)


def beside_peers(peers: dict[str, Any], product: dict[str, Any]) -> str:
    """Return accuracy and accuracy after a drift of every peer, and of the product's first seed, which is theirs."""
    learners = list(dict.fromkeys(learner for found in peers.values() for learner in found))
    by_stream = {
        name: found | ({"follows": product[name]["on"][0]} if name in product else {}) for name, found in peers.items()
    }

    def score(learner: str, names: Iterable[str]) -> str:
        runs = [by_stream[name][learner] for name in names if learner in by_stream.get(name, {})]
        after = [run["after"] for run in runs if run["after"] is not None]
        return f"{mean(r['accuracy'] for r in runs):.3f} / {number(mean(after) if after else None, 3)}" if runs else ""

    columns = (["follows"] if product else []) + learners
    rows = []
    for group, members in GROUPS.items():
        rows += [[name, *(score(learner, [name]) for learner in columns)] for name in members if name in peers]
        alike: dict[tuple[str, ...], list[str]] = {}  # a learner that lacks streams is compared on those that it has
        for learner in learners:
            alike.setdefault(tuple(name for name in members if learner in peers.get(name, {})), []).append(learner)
        for names, same in alike.items():
            shown = [score(learner, names) if learner in ("follows", *same) else "" for learner in columns]
            rows += [[f"**mean of {len(names)} of {group}**", *shown]] if names else []
    return table(["accuracy / after the drift", *columns], rows)
