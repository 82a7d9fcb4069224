"""Compiled loops on plain arrays, without validation.

`state` explains the arrays; `learn` has the loop that learns rows, `answer` and `answer_block` those that predict them.
Slow versions that are easy to check are in `tests/naive`. Kernels take float64 and int64 arrays that are C-contiguous;
`core.sizes` checks them before.
"""
