"""Label Studio in front of the labelling service: its machine-learning backend, made of requests to the service.

It is a small program of its own, `evolabel label-studio`, and needs `pip install "evolabel[label-studio]"`.
"""

from evolabel.label_studio.bridge import make_bridge

__all__ = ["make_bridge"]
