"""What numba repeats at every operation of a kernel, done once while kernels are compiled.

| function of numba | what it repeats | here |
|---|---|---|
| `get_call_type` | the search for the types of an operation among all declared ones | once for the same types |
| `get_function` | the search for what does not exist, such as `__array__` of an array | an error at once |
| `get_abi_sizeof` | a module that LLVM reads, to find how many bytes a type takes | one module per type |
| `PostProcessor.run` | when each variable is last used, after every step | after the step that reads it |
| `start_event`, `end_event` | two events at every call of LLVM | none |

Machine code depends on none of them (docs/decisions/009-same-bits.md). `benchmarks/first_use.py` measures the first
calls on a machine.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numba.core import event, types
from numba.core.base import BaseContext
from numba.core.postproc import PostProcessor, VariableLifetime
from numba.core.transforms import canonicalize_cfg

_Function: Any = types.BaseFunction  # numba has no type annotations
_Context: Any = BaseContext
_Steps: Any = PostProcessor
_Lifetime: Any = VariableLifetime
_simplify: Any = canonicalize_cfg
_event: Any = event
_find_signature, _find_function, _find_size = _Function.get_call_type, _Context.get_function, _Context.get_abi_sizeof
_follow_variables = _Steps.run
_start_event, _end_event = _event.start_event, _event.end_event
_signatures: dict[object, Any] = {}
_sizes: dict[object, int] = {}
_missing: set[object] = set()


@contextmanager
def shortcuts() -> Iterator[None]:
    """Replace six functions of numba inside the `with` block; the caller holds numba's compiler lock."""
    replaced = {
        (_Function, "get_call_type"): _known_signature,
        (_Context, "get_function"): _function_unless_missing,
        (_Context, "get_abi_sizeof"): _known_size,
        (_Steps, "run"): _follow_variables_if_read,
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


def _function_unless_missing(context: Any, function: Any, signature: Any, **names: bool) -> Any:
    """Return the implementation of `function`; NotImplementedError at once for a name that was not found before."""
    if not isinstance(function, str):
        return _find_function(context, function, signature, **names)
    key = function, signature
    if key in _missing:
        raise NotImplementedError(function)
    try:
        return _find_function(context, function, signature, **names)
    except NotImplementedError:
        _missing.add(key)
        raise


def _known_size(context: Any, llvm_type: Any) -> int:
    """Return how many bytes a value of `llvm_type` takes in the target `context`; LLVM is called once per type."""
    if llvm_type not in _sizes:
        _sizes[llvm_type] = _find_size(context, llvm_type)
    return _sizes[llvm_type]


def _follow_variables_if_read(steps: Any, emit_dels: bool = False, extend_lifetimes: bool = False) -> None:
    """Simplify the blocks of a function; find when its variables are last used if `emit_dels`, which reads that."""
    function = steps.func_ir
    if emit_dels or function.is_generator:
        _follow_variables(steps, emit_dels, extend_lifetimes)
        return
    function.blocks = _simplify(function.blocks)
    function.variable_lifetime = _Lifetime(function.blocks)  # computed when it is first read
    function.generator_info = None


def _send(send: Any, kind: str, *args: object, **names: object) -> None:
    """Call numba's function `send` for events of all kinds but the calls of LLVM."""
    if kind != "numba:llvm_lock":
        send(kind, *args, **names)
