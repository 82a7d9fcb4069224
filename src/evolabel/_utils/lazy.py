"""Imports on first use: public names of a package (PEP 562), and modules that another library imports without need."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any


def attach(
    package: str, homes: Mapping[str, Sequence[str]]
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return `__getattr__`, `__dir__` and `__all__` of `package`.

    `homes` maps modules below the package, or with their whole names, to the public names that they define. A name
    must differ from those of the modules: importing a module sets an attribute of the package, which would hide the
    name. Type checkers read the names from `__init__.pyi` beside the package's `__init__.py`.

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
        home = modules[name]
        value = getattr(import_module(home if home.startswith("evolabel.") else f"{package}.{home}"), name)
        setattr(sys.modules[package], name, value)
        return value

    return load, lambda: sorted(public), public


class DeferredModule(ModuleType):
    """Stands for a module that is imported when one of its attributes is first read."""

    def __getattr__(self, name: str) -> Any:
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(import_module(self.__name__), name)


@contextmanager
def deferred(*names: str) -> Iterator[None]:
    """Let imports inside the block find a `DeferredModule` for each of the modules `names` that is not loaded yet.

    After the block, `import` of these modules works as ever. Modules that are not installed stay so.
    """
    absent = [name for name in names if name not in sys.modules and find_spec(name) is not None]
    sys.modules.update({name: DeferredModule(name) for name in absent})
    try:
        yield
    finally:
        for name in absent:
            if isinstance(sys.modules.get(name), DeferredModule):
                del sys.modules[name]
