"""Four numbers at a time, and fused multiply-adds: sums whose order and rounding are written in the source.

The compiler may not reorder a sum of floating-point numbers, so a plain loop adds one number at a time. With
these functions a kernel forms four sums side by side, in an order that is written in its source. The result does not
depend on the processor's vector width, on the alignment of the arrays, or on how many rows are processed together.

| function         | meaning                                                                     |
|------------------|-----------------------------------------------------------------------------|
| zeros()          | four zeros                                                                  |
| spread(x)        | x, four times                                                               |
| load(a, j)       | a[j], a[j + 1], a[j + 2], a[j + 3] of a contiguous row                      |
| store(a, j, v)   | writes v there                                                              |
| fma(x, y, s)     | x y + s, rounded once; of three numbers or of three times four              |
| minus(x, y)      | x - y                                                                       |
| times(x, y)      | x y                                                                         |
| total(v)         | (v[0] + v[2]) + (v[1] + v[3])                                               |

Where compilation is switched off, numpy arrays of four numbers stand in, and `fma` rounds twice. With
NUMBA_BOUNDSCHECK=1 `load` and `store` check their index.

`exp_of_negative` has the same bits for one number and for many. The libraries of numpy and of C round differently, and
numpy's own bits depend on the processor. This one is made of fused multiply-adds: x = k ln 2 + r with |r| <= ln(2) / 2,
exp(r) by its Taylor series to degree 13 (the next term is below 1e-17), times 2^k. It is within one unit in the last
place of the true value.
"""

import operator
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic as numba_intrinsic
from numba.extending import models, register_model

from evolabel.engine.compile import inlined
from evolabel.typing import FloatArray

WIDTH = 4

# numba and llvmlite have no type annotations
config: Any = numba.config
intrinsic: Any = numba_intrinsic
llvm: Any = ir
tools: Any = cgutils
float64: Any = types.float64
PrimitiveModel: Any = models.PrimitiveModel

_NUMBERS = llvm.VectorType(llvm.DoubleType(), WIDTH)


class Lanes(types.Type):
    """The type of four numbers inside kernels."""

    def __init__(self) -> None:
        super().__init__(name="Lanes")


LANES: Any = Lanes()


@register_model(Lanes)
class _LanesModel(PrimitiveModel):  # type: ignore[misc]
    """Four numbers are one vector of the processor."""

    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _NUMBERS)


def _index(number: int) -> Any:
    return llvm.Constant(llvm.IntType(32), number)


def _address(context: Any, builder: Any, kind: Any, array: Any, place: Any) -> Any:
    """Return a pointer to the four numbers of `array` from `place` on."""
    row = context.make_array(kind)(context, builder, array)
    if config.BOUNDSCHECK:
        size = tools.unpack_tuple(builder, row.shape, 1)[0]
        last = builder.add(place, llvm.Constant(place.type, WIDTH - 1))
        tools.do_boundscheck(context, builder, place, size, 0)
        tools.do_boundscheck(context, builder, last, size, 0)
    return builder.bitcast(builder.gep(row.data, [place], inbounds=True), _NUMBERS.as_pointer())


def _check_row(array: Any) -> None:
    if not (isinstance(array, types.Array) and array.ndim == 1 and array.layout == "C" and array.dtype == float64):
        raise numba.TypingError(f"lanes need a contiguous row of float64, got {array}")


