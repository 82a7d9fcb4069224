"""Every parameter is declared once, in `Options`; what repeats it by hand must agree."""

import inspect
import re
from dataclasses import fields
from pathlib import Path

import pytest

from evolabel import EvolvingFuzzyClassifier
from evolabel._utils.validation import Choice, Weights
from evolabel.core.options import PAPER_PROFILE, Options

DECLARED = {field.name: field for field in fields(Options)}
DOCS = (Path(__file__).parents[1] / "docs" / "reference" / "parameters.md").read_text(encoding="utf-8")


def written(value):
    return f'"{value}"' if isinstance(value, str) else repr(value)


def type_of(allowed):
    """The type as class docstrings write it."""
    if isinstance(allowed, Choice):
        return "bool" if True in allowed.values else "{" + ", ".join(map(written, allowed.values)) + "}"
    if isinstance(allowed, Weights):
        return 'dict, "balanced" or None'
    kinds = ["int" if allowed.whole else "float", *map(written, allowed.words)]
    kinds += ["str"] * allowed.per_feature + ["None"] * allowed.optional
    return " or ".join([", ".join(kinds[:-1]), kinds[-1]] if len(kinds) > 1 else kinds)


def docstring_entries():
    """Name -> (first line, text) of the parameters in the class docstring."""
    text = inspect.getdoc(EvolvingFuzzyClassifier).split("Parameters\n----------\n")[1].split("\n\nAttributes")[0]
    entries = re.findall(r"^(\w+) : (.*)\n((?:    .*(?:\n|$))+)", text, re.M)
    return {name: (first, " ".join(body.split())) for name, first, body in entries}


def table_rows():
    """Name -> (meaning, default) of the tables in docs/reference/parameters.md."""
    rows = re.findall(r"^\| `(\w+)` \| (.*?) \| .*? \| (.*?) \| .* \|$", DOCS, re.M)
    return {name: (meaning, default.strip("`")) for name, meaning, default in rows}


def test_the_signature_has_the_parameters_in_order_with_their_types_and_defaults():
    signature = inspect.signature(EvolvingFuzzyClassifier)
    found = [(p.name, p.annotation, p.default, p.kind) for p in signature.parameters.values()]
    keyword = inspect.Parameter.KEYWORD_ONLY
    assert found == [(field.name, field.type, field.default, keyword) for field in DECLARED.values()]


def test_the_defaults_are_allowed():
    Options().check()
    Options(**PAPER_PROFILE).check()


def test_the_docstring_and_the_docs_have_the_parameters_in_order():
    assert list(docstring_entries()) == list(table_rows()) == list(DECLARED)


@pytest.mark.parametrize("name", DECLARED)
def test_the_docstring_agrees(name):
    first, text = docstring_entries()[name]
    allowed, doc = (DECLARED[name].metadata[key] for key in ("allowed", "doc"))
    assert first == f"{type_of(allowed)}, default={written(DECLARED[name].default)}"
    assert text.startswith(doc[0].upper() + doc[1:] + ".")


@pytest.mark.parametrize("name", DECLARED)
def test_the_docs_agree(name):
    meaning, default = table_rows()[name]
    assert meaning.startswith(DECLARED[name].metadata["doc"])
    assert default == written(DECLARED[name].default) or float(default) == DECLARED[name].default


@pytest.mark.parametrize("name", PAPER_PROFILE)
def test_the_docs_name_the_profile_of_the_paper(name):
    value = PAPER_PROFILE[name]
    assert f"`{name}={written(value) if isinstance(value, str | bool) else f'{value:g}'}`" in DOCS


def test_an_unknown_parameter_is_refused_under_the_name_of_the_classifier():
    with pytest.raises(TypeError, match=r"EvolvingFuzzyClassifier.*'vigilence'"):
        EvolvingFuzzyClassifier(vigilence=1.0)
