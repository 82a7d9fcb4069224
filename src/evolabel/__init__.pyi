from evolabel.classifier.estimator import EvolvingFuzzyClassifier as EvolvingFuzzyClassifier
from evolabel.stages.drift.alarm import DriftAlarm as DriftAlarm

__version__: str
