"""Every parameter is declared once, in `Options` or `PaperOptions`; what repeats it by hand must agree."""

import inspect
import re
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from sklearn.base import clone

from evolabel import EvolvingFuzzyClassifier
from evolabel._utils.validation import Choice, Weights
from evolabel.core.options import Options
from evolabel.paper import PaperClassifier
from evolabel.paper.options import PaperOptions

CLASSES = {EvolvingFuzzyClassifier: Options, PaperClassifier: PaperOptions}
DECLARED = {cls: {field.name: field for field in fields(options)} for cls, options in CLASSES.items()}
EACH = [(cls, name) for cls, declared in DECLARED.items() for name in declared]
OWN = {EvolvingFuzzyClassifier: ("stages",), PaperClassifier: ()}  # objects, which files cannot hold
DOCS = (Path(__file__).parents[1] / "docs" / "reference" / "parameters.md").read_text(encoding="utf-8")


def written(value):
    return f'"{value}"' if isinstance(value, str) else repr(value)


def type_of(allowed):
    """The type as class docstrings write it."""
    if isinstance(allowed, Choice):
        words = [written(value) for value in allowed.values if not isinstance(value, bool)]
        return " or ".join(["bool", *words]) if True in allowed.values else "{" + ", ".join(words) + "}"
    if isinstance(allowed, Weights):
        return 'dict, "balanced" or None'
    kinds = ["int" if allowed.whole else "float", *map(written, allowed.words)]
    kinds += ["str"] * allowed.per_feature + ["None"] * allowed.optional
    return " or ".join([", ".join(kinds[:-1]), kinds[-1]] if len(kinds) > 1 else kinds)


def docstring_entries(cls):
    """Name -> (first line, text) of the parameters in the docstring of the class `cls`."""
    text = re.split(r"\n\n(?:Attributes|See Also)\n", inspect.getdoc(cls).split("Parameters\n----------\n")[1])[0]
    entries = re.findall(r"^(\w+) : (.*)\n((?:    .*(?:\n|$))+)", text, re.M)
    return {name: (first, " ".join(body.split())) for name, first, body in entries}


def table_rows(cls):
    """Name -> (meaning, default) of the tables in docs/reference/parameters.md that are about the class `cls`."""
    section = re.search(rf"^## `{cls.__name__}`\n(.*?)(?=^## |\Z)", DOCS, re.M | re.S)[1]
    rows = re.findall(r"^\| `(\w+)` \| (.*?) \| .*? \| (.*?) \| .* \|$", section, re.M)
    return {name: (meaning, default.strip("`")) for name, meaning, default in rows}


@pytest.mark.parametrize("cls", CLASSES)
def test_the_signature_has_the_parameters_in_order_with_their_types_and_defaults(cls):
    signature = inspect.signature(cls)
    found = [(p.name, p.annotation, p.default, p.kind) for p in signature.parameters.values()]
    keyword = inspect.Parameter.KEYWORD_ONLY
    declared = [(field.name, field.type, field.default, keyword) for field in DECLARED[cls].values()]
    assert found == [*declared, *(("stages", Sequence[Any], (), keyword) for _ in OWN[cls])]


def test_the_default_classifier_has_few_parameters_and_the_paper_has_thirteen_of_its_own():
    default, paper = (set(DECLARED[cls]) for cls in CLASSES)
    assert len(default) <= 22
    assert len(paper - default) == 13
    assert default - paper == {"follow_drift", "threshold_rules", "memory"}


@pytest.mark.parametrize("cls", CLASSES)
def test_the_defaults_are_allowed(cls):
    assert cls().inner.options() == CLASSES[cls]()


def test_parameters_of_both_are_allowed_the_same_values():
    default, paper = DECLARED.values()
    assert all(default[name].metadata["allowed"] == paper[name].metadata["allowed"] for name in default & paper.keys())


@pytest.mark.parametrize("cls", CLASSES)
def test_the_docstring_has_the_parameters_in_order(cls):
    assert list(docstring_entries(cls)) == [*DECLARED[cls], *OWN[cls]]


def test_the_docs_have_the_parameters_in_order_and_those_of_the_paper_that_differ():
    default, paper = DECLARED.values()
    assert list(table_rows(EvolvingFuzzyClassifier)) == [*default, *OWN[EvolvingFuzzyClassifier]]
    facts = {name: (field.default, field.metadata["doc"]) for name, field in default.items()}
    differ = [name for name, field in paper.items() if facts.get(name) != (field.default, field.metadata["doc"])]
    assert list(table_rows(PaperClassifier)) == differ


@pytest.mark.parametrize(("cls", "name"), EACH)
def test_the_docstring_agrees(cls, name):
    first, text = docstring_entries(cls)[name]
    allowed, doc = (DECLARED[cls][name].metadata[key] for key in ("allowed", "doc"))
    assert first == f"{type_of(allowed)}, default={written(DECLARED[cls][name].default)}"
    assert text.startswith(doc[0].upper() + doc[1:] + ".")


@pytest.mark.parametrize(("cls", "name"), EACH)
def test_the_docs_agree(cls, name):
    meaning, default = (table_rows(EvolvingFuzzyClassifier) | table_rows(cls))[name]
    declared = DECLARED[cls][name]
    assert meaning.startswith(declared.metadata["doc"])
    assert default == written(declared.default) or float(default) == declared.default


def test_the_profile_of_the_paper_is_the_defaults_of_its_class():
    assert type(EvolvingFuzzyClassifier.paper()) is PaperClassifier
    assert EvolvingFuzzyClassifier.paper().get_params() == PaperClassifier().get_params()
    assert EvolvingFuzzyClassifier.paper(alpha=0.3).get_params() == PaperClassifier(alpha=0.3).get_params()


@pytest.mark.parametrize("name", ["follow_drift", "threshold_rules"])
def test_the_paper_has_no_parameter_for_a_stage_that_it_does_not_have(name):
    clf = clone(PaperClassifier(alpha=0.3))
    assert clf.alpha == 0.3
    assert getattr(clf, name) is False
    assert name not in clf.get_params()
    assert repr(clf) == "PaperClassifier(alpha=0.3)"
    with pytest.raises(TypeError, match=name):
        PaperClassifier(**{name: True})
    with pytest.raises(ValueError, match=f"Invalid parameter '{name}'"):
        clf.set_params(**{name: True})


def test_an_unknown_parameter_is_refused_under_the_name_of_the_classifier():
    with pytest.raises(TypeError, match=r"EvolvingFuzzyClassifier.*'vigilence'"):
        EvolvingFuzzyClassifier(vigilence=1.0)
