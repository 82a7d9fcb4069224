"""Answers to few rows, with what questions are scored by."""

from typing import Any

import numpy as np

from evolabel.core.rows import Rows
from evolabel.core.sizes import check_rows
from evolabel.engine.compile import direct_by_profile
from evolabel.model.loops.answer import answer_few
from evolabel.model.pipeline import refine
from evolabel.model.protocols import FewAnswers, Model
from evolabel.stages.rules.weights import NO_MOMENTS, NO_WEIGHTS, Moments, VarianceTerms
from evolabel.typing import FloatArray

_answer_few: Any = direct_by_profile(answer_few)


def answer_few_rows(
    model: Model, X: FloatArray, W: FloatArray = NO_WEIGHTS, moments: Moments = NO_MOMENTS
) -> FewAnswers:
    """Return what `model` answers to the raw rows `X`, after its warm-up, by one call of a compiled loop.

    The bits of the outputs are those of `model.outputs`, if `W` is empty or holds its weights. `moments` are those of
    the quadratic forms t.
    """
    rules, trees = model.trained(), model.thresholds
    assert model.scaler is not None
    p, K, n, members = rules.n_features, rules.n_labels, len(X), model.drift.packed
    check_rows(X, p)
    Z, read = np.empty((2, n, p))
    f, fast = np.empty((2, n, K))
    psi, D = np.empty((2, n, rules.n_rules))
    terms = VarianceTerms(*np.zeros((3, n, rules.n_rules)))
    packed_trees = None if trees is None else trees.packed
    scratch = Z, fast, np.empty((n, p + 1))
    knots = model.scaler.knots
    _answer_few(rules.packed, members, packed_trees, knots, W, moments, terms, scratch, X, read, f, psi, D)
    rows = Rows(X, outputs=f)
    rows.read = X if members is None else read
    refine(model, rows, but=trees)
    return FewAnswers(rows.outputs, psi, D, terms)
