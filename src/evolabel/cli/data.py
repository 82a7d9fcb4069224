"""`evolabel datasets` lists the known data sets; `evolabel convert` writes one into a file that loads quickly."""

from pathlib import Path

from evolabel._utils.text import counted
from evolabel.cli.columns import NO_OPTIONS, ColumnOptions
from evolabel.cli.output import Force, check_overwriting, empty_table, file_errors, print_message, print_table
from evolabel.cli.source import Drop, Labels, open_source, split_names
from evolabel.streams import dataset_names, write_dataset
from evolabel.streams.files.convert import check_written_format


def datasets() -> None:
    """List the data sets that every command accepts by name.

    The last column is "yes" for those that need no download.

    Example: `evolabel datasets`
    """
    from evolabel.streams.named.catalogue import find_entry
    from evolabel.streams.named.load import is_at_hand

    table = empty_table("Known data sets", ["name", "rows", "features", "labels", "official split", "at hand"])
    for name in dataset_names():
        entry = find_entry(name)
        cells = (entry.rows, entry.features, entry.labels, entry.split or "", "yes" if is_at_hand(entry) else "")
        table.add_row(name, *map(str, cells))
    print_table(table)


def convert(
    data: str,
    target: Path,
    *,
    labels: Labels = "",
    drop: Drop = "",
    columns: ColumnOptions = NO_OPTIONS,
    force: Force = False,
) -> None:
    """Write a data set as Parquet or npz.

    Names of features and labels, missing values and the official split are kept.

    For example:

    `evolabel convert emotions emotions.parquet`

    `evolabel convert plant.csv plant.npz --labels fault_a,fault_b`

    Parameters
    ----------
    data
        As in `evolabel run`: a known data set, a file, or a synthetic stream.
    target
        File to write; its ending gives the format: .parquet or .npz.
    """
    check_written_format(target)
    check_overwriting([target], force=force)
    given, dropped = split_names(labels), split_names(drop)
    source = open_source(data, given, protocol="order", drop=dropped, columns=columns, skip_empty=False)
    dataset = source.stream(0)
    with file_errors(target):
        write_dataset(dataset, target)
    width = f"{counted(dataset.n_features, 'feature')}, {counted(dataset.n_labels, 'label')}"
    print_message(f"{target}: {counted(len(dataset), 'row')}, {width}")
