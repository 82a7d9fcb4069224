"""Draw every figure into docs/reference/figures/ and write docs/reference/figures.md around them.

Yeast (bundled with river) in the benchmark's order, and a synthetic stream with drift; no data set is needed.
"""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from concept_conjunctions import plant

from evolabel import EvolvingFuzzyClassifier
from evolabel.active import ActiveLearner
from evolabel.evaluate import prequential, repeat
from evolabel.explain import figures
from evolabel.learners import make_learner
from evolabel.report.figures import trend_lines
from evolabel.streams import DriftingStream, load_dataset
from evolabel.typing import FloatArray
from evolabel.words.figures.canvas import as_svg, figure_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

REFERENCE = Path(__file__).parents[1] / "docs" / "reference"
LARGEST = 150_000  # bytes of a figure
BUDGET = 0.2

HEAD = """# Figures

All figures of evolabel; `benchmarks/gallery.py` draws them. Each is one call that returns matplotlib Axes; pass `ax=`
to place it in a figure of your own. `evolabel figures MODEL --out FOLDER` writes all that apply to a saved model.

```python
from evolabel.explain import figures
```

`clf` was trained on yeast (part of river, 103 features, 14 labels), or on a synthetic stream of six features and four
labels whose regions move every 800 samples; the captions name the synthetic stream. Figures of threshold rules show
rare faults of a plant with twelve sensors and five machines.
"""


class Piece(NamedTuple):
    """A figure of the page."""

    title: str
    call: str
    words: str
    draw: "Callable[[], Axes]"


class Learned(NamedTuple):
    """A classifier, and the samples it has learned."""

    clf: EvolvingFuzzyClassifier
    X: FloatArray
    Y: FloatArray


@cache
def yeast() -> Learned:
    data = load_dataset("yeast").shuffled(0)
    start = round(0.2 * len(data))
    clf = EvolvingFuzzyClassifier().fit(data.X[:start], data.Y[:start])
    clf.partial_fit(data.X[start:], data.Y[start:])
    return Learned(clf.name_columns(data.feature_names, data.label_names), data.X, data.Y)


@cache
def moving() -> Learned:
    X, Y = DriftingStream(n_features=6, n_labels=4, drift="abrupt", drift_every=800, seed=2).take(4000)
    clf = EvolvingFuzzyClassifier(max_rules=12, novel_z=4.0, prune_after=400).fit(X[:300], Y[:300])
    clf.partial_fit(X[300:2000], Y[300:2000])
    clf.rulebook.rename(clf.rules_.top(1)[0].identity, "idling")
    return Learned(clf.partial_fit(X[2000:], Y[2000:]), X, Y)


@cache
def factory() -> Learned:
    """The plant of the benchmark of threshold rules, whose faults are conjunctions of thresholds with exceptions."""
    stream = plant(15, moves=False)
    clf = EvolvingFuzzyClassifier().partial_fit(stream.X, stream.Y)
    return Learned(clf.name_columns(stream.features, stream.labels), stream.X, stream.Y)


def changing() -> figures.WeightTrace:
    """Weights of the members on a stream with a label that becomes its opposite, and a sensor that moves."""
    X, Y = DriftingStream(n_features=6, n_labels=2, drift="none", seed=5).take(5000)
    Y[2000:, 1] = 1.0 - Y[2000:, 1]
    X[3500:, 0] += 6.0 * X[:3500, 0].std()
    return figures.follow_weights(EvolvingFuzzyClassifier(), X, Y, every=20)


def questions() -> list[bool]:
    """Which samples of the synthetic stream active learning asks for."""
    _, X, Y = moving()
    learner = ActiveLearner(EvolvingFuzzyClassifier().fit(X[:300], Y[:300]), budget=BUDGET)
    asked = []
    for x, y in zip(X[300:], Y[300:], strict=True):
        query = learner.query(x)
        learner.update(query, y if query.asked else None)
        asked.append(query.asked)
    return asked


def trend() -> "Axes":
    """Two learners on the synthetic stream, three seeds."""

    def once(seed: int) -> object:
        stream = DriftingStream(n_features=6, n_labels=4, drift="abrupt", drift_every=800, seed=seed)
        learners = {name: make_learner(name, seed) for name in ("evolabel", "static")}
        return prequential(learners, stream.dataset(4000, "drift"), initial=300, metrics=("pa",), window=400, every=40)

    return trend_lines(repeat(once, range(3)), "pa", "sliding")


