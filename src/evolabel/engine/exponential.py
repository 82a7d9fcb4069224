"""The exponential of a number that is not positive, with the same bits for one number and for many.

The libraries of numpy and of C round differently, and numpy's own bits depend on the processor. This one is made of
fused multiply-adds: x = k ln 2 + r with |r| <= ln(2) / 2, exp(r) by its Taylor series to degree 13 (the next term is
below 1e-17), times 2^k. It is within one unit in the last place of the true value.
"""

from typing import Any

import numba
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic as numba_intrinsic

from evolabel.engine.compile import inlined
from evolabel.engine.lanes import fma

config: Any = numba.config
intrinsic: Any = numba_intrinsic
llvm: Any = ir

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
