"""Optional packages, imported on first use, and the command that installs them, in the way evolabel was installed."""

from importlib import import_module
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

from evolabel._utils.json_text import parse_json
from evolabel.errors import MissingDependencyError

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


def load(module: str, extra: str, purpose: str) -> ModuleType:
    """Return the optional `module`; if it is missing, the error names the `extra` to install and the `purpose`."""
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise MissingDependencyError(
            f"{purpose} needs {package}, which is not installed; run: {install_command(extra)}"
        ) from error


def load_parquet() -> tuple[Any, Any]:
    """Return the modules pyarrow and pyarrow.parquet; MissingDependencyError if they are not installed."""
    return load("pyarrow", "parquet", "a Parquet file"), load("pyarrow.parquet", "parquet", "a Parquet file")
