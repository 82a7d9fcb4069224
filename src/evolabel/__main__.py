"""`python -m evolabel` is the `evolabel` command."""

from evolabel.cli import main

if __name__ == "__main__":  # not in the processes that `evolabel ready` starts
    main()