@intrinsic  # type: ignore[untyped-decorator]
def _zeros(typing: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return llvm.Constant(_NUMBERS, [0.0] * WIDTH)

    return LANES(), generate


@intrinsic  # type: ignore[untyped-decorator]
def _spread(typing: Any, x: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        nothing = llvm.Constant(_NUMBERS, llvm.Undefined)
        first = builder.insert_element(nothing, arguments[0], _index(0))
        return builder.shuffle_vector(first, nothing, llvm.Constant(llvm.VectorType(llvm.IntType(32), WIDTH), [0] * 4))

    return LANES(float64), generate


@intrinsic  # type: ignore[untyped-decorator]
def _load(typing: Any, array: Any, place: Any) -> Any:
    _check_row(array)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.load(_address(context, builder, signature.args[0], *arguments), align=8)

    return LANES(array, types.intp), generate


@intrinsic  # type: ignore[untyped-decorator]
def _store(typing: Any, array: Any, place: Any, numbers: Any) -> Any:
    _check_row(array)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        builder.store(arguments[2], _address(context, builder, signature.args[0], *arguments[:2]), align=8)
        return context.get_dummy_value()

    return types.void(array, types.intp, LANES), generate


@intrinsic  # type: ignore[untyped-decorator]
def _fma(typing: Any, x: Any, y: Any, s: Any) -> Any:
    kind = LANES if s is LANES else float64

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        native = arguments[0].type
        name = "llvm.fma.v4f64" if signature.return_type is LANES else "llvm.fma.f64"
        function = tools.get_or_insert_function(builder.module, llvm.FunctionType(native, [native] * 3), name)
        return builder.call(function, arguments)

    return kind(kind, kind, kind), generate


@intrinsic  # type: ignore[untyped-decorator]
def _minus(typing: Any, x: Any, y: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.fsub(*arguments)

    return LANES(LANES, LANES), generate


@intrinsic  # type: ignore[untyped-decorator]
def _times(typing: Any, x: Any, y: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.fmul(*arguments)

    return LANES(LANES, LANES), generate


@intrinsic  # type: ignore[untyped-decorator]
def _total(typing: Any, numbers: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        a, b, c, d = (builder.extract_element(arguments[0], _index(place)) for place in range(WIDTH))
        return builder.fadd(builder.fadd(a, c), builder.fadd(b, d))

    return float64(LANES), generate


def _put(a: FloatArray, j: int, v: FloatArray) -> None:
    a[j : j + WIDTH] = v


Numbers = Any  # four numbers inside kernels, an array of four where compilation is switched off

zeros: Callable[[], Numbers]
spread: Callable[[float], Numbers]
load: Callable[[FloatArray, int], Numbers]
store: Callable[[FloatArray, int, Numbers], None]
fma: Callable[[Any, Any, Any], Any]
minus: Callable[[Numbers, Numbers], Numbers]
times: Callable[[Numbers, Numbers], Numbers]
total: Callable[[Numbers], float]

if config.DISABLE_JIT:
    zeros, spread, store = lambda: np.zeros(WIDTH), lambda x: np.full(WIDTH, x), _put
    load, fma = lambda a, j: a[j : j + WIDTH].copy(), lambda x, y, s: x * y + s
    minus, times = operator.sub, operator.mul
    total = lambda v: float((v[0] + v[2]) + (v[1] + v[3]))  # noqa: E731
else:
    zeros, spread, load, store, fma = _zeros, _spread, _load, _store, _fma
    minus, times, total = _minus, _times, _total


LOWEST = -700.0  # exp of less is taken for 0: 2^k must be a normal number
LOG2_E = 1.4426950408889634
LN2_HIGH = 6.93147180369123816490e-01  # the first 33 bits of ln 2: k times this is exact
LN2_LOW = 1.90821492927058770002e-10  # the rest of it
ROUND = 6755399441055744.0  # 1.5 * 2^52: adding it rounds to a whole number, which the last bits then hold

# 1 / n!, n = 13 .. 2
T13, T12, T11, T10 = 1 / 6227020800, 1 / 479001600, 1 / 39916800, 1 / 3628800
T9, T8, T7, T6 = 1 / 362880, 1 / 40320, 1 / 5040, 1 / 720
T5, T4, T3, T2 = 1 / 120, 1 / 24, 1 / 6, 1 / 2


@intrinsic  # type: ignore[untyped-decorator]
def _power_of_two(typing: Any, rounded: Any) -> Any:
    """Return 2^k, where k is in the last bits of `rounded`: they become the exponent."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        whole = llvm.IntType(64)
        bits = builder.shl(builder.bitcast(arguments[0], whole), llvm.Constant(whole, 52))
        return builder.bitcast(builder.add(bits, llvm.Constant(whole, 1023 << 52)), llvm.DoubleType())

    return types.float64(types.float64), generate


def _power_of_two_interpreted(rounded: float) -> float:
    return float(2.0 ** (rounded - ROUND))


power_of_two: Any = _power_of_two_interpreted if config.DISABLE_JIT else _power_of_two


@inlined
def exp_of_negative(x: float) -> float:
    """Return exp(x) for x <= 0; 0 below `LOWEST`, also for -inf; NaN for NaN."""
    # a comparison with NaN is false: v is then LOWEST, and the last line returns x
    v = x if x > LOWEST else LOWEST
    rounded = fma(v, LOG2_E, ROUND)
    k = rounded - ROUND
    r = fma(-k, LN2_LOW, fma(-k, LN2_HIGH, v))
    s = fma(T13, r, T12)
    s = fma(s, r, T11)
    s = fma(s, r, T10)
    s = fma(s, r, T9)
    s = fma(s, r, T8)
    s = fma(s, r, T7)
    s = fma(s, r, T6)
    s = fma(s, r, T5)
    s = fma(s, r, T4)
    s = fma(s, r, T3)
    s = fma(s, r, T2)
    s = fma(s * r, r, r) + 1.0  # exp(r) = 1 + r + r^2 s
    return s * power_of_two(rounded) if x >= LOWEST else (0.0 if x < LOWEST else x)
