"""The ordered list of rules that people write, and their edits."""
