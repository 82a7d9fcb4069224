"""Twins of `active.loops.selection`: windows as lists, sorted anew at every row."""


def bundled(order, chosen, least):
    """The first labels of `order`: as many as are `chosen`, but at least `least`, or none."""
    return order[: max(chosen, least)] if chosen else []


def walk_quantile(S, tok, free, tau, least, kept):
    """The first row to ask about and its labels, by the ranks of its scores among those of the last `kept` rows."""
    n, K = S.shape
    for i in range(n):
        window = S[max(i - kept, 0) : i].ravel()
        order = sorted(range(K), key=lambda j, i=i: (-S[i, j], j))
        good = 0
        for rank, j in enumerate(order):
            if (window > S[i, j]).sum() + rank >= tok[i] * (len(window) + K) / K / tau:
                break
            good += 1
        labels = bundled(order, min(good, free[i]), least) if free[i] >= least else []
        if labels:
            return i, labels
    return n, []


def walk_tokens(R, weights, tok, free, unit, generosity, kept):
    """The first row to ask about, by its sum of ranks among those of the last `kept` rows."""
    n, sums = len(R), []
    for i in range(n):
        window = R[max(i - kept, 0) : i]
        wins = (R[i] > window).sum(axis=0) + 0.5 * (R[i] == window).sum(axis=0)
        score = float(weights @ wins / max(len(window), 1))
        above = sum(known > score + 1e-12 for known in sums[-kept:])
        if free[i] >= unit and above < generosity * tok[i] / unit * (len(window) + 1):
            return i
        sums.append(score)
    return n


def walk_thresholds(T, free, least, step, *, whole, most):
    """The first row in which a criterion fires, its labels, and the factor on scores, which grows up to `most`.

    `whole`: the first criterion scores samples and asks about all labels, the second one scores labels.
    """
    (n, _, K), ease = T.shape, 1.0
    for i in range(n):
        if free[i] >= least:
            largest = T[i, 1] if whole else T[i].max(axis=0)
            order = sorted(range(K), key=lambda j, largest=largest: (-largest[j], j))
            labels = bundled(order, min(int((largest * ease > 1.0).sum()), free[i]), least)
            if whole and T[i, 0, 0] * ease > 1.0 and free[i] >= K:
                labels = order
            if labels:
                return i, labels, ease
            ease = min(ease * (1.0 + step), most)
    return n, [], ease
