"""Crafted model files: valid files with a right checksum whose arrays or facts were changed.

Run as a script, in a process of its own, so that a crash is a failed test: `crafted_files.py GROUP SEED CASES FOLDER`.
Each case prints its number before it starts; those that end in anything but a working model or ModelFileError are
printed as lines of JSON.
"""

import copy
import json
import sys
import traceback
import warnings
from pathlib import Path

import numpy as np

from evolabel import EvolvingFuzzyClassifier
from evolabel.active import ActiveLearner, AnnotatorPool
from evolabel.errors import ModelFileError
from evolabel.persistence.model_file import read_model_file, write_model_file
from evolabel.streams import DriftingStream

STREAM = DriftingStream(n_features=4, n_labels=3, n_regions=3, drift_every=0, seed=3).take(200)
MEMORY = 4 << 30  # bytes of address space a case may need beyond those at the start

# ------------------------------------------------------------------ files to begin with


def fitted(**parameters):
    X, Y = STREAM
    return EvolvingFuzzyClassifier(**{"max_rules": 5, **parameters}).fit(X[:80], Y[:80]).partial_fit(X[80:93], Y[80:93])


def warming():
    X, Y = STREAM[0][:8].copy(), STREAM[1][:8].copy()
    X[1, 2] = Y[2, 0] = np.nan
    return EvolvingFuzzyClassifier(max_rules=5, warm_up=10).partial_fit(X, Y, sample_weight=np.arange(1.0, 9.0))


def classes():
    X, Y = STREAM
    target = np.array(["ash", "birch", "cedar"])[(Y[:, 0] + Y[:, 1]).astype(int)]
    return EvolvingFuzzyClassifier(max_rules=5).fit(X[:80], target[:80])


def edited():
    classifier = fitted(max_rules=8).name_columns(["heat", "flow", "load", "age"], ["rain", "snow", "wind"])
    book, rules = classifier.rulebook, [rule.identity for rule in classifier.rules_]
    book.lock(rules[0])
    book.rename(rules[1], "corner")
    book.add("IF heat IS high THEN rain LIKELY")
    book.merge(rules[1], rules[2])
    book.delete(rules[3])
    return classifier


def walked(learner, rows=range(93, 150)):
    X, Y = STREAM
    for i in rows:
        query = learner.query(X[i])
        if query.asked and i % 3 == 0:
            learner.mark_pending(query)
        elif query.asked:
            learner.update(query, [Y[i], 1.0 - Y[i]], ["anna", "bob"]) if i % 3 == 1 else learner.update(query, Y[i])
        else:
            learner.update(query)
    return learner


def learner(budget=0.3, per="samples", classifier=None, **parameters):
    return walked(
        ActiveLearner(classifier or fitted(), budget, per, annotators=AnnotatorPool({"zoe": 0.5}), **parameters)
    )


GROUPS = {
    "classifiers": {
        "default": fitted,
        "warming": warming,
        "paper": lambda: EvolvingFuzzyClassifier.paper(max_rules=5).fit(STREAM[0][:80], STREAM[1][:80]),
        "classes": classes,
        "edited": edited,
        "thresholds": lambda: fitted(optimise="macro_f1"),
        "micro_f1": lambda: fitted(scaling="none", optimise="micro_f1"),
        "balanced": lambda: fitted(optimise="balanced"),
        "sets": lambda: fitted(optimise="subset_accuracy"),
        "class_weight": lambda: fitted(class_weight={"label0": 3}),
        "sibling": lambda: fitted().sibling(),
    },
    "learners": {
        "samples": learner,
        "labels": lambda: learner(per="labels", credit=3),
        "paper": lambda: learner(classifier=EvolvingFuzzyClassifier.paper(max_rules=5).fit(*(p[:80] for p in STREAM))),
        "tokens": lambda: learner(criteria=("leverage", "ambiguity"), selection="tokens"),
        "variable": lambda: walked(ActiveLearner.paper(fitted(), 0.3, "labels")),
        "random": lambda: learner(criteria="ambiguity", selection="random"),
        "warming": lambda: walked(ActiveLearner(warming(), 0.1), range(8, 20)),
    },
}

# ------------------------------------------------------------------ changes

