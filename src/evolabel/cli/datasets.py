"""`evolabel datasets`: which data sets are known by name, and which are at hand."""

from evolabel.cli.tables import plain_table, print_table
from evolabel.streams import dataset_names


def datasets() -> None:
    """List the data sets that are known by name."""
    from evolabel.streams.named.catalogue import find_entry
    from evolabel.streams.named.load import is_at_hand

    table = plain_table("Known data sets", ["name", "rows", "features", "labels", "official split", "at hand"])
    for name in dataset_names():
        entry = find_entry(name)
        cells = (entry.rows, entry.features, entry.labels, entry.split or "", "yes" if is_at_hand(entry) else "")
        table.add_row(name, *map(str, cells))
    print_table(table)
