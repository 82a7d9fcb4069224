"""Public names of a package that are imported on first use (PEP 562), so that importing the package stays cheap."""

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any


def attach(
    package: str, homes: Mapping[str, Sequence[str]]
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return `__getattr__`, `__dir__` and `__all__` of `package`.

    `homes` maps modules below the package to the public names that they define. A name must differ from those of the
    modules: importing a module sets an attribute of the package, which would hide the name. Type checkers read the
    names from `__init__.pyi` beside the package's `__init__.py`.

    Examples
    --------
    >>> load, _, names = attach("evolabel", {"classifier.estimator": ["EvolvingFuzzyClassifier"]})
    >>> names
    ['EvolvingFuzzyClassifier']
    >>> load("EvolvingFuzzyClassifier").__module__
    'evolabel.classifier.estimator'
    """
    modules = {name: module for module, names in homes.items() for name in names}
    public = sorted(modules)

    def load(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(f"{package}.{modules[name]}"), name)
        setattr(sys.modules[package], name, value)
        return value

    return load, lambda: sorted(public), public
