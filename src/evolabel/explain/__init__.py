"""What a person can read: rules in words, single predictions in parts, and which features matter.

`clf.rules_`, `clf.describe(X)`, `clf.explain(x)` and `clf.relevance_` lead here.
"""
