"""All commands together, and how errors become messages and exit codes.

Exit codes: 0 done, 1 unexpected failure (such as a full disk), 2 wrong usage or data that cannot be used, 3 a missing
package or data set, 130 interrupted.
"""

import errno
import sys
import warnings
from collections.abc import Callable, Sequence
from signal import SIGINT
from typing import Literal

from cyclopts import App, CycloptsError, Group, Parameter, UnusedCliTokensError

from evolabel import __version__
from evolabel.cli.bench import bench
from evolabel.cli.data import convert, datasets
from evolabel.cli.demo import demo
from evolabel.cli.doctor import doctor
from evolabel.cli.edit import edit
from evolabel.cli.explain import explain
from evolabel.cli.export import export
from evolabel.cli.figures import figures
from evolabel.cli.first_steps import ABOUT, FIRST_STEPS
from evolabel.cli.label_studio import label_studio
from evolabel.cli.output import print_message
from evolabel.cli.predict import predict
from evolabel.cli.ready import ready
from evolabel.cli.replay import replay
from evolabel.cli.reproduce import reproduce_paper
from evolabel.cli.rules import rules
from evolabel.cli.run import run
from evolabel.cli.serve import LABELLING, serve
from evolabel.cli.tune import tune
from evolabel.errors import DatasetNotFoundError, DataWarning, EvolabelError, MissingDependencyError, ParameterError

_DONE, _FAILED, _UNUSABLE, _MISSING, _INTERRUPTED = 0, 1, 2, 3, 128 + SIGINT
_FULL_DISK = errno.ENOSPC, errno.EDQUOT

_EPILOGUE = "Exit codes: 0 done, 1 failed, 2 wrong usage or data, 3 a package or data set is missing, 130 interrupted."


def completion(shell: Literal["bash", "zsh", "fish"], /) -> None:
    """Print the script by which a shell completes commands and options.

    For example:

    `evolabel completion bash > ~/.local/share/bash-completion/completions/evolabel`

    `evolabel completion zsh > ~/.zfunc/_evolabel`, where `fpath` has `~/.zfunc`

    `evolabel completion fish > ~/.config/fish/completions/evolabel.fish`

    Parameters
    ----------
    shell
        The shell.
    """
    sys.stdout.write(make_app().generate_completion(prog_name="evolabel", shell=shell))


_COMMANDS: dict[str, dict[str, Callable[..., None]]] = {
    "Learn and compare": {"demo": demo, "run": run, "tune": tune, "bench": bench, "reproduce": reproduce_paper},
    "Use a saved model": {"predict": predict, "rules": rules, "explain": explain, "figures": figures, "edit": edit},
    "Data": {"datasets": datasets, "convert": convert},
    "This installation": {"doctor": doctor, "ready": ready, "completion": completion},
}

_NOTE_ON_COLUMN = r"y looks like several labels per row \('[^']*;"  # by `LabelColumn`, with the option that fits


def make_app() -> App:
    """Return the command line with all its commands."""
    steps = [f"{what}: `{words}`" for what, words in FIRST_STEPS.items()]
    app = App(
        "evolabel",
        help="\n\n".join([ABOUT, "First steps:", *steps, "Examples of each command: `evolabel run --help` and so on"]),
        help_epilogue=_EPILOGUE,
        version=__version__,
        default_parameter=Parameter(show_default=lambda value: None if value == "" or value is False else value),
        suppress_keyboard_interrupt=False,
    )
    app["--help"].group = app["--version"].group = Group("Options", sort_key=len(_COMMANDS))
    for order, (title, commands) in enumerate(_COMMANDS.items()):
        group = Group(title, sort_key=order)
        for place, (name, command) in enumerate(commands.items()):
            app.command(command, name=name, group=group, sort_key=place)
    app.command(serve)
    for command in (replay, export, label_studio):
        app.command(command, group=LABELLING)
    return app


def run_command(words: Sequence[str]) -> int:
    """Run the command line `words`; print an error as one line on stderr and return the exit code."""
    try:
        if any("\0" in word for word in words):
            raise ParameterError("an argument has a NUL character, which no name of a file or column may have")
        with warnings.catch_warnings():  # arrays without feature names are fine: commands compare the names themselves
            warnings.filterwarnings("ignore", "X does not have valid feature names", UserWarning)
            warnings.simplefilter("always", DataWarning)
            warnings.filterwarnings("ignore", _NOTE_ON_COLUMN, DataWarning)
            warnings.filterwarnings("ignore", "never predicted: ", DataWarning)  # `run` has a note of its own
            warnings.showwarning = _print_warning  # type: ignore[assignment]
            make_app()(list(words), exit_on_error=False, print_error=False, result_action="return_value")
    except CycloptsError as error:
        code, message = _UNUSABLE, _usage_message(error, words)
    except KeyboardInterrupt:
        code, message = _INTERRUPTED, "interrupted"
    except (EvolabelError, OSError) as error:
        code, message = _code_and_message(error)
    else:
        return _DONE
    print_message(f"evolabel: {message}")
    return code


def _print_warning(message: Warning | str, category: type[Warning], *place: object) -> None:
    """Print a warning as one line; `place`, that in the code, is left out where it is on the data."""
    where = () if issubclass(category, DataWarning) else (category.__name__, *place[:2])
    print_message(": ".join(map(str, (*where, message))))


def _usage_message(error: CycloptsError, words: Sequence[str]) -> str:
    """Return in one line what is wrong with the command line `words`, and which help explains it."""
    message = " ".join(str(error).split())
    if isinstance(error, UnusedCliTokensError):
        message = f"unexpected argument: {' '.join(error.unused_tokens or ())}."
    command = f"{words[0]} " if words and words[0] in make_app() else ""
    return f"{message} Try `evolabel {command}--help`."


def _code_and_message(error: Exception) -> tuple[int, str]:
    """Return exit code and message; a full disk behind another error is reported as a full disk."""
    full = _full_disk(error)
    if full is not None:
        where = f" for {full.filename}" if full.filename else ""
        return _FAILED, f"{full.strerror}{where}; free some space or write elsewhere, existing files are unchanged"
    if isinstance(error, DatasetNotFoundError | MissingDependencyError):
        return _MISSING, str(error)
    is_unusable = isinstance(error, EvolabelError) and not isinstance(error, ConnectionError)
    return (_UNUSABLE if is_unusable else _FAILED), str(error)


def _full_disk(error: BaseException | None) -> OSError | None:
    """Return the first error in the chain of causes that is a full disk, or None."""
    if error is None or (isinstance(error, OSError) and error.errno in _FULL_DISK):
        return error
    return _full_disk(error.__cause__ or error.__context__)