NUMBERS = (
    np.nan,
    np.inf,
    -np.inf,
    -1,
    0,
    1,
    2,
    7,
    31,
    500,
    0.5,
    1e6,
    1e30,
    1e99,
    1e200,
    1e300,
    -1e300,
    1e-300,
    2.0**62,
)
VALUES = (
    None, True, False, -1, 0, 1, 2, 7, 10**6, 10**12, 2**60, 10**30, 0.5, -0.5, 1e-300, 1e300, "", "inf", "label0",
    "0x1p+0", "0x0p+0", "-0x1p+3", "0x1p-1070", "nan", [], [1], ["a"], [[]], {}, {"a": 1}, {"0": "a"},
)  # fmt: skip
DTYPES = ("float32", "float16", "int32", "int64", "float64", "uint8", "bool")


def placed(array, rng):
    """One entry, some entries or all of them are another number."""
    new, value = array.copy(), rng.choice(NUMBERS)
    share = rng.choice([0.0, 0.2, 1.0])
    mask = rng.random(new.shape) < share
    if new.size and not mask.any():
        mask.flat[rng.integers(new.size)] = True
    new[mask] = value
    return new


def scaled(array, rng):
    factor = rng.choice([-1.0, 0.0, 0.9, 1.1, 10.0, 1e-10, 1e10])
    return (array * factor).astype(array.dtype)


def noisy(array, rng):
    noise = rng.choice([0.01, 1.0, 100.0]) * rng.standard_normal(array.shape)
    return (array + noise).astype(array.dtype) if array.dtype != bool else ~array


def shuffled(array, rng):
    return rng.permutation(array.ravel()).reshape(array.shape)


def turned(array, rng):
    return np.flip(array, axis=rng.integers(array.ndim)) if array.ndim else array


def transposed(array, rng):
    return array.swapaxes(0, -1) if array.ndim > 1 else array[None]


def cut(array, rng):
    if not array.ndim:
        return array.reshape(1)
    axis = int(rng.integers(array.ndim))
    return array.take(range(int(rng.integers(array.shape[axis] + 1))), axis)


def longer(array, rng):
    if not array.ndim:
        return np.stack([array, array])
    axis = int(rng.integers(array.ndim))
    return np.concatenate([array, array], axis)


def retyped(array, rng):
    return array.astype(rng.choice(DTYPES))


def reshaped(array, rng):
    return array.reshape(-1) if rng.random() < 0.5 else array[..., None]


CHANGES = (placed, placed, placed, placed, scaled, noisy, shuffled, turned, transposed, cut, longer, retyped, reshaped)


def change_array(arrays, rng):
    """Change, drop, add or swap an array; returns what was done."""
    names = sorted(arrays)
    name, way = str(rng.choice(names)), rng.random()
    if way < 0.04:
        del arrays[name]
        return f"{name} missing"
    if way < 0.08:
        arrays[name + rng.choice(["x", ".x"])] = arrays[name]
        return f"{name}x extra"
    if way < 0.16:
        other = str(rng.choice(names))
        arrays[name], arrays[other] = arrays[other], arrays[name]
        return f"{name} and {other} swapped"
    change = CHANGES[rng.integers(len(CHANGES))]
    arrays[name] = np.array(change(arrays[name], rng), order="C")
    return f"{name} {change.__name__}"


