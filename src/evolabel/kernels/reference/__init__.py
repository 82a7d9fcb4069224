"""The naive twins of the kernels, in files of the same names: slow, obvious, written straight from the mathematics.

Nothing here is shared with the kernels but the names. Matrices are full, nothing waits in blocks, no inverse is carried
along: W_0 = (H_0 + lambda D)^-1 G_0 and W_i = (H_i + gamma D)^-1 (G_i + gamma D W_0) are solved for at every answer.
A kernel that writes into an array has a twin that returns it. Where a kernel takes a slot of the arrays, its twin takes
a `Slot`, whose G is (q, K), as in the paper; twins that take arrays have one row per label, as the kernels keep them.
Tests hold the kernels against these functions.
"""
