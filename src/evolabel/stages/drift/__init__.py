"""Following drift: a fast and a linear member beside the rules, their mixer and alarms."""