# By the names of their files.
PIECES = {
    "threshold-tree": Piece(
        "The tree of a label",
        'figures.threshold_tree(clf, "wear")',
        "Threshold rules (plant): each question with its edge and its uncertainty, and at the right the rules "
        "with the share of the label and their samples. A wide branch has many samples, a dark rule nearly always has "
        "the label.",
        lambda: figures.threshold_tree(factory().clf, "wear"),
    ),
    "sample-path": Piece(
        "The path of one sample",
        'figures.sample_path(clf, x, "wear")',
        "Why a sample has the label (plant): the conditions of the rule that answers, its edges among the values of "
        "recent rows, blue where the condition holds, and the values of the sample as dots. The last line is the share "
        "of the rule.",
        lambda: figures.sample_path(factory().clf, factory().X[np.flatnonzero(factory().Y[:, 2])[-1]], "wear"),
    ),
    "feature-edges": Piece(
        "Edges among the values of a feature",
        'figures.feature_edges(clf, "speed", "wear")',
        "The values of a feature in recent rows, with and without the label (plant), and the edges of its rules "
        "with their uncertainty. Edges of other labels are dashed.",
        lambda: figures.feature_edges(factory().clf, "speed", "wear"),
    ),
    "rule-map": Piece(
        "Where the rules are",
        'figures.rule_map(clf, X=X, Y=Y, label="Class1")',
        "The region of each rule (one spread), projected on the two directions that separate the labels best. The "
        "directions are computed from the statistics of the model. The six best supported rules are in colours on top, "
        "with their samples; the others are thin and grey.",
        lambda: figures.rule_map(yeast().clf, X=yeast().X, Y=yeast().Y, label="Class1"),
    ),
    "rule-map-features": Piece(
        "The same over two features",
        'figures.rule_map(clf, ("x2", "x0"), X=X, Y=Y, label="label1")',
        "In the units of the features (synthetic stream, 400 of its last 600 samples). The outlines are curved because "
        "rules are ellipses in scaled features.",
        lambda: figures.rule_map(moving().clf, ("x2", "x0"), X=moving().X[-600:], Y=moving().Y[-600:], label="label1"),
    ),
    "memberships": Piece(
        "Membership functions",
        "figures.membership_functions(clf)",
        "The Gaussians of the rules along the feature that explains most of one label (synthetic stream). The bands "
        "are the terms that rules are written in, each a fifth of the stream.",
        lambda: figures.membership_functions(moving().clf),
    ),
    "label-correlations": Piece(
        "Correlations of labels",
        "figures.label_correlations(clf, X=X, Y=Y)",
        "Below the diagonal in the rule that differs most, above it in all samples. A model with label coupling "
        "stores the correlations and needs no X and Y.",
        lambda: figures.label_correlations(yeast().clf, X=yeast().X, Y=yeast().Y),
    ),
    "weights": Piece(
        "Weights of the features",
        "figures.consequent_map(clf)",
        "The weights of the global model; with `rule=` those of one rule. Shown are the 20 features of largest weight.",
        lambda: figures.consequent_map(yeast().clf),
    ),
    "life-lines": Piece(
        "Life times of rules",
        "figures.life_lines(clf)",
        "When rules were created, merged, removed and edited by a person, along the synthetic stream.",
        lambda: figures.life_lines(moving().clf),
    ),
    "member-weights": Piece(
        "Weights of the members",
        "figures.member_weights(figures.follow_weights(clf, X, Y))",
        "Weights of the rules from all rows (slow), of the rules from recent rows (fast) and of the linear part in the "
        "outputs, mean over the labels. One of two labels becomes its opposite at row 2,000, and a sensor moves at row "
        "3,500. The fast member takes over, then the rules are renewed from it. With `label=` those of one label; a "
        "`figures.WeightTrace(clf)` records them in a loop of your own.",
        lambda: figures.member_weights(changing()),
    ),
    "novelty-map": Piece(
        "Novelty",
        "figures.novelty_map(clf)",
        "The distance of a sample to the nearest rule, in units of the distance from which it counts as novel "
        "(synthetic stream). With `at=x` all other features have the values of the sample x.",
        lambda: figures.novelty_map(moving().clf),
    ),
    "budget-use": Piece(
        "Use of a budget",
        "figures.budget_use(asked, budget=0.2)",
        "The share of samples asked about so far, in active learning (synthetic stream). It never exceeds the budget.",
        lambda: figures.budget_use(questions(), BUDGET),
    ),
    "trend-lines": Piece(
        "Trend lines",
        'trend_lines(repeated, "pa", "sliding")',
        "From `evolabel.report.figures`: a metric along the stream for several learners, mean and range over seeds "
        "(synthetic streams, partial accuracy of the last 400 samples).",
        trend,
    ),
}


def page() -> str:
    """The text of docs/reference/figures.md."""
    sections = [
        f"## {piece.title}\n\n`{piece.call}`\n\n{piece.words}\n\n![{piece.title}](figures/{name}.svg)\n"
        for name, piece in PIECES.items()
    ]
    return "\n".join([HEAD, *sections])


def main() -> None:
    folder = REFERENCE / "figures"
    folder.mkdir(exist_ok=True)
    for name, piece in PIECES.items():
        drawing = as_svg(figure_of(piece.draw()))
        if len(drawing) > LARGEST:
            raise SystemExit(f"{name} has {len(drawing)} bytes, more than {LARGEST}: draw less")
        (folder / f"{name}.svg").write_text(drawing)
        print(f"{name}: {len(drawing) // 1000} kB")
    (REFERENCE / "figures.md").write_text(page())


if __name__ == "__main__":
    main()
