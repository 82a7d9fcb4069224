"""What numba repeats at every operation of a kernel, done once while kernels are compiled.

numba looks for the types of an operation, such as adding two floats, among all that is declared for it: for arrays,
dates, texts. It does so at every place, several times; here a result is kept for the next place with the same types.
numba also sends two events at every call of LLVM. Machine code depends on neither (docs/decisions/009-same-bits.md).
`benchmarks/first_use.py` measures the first calls on a machine.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numba.core import event, types

_Function: Any = types.BaseFunction  # numba has no type annotations
_event: Any = event
_find_signature = _Function.get_call_type
_start_event, _end_event = _event.start_event, _event.end_event
_signatures: dict[object, Any] = {}


@contextmanager
def shortcuts() -> Iterator[None]:
    """Replace three functions of numba inside the `with` block; the caller holds numba's compiler lock."""
    replaced = {
        (_Function, "get_call_type"): _known_signature,
        (_event, "start_event"): lambda kind, *args, **names: _send(_start_event, kind, *args, **names),
        (_event, "end_event"): lambda kind, *args, **names: _send(_end_event, kind, *args, **names),
    }
    before = {place: getattr(*place) for place in replaced}
    try:
        for (owner, name), function in replaced.items():
            setattr(owner, name, function)
        yield
    finally:
        for (owner, name), function in before.items():
            setattr(owner, name, function)


def _known_signature(function: Any, context: Any, args: Any, kws: Any) -> Any:
    """Return the signature of a call of `function` with types `args`; it is searched at the first call only."""
    if kws:
        return _find_signature(function, context, args, kws)
    key = function, tuple(args)
    if key not in _signatures:
        _signatures[key] = _find_signature(function, context, args, kws)
    return _signatures[key]


def _send(send: Any, kind: str, *args: object, **names: object) -> None:
    """Call numba's function `send` for events of all kinds but the calls of LLVM."""
    if kind != "numba:llvm_lock":
        send(kind, *args, **names)
