"""A rule base handed to a kernel as one block of memory.

A kernel's arguments are read out of their Python objects at every call. A rule base is some forty arrays and as many
numbers, scattered over the memory, and reading them took a one-row call longer than a small model's arithmetic. A
parcel is what was read, kept: addresses, shapes and numbers in the kernels' own layout, made once and valid as long as
these very arrays live. Whoever makes a parcel must hold them (`core.rule_base` does), for the parcel does not.

Where compilation is switched off, a parcel is the tuple itself.
"""

from typing import Any, get_type_hints

import numba
import numpy as np
from numba.core import cgutils, types
from numba.extending import intrinsic as numba_intrinsic

from evolabel.kernels.compile import hot_kernel, kernel
from evolabel.kernels.room import rule_arrays
from evolabel.kernels.state import RuleArrays, Settings, Workspace, workspace
from evolabel.typing import FloatArray

# numba says little about its types
typeof: Any = numba.typeof
intrinsic: Any = numba_intrinsic
null_value: Any = cgutils.get_null_value
config: Any = numba.config

Contents = tuple[RuleArrays, Settings, Workspace]

ROOM = 1024  # numbers of eight bytes a parcel has place for


def _example() -> Contents:
    """The smallest rule base: its types are those of every rule base."""
    kinds = {name: kind for name, kind in get_type_hints(Settings).items() if kind in (float, int, bool)}
    numbers: dict[str, Any] = {name: kind() for name, kind in kinds.items()}
    settings = Settings(penalty=np.zeros((2, 2)), lean=np.zeros(2), metric=np.zeros((2, 1)), **numbers)
    return rule_arrays(1, 1, 1, settings), settings, workspace(2, 1, 1, 1, False)


CONTENTS = typeof(_example())


def _without_owners(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    """The native value, its arrays without a link to who owns them: a parcel must never free or count them."""
    if isinstance(kind, types.Array):
        array = context.make_array(kind)(context, builder, value=value)
        array.meminfo = null_value(array.meminfo.type)
        array.parent = null_value(array.parent.type)
        return array._getvalue()
    if isinstance(kind, types.BaseTuple):
        parts: Any = kind
        for place, part in enumerate(parts):
            cleared = _without_owners(context, builder, part, builder.extract_value(value, place))
            value = builder.insert_value(value, cleared, place)
    return value


def _address(context: Any, builder: Any, kind: Any, parcel: Any, native: Any) -> Any:
    """Where the parcel's memory begins, as a pointer to a native value."""
    array = context.make_array(kind)(context, builder, value=parcel)
    return builder.bitcast(array.data, native.as_pointer())


@intrinsic  # type: ignore[untyped-decorator]
def _write(typing: Any, parcel: Any, contents: Any) -> Any:
    """Keep the native form of the contents."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        value = _without_owners(context, builder, signature.args[1], arguments[1])
        assert context.get_abi_sizeof(value.type) <= 8 * ROOM, "a parcel has too little room for the state"
        builder.store(value, _address(context, builder, signature.args[0], arguments[0], value.type), align=8)
        return context.get_dummy_value()

    return types.void(parcel, contents), generate


@intrinsic  # type: ignore[untyped-decorator]
def _read(typing: Any, parcel: Any, kind: Any) -> Any:
    """The contents, as they were written."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        native = context.get_value_type(signature.return_type)
        return builder.load(_address(context, builder, signature.args[0], arguments[0], native), align=8)

    return kind.instance_type(parcel, kind), generate


@kernel
def _fill(parcel: FloatArray, contents: Contents) -> None:
    _write(parcel, contents)


@hot_kernel
def _opened(parcel: FloatArray) -> Contents:
    contents: Contents = _read(parcel, CONTENTS)
    return contents


def _packed(contents: Contents) -> FloatArray:
    if typeof(contents) != CONTENTS:
        raise TypeError(f"a parcel holds {CONTENTS}, got {typeof(contents)}")
    parcel = np.zeros(ROOM)
    _fill(parcel, contents)
    return parcel


def _itself(contents: Any) -> Any:
    return contents


# From the arrays to the parcel, outside kernels; from the parcel to the arrays, inside.
packed, opened = (_itself, _itself) if config.DISABLE_JIT else (_packed, _opened)
