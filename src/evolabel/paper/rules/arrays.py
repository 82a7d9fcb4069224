"""The arrays of the paper's rules beside those of `stages.rules.arrays`, and the settings its loops read.

Antecedents have d dimensions: d = p in the input space, d = p + K in the product space, whose joint vector is
s = (z, omega y). The arrays c, M, n and inv of `RuleArrays` then have d columns, too. Iterated weights are its W.
"""

from typing import Annotated, NamedTuple, get_type_hints

import numpy as np

from evolabel.core.schema import Schema, array, stream_sizes
from evolabel.core.stored_checks import FINITE
from evolabel.engine.packed_state import declare
from evolabel.stages.rules.arrays import N_REASONS, OUTSIDE, block_length
from evolabel.typing import FloatArray, IntArray

# Further reasons of the loop to stop: the winner has grown and may be merged; the weights diverged.
GROWN, DIVERGED = N_REASONS, N_REASONS + 1


class PaperArrays(NamedTuple):
    """State of the paper's rules beside `RuleArrays`."""

    F: Annotated[FloatArray, array("slot", "dimension", "dimension", when="rotated")]
    """Sigma_i: Cholesky factor of nu0 S0 + scatter matrix."""
    ybar: Annotated[FloatArray, array("slot", "label", low=-OUTSIDE, high=OUTSIDE, when="coupled")]
    """ybar_c: weighted mean of the labels."""
    Q: Annotated[FloatArray, array("slot", "label", "label", when="coupled")]
    """covar_cd: weighted co-moments of the labels."""
    mass: Annotated[FloatArray, array("slot", 2, low=0.0, when="coupled")]
    """S_Psi: sum of psi, sum of psi^2."""
    top: Annotated[FloatArray, array("slot", 2, high=FINITE, positive=True, when="iterated", kind="bound")]
    """Upper bound of lmax(H + penalty); its last exact value."""
    compared: Annotated[FloatArray, array("slot", low=0.0, kind="policy")]
    """Support when the rule was last compared with the others."""


PAPER_ARRAYS = Schema(PaperArrays)


class PaperSettings(NamedTuple):
    """Parameters that only the paper's formulas need.

    `rotated` rules have full covariances; `product`: antecedents include the labels, times `label_weight` (omega);
    `by_radius`: the radius is that of eq. (5), also in a full rule base; `merge_every`: samples a rule wins between two
    comparisons with the others, 0: never; `by_angle`: rho of eq. (29) is computed from angles; `iterated`: Algorithm 2
    instead of closed form; `rls`: a recursive least squares step before its `prox_steps` steps; `alpha` and `beta`:
    strengths of L1 and coupling; `coupling`: a kind of `loops.coupling`; `literal_step`: the step length of eq. (14) as
    printed; `anchored`: rules are shrunk towards the global model; `inherit`: iterated weights start at those of the
    nearest rule.
    """

    rotated: bool
    product: bool
    label_weight: float
    by_radius: bool
    merge_every: int
    by_angle: bool
    iterated: bool
    rls: bool
    prox_steps: int
    alpha: float
    beta: float
    coupling: int
    literal_step: bool
    anchored: bool
    inherit: bool


class PaperWorkspace(NamedTuple):
    """Scratch arrays of the loops beside `Workspace`.

    `s` is the joint vector of the row, `J` its distances in the product space, by slot; `f` are outputs; `WH`, `BW` and
    `B` are the products W H and B W and the coupling matrix (`loops.iteration`). The others have no fixed meaning.
    """

    s: FloatArray
    J: FloatArray
    e: FloatArray
    x: FloatArray
    missing: IntArray
    f: FloatArray
    WH: FloatArray
    BW: FloatArray
    B: FloatArray


class PaperState(NamedTuple):
    """The second argument of the paper's loops; `anchor` is the diagonal of gamma D, or 0."""

    arrays: PaperArrays
    settings: PaperSettings
    work: PaperWorkspace
    anchor: FloatArray


def paper_workspace(slots: int, n_features: int, n_labels: int, settings: PaperSettings) -> PaperWorkspace:
    """Return scratch arrays for `slots`, `n_features` and `n_labels`, by the `settings`."""
    d, K = dimensions(n_features, n_labels, settings), n_labels if settings.iterated else 0
    return PaperWorkspace(
        s=np.empty(d),
        J=np.empty(slots),
        e=np.empty(d),
        x=np.empty(d),
        missing=np.empty(d, np.int64),
        f=np.empty(n_labels),
        WH=np.empty((K, n_features + 1)),
        BW=np.empty((K, n_features + 1)),
        B=np.empty((K, K)),
    )


def dimensions(n_features: int, n_labels: int, settings: PaperSettings) -> int:
    """Return the number of dimensions d of antecedents for `n_features` and `n_labels`, by the `settings`."""
    return n_features + (n_labels if settings.product else 0)


def paper_sizes(rules: int, n_features: int, n_labels: int, settings: PaperSettings) -> dict[str, int]:
    """Return the sizes of all arrays for `rules` rules, `n_features` and `n_labels`, by the `settings`."""
    block = 1 if settings.iterated else block_length(n_features + 1)
    d = dimensions(n_features, n_labels, settings)
    return stream_sizes(n_features, n_labels, slot=rules + 1, dimension=d, block=block)


def paper_switches(settings: PaperSettings, *, holds_weights: bool = False) -> set[str]:
    """Return which arrays `settings` need; `holds_weights`: weights of rules are stored where none are iterated."""
    needed = {
        "rotated": settings.rotated,
        "weights": settings.iterated or holds_weights,
        "coupled": settings.coupling != 0,
        "iterated": settings.iterated,
    }
    return {name for name, is_on in needed.items() if is_on}


def _declare_all() -> None:
    """Declare the tuples above to `engine.packed_state`, with the arrays of the smallest rule base as examples."""
    settings = PaperSettings(*(kind() for kind in get_type_hints(PaperSettings).values()))
    arrays = PAPER_ARRAYS.allocate(paper_sizes(1, 1, 1, settings), ())
    state = PaperState(arrays, settings, paper_workspace(2, 1, 1, settings), np.zeros(2))
    declare(PaperArrays, arrays)
    declare(PaperSettings, settings)
    declare(PaperWorkspace, state.work)
    declare(PaperState, state)


_declare_all()
