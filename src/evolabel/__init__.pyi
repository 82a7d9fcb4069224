from evolabel.classifier.estimator import EvolvingFuzzyClassifier as EvolvingFuzzyClassifier

__version__: str
