"""Members of a small rule base on their own, for the tests of their kernels."""

from small_rule_bases import make_settings

from evolabel.stages.drift.arrays import BORN, allocate_members, with_scratch
from evolabel.stages.rules.arrays import RULES, State, allocate, workspace
from evolabel.stages.rules.fast_sums import fast_arrays
from evolabel.stages.rules.inverses import start_inverse
from evolabel.stages.rules.loops.antecedents import derive_inverse_variance
from evolabel.stages.scaling.stage import fit_scaler
from evolabel.stages.sensors.arrays import allocate_sensors, sensor_state


def small_members(p, K, rng, *, has_fast=True, rules=2, memory=20):
    """Members of `rules` empty rules, whose features are scaled as 200 normal values are."""
    options = make_settings(p, memory=memory)
    arrays = allocate(rules, p, K, options)
    for slot in range(rules + 1):
        start_inverse(slot, arrays, options)
        derive_inverse_variance(slot, arrays, options)
    arrays.counters[RULES] = rules
    scaler = fit_scaler(rng.normal(size=(200, p)), "quantile", 16)
    state = State(fast_arrays(arrays), options, workspace(rules + 1, p, K))
    sensors = sensor_state(allocate_sensors(p))
    members = with_scratch(allocate_members(p, K), state, arrays.fast_block, scaler.knot_arrays, sensors)
    if has_fast:
        members.arrays.clock[BORN] = 0
    return members
