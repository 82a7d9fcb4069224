"""A walk along a stream whose answers come a little later."""

import numpy as np


def run(learner, X, Y, delay=3):
    """Walk along a stream, answers arriving a little later; returns the rows asked about."""
    asked, letters = [], []
    for i, x in enumerate(X):
        query = learner.query(x)
        if query.asked:
            learner.mark_pending(query)
            asked.append(i)
            letters.append((i + delay, query, np.where(query.labels, Y[i], np.nan)))
        else:
            learner.update(query, None)
        while letters and letters[0][0] <= i:
            learner.update(*letters.pop(0)[1:])
    return asked
