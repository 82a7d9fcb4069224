"""`python -m evolabel` is the `evolabel` command."""

from evolabel.cli import main

main()
