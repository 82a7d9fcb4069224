"""Draw every figure into docs/gallery/ and write docs/gallery.md around them.

Yeast (bundled with river) in the benchmark's order, and a synthetic stream with drift; no data set is needed.
"""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from evolabel import EvolvingFuzzyClassifier
from evolabel.active import ActiveLearner
from evolabel.baselines import make_learner
from evolabel.evaluate import prequential, repeat
from evolabel.explain import figures
from evolabel.explain.figures.canvas import as_svg, figure_of
from evolabel.report.figures import trend_lines
from evolabel.streams import DriftingStream, load_dataset
from evolabel.typing import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DOCS = Path(__file__).parents[1] / "docs"
LARGEST = 150_000  # bytes of a figure
BUDGET = 0.2

HEAD = """# Gallery

All figures of evolabel, as `make gallery` draws them. Each is one call that returns matplotlib Axes; give `ax=` to
place it in a figure of your own. `evolabel figures MODEL --out FOLDER` writes all of them for a saved model.

```python
from evolabel.explain import figures
```

`clf` has learned yeast (bundled with river, 103 features, 14 labels) or, where said, a synthetic stream of six features
and four labels whose regions move every 800 samples.
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
    "rule-map": Piece(
        "Where the rules are",
        'figures.rule_map(clf, X=X, Y=Y, label="Class1")',
        "Every rule as the shadow of its region at one spread, along the two directions that separate the labels "
        "best: they follow from the statistics the model keeps. A thick line is a well supported rule.",
        lambda: figures.rule_map(yeast().clf, X=yeast().X, Y=yeast().Y, label="Class1"),
    ),
    "rule-map-features": Piece(
        "The same over two features",
        'figures.rule_map(clf, ("x2", "x0"), X=X, Y=Y, label="label1")',
        "In the units of the features (synthetic stream, 400 of its last 600 samples). Ellipses are bent where the "
        "scaling is: rules are ellipses in scores.",
        lambda: figures.rule_map(moving().clf, ("x2", "x0"), X=moving().X[-600:], Y=moving().Y[-600:], label="label1"),
    ),
    "memberships": Piece(
        "What the rules see of one feature",
        "figures.membership_functions(clf)",
        "The rules' Gaussians along the feature that explains most of some label; the bands are the terms in which "
        "rules are written, fifths of the stream (synthetic stream).",
        lambda: figures.membership_functions(moving().clf),
    ),
    "label-correlations": Piece(
        "Labels that go together",
        "figures.label_correlations(clf, X=X, Y=Y)",
        "Below the diagonal in the rule that differs most, above it in all samples. Models that couple their "
        "labels keep what is needed and do without X and Y.",
        lambda: figures.label_correlations(yeast().clf, X=yeast().X, Y=yeast().Y),
    ),
    "weights": Piece(
        "What drives the labels",
        "figures.consequent_map(clf)",
        "Weights of the global model; with `rule=` those of one rule. The 20 strongest features come first.",
        lambda: figures.consequent_map(yeast().clf),
    ),
    "life-lines": Piece(
        "The lives of rules",
        "figures.life_lines(clf)",
        "Births, merges, deaths and acts of people along the synthetic stream.",
        lambda: figures.life_lines(moving().clf),
    ),
    "novelty-map": Piece(
        "Known territory",
        "figures.novelty_map(clf)",
        "How far a sample would be from the nearest rule, in units of the distance at which it counts as novel "
        "(synthetic stream). With `at=x` all other features are those of a sample.",
        lambda: figures.novelty_map(moving().clf),
    ),
    "budget-use": Piece(
        "Use of a budget",
        "figures.budget_use(asked, budget=0.2)",
        "Share of the samples asked so far: active learning (synthetic stream), which never exceeds its budget.",
        lambda: figures.budget_use(questions(), BUDGET),
    ),
    "trend-lines": Piece(
        "Trend lines",
        'trend_lines(repeated, "pa", "sliding")',
        "From `evolabel.report.figures`: a metric along the stream for several learners, mean and range over seeds "
        "(synthetic stream, partial accuracy of the last 400 samples).",
        trend,
    ),
}


def main() -> None:
    folder = DOCS / "gallery"
    folder.mkdir(exist_ok=True)
    text = [HEAD]
    for name, piece in PIECES.items():
        drawing = as_svg(figure_of(piece.draw()))
        if len(drawing) > LARGEST:
            raise SystemExit(f"{name} has {len(drawing)} bytes, more than {LARGEST}: draw less")
        (folder / f"{name}.svg").write_text(drawing)
        text.append(f"## {piece.title}\n\n`{piece.call}`\n\n{piece.words}\n\n![{piece.title}](gallery/{name}.svg)\n")
        print(f"{name}: {len(drawing) // 1000} kB")
    (DOCS / "gallery.md").write_text("\n".join(text))


if __name__ == "__main__":
    main()
