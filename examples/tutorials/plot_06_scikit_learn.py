"""
scikit-learn pipelines and search
=================================

``EvolvingFuzzyClassifier`` is a scikit-learn estimator: it goes into pipelines, cross-validation and searches.
"""

# %%
# In a pipeline
# -------------

from sklearn.datasets import make_multilabel_classification
from sklearn.decomposition import PCA
from sklearn.model_selection import KFold, cross_val_score
from sklearn.pipeline import make_pipeline

from evolabel import EvolvingFuzzyClassifier
from evolabel.evaluate import partial_accuracy

X, Y = make_multilabel_classification(600, n_features=20, n_classes=4, random_state=0)


def accuracy(estimator, X, Y):
    return partial_accuracy(Y, estimator.predict(X))


pipe = make_pipeline(PCA(10), EvolvingFuzzyClassifier())
print("with PCA:   ", cross_val_score(pipe, X, Y, cv=KFold(3), scoring=accuracy).round(3))
print("without PCA:", cross_val_score(EvolvingFuzzyClassifier(), X, Y, cv=KFold(3), scoring=accuracy).round(3))

# %%
# A search
# --------
# ``stream_score`` predicts every row before it learns it, and ``TimeSeriesSplit`` keeps the order of the rows.
# ``{}`` is the first point: the defaults.

from sklearn.model_selection import GridSearchCV, TimeSeriesSplit

from evolabel.tuning import stream_score

grids = [{}, {"vigilance": [0.3, 0.5, 1.0], "temperature": ["0.05p", "0.1p", "0.2p"]}]
cv = TimeSeriesSplit(3)
search = GridSearchCV(EvolvingFuzzyClassifier(), grids, scoring=stream_score, cv=cv).fit(X[:300], Y[:300])
print(search.best_params_, round(search.best_score_, 3))

# %%
# The best estimator is trained on the whole batch and goes on learning.

clf = search.best_estimator_
outputs = clf.test_then_train(X[300:], Y[300:])
print("along the other rows:", round(partial_accuracy(Y[300:], outputs >= 0.5), 3))

# %%
# One class per sample
# --------------------
# A 1-D target is plain classification.

from sklearn.datasets import load_iris
from sklearn.utils import shuffle

X, y = shuffle(*load_iris(return_X_y=True), random_state=0)
clf = EvolvingFuzzyClassifier().fit(X[:100], y[:100])
print("iris:", clf.score(X[100:], y[100:]), clf.predict(X[100:105]))

import matplotlib.pyplot as plt

from evolabel.explain import figures

_, ax = plt.subplots(figsize=(7, 4.5), layout="constrained")
figures.rule_map(clf, (2, 3), X=X, ax=ax)
