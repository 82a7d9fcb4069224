"""Places that use a word or phrase of `tests/banned_words.txt`: one line per place, exit code 1 if there is one.

    python tools/plain_words.py src/evolabel/streams README.md docs [more files or folders] [--words FILE]

Of Python files docstrings, comments, messages (every string of two words or more) and the names that a file defines
(functions, classes, arguments, attributes, variables) are read; of Markdown all but fenced blocks of code; of TOML the
values, not the keys; of HTML templates the text that is shown. In a folder these are the files `*.py`, `*.md`,
`en.toml`, `*.html` and `*.jinja`. Only the standard library; nothing is imported or run.
"""

import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

WORDS_FILE = Path(__file__).resolve().parent.parent / "tests" / "banned_words.txt"
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_ESCAPE = re.compile(r"\\.")
_FENCE = re.compile(r"\s*(?:>\s*)?(`{3,}|~{3,})")
_KEY = re.compile(r"\s*[\w.\"-]+\s*=")
_JINJA = re.compile(r"\{\{.*?\}\}|\{%.*?%\}", re.DOTALL)
_TAG = re.compile(r"<[!/a-zA-Z][^>]*>")
_SHOWN = re.compile(r"\b(?:alt|title|aria-label|placeholder)=\"([^\"]*)\"")
_PATTERNS = ("*.py", "*.md", "en.toml", "*.html", "*.jinja")
_DEFINES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


class Place(NamedTuple):
    """A banned word in a file: `kind` is "docstring or message", "comment", "name" or "text"."""

    path: Path
    line: int
    kind: str
    word: str
    instead: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.kind}: {self.word!r} (instead: {self.instead})"


def main(arguments: list[str]) -> None:
    """Print every place below the paths in `arguments`, and end with exit code 1 if there is one."""
    words_file = WORDS_FILE
    if "--words" in arguments:
        at = arguments.index("--words")
        words_file = Path(arguments[at + 1])
        del arguments[at : at + 2]
    banned = read_words(words_file)
    found = [place for argument in arguments for place in places_below(Path(argument), banned)]
    for place in found:
        print(place)
    print(f"{len(found)} places" if found else "no banned words")
    sys.exit(bool(found))


def read_words(path: Path) -> dict[str, str]:
    """Return the banned words and phrases of the file `path`, each with what to write instead."""
    lines = [line.strip() for line in path.read_text(encoding="utf-8").splitlines()]
    pairs = [line.partition(":") for line in lines if line and not line.startswith("#")]
    return {word.strip().lower(): instead.strip() for word, _, instead in pairs}


def places_below(path: Path, banned: dict[str, str]) -> list[Place]:
    """Return the places of the file `path`, or of every file below the folder `path` that has words, in order."""
    files = sorted(file for pattern in _PATTERNS for file in path.rglob(pattern)) if path.is_dir() else [path]
    return [place for file in files if "_build" not in file.parts for place in places_of(file, banned)]


def places_of(path: Path, banned: dict[str, str]) -> list[Place]:
    """Return the places of one file `path` that use a word or phrase of `banned`, by line."""
    text = path.read_text(encoding="utf-8")
    if not _found(_ESCAPE.sub(" ", text), banned):
        return []  # to read the parts of a file takes most of the time
    found = {
        Place(path, line + offset, kind, word, banned[word])
        for line, kind, piece in _pieces(path.suffix, text)
        for offset, word in _found(piece, banned)
    }
    return sorted(found, key=lambda place: (place.line, place.word))


def _found(text: str, banned: dict[str, str]) -> list[tuple[int, str]]:
    """Return the words and phrases of `banned` in `text`, each with the number of lines before it."""
    found = [
        (offset, word.lower())
        for offset, part in enumerate(text.split("\n"))
        for word in _WORD.findall(part)
        if word.lower() in banned
    ]
    for phrase in (entry for entry in banned if " " in entry):
        pattern = r"\b" + phrase.replace(" ", r"\s+") + r"\b"
        found += [(text.count("\n", 0, match.start()), phrase) for match in re.finditer(pattern, text, re.IGNORECASE)]
    return found


def _pieces(suffix: str, text: str) -> Iterator[tuple[int, str, str]]:
    """Yield line, kind and text of all that is read of a file with this `suffix` and `text`."""
    if suffix == ".py":
        yield from _comments(text)
        yield from _strings_and_names(ast.parse(text))
    else:
        read = {".md": _prose, ".toml": _values}.get(suffix, _shown)
        yield 1, "text", read(text)


def _prose(text: str) -> str:
    """Return the Markdown `text` with empty lines in the places of fenced blocks of code."""
    lines, fence = [], ""
    for line in text.split("\n"):
        mark = _FENCE.match(line)
        lines.append("" if fence or mark else line)
        if mark and not fence:
            fence = mark[1]
        elif mark and mark[1].startswith(fence):
            fence = ""
    return "\n".join(lines)


def _values(text: str) -> str:
    """Return the TOML `text` without its keys and headings."""
    return "\n".join("" if line.startswith("[") else _KEY.sub("", line, count=1) for line in text.split("\n"))


def _shown(text: str) -> str:
    """Return the HTML template `text` without code and tags, except for attributes that are shown; lines stay."""

    def attributes(tag: re.Match[str]) -> str:
        return " ".join(_SHOWN.findall(tag[0])) + "\n" * tag[0].count("\n")

    code_left_out = _JINJA.sub(lambda code: " " + "\n" * code[0].count("\n"), text)
    return _TAG.sub(attributes, code_left_out)


def _comments(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield line, kind and text of every comment of the source `text`."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], "comment", token.string


def _strings_and_names(tree: ast.Module) -> Iterator[tuple[int, str, str]]:
    """Yield line, kind and text of every string of two words or more, and of every name that `tree` defines."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            if len(node.value.split()) > 1:
                yield node.lineno, "docstring or message", node.value
        elif isinstance(node, _DEFINES):
            yield node.lineno, "name", node.name
        elif isinstance(node, ast.arg):
            yield node.lineno, "name", node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, "name", node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.lineno, "name", node.attr


if __name__ == "__main__":
    main(sys.argv[1:])
