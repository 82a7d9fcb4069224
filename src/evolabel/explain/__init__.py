"""Texts and figures of a trained model: rules, explanations of single predictions, and the relevance of features.

`clf.rules_`, `clf.describe(X)`, `clf.explain(x)`, `clf.relevance_` and `clf.rulebook` use this package.
"""
