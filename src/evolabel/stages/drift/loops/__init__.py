"""Compiled loops: members, mixer, alarms."""
