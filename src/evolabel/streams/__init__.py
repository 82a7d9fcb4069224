"""Sources of samples: data sets by name, files, data frames and synthetic streams."""

from evolabel._utils.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "arff.columns": ["Nominal"],
        "arff.reader": ["read_arff"],
        "dataset": ["Dataset"],
        "files.convert": ["read_dataset", "write_dataset"],
        "files.for_model": ["for_model", "read_for_model"],
        "named.catalogue": ["dataset_names"],
        "named.load": ["load_dataset"],
        "synthetic.drifting": ["DriftingStream"],
        "synthetic.drifts": ["DRIFT_KINDS", "Concept"],
        "synthetic.plant": ["PlantStream"],
        "tabular.csv_file": ["from_csv"],
        "tabular.frames": ["from_frame"],
        "tabular.label_column": ["LabelColumn"],
    },
)
