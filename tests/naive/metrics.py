"""Twins of `evolabel.evaluate.metrics`: every metric once more, sample by sample and pair by pair."""

import math


def value(metric, samples, weights=None):
    """The value of a plain metric over weighted samples, by the book."""
    weights = [1.0] * len(samples) if weights is None else weights
    if metric.name in BY_LABEL:
        return by_label(metric, samples, weights)
    counted = [(w, metric_of(metric, annotated(y, s))) for w, (y, s) in zip(weights, samples, strict=True)]
    counted = [(w, found) for w, found in counted if found is not None]
    if not counted:
        return math.nan
    part, whole = (sum(w * found[i] for w, found in counted) for i in (0, 1))
    return part / whole if whole else 0.0


def skipped(metric, samples):
    """How many samples a plain metric skips."""
    return sum(metric_of(metric, annotated(y, s)) is None for y, s in samples)


def annotated(y, s):
    return [(bool(label), float(score)) for label, score in zip(y, s, strict=True) if not math.isnan(label)]


def metric_of(metric, pairs):
    """(part, whole) of one sample, or None where it is skipped."""
    if not pairs:
        return None
    if metric.name == "AP":
        return precision(pairs, metric.count_empty)
    return BY_NAME[metric.name](pairs)


def precision(pairs, count_empty):
    on = [score for label, score in pairs if label]
    if not on:
        return (1, 1) if count_empty else None
    shares = [sum(other >= score for other in on) / sum(other >= score for _, other in pairs) for score in on]
    return sum(shares) / len(on), 1


def ranking_loss(pairs):
    wrong = [off >= on for is_on, on in pairs if is_on for is_off, off in pairs if not is_off]
    return (sum(wrong) / len(wrong) if wrong else 0), 1


def one_error(pairs):
    top = max(score for _, score in pairs)
    return (any(score == top and not label for label, score in pairs), 1) if any(label for label, _ in pairs) else None


def coverage(pairs):
    return max((sum(other >= score for _, other in pairs) for label, score in pairs if label), default=0), 1


def counts(pairs):
    """Twice the true positives, and true plus predicted labels."""
    return (
        2 * sum(label and score >= 0.5 for label, score in pairs),
        sum(label + (score >= 0.5) for label, score in pairs),
    )


def example_f1(pairs):
    hits, size = counts(pairs)
    return (hits / size if size else 0), 1


BY_NAME = {
    "set coverage": lambda pairs: (sum(s == 0.5 or (s > 0.5) == label for label, s in pairs), len(pairs)),
    "set size": lambda pairs: (sum(1 + (s == 0.5) for _, s in pairs), len(pairs)),
    "PA": lambda pairs: (sum((score >= 0.5) == label for label, score in pairs), len(pairs)),
    "Hamming loss": lambda pairs: (sum((score >= 0.5) != label for label, score in pairs), len(pairs)),
    "subset accuracy": lambda pairs: (all((score >= 0.5) == label for label, score in pairs), 1),
    "example F1": example_f1,
    "micro F1": counts,
    "macro F1": counts,  # only to find which samples count
    "balanced accuracy": counts,
    "ranking loss": ranking_loss,
    "one-error": one_error,
    "coverage": coverage,
}


def f1(column):
    hits, size = (sum(w * counts([pair])[i] for w, pair in column) for i in (0, 1))
    return hits / size if size else 0.0


def mean_recall(column):
    recalls = []
    for value in (True, False):
        there = [(w, (score >= 0.5) == label) for w, (label, score) in column if label == value]
        if sum(w for w, _ in there):
            recalls.append(sum(w * right for w, right in there) / sum(w for w, _ in there))
    return sum(recalls) / len(recalls) if recalls else 0.0


BY_LABEL = {"macro F1": f1, "balanced accuracy": mean_recall}


def by_label(metric, samples, weights):
    """The mean over the labels of a measure of each label's weighted pairs."""
    values = []
    for label in range(max(len(y) for y, _ in samples)):
        column = [
            (w, annotated(y[label : label + 1], s[label : label + 1])[0])
            for w, (y, s) in zip(weights, samples, strict=True)
            if label < len(y) and not math.isnan(y[label])
        ]
        if column:
            values.append(BY_LABEL[metric.name](column))
    return sum(values) / len(values) if values else math.nan