def places(value, path=()):
    """Paths of all facts."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in inner:
        yield (*path, key)
        yield from places(part, (*path, key))


def change_fact(manifest, rng):
    """Change, drop or add a fact; returns what was done."""
    paths = [path for path in places(manifest) if path[0] != "schema"]
    deep = [path for path in paths if "events" not in path]  # there are many of them
    pool = paths if rng.random() < 0.1 else deep
    chosen = pool[rng.integers(len(pool))]
    *above, key = chosen
    holder = manifest
    for step in above:
        holder = holder[step]
    way, old = rng.random(), holder[key]
    if way < 0.08:
        del holder[key]
        return f"{chosen} missing"
    if way < 0.12:
        holder.append(copy.deepcopy(old)) if isinstance(holder, list) else holder.update(extra=old)
        return f"{chosen} twice"
    if way < 0.3 and isinstance(old, int | float) and not isinstance(old, bool):
        holder[key] = old + int(rng.choice([-2, -1, 1, 2, 100]))
    else:
        holder[key] = copy.deepcopy(VALUES[rng.integers(len(VALUES))])
    return f"{chosen} = {str(holder[key])[:40]}"


def crafted(arrays, manifest, rng):
    """Other arrays and another manifest with one or two changes, and what was done."""
    arrays, manifest, done = dict(arrays), copy.deepcopy(manifest), []
    for _ in range(rng.integers(1, 3)):
        change = change_array(arrays, rng) if rng.random() < 0.65 and arrays else change_fact(manifest, rng)
        done.append(change)
    return arrays, manifest, "; ".join(done)


# ------------------------------------------------------------------ use


def use_classifier(classifier, path):
    """All that a working model can do. Its outputs are finite, as long as options are those of a sound model."""
    warming = classifier.inner.any_model.warm_up is not None
    X, Y = STREAM[0][150:175], STREAM[1][150:175]
    X = np.ascontiguousarray(np.resize(X, (25, classifier.n_features_in_)))
    known = classifier.classes_
    Y = known[np.arange(25) % len(known)] if known.ndim == 1 else np.resize(Y, (25, len(known)))
    for rows in (X[:1], X, np.tile(X, (4, 1))):
        assert np.isfinite(classifier.decision_function(rows)).all(), "outputs are not finite"
    classifier.predict(X)
    classifier.predict_proba(X)
    if not warming and classifier.n_rules_:
        str(classifier.explain(X[0]))
        [str(rule) for rule in classifier.rules_]
        assert not np.isnan(classifier.thresholds_).any()
        str(classifier.relevance_)
        while classifier.inner.any_model.journal:
            classifier.rulebook.undo()
    X = np.where(np.arange(X.size).reshape(X.shape) % 17 == 3, np.nan, X)
    X[np.isnan(X).all(axis=1)] = 0.0
    classifier.partial_fit(X[:1], Y[:1])
    classifier.partial_fit(X, Y)
    assert warming or np.isfinite(classifier.decision_function(X)).all(), "outputs are not finite any more"
    classifier.save(path)


def use_learner(learner, path):
    """All that a working learner can do."""
    p, K = learner.classifier.n_features_in_, len(learner.classifier.label_names_)
    X, Y = np.resize(STREAM[0][150:], (50, p)), np.resize(STREAM[1][150:], (50, K))
    assert np.isfinite(learner.predict(X)).all()
    for query in list(learner.pending.values())[:3]:
        learner.update(query, np.where(query.labels, 1.0, np.nan))
    for x, y in zip(X[:25], Y, strict=False):
        query = learner.query(x)
        assert np.isfinite(query.prediction).all(), "outputs are not finite"
        learner.mark_pending(query) if query.asked and learner.bucket.seen % 2 else learner.update(
            query, y if query.asked else None, "anna" if query.asked else None
        )
        assert learner.bucket.asked <= learner.bucket.limit(K, 0)
    learner.next_query(X[25:])
    repr(learner), learner.bucket.share
    learner.save(path)


def run_case(load, use, path):
    """How a crafted file ends: "works", "refused", or what went wrong."""
    try:
        model = load(path)
    except ModelFileError as error:
        return "refused" if "\n" not in str(error) and str(path) in str(error) else f"message: {error}"
    except BaseException:
        return "load: " + traceback.format_exc()
    try:
        use(model, path)
    except BaseException:
        return "use: " + traceback.format_exc()
    return "works"


def main(group, seed, cases, folder):
    path, load = Path(folder, "model"), EvolvingFuzzyClassifier.load if group == "classifiers" else ActiveLearner.load
    use, files = use_classifier if group == "classifiers" else use_learner, {}
    warnings.simplefilter("ignore")  # a crafted number may overflow; what counts is how the case ends
    for kind, make in GROUPS[group].items():
        make().save(path)
        files[kind] = read_model_file(path)
        assert run_case(load, use, path) == "works", kind
    limit_memory()
    counts = {"works": 0, "refused": 0, "failed": 0}
    for case in range(int(cases)):
        rng = np.random.default_rng([int(seed), case])
        kind = sorted(files)[case % len(files)]
        told(f"case {case} ({kind})")
        with np.errstate(all="ignore"):
            arrays, manifest, done = crafted(*files[kind], rng)
            write_model_file(path, arrays, manifest)
            ended = run_case(load, use, path)
        counts[ended if ended in counts else "failed"] += 1
        if ended not in counts:
            told(json.dumps({"case": case, "kind": kind, "done": done, "ended": ended}))
    told(json.dumps(counts))


def told(line):
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def limit_memory():
    """A huge allocation is a MemoryError, whatever the machine has."""
    import resource

    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, resource.RLIM_INFINITY))


if __name__ == "__main__":
    main(*sys.argv[1:])
