"""Names from outside do no harm: figures parse as XML, pages run no script, terminals get no control codes."""

import functools
import io
import re
import warnings
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest
from choices import first_quick, only_quick
from rich.console import Console

from evolabel import EvolvingFuzzyClassifier
from evolabel._utils.text import one_line, visible
from evolabel.cli.output import markdown_table, result_table
from evolabel.evaluate import prequential, repeat
from evolabel.explain.figures.all_figures import all_figures
from evolabel.paper import PaperGridSearch
from evolabel.paper.reproduce.experiments import EXPERIMENTS
from evolabel.paper.reproduce.figures import draw_experiment
from evolabel.paper.reproduce.results import ReproductionResults, RunResult, Size, Task
from evolabel.report import write_report
from evolabel.report.figures import trend_lines
from evolabel.streams import Dataset, DriftingStream
from evolabel.tuning import heat_map
from evolabel.words.figures.canvas import as_png, as_svg, figure_of, in_legend, plain

NAMES = {
    "mathematics": "$x$",
    "open mathematics": "$\\frac",
    "broken mathematics": "$\\frac{$ and $}$",
    "escaped dollar": "\\$5 or $6$",
    "null": "a\x00b",
    "colour": "\x1b[31mred",
    "one-byte colour": "\x9b31mred",
    "bell": "ring\x07",
    "lines": "one\ntwo\r\nthree\u2028four\x0bfive",
    "script": "<script>alert(1)</script>",
    "image": '"><img src=x onerror=alert(1)>',
    "end of data": "]]>",
    "comment": "--> <!-- --",
    "entity": "&amp;&lt;&#0;",
    "jinja": "{{ 7 * 7 }}{% raw %}",
    "format": "{window} {0} %s",
    "rich": "[bold]x[/bold] [/] :smile:",
    "markdown": "`x` **y** [z](javascript:alert(1)) | w",
    "long": "W" * 3000,
    "long mathematics": "$x_" * 2000,
    "Hebrew": "שלום",
    "Arabic": "مرحبا",
    "reversed": "a\u202egnp.exe",
    "emoji": "🦄🧑\u200d🚀",
    "Chinese": "温度",
    "surrogate": "a\ud800b",
    "no character": "a\ufffeb\uffff",
    "underscore": "_hidden",
    "blank": " ",
}

hostile = pytest.mark.parametrize("name", NAMES.values(), ids=NAMES.keys())
some_slow = pytest.mark.parametrize(  # every ninth one for each change, all are tried in `make check`
    "name",
    [pytest.param(n, marks=pytest.mark.slow if i % 9 else ()) for i, n in enumerate(NAMES.values())],
    ids=NAMES.keys(),
)


PRINTED = (
    "null", "colour", "one-byte colour", "bell", "lines", "rich", "long", "reversed", "surrogate", "no character",
)  # fmt: skip
printed = pytest.mark.parametrize(  # those that could change a terminal for each change, all in `make check`
    "name", only_quick(NAMES.values(), *(NAMES[one] for one in PRINTED)), ids=NAMES.keys()
)


def in_all_places(name):
    """Names of three features, of two labels and of a rule, a learner and a data set, all of them one hostile name."""
    return (*(f"{name} f{place}" if place else name for place in range(3)), name, f"{name} l1", name)


PARTS = [tuple(NAMES.values())[i : i + 26 : 5] for i in range(2)]  # each has names of several kinds
drawn = pytest.mark.parametrize(  # drawing takes seconds: some names in one place, in `make check` all in all places
    "names",
    first_quick(*PARTS, *map(in_all_places, NAMES.values())),
    ids=["part 0", "part 1", *NAMES],
)


def checked(svg):
    """Parse a drawing as XML, and look for what would be run."""
    root = ElementTree.fromstring(svg)
    for element in root.iter():
        assert element.tag.rpartition("}")[2] not in ("script", "foreignObject")
        for key, value in element.items():
            assert not key.lower().startswith("on")
            assert not key.endswith("href") or value.startswith(("#", "data:image/png;base64,"))


class Tags(HTMLParser):
    """Fails on everything that runs, or is fetched."""

    def handle_starttag(self, tag, attrs):
        assert tag not in ("script", "iframe", "object", "embed", "img")
        for name, value in attrs:
            assert not name.startswith("on")
            assert name not in ("src", "href") or value.startswith("#")


def check_page(page):
    parser = Tags()
    parser.feed(page)
    parser.close()
    assert visible(page) == page


@pytest.fixture(scope="module")
def trained():
    """A small classifier with a rule that was named, and its samples."""
    X, Y = DriftingStream(n_features=3, n_labels=2, n_regions=2, seed=0).take(150)
    return EvolvingFuzzyClassifier(max_rules=3).fit(X, Y), X, Y


def renamed(trained, names):
    classifier, X, Y = trained
    classifier.name_columns(names[:3], names[3:5])
    rules = classifier.inner.any_model.rules
    rules.rule_names.names[int(rules.arrays.identity[1])] = names[5]
    return classifier, X, Y


