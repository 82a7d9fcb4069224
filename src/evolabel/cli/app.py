"""All commands together, and what becomes of errors.

Exit codes: 0 done, 1 unexpected failure (such as a full disk), 2 wrong usage or data that cannot be used, 3 something
that must be there is not (a package, a data set), 130 interrupted.
"""

import errno
from collections.abc import Callable, Sequence

from cyclopts import App, CycloptsError, UnusedCliTokensError
from rich.console import Console

from evolabel import __version__
from evolabel._utils.text import one_line
from evolabel.cli import INTERRUPTED
from evolabel.cli.bench import bench
from evolabel.cli.convert import convert
from evolabel.cli.datasets import datasets
from evolabel.cli.edit import edit
from evolabel.cli.explain import explain
from evolabel.cli.figures import figures
from evolabel.cli.predict import predict
from evolabel.cli.reproduce import reproduce
from evolabel.cli.rules import rules
from evolabel.cli.run import run
from evolabel.cli.tune import tune
from evolabel.errors import DatasetNotFoundError, EvolabelError, MissingDependencyError

DONE, FAILED, UNUSABLE, ABSENT = 0, 1, 2, 3
FULL = errno.ENOSPC, errno.EDQUOT

HELP = """Learn several labels at once from a stream, with rules a person can read.

Start with `evolabel run`: it learns a stream and shows how well, beside what you would use instead."""

EPILOGUE = "Exit codes: 0 done, 1 failed, 2 wrong usage or data, 3 a package or data set is absent, 130 interrupted."


def make_app() -> App:
    """The command line with all its commands."""
    app = App("evolabel", help=HELP, help_epilogue=EPILOGUE, version=__version__, suppress_keyboard_interrupt=False)
    commands: tuple[Callable[..., None], ...] = (
        run,
        predict,
        rules,
        explain,
        figures,
        edit,
        tune,
        bench,
        reproduce,
        datasets,
        convert,
    )
    for place, command in enumerate(commands):
        app.command(command, sort_key=place)
    return app


def run_command(words: Sequence[str]) -> int:
    """Run a command line; returns its exit code, after saying in one line what went wrong."""
    complain = Console(stderr=True, soft_wrap=True, highlight=False, emoji=False)
    try:
        make_app()(list(words), exit_on_error=False, print_error=False, result_action="return_value")
    except CycloptsError as error:
        complain.print(one_line(f"evolabel: {_misunderstood(error, words)}"), markup=False)
        return UNUSABLE
    except KeyboardInterrupt:
        complain.print("evolabel: interrupted", markup=False)
        return INTERRUPTED
    except (EvolabelError, OSError) as error:
        code, message = _verdict(error)
        complain.print(one_line(f"evolabel: {message}"), markup=False)
        return code
    return DONE


def _misunderstood(error: CycloptsError, words: Sequence[str]) -> str:
    """What cannot be read as a command, in one line, and where it is told how to write it."""
    told = " ".join(str(error).split())
    if isinstance(error, UnusedCliTokensError):
        told = f"there is no place for {' '.join(error.unused_tokens or ())}."
    command = f"{words[0]} " if words and words[0] in make_app() else ""
    return f"{told} Try `evolabel {command}--help`."


def _verdict(error: Exception) -> tuple[int, str]:
    """Exit code and what to say; the cause counts, whoever has met it."""
    full = _full_disk(error)
    if full is not None:
        where = f" for {full.filename}" if full.filename else ""
        return FAILED, f"{full.strerror}{where}; free some space or write elsewhere, what was there before is untouched"
    if isinstance(error, DatasetNotFoundError | MissingDependencyError):
        return ABSENT, str(error)
    return (UNUSABLE if isinstance(error, EvolabelError) else FAILED), str(error)


def _full_disk(error: BaseException | None) -> OSError | None:
    """The full disk behind an error, if there is one."""
    if error is None or (isinstance(error, OSError) and error.errno in FULL):
        return error
    return _full_disk(error.__cause__ or error.__context__)
