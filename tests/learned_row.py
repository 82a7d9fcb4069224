"""A kernel that learns one row. Its file imports only the kernels that it calls, so that machine code is cached."""

from callable_kernels import callable_kernel

from evolabel.engine.compile import kernel
from evolabel.stages.rules.loops.consequents import fill_products, learn_consequents


@callable_kernel
@kernel
def learn_row(m, z, y, weight, state):
    """Learn one row by the m active rules of a state."""
    fill_products(m, state.rules, state.work)
    learn_consequents(m, z, y, 1.0, weight, state.rules, state.settings, state.work)
