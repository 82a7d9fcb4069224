"""Optional packages, loaded when they are needed."""

from importlib import import_module
from types import ModuleType

from evolabel.errors import MissingDependencyError


def load(module: str, extra: str, purpose: str) -> ModuleType:
    """Import an optional module, or say which extra brings it and what it is needed for."""
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise MissingDependencyError(
            f'{purpose} needs {package}, which is not installed; run: pip install "evolabel[{extra}]"'
        ) from error
