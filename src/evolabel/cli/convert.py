"""`evolabel convert`: a data set into a file other tools read quickly."""

from pathlib import Path

from evolabel._utils.text import counted
from evolabel.cli.ready import tell, writing
from evolabel.cli.source import open_source, split_names
from evolabel.streams import write_dataset


def convert(data: str, target: Path, *, labels: str = "", drop: str = "") -> None:
    """Write a data set as Parquet or npz.

    Names of features and labels, missing values and the official split are kept.

    Examples:
    `evolabel convert emotions emotions.parquet`

    `evolabel convert plant.csv plant.npz --labels fault_a,fault_b`

    Parameters
    ----------
    data
        As in `evolabel run`: a known data set, a file, or a synthetic stream.
    target
        File to write; its ending says the kind: .parquet or .npz.
    labels
        Columns of a file that are labels, separated by commas.
    drop
        Columns to leave out, separated by commas.
    """
    dataset = open_source(data, split_names(labels), "order", None, None, split_names(drop)).stream(0)
    with writing(target):
        write_dataset(dataset, target)
    width = f"{counted(dataset.n_features, 'feature')}, {counted(dataset.n_labels, 'label')}"
    tell(f"{target}: {counted(len(dataset), 'row')}, {width}")
