"""Twins of `engine.lanes` and of the inner products built on it: exact arithmetic, rounded where a kernel rounds."""

from fractions import Fraction


def fma(x, y, s):
    """Compute x y + s exactly, then round once."""
    return float(Fraction(x) * Fraction(y) + Fraction(s))


def dot(a, b):
    """Four sums side by side, (s0 + s2) + (s1 + s3), then the last numbers one by one."""
    lanes, whole = [0.0] * 4, len(a) - len(a) % 4
    for j in range(whole):
        lanes[j % 4] = fma(float(a[j]), float(b[j]), lanes[j % 4])
    s = (lanes[0] + lanes[2]) + (lanes[1] + lanes[3])
    for j in range(whole, len(a)):
        s = fma(float(a[j]), float(b[j]), s)
    return s
