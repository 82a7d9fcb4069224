"""The model as named arrays for a file, and the checks of arrays that come from one."""
