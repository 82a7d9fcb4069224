"""Where samples come from."""

from evolabel.streams.drifting import DriftingStream

__all__ = ["DriftingStream"]
