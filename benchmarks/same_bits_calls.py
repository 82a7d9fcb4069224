"""Public calls whose outputs two commits must share bit for bit; `same_bits.py` runs this script once per commit.

    python benchmarks/same_bits_calls.py FILE        # writes every output to FILE, an .npz archive

Public names that were renamed stand in `RENAMED`, so that one script runs with the code from before and after. Only the
public packages are imported, because modules move. Every group of calls is a function; an error in it is an output too.
The groups "answers at random" need river, and for the sets EVOLABEL_DATA.
"""

import inspect
import sys
import tempfile
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

RENAMED = {
    "next_query": ("watch",),
    "mark_pending": ("pend",),
    "antecedent_rate": ("mobility",),
    "error_feedback": ("echo",),
    "FeedbackClassifier": ("EchoingClassifier",),
}
"""Public names (functions, classes, keywords, attributes) by what they were called before, newest first."""

INITIAL, STREAM, QUERIES = 300, 1500, 400
ROW_COUNTS = (1, 15, 64, 1000)  # either side of the limits where another kernel answers
CRITERIA = ("uncertainty", "variance_reduction")

Profile = Callable[..., Any]  # a class or a class method that makes a classifier
Outputs = Iterator[tuple[str, Any]]


def main() -> None:
    """Run every group with every profile and write the outputs to the file named on the command line."""
    found: dict[str, np.ndarray] = {}
    for group, outputs in groups():
        try:
            for name, value in outputs:
                found[f"{group}/{name}"] = np.asarray(value)
        except Exception as error:
            found[f"{group}/error"] = np.array(f"{type(error).__name__}: {error}")
    np.savez(sys.argv[1], **found)


def groups() -> Iterator[tuple[str, Outputs]]:
    """Yield the name of each group of calls and its outputs, which are computed as they are read."""
    from evolabel import EvolvingFuzzyClassifier

    profiles: dict[str, Profile] = {"default": EvolvingFuzzyClassifier, "paper": EvolvingFuzzyClassifier.paper}
    for profile, make in profiles.items():
        for group, calls in CALLS.items():
            yield f"{profile}, {group}", calls(make)
    parameters = EvolvingFuzzyClassifier().get_params()  # earlier commits do not have all of them
    for name, changes in SETTINGS.items():
        known = {parameter: value for parameter, value in changes.items() if parameter in parameters}
        yield f"settings, {name}", learned(EvolvingFuzzyClassifier, **known)
    for name, changes in PAPER_SETTINGS.items():
        yield f"settings, {name}", learned(alone(), **{**PLAIN, **changes})
    yield "wide, stream", learned(EvolvingFuzzyClassifier, wide=True)
    yield "wide, queries", queried(EvolvingFuzzyClassifier, "labels", wide=True)
    for name, calls in OTHERS.items():
        yield f"others, {name}", calls()
    for name in AT_RANDOM:
        yield f"answers at random, {name}", at_random(name)


def alone() -> Profile:
    """Return what makes classifiers with the parameters of the paper's formulas, without members and threshold rules.

    Before there was a PaperClassifier, the default one had these parameters, too; earlier commits do not have all.
    """
    try:
        from evolabel.paper import PaperClassifier
    except ImportError:
        from evolabel import EvolvingFuzzyClassifier

        known = EvolvingFuzzyClassifier().get_params()
        absent = {"follow_drift": False, "threshold_rules": False}
        return lambda **given: EvolvingFuzzyClassifier(
            **{name: value for name, value in {**given, **absent}.items() if name in known}
        )
    return PaperClassifier


# ---------------------------------------------------------------------- names


def current(owner: Any, name: str) -> Any:
    """Return the attribute `name` of `owner`, or the one it was called before."""
    for each in (name, *RENAMED.get(name, ())):
        if hasattr(owner, each):
            return getattr(owner, each)
    raise AttributeError(f"{owner!r} has neither {name} nor {RENAMED.get(name)}; add its new name to RENAMED")


def keywords(function: Callable[..., Any], **values: Any) -> dict[str, Any]:
    """Return `values` under the names that `function` has for them."""
    known = inspect.signature(function).parameters
    return {next(n for n in (name, *RENAMED.get(name, ())) if n in known): value for name, value in values.items()}