@drawn
def test_figures_of_a_classifier_are_drawn(trained, names):
    classifier, X, Y = renamed(trained, names)
    for picture in all_figures(classifier, X, Y):
        figure = figure_of(picture.axes)
        checked(as_svg(figure))
        assert re.fullmatch(r"[\w-]+", picture.name)
    assert as_png(figure, 30).startswith(b"\x89PNG")


@pytest.fixture(scope="module")
def repeated():
    """Results of two learners, with names to be chosen."""

    @functools.cache
    def run(names):
        X, Y = DriftingStream(n_features=3, n_labels=2, n_regions=2, seed=0).take(120)
        data = Dataset(X, Y, names[:3], names[3:5], names[5])
        learners = {one: EvolvingFuzzyClassifier(max_rules=2) for one in (names[5], f"{names[5]} learner1")}
        return repeat(lambda seed: prequential(learners, data, initial=60, metrics=("pa",), seed=seed), range(1)), data

    return run


@hostile
def test_tables_keep_their_columns(repeated, name):
    results, _ = repeated(in_all_places(name))
    plainly, _ = repeated(in_all_places("x"))
    lines = markdown_table(results).split("\n")
    assert len(lines) == len(markdown_table(plainly).split("\n"))
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in lines[:-1]} == {5}
    check_page(re.sub("`[^`]*`", "", "\n".join(lines)))
    with io.StringIO() as text:
        Console(file=text, width=10**6).print(result_table(results))
        assert visible(text.getvalue()) == text.getvalue()


@drawn
def test_the_report_has_no_script(repeated, names, tmp_path):
    results, data = repeated(names)
    checked(as_svg(figure_of(trend_lines(results, "pa"))))
    page = write_report(results, tmp_path, data).read_text("utf-8")
    for file in tmp_path.glob("*.svg"):
        checked(file.read_text("utf-8"))
    check_page(page)


@pytest.fixture(scope="module")
def plainly(trained):
    """The classifier with ordinary names."""
    _, X, Y = trained
    return renamed((EvolvingFuzzyClassifier(max_rules=3).fit(X, Y), X, Y), in_all_places("x"))[0]


@hostile
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_texts_of_rules_and_explanations_keep_their_lines(trained, plainly, name):
    classifier, X, _ = renamed(trained, in_all_places(name))
    explained = classifier.explain(X[0]), plainly.explain(X[0])
    pairs = [(classifier.rules_, plainly.rules_), (classifier.rules_[0], plainly.rules_[0]), explained]
    for told, expected in pairs:
        assert len(told.text.split("\n")) == len(expected.text.split("\n"))
        for text in (told.text, told.markdown(), told.html()):
            assert visible(text) == text
        check_page(told.html())
        check_page(re.sub("`[^`]*`", "", told.markdown()))


@printed
def test_terminals_get_no_control_codes(command, trained, name, tmp_path):
    classifier, _, _ = renamed(trained, in_all_places(name))
    classifier.save(tmp_path / "model")
    told = command("rules", tmp_path / "model")
    assert told.code == 0
    assert visible(told.out) == told.out
    told = command("run", name)
    assert told.code in (1, 2, 3)
    assert visible(told.err) == told.err
    assert len(told.err.splitlines()) == 1


@some_slow
def test_searches_and_reproductions_are_drawn(name):
    X, Y = DriftingStream(n_features=3, n_labels=2, n_regions=2, seed=0).take(60)

    def score(Y, S):
        return 0.5

    score.__name__ = name
    search = PaperGridSearch(
        EvolvingFuzzyClassifier.paper(), {"alpha": (0.0, 0.1), "beta": (0.0,)}, cv=2, score=score
    ).fit(X, Y)
    checked(as_svg(figure_of(heat_map(search))))
    trend = {"sample": [1, 2], "pa": [0.5, 0.6], "ap": [0.5, 0.6], "rules": [1.0, 2.0]}
    run = RunResult({}, 0.6, 0.6, 2.0, None, trend)
    results = ReproductionResults(
        {}, {name: Size(name, 3, 2, 30, 20)}, {}, {Task(name, "default", "ours"): run}, {}, {}
    )
    figure = draw_experiment(EXPERIMENTS["fig4"], results, "default")
    assert figure is not None
    checked(as_svg(figure))


@hostile
def test_names_are_shown_letter_by_letter(name):
    from matplotlib.figure import Figure

    figure = Figure()
    text = figure.text(0.0, 0.0, plain(name, 10**6))
    assert text._preprocess_math(text.get_text()) == (one_line(name), False)
    ax = figure.subplots()
    ax.plot([0, 1], label=in_legend(name))
    if name.strip():
        assert len(ax.get_legend_handles_labels()[1]) == 1


def test_letters_without_a_glyph_are_no_error():
    from matplotlib.figure import Figure

    figure = Figure()
    figure.text(0.1, 0.1, NAMES["emoji"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        as_svg(figure)
        as_png(figure, 30)
