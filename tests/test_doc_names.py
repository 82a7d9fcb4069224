"""Links, paths and names of code in the documentation exist."""

import importlib
import inspect
import re
import tomllib
from functools import cache
from pathlib import Path

import plain_words
import pytest

from evolabel import EvolvingFuzzyClassifier
from evolabel.active import ActiveLearner, Query

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "evolabel"
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
TOP = {path.name for path in ROOT.iterdir()}
PACKAGES = {path.parent.relative_to(SOURCE).as_posix() for path in SOURCE.rglob("__init__.py")} - {"."}
# What the pages call an object by.
VARIABLES = {
    "classifier": EvolvingFuzzyClassifier,
    "clf": EvolvingFuzzyClassifier,
    "learner": ActiveLearner,
    "query": Query,
}
# Classes of other libraries.
FOREIGN = {
    "BalancedIncrementalQuantileFilter",
    "ClassifierChain",
    "FixedUncertaintyBudgetManager",
    "HalvingRandomSearchCV",
    "PerOutputClassifier",
    "TimeSeriesSplit",
}
# Names that are gone; `echo` and other words of `banned_words.txt` are looked for as well.
OLD_NAMES = {
    "anatomy", "album", "HalvingSearch", "mobility", "novelty_tail", "pend", "Scout", "Pupil", "Filter", "Newcomers",
    "EchoingClassifier", "StandingModel", "kernels.stream", "kernels.room", "core.lifecycle", "core.union",
}  # fmt: skip

every_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())


def prose(page):
    """The text of a page without blocks of code."""
    return re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)


def codes(page):
    return re.findall(r"`([^`\n]+)`", prose(page))


def anchors(page):
    """Anchors of the headings of a page, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@every_page
def test_links_and_anchors_exist(page):
    broken = []
    for link in re.findall(r"\]\(([^)\s]+)\)", prose(page)):
        path, _, anchor = link.partition("#")
        if "://" in link:
            continue
        target = page.parent / path if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(link)
    assert broken == []


def is_path(code, page):
    """Whether a code is a path of this repository; pages for developers name no others."""
    first = code.split("/")[0]
    ours = page.name in ("architecture.md", "CONTRIBUTING.md", "glossary.md") or first in TOP or first in PACKAGES
    return re.fullmatch(r"[\w./-]+", code) and (("/" in code and ours) or code.endswith(".py"))


@every_page
def test_paths_exist(page):
    folders = [ROOT, ROOT / "tests", SOURCE, page.parent]
    tests = {path.name for path in (ROOT / "tests").rglob("*.py")}  # they may follow one of the same folder
    found = {code for code in codes(page) if is_path(code, page)} - tests
    assert sorted(code for code in found if not any((folder / code).exists() for folder in folders)) == []


def module_and_rest(name):
    """The longest module that a dotted name begins with, and the other parts of the name."""
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        module = SOURCE.parent.joinpath(*parts[:end])
        if module.with_suffix(".py").exists() or (module / "__init__.py").exists():
            return importlib.import_module(".".join(parts[:end])), parts[end:]
    raise AssertionError(f"{name} is in no module")


def has(thing, name):
    """Whether a module or a class has an attribute of this name; those that methods set count as well."""
    if hasattr(thing, name) or not inspect.isclass(thing):
        return hasattr(thing, name)
    sources = [inspect.getsource(kind) for kind in thing.__mro__ if kind.__module__.startswith("evolabel")]
    return any(re.search(rf"^\s+(self\.)?{name}\b\s*[:=]", source, re.MULTILINE) for source in sources)


@cache
def classes():
    """Every class of the library, by name: where it is defined."""
    return {
        name: ".".join(["evolabel", *file.relative_to(SOURCE).with_suffix("").parts])
        for file in SOURCE.rglob("*.py")
        for name in re.findall(r"^ *class (\w+)[(:]", file.read_text(encoding="utf-8"), re.MULTILINE)
    }


def exists(name):
    """Whether a dotted name is one of the library; True for what is no name of it."""
    first, *others = name.split(".")
    if first in VARIABLES and all(has(VARIABLES[first], other) for other in others[:1]):
        return True
    if first in classes():
        return not others or has(getattr(importlib.import_module(classes()[first]), first), others[0])
    if re.fullmatch(r"[A-Z][a-z0-9]+[A-Z]\w*[a-z]\w*", first):
        return first in FOREIGN
    if name in ("model.rebuilt", "model.replaced"):  # records of the service
        return True
    if others and (first == "evolabel" or first in PACKAGES):
        thing, rest = module_and_rest(name if first == "evolabel" else f"evolabel.{name}")
        return not rest or (has(thing, rest[0]) and (len(rest) == 1 or has(getattr(thing, rest[0]), rest[1])))
    return first not in VARIABLES


@every_page
def test_names_of_code_exist(page):
    files = (".html", ".json", ".safetensors")
    texts = [code for code in codes(page) if not is_path(code, page) and not code.endswith(files)]
    names = [re.match(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*", text) for text in texts]
    assert sorted({name[0] for name in names if name and not exists(name[0])}) == []


@every_page
def test_old_names_are_gone(page):
    words = {code for text in codes(page) for code in (text, *re.findall(r"\w+", text))}
    assert sorted(words & (OLD_NAMES | plain_words.read_words(plain_words.WORDS_FILE).keys())) == []


@every_page
def test_no_banned_word_is_used(page):
    banned = plain_words.read_words(plain_words.WORDS_FILE).keys()
    if page.name == "questions.md":
        banned -= {"echo"}  # in tables that benchmarks write
    assert sorted(set(re.findall(r"[a-z]+", prose(page).lower())) & banned) == []


# ---------------------------------------------------------------------- docs/architecture.md


def layers():
    """Layers of import-linter's first contract: packages side by side."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    named = [line.replace("evolabel.", "") for line in project["tool"]["importlinter"]["contracts"][0]["layers"]]
    return [re.findall(r"\w+", line) for line in named]


def blocks():
    page = ROOT / "docs" / "architecture.md"
    return re.findall(r"^```\n(.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


def test_the_layers_are_those_of_import_linter():
    assert [re.split("  +", line)[0].split(" | ") for line in blocks()[0].splitlines()] == layers()


def test_the_table_has_every_stage():
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    folders = {package.removeprefix("stages/") for package in PACKAGES if re.fullmatch(r"stages/\w+", package)}
    assert set(re.findall(r"^\| `stages/(\w+)` \|", page, re.MULTILINE)) == folders


def test_architecture_needs_one_reading():
    assert len((ROOT / "docs" / "architecture.md").read_text(encoding="utf-8").split()) <= 1500