# ---------------------------------------------------------------------- data


def stream(n: int = INITIAL + STREAM, *, wide: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Return the first `n` rows and labels of a drifting stream of 8 features and 5 labels, or of 40 and 20."""
    from evolabel.streams import DriftingStream

    size = {"n_features": 40, "n_labels": 20} if wide else {"n_features": 8, "n_labels": 5}
    return DriftingStream(seed=7, **size).take(n)


def with_gaps(values: np.ndarray, share: float) -> np.ndarray:
    """Return a copy of `values` in which `share` of the cells is NaN."""
    holes = np.random.default_rng(1).random(values.shape) < share
    return np.where(holes, np.nan, values)


def trained(make: Profile, n: int = 600, *, wide: bool = False, **changes: Any) -> Any:
    """Return a classifier that has learned the first `n` rows of the stream."""
    X, Y = stream(n, wide=wide)
    clf = make(**changes).fit(X[:INITIAL], Y[:INITIAL])
    return clf.partial_fit(X[INITIAL:], Y[INITIAL:])


# ---------------------------------------------------------------------- the classifier


def facts(clf: Any) -> Outputs:
    """Yield what a trained classifier shows of itself."""
    for name in ("n_rules_", "n_samples_seen_", "ridge_", "local_ridge_", "thresholds_"):
        yield name, getattr(clf, name)
    rules = clf.rules_
    for name in ("centre", "low", "high", "weights", "label_shares", "support", "born", "last_won", "fidelity"):
        yield f"rules.{name}", np.array([getattr(rule, name) for rule in rules])
    yield "events", np.array([event.sample for event in clf.events_])


def answers(clf: Any, *, wide: bool = False) -> Outputs:
    """Yield outputs of 1, 15, 64 and 1000 rows, with and without gaps, and all that follows from outputs."""
    X, _ = stream(wide=wide)
    for n in ROW_COUNTS:
        yield f"decision_function of {n}", clf.decision_function(X[-n:])
        yield f"decision_function of {n} with gaps", clf.decision_function(with_gaps(X[-n:], 0.2))
    yield "row by row", np.array([clf.decision_function(x[None]) for x in X[-50:]])
    yield "predict", clf.predict(X[-100:])
    yield "predict_proba", clf.predict_proba(X[-100:])
    yield "memberships", clf.memberships(X[-100:])
    explained = clf.explain(X[-1])
    yield "explain.contributions", explained.contributions
    yield "explain.distances", explained.distances


def learned(make: Profile, *, wide: bool = False, **changes: Any) -> Outputs:
    """Yield the outputs of test-then-train, all at once and row by row, and of the model that remains."""
    X, Y = stream(wide=wide)
    clf = make(**changes).fit(X[:INITIAL], Y[:INITIAL])
    yield "test_then_train", clf.test_then_train(X[INITIAL:], Y[INITIAL:])
    yield from facts(clf)
    yield from answers(clf, wide=wide)
    yield (
        "test_then_train by row",
        np.array([clf.test_then_train(x[None], y[None]) for x, y in zip(X[:40], Y[:40], strict=True)]),
    )


def gaps(make: Profile) -> Outputs:
    """Yield outputs of a model that learns rows with missing features."""
    X, Y = stream()
    X = with_gaps(X, 0.15)
    clf = make().fit(X[:INITIAL], Y[:INITIAL])
    yield "test_then_train", clf.test_then_train(X[INITIAL:], Y[INITIAL:])
    yield from answers(clf)


def partial_labels(make: Profile) -> Outputs:
    """Yield outputs of a model that learns rows of which some labels are not annotated."""
    X, Y = stream()
    Y = with_gaps(Y, 0.4)
    clf = make().fit(X[:INITIAL], Y[:INITIAL])
    yield "test_then_train", clf.test_then_train(X[INITIAL:], Y[INITIAL:])
    yield from facts(clf)


def weighted(make: Profile) -> Outputs:
    """Yield outputs of a model that learns with sample weights, with confidences, and with both."""
    X, Y = stream()
    rng = np.random.default_rng(2)
    weights, confidence = rng.random(len(X)) * 2, rng.random(Y.shape)
    confidence[rng.random(Y.shape) < 0.1] = 0.0
    for name, given in (
        ("weights", {"sample_weight": weights}),
        ("confidence", {"confidence": confidence}),
        ("both", {"sample_weight": weights, "confidence": confidence}),
    ):
        first, then = ({k: v[part] for k, v in given.items()} for part in (slice(INITIAL), slice(INITIAL, None)))
        clf = make().fit(X[:INITIAL], Y[:INITIAL], **first)
        yield f"test_then_train, {name}", clf.test_then_train(X[INITIAL:], Y[INITIAL:], **then)
        yield f"decision_function, {name}", clf.decision_function(X[:100])


def cold(make: Profile) -> Outputs:
    """Yield outputs of a model that starts without an initial batch, and of labels that appear later."""
    X, Y = stream()
    clf = make()
    yield "first labels", clf.test_then_train(X[:400], Y[:400, :3])
    yield "more labels", clf.test_then_train(X[400:800], Y[400:800])
    yield from facts(clf)


def classes(make: Profile) -> Outputs:
    """Yield outputs for a one-dimensional target of three classes."""
    X, Y = stream()
    y = np.array(["a", "b", "c"])[(Y[:, 0] + Y[:, 1]).astype(int)]
    clf = make().fit(X[:INITIAL], y[:INITIAL])
    yield "test_then_train", clf.test_then_train(X[INITIAL:], y[INITIAL:])
    yield "predict_proba", clf.predict_proba(X[:100])


def edited(make: Profile) -> Outputs:
    """Yield outputs after every edit of the rules by a person, after undoing it, and after learning on."""
    X, Y = stream()
    clf = trained(make)
    book, rule, other = clf.rulebook, clf.rules_[0].identity, clf.rules_[1].identity
    text = 'IF x0 IS very high THEN label0 LIKELY, label1 UNLIKELY WITH CONFIDENCE 0.8 CALLED "hot"'
    edits = {
        "add": lambda: book.add(text),
        "edit": lambda: book.edit(rule, "IF x1 IS low THEN label0 UNLIKELY WITH CONFIDENCE 0.7"),
        "lock": lambda: book.lock(rule),
        "merge": lambda: book.merge(rule, other),
        "delete": lambda: book.delete(rule),
    }
    for name, edit in edits.items():
        edit()
        yield name, clf.decision_function(X[:100])
        book.undo()
        yield f"{name}, undone", clf.decision_function(X[:100])
    book.add(text)
    book.lock("hot")
    book.rename(rule, "first")
    yield "learning on", clf.test_then_train(X[600:900], Y[600:900])
    book.unlock("hot")
    yield "learning on, unlocked", clf.test_then_train(X[900:1200], Y[900:1200])
    yield from facts(clf)


def merged(make: Profile) -> Outputs:
    """Yield outputs of models trained apart and merged, with and without a shared scaling."""
    X, Y = stream()
    first = trained(make)
    second = first.sibling().partial_fit(X[600:900], Y[600:900])
    first.merge(second)
    yield "sibling", first.decision_function(X[:200])
    yield "learning on", first.test_then_train(X[900:1200], Y[900:1200])
    third = make().fit(X[600:1000], Y[600:1000])
    first.merge(third)
    yield "of its own", first.decision_function(X[:200])
    yield from facts(first)


def stored(make: Profile) -> Outputs:
    """Yield the arrays of a saved classifier, and outputs of the loaded one before and after it learns on."""
    X, Y = stream()
    clf = trained(make)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        clf.save(path)
        yield from raw_arrays(path)
        loaded = type(clf).load(path)
    yield from answers(loaded)
    yield "learning on", loaded.test_then_train(X[600:900], Y[600:900])


def raw_arrays(path: Path) -> Outputs:
    """Yield the arrays of a model file; `same_bits.py` has a table of keys that were renamed."""
    from safetensors.numpy import load

    for key, array in sorted(load(path.read_bytes()).items()):
        yield f"file: {key}", array


# ---------------------------------------------------------------------- active learning


def by_samples(make: Profile) -> Outputs:
    """Yield the queries of the default learner, samples-based."""
    return queried(make, "samples")


def by_labels(make: Profile) -> Outputs:
    """Yield the queries of the default learner, labels-based."""
    return queried(make, "labels")


def queried(make: Profile, per: str, *, wide: bool = False, **options: Any) -> Outputs:
    """Yield what is asked about 400 rows, row by row, each answered with the true labels."""
    from evolabel.active import ActiveLearner

    X, Y = stream(1600, wide=wide)
    learner = ActiveLearner(trained(make, wide=wide), 0.15, per, **options)
    yield from walked(learner, X[600:], Y[600:])
    yield "decision_function", learner.decision_function(X[1000:1100])
    yield "predict", learner.predict(X[1000:1100])
    yield from jumped(learner, X[1000:], Y[1000:])


def walked(learner: Any, X: np.ndarray, Y: np.ndarray, n: int = QUERIES) -> Outputs:
    """Yield labels, scores, costs and predictions of the queries about the first `n` rows."""
    queries = []
    for x, y in zip(X[:n], Y[:n], strict=True):
        query = learner.query(x)
        learner.update(query, np.where(query.labels, y, np.nan) if query.asked else None)
        queries.append(query)
    yield from described(queries)
    yield "seen and asked", [learner.bucket.seen, learner.bucket.asked]


def described(queries: list[Any]) -> Outputs:
    """Yield the parts of `queries` as arrays."""
    for name in ("x", "prediction", "labels", "cost", "asked"):
        yield f"queries.{name}", np.array([getattr(query, name) for query in queries])
    yield "queries.reasons", np.array([",".join(query.reasons) for query in queries])
    for name in sorted({name for query in queries for name in query.scores}):
        scores = [np.ravel(query.scores[name]) for query in queries if name in query.scores]
        yield f"queries.scores.{name}", np.concatenate(scores)


def jumped(learner: Any, X: np.ndarray, Y: np.ndarray) -> Outputs:
    """Yield the queries that `next_query` finds in the rows, each answered, some of them later."""
    queries, passed, done, waiting = [], [], 0, []
    while done < len(X):
        query, n = current(learner, "next_query")(X[done : done + 256])
        passed.append(n)
        done += n
        if query is None:
            continue
        queries.append(query)
        if len(queries) % 3 == 0:
            number = current(learner, "mark_pending")(query)
            waiting.append((number, Y[done]))
        else:
            learner.update(query, Y[done])
        if len(waiting) > 2:
            number, y = waiting.pop(0)
            learner.update(learner.pending[number], y)
        done += 1
    yield "next_query.passed", passed
    yield from ((f"next_query.{name}", value) for name, value in described(queries))


def stored_learner(make: Profile) -> Outputs:
    """Yield the arrays of a saved learner with a question on its way, and the queries of the loaded one."""
    from evolabel.active import ActiveLearner

    X, Y = stream(1600)
    learner = ActiveLearner(trained(make), 0.15, "labels")
    for x, y in zip(X[600:800], Y[600:800], strict=True):
        query = learner.query(x)
        if query.asked and not learner.pending:
            current(learner, "mark_pending")(query)
        else:
            learner.update(query, y if query.asked else None)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "learner"
        learner.save(path)
        yield from raw_arrays(path)
        loaded = ActiveLearner.load(path)
    yield from walked(loaded, X[800:], Y[800:], 200)
    yield "explain", loaded.explain(X[900]).total


def selections() -> Outputs:
    """Yield the queries of every way to select, of the paper's learner, and of chosen criteria and options."""
    from evolabel import EvolvingFuzzyClassifier
    from evolabel.active import ActiveLearner

    X, Y = stream(1600)
    options = keywords(ActiveLearner, error_feedback=False, antecedent_rate=1.0)
    learners = {
        "tokens": lambda clf: ActiveLearner(clf, 0.1, selection="tokens"),
        "first come": lambda clf: ActiveLearner(clf, 0.1, selection="first_come", criteria="ambiguity"),
        "variable": lambda clf: ActiveLearner(clf, 0.1, "labels", selection="variable", criteria="ambiguity"),
        "paper": lambda clf: ActiveLearner.paper(clf, 0.1),
        "criteria": lambda clf: ActiveLearner(clf, 0.1, "labels", criteria=CRITERIA, min_labels=2),
        "options": lambda clf: ActiveLearner(clf, 0.1, credit=20, burst=None, **options),
    }
    for name, make in learners.items():
        learner = make(trained(EvolvingFuzzyClassifier))
        yield from ((f"{name}: {part}", value) for part, value in walked(learner, X[600:], Y[600:], 200))
        yield from ((f"{name}: {part}", value) for part, value in jumped(learner, X[800:1200], Y[800:1200]))


def annotated() -> Outputs:
    """Yield the queries of a learner whose answers come from several annotators who differ."""
    from evolabel import EvolvingFuzzyClassifier
    from evolabel.active import ActiveLearner

    X, Y = stream(1600)
    wrong = np.random.default_rng(3).random((3, *Y.shape)) < np.array([0.02, 0.1, 0.4])[:, None, None]
    learner, queries = ActiveLearner(trained(EvolvingFuzzyClassifier), 0.2), []
    for i in range(600, 900):
        queries.append(learner.query(X[i]))
        votes = np.where(wrong[:, i], 1 - Y[i], Y[i])
        learner.update(queries[-1], *((votes, ["a", "b", "c"]) if queries[-1].asked else ()))
    yield "weights", [learner.annotators.weight(name) for name in "abc"]
    yield from described(queries)


def simulated() -> Outputs:
    """Yield the outputs of learners with a budget in the evaluation harness."""
    from evolabel.active import BudgetedLearner, RandomSelection, SimulatedAnnotator

    X, Y = stream(900)
    annotator = SimulatedAnnotator(noise=0.05, delay=(10, 30), seed=1)
    for name, learner in (
        ("labels", BudgetedLearner(budget=0.1, per="labels")),
        ("late and noisy", BudgetedLearner(budget=0.2, annotator=annotator)),
        ("random", RandomSelection(budget=0.1, seed=3)),
    ):
        learner.fit(X[:INITIAL], Y[:INITIAL])
        yield name, learner.test_then_train(X[INITIAL:], Y[INITIAL:])
        yield f"{name}: share", learner.share_


# ---------------------------------------------------------------------- what stands beside


def rivals() -> Outputs:
    """Yield the outputs of other learners, the one with error feedback among them."""
    from evolabel import baselines

    X, Y = stream(900)
    wave = 1.5 * np.sin(np.arange(len(X)) / 15)[:, None]  # an influence that no feature shows
    Y_wave = (X[:, :3] + wave > 0).astype(float)
    feedback = current(baselines, "FeedbackClassifier")
    of_paper = baselines if hasattr(baselines, "EvolvingChain") else import_module("evolabel.paper")
    learners = {
        "feedback": feedback(),
        "feedback of another": feedback(baselines.GlobalRLS()),
        "ovr": of_paper.EvolvingOneVsRest(),
        "chain": of_paper.EvolvingChain(seed=1),
        "static": baselines.StaticClassifier(),
        "rls": baselines.GlobalRLS(),
        "knn": baselines.SlidingKNN(),
        "prior": baselines.RunningPrior(),
    }
    for name, learner in learners.items():
        labels = Y_wave if name.startswith("feedback") else Y
        learner.fit(X[:INITIAL], labels[:INITIAL])
        yield name, learner.test_then_train(X[INITIAL:], labels[INITIAL:])
        yield f"{name}: decision_function", learner.decision_function(X[:50])


def thresholds() -> Outputs:
    """Yield outputs and decisions of classifiers that learn their thresholds."""
    from evolabel import EvolvingFuzzyClassifier

    X, Y = stream()
    for optimise in ("macro_f1", "micro_f1"):
        clf = EvolvingFuzzyClassifier(optimise=optimise).fit(X[:INITIAL], Y[:INITIAL])
        outputs, _, _, decisions = clf.answer_then_train(X[INITIAL:], Y[INITIAL:])
        yield f"{optimise}: outputs", outputs
        yield f"{optimise}: decisions", decisions
        yield f"{optimise}: thresholds", clf.thresholds_


def metrics() -> Outputs:
    """Yield every metric along a run, and the streams that drift."""
    from evolabel import EvolvingFuzzyClassifier, evaluate
    from evolabel.streams import DRIFT_KINDS, DriftingStream

    X, Y = stream(900)
    scores = EvolvingFuzzyClassifier().fit(X[:INITIAL], Y[:INITIAL]).test_then_train(X[INITIAL:], Y[INITIAL:])
    yield "average_precision", evaluate.average_precision(Y[INITIAL:], scores)
    for name, kind in evaluate.METRICS.items():
        yield name, kind().update(Y[INITIAL:], scores).get()
    yield "partial_accuracy", evaluate.partial_accuracy(Y[INITIAL:], scores)
    for kind in DRIFT_KINDS:
        rows, labels = DriftingStream(seed=5, drift=kind).take(300)
        yield f"stream {kind}: rows", rows
        yield f"stream {kind}: labels", labels


def at_random(name: str) -> Outputs:
    """Yield outputs, events and drifts of the default on the stream or shuffled set `name`, learned row after row."""
    from drift_streams import make_stream
    from shared import datasets

    from evolabel import EvolvingFuzzyClassifier

    if name in datasets.NAMES:
        X, Y, _ = datasets.load(name, 0)
    else:
        made = make_stream(name, 13)
        X, Y = made.X, made.Y.argmax(axis=1) if made.one_label else made.Y
    clf = EvolvingFuzzyClassifier()
    yield "test_then_train", clf.test_then_train(X, Y)
    yield "predict_proba", clf.predict_proba(X[-500:])
    yield "events", np.array([f"{event.sample} {event.kind} {event.label}" for event in clf.events_])
    yield "drift_", np.array([str(drift) for drift in clf.drift_.values()])


CALLS: dict[str, Callable[[Profile], Outputs]] = {
    "stream": learned,
    "gaps": gaps,
    "partial labels": partial_labels,
    "weights": weighted,
    "cold start": cold,
    "classes": classes,
    "edits and undo": edited,
    "merge": merged,
    "save and load": stored,
    "queries by samples": by_samples,
    "queries by labels": by_labels,
    "saved learner": stored_learner,
}
SETTINGS: dict[str, dict[str, Any]] = {
    "standard scaling": {"scaling": "standard"},
    "minmax scaling": {"scaling": "minmax", "temperature": "sqrt"},
    "no scaling": {"scaling": "none", "ridge": 1.0, "local_ridge": 0.1},
    "pruning": {"prune_after": 200},
}
PAPER_SETTINGS: dict[str, dict[str, Any]] = {
    "touching rules merge": {"merging": "touching", "consistency": "angle"},
    "sparse and coupled": {"alpha": 0.001, "beta": 0.1},
    "nearest parent": {"parent": "nearest", "ridge": "condition"},
    "rotated rules": {"covariance": "full"},
    "weights in closed form": {"parent": "global"},
    "printed formulas": {"parent": "none", "alpha": 0.001, "prox_steps": 2, "rls": False, "coupling": "none"},
}
"""Changes of `PLAIN`; `alone` gives them to the classifier that has the parameters of the paper's formulas."""
PLAIN: dict[str, Any] = {
    "vigilance": 0.5,
    "scaling": "quantile",
    "ridge": "press",
    "temperature": "0.1p",
    "prior_count": 31.0,
    "min_activation": 0.03,
    "local_ridge": "loo",
    "alpha": 0.0,
    "beta": 0.0,
    "coupling": "signed_laplacian",
    "prox_steps": 1,
    "rls": True,
    "lipschitz": "safe",
    "parent": "global",
    "covariance": "diag",
    "space": "input",
    "label_weight": 1.0,
    "novelty": "deviation",
    "merging": "room",
    "consistency": "output",
}
"""Parameters of the paper's classifier, with the values that they have in the default one."""
OTHERS: dict[str, Callable[[], Outputs]] = {
    "selections": selections,
    "annotators": annotated,
    "simulation": simulated,
    "rivals": rivals,
    "thresholds": thresholds,
    "metrics": metrics,
}
AT_RANDOM = (
    *("sea", "agrawal", "sine", "mixed", "hyperplane", "ds-abrupt", "flip", "sea-plain", "mixed-plain"),
    *("emotions", "yeast", "water-quality", "birds"),
)
"""Drifting and stationary streams of two classes or of labels, and sets, whose answers come as if at random."""

if __name__ == "__main__":
    main()
