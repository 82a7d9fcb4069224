"""`SavedState`: the state of an object and of all that it refers to, to put back in place; `content_of`: to compare."""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from types import FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from evolabel._utils.interrupts import held
from evolabel.typing import AnyArray

_CONTAINERS = (dict, list, set, deque)
_NO_STATE = (type, FunctionType, MethodType, ModuleType)
_SHARED = frozenset(("builtins", "functools", "logging", "numba", "threading"))  # modules of objects that are no state
_VALUES = frozenset((int, float, bool, str, bytes, type(None), np.int64, np.float64, np.bool_))


class SavedState:
    """What `thing` and the objects, containers and arrays behind it hold now.

    Tuples are followed, entries of sets and deques are not: they must not change. Of an object whose class names in
    `_changing` the attributes that learning changes, only these are followed. Putting it back keeps every object, so
    that references to it stay valid.
    """

    def __init__(self, thing: Any) -> None:
        self._kept: list[tuple[Any, Any]] = [(each, each.copy()) for each in _state_behind(thing)]

    def put_back(self) -> None:
        """Give every object, container and array the state that it had."""
        for found, before in self._kept:
            if isinstance(found, np.ndarray):
                found[...] = before
            elif isinstance(found, list):
                found[:] = before
            else:
                found.clear()
                (found.extend if isinstance(found, deque) else found.update)(before)


def arrays_behind(thing: Any) -> list[AnyArray]:
    """Return the arrays that `thing` and the objects and containers behind it hold, and that can be written."""
    return [each for each in _state_behind(thing) if isinstance(each, np.ndarray)]


def _state_behind(thing: Any) -> Iterator[Any]:
    """Yield the writeable arrays, the containers and the attributes of objects that `thing` refers to, each once."""
    seen: set[int] = set()
    rest = [thing]
    while rest:
        each = rest.pop()
        kind = type(each)
        if kind in _VALUES or id(each) in seen:
            continue
        seen.add(id(each))
        if kind is np.ndarray:
            if each.flags.writeable:
                yield each
        elif isinstance(each, tuple):
            rest.extend(each)
        else:
            found = each if isinstance(each, _CONTAINERS) else _attributes(each)
            if found is not None:
                yield found
                rest.extend(_behind(kind, found))


@contextmanager
def put_back_on_error(*things: Any) -> Iterator[None]:
    """Put all `things` back into the state before the `with` block if it raises any error, or ends by Ctrl-C."""
    saved = SavedState(things)
    try:
        yield
    except BaseException:
        with held():
            saved.put_back()
        raise


def _behind(kind: type, found: Any) -> Iterable[Any]:
    """Return what has to be saved, too, behind `found`: a container, or the attributes of an object of this `kind`."""
    if not isinstance(found, dict):
        return found if kind is list else ()
    changing = getattr(kind, "_changing", None)
    return found.values() if changing is None else [found[name] for name in changing if name in found]


def _attributes(thing: object) -> dict[str, Any] | None:
    """Return the attributes of `thing`; None for a class, a function, one without any, or one of `_SHARED`."""
    if isinstance(thing, _NO_STATE) or type(thing).__module__.partition(".")[0] in _SHARED:
        return None
    return getattr(thing, "__dict__", None)


def content_of(thing: Any, depth: int = 6) -> Any:
    """Return what can be compared of `thing`: of arrays their bytes, of objects their attributes, `depth` levels."""
    if isinstance(thing, np.ndarray):
        return thing.shape, thing.tobytes()
    if isinstance(thing, np.random.Generator):
        return repr(thing.bit_generator.state)
    if isinstance(thing, str | bytes | int | float | np.generic) or thing is None:
        return repr(thing)
    if isinstance(thing, list | tuple | set | deque) and depth > 0:
        return [content_of(each, depth - 1) for each in thing]
    inside = thing if isinstance(thing, Mapping) else _attributes(thing)
    if inside is None or depth == 0:
        return None
    return {repr(key): content_of(each, depth - 1) for key, each in inside.items()}
