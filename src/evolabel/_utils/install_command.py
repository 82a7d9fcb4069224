"""The command that installs evolabel with more packages, in the way in which it was installed."""

from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

from evolabel._utils.json_text import parse_json

_SOURCE = Path(__file__).parents[1]


def install_command(*extras: str) -> str:
    """Return the command of pip that installs evolabel with `extras`, such as "cli".

    From a checkout it names the checkout, from a file, an address or a repository that one, else the package index.
    """
    wish = f"[{','.join(extras)}]" if extras else ""
    try:
        text = distribution("evolabel").read_text("direct_url.json")
    except PackageNotFoundError:  # found by its path
        checkout = _SOURCE.parents[1]
        return _of_folder(checkout, wish, editable=True) if (checkout / "pyproject.toml").is_file() else _of_index(wish)
    try:
        return _of_origin(parse_json(text), wish) if text else _of_index(wish)
    except (ValueError, KeyError, TypeError, AttributeError):  # written by a tool with another idea of the file
        return _of_index(wish)


def _of_origin(origin: Any, wish: str) -> str:
    """Return the command for the `origin` of an installation, the content of direct_url.json, with the extras `wish`.

    If the folder or the file is gone, it is that for the package index.
    """
    url: str = origin["url"]
    place = Path(url2pathname(urlsplit(url).path)) if url.startswith("file:") else None
    if place is not None and not place.exists():
        return _of_index(wish)
    if place is not None and "dir_info" in origin:
        return _of_folder(place, wish, editable=bool(origin["dir_info"].get("editable")))
    if version := origin.get("vcs_info"):
        url = f"{version['vcs']}+{url}@{version['commit_id']}"
    below = f"#subdirectory={origin['subdirectory']}" if "subdirectory" in origin else ""
    return f'pip install "evolabel{wish} @ {url}{below}"'


def _of_folder(folder: Path, wish: str, *, editable: bool) -> str:
    return f'pip install {"-e " if editable else ""}"{folder}{wish}"'


def _of_index(wish: str) -> str:
    return f'pip install "evolabel{wish}"'
