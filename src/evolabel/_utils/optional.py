"""Optional packages, imported on first use."""

from importlib import import_module
from types import ModuleType
from typing import Any

from evolabel._utils.install_command import install_command
from evolabel.errors import MissingDependencyError


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
