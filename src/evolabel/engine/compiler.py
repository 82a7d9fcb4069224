"""What numba does to compile a kernel, without the steps that kernels do not need.

numba optimises every function together with all functions it calls, and generates machine code for it. A function five
calls below the learning loop was compiled five times. Inner kernels are called by kernels only, so they are lowered to
LLVM's language, simplified by a few quick steps and stay there. Each kernel that Python calls links them, and is
optimised and compiled once. The bits of a result do not depend on it (docs/decisions/009-same-bits.md).

Garbage is not collected meanwhile: numba makes millions of objects that stay, and searching them takes a tenth of the
time.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numba.core import config
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, DefaultPassBuilder, Flags
from numba.core.typed_passes import DumpParforDiagnostics, InlineOverloads, NopythonRewrites
from numba.core.untyped_passes import (
    FindLiterallyCalls,
    InlineClosureLikes,
    InlineInlinables,
    LiteralPropagationSubPipelinePass,
    LiteralUnroll,
    MakeFunctionToJitFunction,
    RewriteDynamicRaises,
    WithLifting,
)

from evolabel.engine.shortcuts import shortcuts

_Library: Any = JITCodeLibrary  # numba has no type annotations
_Compiler: Any = Compiler
_Flags: Any = Flags
_Steps: Any = DefaultPassBuilder
_config: Any = config
_NOT_NEEDED = frozenset(  # steps for closures, `with`, literals, raised expressions, array expressions, parallel loops
    (
        DumpParforDiagnostics,
        FindLiterallyCalls,
        InlineClosureLikes,
        InlineInlinables,
        InlineOverloads,
        LiteralPropagationSubPipelinePass,
        LiteralUnroll,
        MakeFunctionToJitFunction,
        NopythonRewrites,
        RewriteDynamicRaises,
        WithLifting,
    )
)


@contextmanager
def _without_garbage_collection() -> Iterator[None]:
    """Switch the collection of garbage off inside the `with` block."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


class QuickFlags(_Flags):  # type: ignore[misc]
    """The options of a compilation; numba compares them at every operation, and its comparison reads all defaults."""

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, QuickFlags) and self.given() == other.given())

    def __hash__(self) -> int:
        return hash(frozenset(self._values))

    def given(self) -> dict[str, object]:
        """Return the options that are set, by name."""
        return dict(self._values)


class KernelCompiler(_Compiler):  # type: ignore[misc]
    """numba's compiler for kernels that Python calls."""

    def __init__(
        self, typing: Any, target: Any, library: Any, arguments: Any, result: Any, flags: Any, names: Any
    ) -> None:
        super().__init__(typing, target, library, arguments, result, QuickFlags(flags), names)

    def compile_extra(self, function: Any) -> Any:
        """Return numba's result of compiling `function`."""
        with _without_garbage_collection(), shortcuts():
            return super().compile_extra(function)

    def define_pipelines(self) -> list[Any]:
        """Return numba's steps without those for Python that kernels do not use."""
        steps = _Steps.define_nopython_pipeline(self.state)
        steps.passes = [step for step in steps.passes if step[0] not in _NOT_NEEDED]
        steps.finalize()
        return [steps]


class InnerCompiler(KernelCompiler):
    """numba's compiler for kernels that only kernels call."""

    def __init__(
        self, typing: Any, target: Any, library: Any, arguments: Any, result: Any, flags: Any, names: Any
    ) -> None:
        own = library or InnerLibrary(target.codegen(), "inner")
        super().__init__(typing, target, own, arguments, result, flags, names)


class InnerLibrary(_Library):  # type: ignore[misc]
    """The code of an inner kernel and of those it calls, for linking into a kernel; it is never run by itself."""

    def _optimize_functions(self, module: Any) -> None:
        """Simplify the functions of `module` at LLVM's level 1: without it, linking and optimising take longer."""
        level = _config.OPT
        _config.OPT = type(level)(min(level, 1))
        try:
            super()._optimize_functions(module)
        finally:
            _config.OPT = level

    def _optimize_final_module(self) -> None:
        """Leave the code as it is: the kernel that links it is optimised as a whole."""

    def _finalize_final_module(self) -> None:
        """Generate no machine code."""
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """Return 0, as numba does for functions without an entry point for Python."""
        self._ensure_finalized()
        return 0

    @property
    def codegen(self) -> Any:
        """A code generator that keeps no Python constants: a function without machine code has no place for them."""
        return _NoEnvironment()


class _NoEnvironment:
    """The part of numba's code generator that a library is asked for."""

    def set_env(self, name: str, environment: object) -> None:
        """Do nothing: kernels use no Python objects."""
