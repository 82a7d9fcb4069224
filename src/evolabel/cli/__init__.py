"""The `evolabel` command."""

import sys
from signal import SIGINT


def main() -> None:
    """Run the command line in `sys.argv` and exit with its code, or with a message if its packages are missing."""
    from evolabel._utils.optional import load
    from evolabel.errors import MissingDependencyError

    try:
        for package in ("cyclopts", "rich"):
            load(package, "cli", "the evolabel command")
    except MissingDependencyError as error:
        sys.exit(f"evolabel: {error}")

    try:
        from evolabel.cli.app import run_command

        sys.exit(run_command(sys.argv[1:]))
    except KeyboardInterrupt:  # while modules were still loading
        sys.exit(128 + SIGINT)
