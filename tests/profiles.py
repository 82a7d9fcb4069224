"""Settings of both classifiers by one dictionary, so that formulas of the paper can be tried one by one."""

from dataclasses import fields

from evolabel import EvolvingFuzzyClassifier
from evolabel.core.options import Options
from evolabel.model.stream_model import StreamModel
from evolabel.paper import PaperClassifier
from evolabel.paper.model import PaperModel
from evolabel.paper.old_files import PAPER_PARAMETERS
from evolabel.paper.options import PaperOptions

ABSENT = {"follow_drift": False, "threshold_rules": False, "memory": None}  # of the paper's classifier
PLAIN = {
    field.name: PAPER_PARAMETERS.get(field.name, getattr(Options, field.name, None)) for field in fields(PaperOptions)
}
"""All parameters of the paper's classifier, with the values that the default one has."""
PAPER_PROFILE = {field.name: field.default for field in fields(PaperOptions) if field.default != PLAIN[field.name]}


def options_of(**changes):
    """The default options with `changes`; those of the paper's classifier if one of the `changes` is its own."""
    kind, values = _read(changes)
    return (PaperOptions if kind is PaperClassifier else Options)(**values).check()


def classifier_of(**changes):
    """The default classifier with `changes`; the paper's if one of the `changes` is its own."""
    kind, values = _read(changes)
    return kind(**values)


def new_model(n_features, n_labels, options):
    """A model of these `options` that has learned nothing."""
    kind = PaperModel if isinstance(options, PaperOptions) else StreamModel
    return kind(n_features, n_labels, options)


def _read(changes):
    """The class of classifiers that has the `changes`, and its parameters."""
    if not set(changes) - {field.name for field in fields(Options)}:
        return EvolvingFuzzyClassifier, changes
    assert all(changes.get(name, value) == value for name, value in ABSENT.items())
    return PaperClassifier, {**PLAIN, **{name: value for name, value in changes.items() if name not in ABSENT}}
