from evolabel.classifier.estimator import EvolvingFuzzyClassifier as EvolvingFuzzyClassifier
from evolabel.core.members.alarm import DriftAlarm as DriftAlarm

__version__: str
