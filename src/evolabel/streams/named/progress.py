"""A progress bar where rich is installed and somebody watches, silence elsewhere."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec

Advance = Callable[[int], object]


@contextmanager
def progress_bar(title: str, total: int | None) -> Iterator[Advance]:
    """A function to tell how many more bytes are done; without a total, the bar only shows that something moves."""
    if find_spec("rich") is None:
        yield lambda size: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(title, total=total)
        yield lambda size: bar.advance(task, size)
