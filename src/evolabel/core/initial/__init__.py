"""Initial batch: ridges of the first fit, and the cold start without one."""
