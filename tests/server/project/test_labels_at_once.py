"""Samples whose labels come with them: the answer to the next one counts the last labels, and the log repeats it."""

import numpy as np

from evolabel.server.project import operations
from server.conftest import on_sqlite
from server.pumps import ANNA, call, proven, samples


def lasting(n):
    """Samples with labels that have nothing to do with their values, and last for 15 samples."""
    state = np.repeat(np.random.default_rng(0).integers(0, 2, n // 15 + 1), 15)[:n].tolist()
    return [
        {**sample, "y": {"leak": bool(on), "wear": not on}} for (sample, _), on in zip(samples(n), state, strict=True)
    ]


@on_sqlite
def test_labels_that_last_are_predicted_by_the_last_ones(database, start):
    service = start(database)
    worker, stream = service.workers["pumps"], lasting(420)
    results = call(worker, operations.send_samples, stream, ANNA)["results"]
    right = [("leak" in r["labels"]) == s["y"]["leak"] for r, s in zip(results, stream, strict=True)]
    surest = [r["prediction"]["leak"] if s["y"]["leak"] else 1.0 - r["prediction"]["leak"]
              for r, s in zip(results, stream, strict=True)]  # fmt: skip
    assert np.mean(right[200:]) > 0.85
    assert np.mean(surest[200:]) > 0.75
    with service.reader.connect() as connection:
        proven(connection)
    later = call(worker, operations.predict_samples, [{"x": stream[0]["x"]}])["results"][0]
    assert ("leak" in later["labels"]) == stream[-1]["y"]["leak"]
