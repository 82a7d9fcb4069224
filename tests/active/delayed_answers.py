"""One pass over a stream whose answers arrive late."""

import numpy as np


def run(learner, X, Y, delay=3):
    """Return the rows asked about in one pass over a stream; answers arrive `delay` rows late."""
    asked, waiting = [], []
    for i, x in enumerate(X):
        query = learner.query(x)
        if query.asked:
            learner.mark_pending(query)
            asked.append(i)
            waiting.append((i + delay, query, np.where(query.labels, Y[i], np.nan)))
        else:
            learner.update(query, None)
        while waiting and waiting[0][0] <= i:
            learner.update(*waiting.pop(0)[1:])
    return asked
