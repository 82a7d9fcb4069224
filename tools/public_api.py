"""Every public name of evolabel with its signature: the text of `tests/public_api.txt`.

    python tools/public_api.py               # rewrites the file

Public are the names that the packages of `PACKAGES` export, the classes of `HELD` that users get from them, and the
public methods and properties of all these classes as far as evolabel defines them. Signatures are written without
types, which mypy checks and Python versions print differently.
"""

import importlib
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

API_FILE = Path(__file__).resolve().parent.parent / "tests" / "public_api.txt"

PACKAGES = (
    "evolabel",
    "evolabel.active",
    "evolabel.adapters.river",
    "evolabel.adapters.scikit_activeml",
    "evolabel.baselines",
    "evolabel.checks",
    "evolabel.client",
    "evolabel.errors",
    "evolabel.evaluate",
    "evolabel.explain.figures",
    "evolabel.learners",
    "evolabel.paper",
    "evolabel.paper.reproduce",
    "evolabel.report",
    "evolabel.stages",
    "evolabel.streams",
    "evolabel.tuning",
)
HELD = (
    "evolabel.classifier.rule_book:RuleBook",
    "evolabel.stages.drift.label_drift:LabelDrift",
    "evolabel.core.events:Event",
    "evolabel.explain.prediction:Explanation",
    "evolabel.stages.rules.relevance:Relevance",
    "evolabel.explain.rules:Rule",
    "evolabel.explain.rules:Regions",
    "evolabel.explain.rule_set:RuleSet",
    "evolabel.stages.written_rules.words:WrittenRule",
)

_LONGEST_DEFAULT = 60  # characters


def api_lines() -> list[str]:
    """Return one line per public name, sorted within each package."""
    from evolabel.errors import NotTrainedError  # noqa: F401 (made on first use)

    modules = [importlib.import_module(package) for package in PACKAGES]
    found = {f"{m.__name__}.{name}": getattr(m, name) for m in modules for name in sorted(exported(m))}
    for place in HELD:
        module, name = place.split(":")
        found[name] = getattr(importlib.import_module(module), name)
    public = {value for value in found.values() if inspect.isclass(value)}
    return [line for name, value in found.items() for line in _described(name, value, public)]


def exported(module: Any) -> list[str]:
    """Return `__all__` of `module`, or the public functions and classes that it defines itself."""
    own = [
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and getattr(value, "__module__", "") == module.__name__
    ]
    return list(getattr(module, "__all__", own))


def _described(name: str, value: Any, public: set[type]) -> Iterator[str]:
    """Yield the line of `name`, and one for each public member if `value` is a class.

    Members that come from another class of `public` stand there.
    """
    is_error = inspect.isclass(value) and issubclass(value, BaseException)
    if is_error or not (inspect.isclass(value) or inspect.isroutine(value)):
        yield name
        return
    signature = signature_text(value)
    yield name + signature
    if not inspect.isclass(value):
        return
    for member in sorted(_members(value, public) - set(re.findall(r"\w+", signature))):
        held = inspect.getattr_static(value, member)
        plain = isinstance(held, property) or not callable(getattr(value, member))
        yield f"{name}.{member}" + ("" if plain else signature_text(getattr(value, member)))


def _members(kind: type, public: set[type]) -> set[str]:
    """Return the public names that `kind` and its bases within evolabel define, those of `public` bases left out."""
    owners = [base for base in kind.__mro__ if base.__module__.startswith("evolabel")]
    own = [owner for owner in owners if owner is kind or owner not in public]
    names = {name for owner in own for name in vars(owner) if not name.startswith("_")}
    return {name for name in names if not re.fullmatch("set_.*_request", name)}  # made by scikit-learn


def signature_text(value: Any) -> str:
    """Return the signature of `value` without types; "(...)" where there is none."""
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        return "(...)"
    return f"({', '.join(_arguments(signature))})"


def _arguments(signature: inspect.Signature) -> Iterator[str]:
    """Yield the parameters of `signature` as they are written, "/" and "*" among them; long defaults are "..."."""
    kinds = inspect.Parameter
    before = None
    for parameter in signature.parameters.values():
        if before is kinds.POSITIONAL_ONLY and parameter.kind is not before:
            yield "/"
        if parameter.kind is kinds.KEYWORD_ONLY and before not in (kinds.KEYWORD_ONLY, kinds.VAR_POSITIONAL):
            yield "*"
        before = parameter.kind
        default = repr(parameter.default)
        short = default if len(default) <= _LONGEST_DEFAULT and not default.startswith("<") else "..."
        yield str(parameter.replace(annotation=kinds.empty, default=kinds.empty)) + (
            "" if parameter.default is kinds.empty else f"={short}"
        )
    if before is kinds.POSITIONAL_ONLY:
        yield "/"


if __name__ == "__main__":
    API_FILE.write_text("\n".join(api_lines()) + "\n", encoding="utf-8")
