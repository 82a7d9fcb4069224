"""Many arrays and numbers as one argument of a kernel.

Every argument of a kernel is read out of its Python object at every call, and handed over field by field from kernel to
kernel. A rule base has some forty arrays and thirty numbers: in a call with one row, reading them took longer than the
arithmetic of a small model, and handing them over made every kernel that takes them compile for a second. `pack` writes
addresses, shapes and numbers into one buffer. Inside kernels a packed `NamedTuple` is the address of that buffer, and
an attribute is read from it where it is used. In the source of a kernel it looks like the tuple: `rules.P` is an array.

| field         | words of eight bytes                                          |
|---------------|---------------------------------------------------------------|
| array         | address, then the shape, then the strides in bytes            |
| number, bool  | the number itself                                             |
| NamedTuple    | its fields, one after the other                               |

Where compilation is switched off, `pack` returns the tuple itself.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple, get_type_hints

import numba
import numpy as np
from llvmlite import ir
from numba.core import types
from numba.core.typing.templates import AttributeTemplate as NumbaAttributeTemplate
from numba.extending import (
    NativeValue,
    infer_getattr,
    lower_getattr_generic,
    models,
    register_model,
    typeof_impl,
    unbox,
)
from numba.np.arrayobj import populate_array

from evolabel.typing import IntArray

# numba and llvmlite have no type annotations
_typeof: Any = numba.typeof
_config: Any = numba.config
_llvm: Any = ir
_populate_array: Any = populate_array
_typeof_impl: Any = typeof_impl
_register_model: Any = register_model
_unbox: Any = unbox
_lower_attribute: Any = lower_getattr_generic
_AttributeTemplate: Any = NumbaAttributeTemplate
_NativeValue: Any = NativeValue

_BYTES = 8  # of a word
_NUMBERS = {float: types.float64, int: types.int64, bool: types.boolean}
_DTYPES: dict[Any, Any] = {  # of arrays that kernels take
    types.float64: np.dtype(np.float64),
    types.int64: np.dtype(np.int64),
    types.uint8: np.dtype(np.uint8),
    types.uint32: np.dtype(np.uint32),
}


class View(types.Type):
    """The type of a packed tuple inside kernels; `places` has the type and the first word of every field."""

    def __init__(self, name: str, places: dict[str, tuple[Any, int]], words: int) -> None:
        self.places = places
        self.words = words
        super().__init__(name=f"View({name})")


def _words(kind: Any) -> int:
    """Return the number of words that a field of this type needs."""
    if isinstance(kind, View):
        return kind.words
    return 1 + 2 * kind.ndim if isinstance(kind, types.Array) else 1


_views: dict[Any, View] = {}


def declare(kind: type[NamedTuple], example: Any, left_out: Sequence[str] = ()) -> None:
    """Declare the class `kind` of tuples, so that `pack` takes them; their arrays have the types of those of `example`.

    Kernels cannot read the fields `left_out`. Fields may be tuples that were declared before.
    """
    places: dict[str, tuple[Any, int]] = {}
    words = 0
    for name, annotation in get_type_hints(kind).items():
        if name not in left_out:
            field = _views.get(annotation) or _NUMBERS.get(annotation) or _typeof(getattr(example, name))
            places[name] = field, words
            words += _words(field)
    _views[kind] = View(kind.__name__, places, words)


class Packed:
    """A tuple as kernels take it. It holds the arrays whose addresses are in its buffer."""

    __slots__ = ("address", "contents", "view", "words")

    def __init__(self, contents: NamedTuple, view: View) -> None:
        self.contents, self.view = contents, view
        self.words = np.zeros(view.words, np.int64)
        _write(contents, view, self.words)
        self.address = self.words.ctypes.data

    def __reduce__(self) -> str:
        """Raise TypeError: a copy would have the addresses of other arrays, so the owner packs its own arrays again."""
        raise TypeError("a packed tuple cannot be copied or pickled; pack the arrays of the copy")


def _write(contents: Any, view: View, words: IntArray) -> None:
    """Write the fields of the tuple `contents` into `words`; TypeError for an array that kernels do not take."""
    for name, (kind, place) in view.places.items():
        value = getattr(contents, name)
        if isinstance(kind, View):
            _write(value, kind, words[place:])
        elif isinstance(kind, types.Array):
            n = kind.ndim
            if value.ndim != n or value.dtype != _DTYPES[kind.dtype] or not value.flags.carray:
                raise TypeError(f"kernels take {name} as {kind}, got {_typeof(value)}")
            words[place : place + 1 + 2 * n] = (value.ctypes.data, *value.shape, *value.strides)
        else:
            words[place : place + 1].view(np.float64 if kind == types.float64 else np.int64)[0] = value


def _pack(contents: Any) -> Any:
    return Packed(contents, _views[type(contents)])


def _itself(contents: Any) -> Any:
    return contents


pack: Any = _itself if _config.DISABLE_JIT else _pack
"""A tuple of a declared class as kernels take it."""


def type_of(argument: object) -> Any:
    """Return the type of `argument` for kernels, also of a tuple that is not packed because nothing is compiled."""
    return _views.get(type(argument)) or _typeof(argument)


@_typeof_impl.register(Packed)  # type: ignore[untyped-decorator]
def _type_of_packed(packed: Packed, context: Any) -> View:
    return packed.view


_register_model(View)(models.OpaqueModel)


@_unbox(View)  # type: ignore[untyped-decorator]
def _address_of(view: View, packed: Any, tools: Any) -> Any:
    """Return the address of the buffer of a `Packed`."""
    number = tools.pyapi.object_getattr_string(packed, "address")
    address = tools.pyapi.long_as_voidptr(number)
    tools.pyapi.decref(number)
    return _NativeValue(address)


@infer_getattr
class _ViewAttributes(_AttributeTemplate):  # type: ignore[misc]
    """The types of the fields of a view."""

    key = View

    def generic_resolve(self, view: View, name: str) -> Any:
        return view.places[name][0] if name in view.places else None


@_lower_attribute(View)  # type: ignore[untyped-decorator]
def _read_field(context: Any, builder: Any, view: View, address: Any, name: str) -> Any:
    kind, place = view.places[name]
    if isinstance(kind, View):
        return builder.gep(address, [_llvm.Constant(_llvm.IntType(64), _BYTES * place)])
    if isinstance(kind, types.Array):
        return _read_array(context, builder, kind, address, place)
    if kind == types.float64:
        return _read_word(builder, address, place, _llvm.DoubleType())
    whole = _read_word(builder, address, place, _llvm.IntType(64))
    return builder.icmp_signed("!=", whole, whole.type(0)) if kind == types.boolean else whole


def _read_word(builder: Any, address: Any, place: int, kind: Any) -> Any:
    """Return one word of a buffer. It does not change while a kernel runs, so that the compiler may read it once."""
    at = builder.gep(address, [_llvm.Constant(_llvm.IntType(64), _BYTES * place)])
    value = builder.load(builder.bitcast(at, kind.as_pointer()), align=_BYTES)
    value.set_metadata("invariant.load", builder.module.add_metadata([]))
    return value


def _read_array(context: Any, builder: Any, kind: Any, address: Any, place: int) -> Any:
    """Return an array by its address, shape and strides; it has no owner, so that kernels never free or count it."""
    whole = _llvm.IntType(64)
    size = _llvm.Constant(whole, _DTYPES[kind.dtype].itemsize)
    array = context.make_array(kind)(context, builder)
    data = builder.inttoptr(_read_word(builder, address, place, whole), array.data.type)
    shape = [_read_word(builder, address, place + 1 + k, whole) for k in range(kind.ndim)]
    strides = [_read_word(builder, address, place + 1 + kind.ndim + k, whole) for k in range(kind.ndim - 1)]
    _populate_array(array, data=data, shape=shape, strides=[*strides, size], itemsize=size, meminfo=None)
    return array._getvalue()  # noqa: SLF001 (numba has no public name for it)
