"""Pages of the reference that are made from the code each time the site is built: names, commands, HTTP, arrays.

They are written to `docs/reference/generated`, which git ignores. `tools/public_api.py` decides which names are public.
"""

import importlib
import inspect
import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import public_api
from array_reference import arrays_page
from http_reference import http_page
from sphinx.application import Sphinx
from sphinx.config import Config


def setup(app: Sphinx) -> dict[str, bool]:
    """Write the pages before Sphinx looks for its files."""
    app.connect("config-inited", _write_pages, priority=100)
    app.connect("autodoc-skip-member", _skip_foreign)
    app.connect("autodoc-process-signature", _class_signature)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _write_pages(app: Sphinx, config: Config) -> None:
    folder = Path(app.srcdir) / "reference" / "generated"
    folder.mkdir(parents=True, exist_ok=True)
    pages = {package: _package_page(package) for package in public_api.PACKAGES}
    pages["objects"] = _objects_page()
    pages["cli"] = _command_page()
    pages["http"] = http_page(_openapi())
    pages["arrays"] = arrays_page()
    for name, text in pages.items():
        _write_changed(folder / f"{name}.rst", text)


def _skip_foreign(app: Sphinx, what: str, name: str, member: object, skip: bool, options: object) -> bool | None:  # noqa: PLR0917
    """Leave out methods that scikit-learn and river define: their own sites describe them."""
    foreign = not str(getattr(member, "__module__", None) or "evolabel").startswith("evolabel")
    return True if foreign and inspect.isroutine(member) else None


def _class_signature(  # noqa: PLR0917
    app: Sphinx, what: str, name: str, value: object, options: object, signature: str | None, returns: str | None
) -> tuple[str, None] | None:
    """Return the signature of a class as Python reports it; Sphinx looks for that of its metaclass."""
    is_ours = what == "class" and name.startswith("evolabel") and not issubclass(value, Exception)
    return (public_api.signature_text(value), None) if is_ours and signature else None


def _write_changed(file: Path, text: str) -> None:
    """Write `text` to `file` unless it has it: Sphinx reads again what is newer than its last build."""
    if not file.exists() or file.read_text(encoding="utf-8") != text:
        file.write_text(text, encoding="utf-8")


def _package_page(package: str) -> str:
    module = importlib.import_module(package)
    names = [name for name in public_api.exported(module) if not name.startswith("__")]
    documented = [name for name in names if inspect.isclass(getattr(module, name)) or callable(getattr(module, name))]
    head = inspect.getdoc(module) or ""
    return "\n".join([_title(package), head, "", f".. currentmodule:: {package}", "", *_summary(documented)])


def _objects_page() -> str:
    names = [place.replace(":", ".") for place in public_api.HELD]
    head = "Classes that users get from classifiers and learners, and do not make themselves."
    return "\n".join([_title("Objects that calls return"), head, "", *_summary(names)])


def _summary(names: list[str]) -> list[str]:
    return [".. autosummary::", "   :toctree: names", "   :nosignatures:", "", *(f"   {name}" for name in names), ""]


def _title(text: str) -> str:
    return f"{text}\n{'=' * len(text)}\n"


def _command_page() -> str:
    from evolabel.cli.app import make_app

    text = str(make_app().generate_docs(output_format="rst"))
    text = re.sub(r"=+\nevolabel\n=+\n", "========\nCommands\n========\n", text, count=1)
    text = re.sub(r"\.\. contents::.*?\n\n", "", text, flags=re.DOTALL)  # the theme has its own
    return re.sub(r"(?<!`)`([^`]+)`(?!`)", r"``\1``", text)


def _openapi() -> dict[str, Any]:
    """The OpenAPI document of a service on an empty database."""
    from evolabel.server.app import create_app
    from evolabel.server.log.engines import read_url
    from evolabel.server.project.service import Service

    with TemporaryDirectory() as folder:
        service = Service(read_url(f"sqlite:///{folder}/empty.db"))
        try:
            return create_app(service).openapi()
        finally:
            service.stop()
