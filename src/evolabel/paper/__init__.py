"""The method as its paper prints it: its experiments, run again, with its claims checked."""
