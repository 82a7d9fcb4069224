"""Cells of a table in a text file, as numbers."""


def number(cell: str, decimal: str) -> float:
    """What a cell is as a number; ValueError if it is none. In some tables `decimal` is a comma."""
    if "_" in cell:  # float() takes 1_000 for a number, people mean a name by it
        raise ValueError
    return float(cell.replace(decimal, "."))


def is_number(cell: str, decimal: str) -> bool:
    """Is it one?"""
    try:
        number(cell, decimal)
    except ValueError:
        return False
    return True
