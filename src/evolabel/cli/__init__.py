"""The `evolabel` command."""

import sys

INTERRUPTED = 130


def main() -> None:
    """Entry point of the command; says what is missing where the packages for it are not installed."""
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
        sys.exit(INTERRUPTED)
