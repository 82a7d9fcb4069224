"""Sources of samples: data sets by name, files, data frames and synthetic streams."""

from evolabel.streams.arff.columns import Nominal
from evolabel.streams.arff.reader import read_arff
from evolabel.streams.dataset import Dataset
from evolabel.streams.files.convert import read_dataset, write_dataset
from evolabel.streams.files.for_model import for_model, read_for_model
from evolabel.streams.named.catalogue import dataset_names
from evolabel.streams.named.load import load_dataset
from evolabel.streams.synthetic.drifting import DriftingStream
from evolabel.streams.synthetic.drifts import DRIFT_KINDS, Concept
from evolabel.streams.tabular.csv_file import from_csv
from evolabel.streams.tabular.frames import from_frame
from evolabel.streams.tabular.label_column import LabelColumn

__all__ = [
    "DRIFT_KINDS",
    "Concept",
    "Dataset",
    "DriftingStream",
    "LabelColumn",
    "Nominal",
    "dataset_names",
    "for_model",
    "from_csv",
    "from_frame",
    "load_dataset",
    "read_arff",
    "read_dataset",
    "read_for_model",
    "write_dataset",
]
