"""The `evolabel` command."""

import sys
from signal import SIGINT


def main() -> None:
    """Run the command line in `sys.argv` and exit with its code, or with a message if its packages are missing.

    Without arguments it prints what to try next. This and `--version` load nothing.
    """
    from evolabel import __version__
    from evolabel._utils.optional import load
    from evolabel.cli.first_steps import first_steps
    from evolabel.errors import MissingDependencyError

    if sys.argv[1:] in ([], ["--version"]):
        sys.stdout.write(f"{__version__}\n" if sys.argv[1:] else first_steps())
        return
    try:
        for package in ("cyclopts", "rich"):
            load(package, "cli", "the evolabel command")
    except MissingDependencyError as error:
        sys.stderr.write(f"evolabel: {error}\n")
        sys.exit(3)  # a package is missing, as for every command

    try:
        from evolabel.cli.app import run_command

        sys.exit(run_command(sys.argv[1:]))
    except KeyboardInterrupt:  # while modules were still loading
        sys.exit(128 + SIGINT)
