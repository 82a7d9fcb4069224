"""Places of Python files that use a word of `tests/banned_words.txt`: one line per place, exit code 1 if there is one.

    python tools/plain_words.py src/evolabel/streams [more files or folders] [--words FILE]

Read are docstrings, comments, messages (every string of two words or more) and the names a file defines (functions,
classes, arguments, attributes, variables). Only the standard library; nothing is imported or run.
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
_DEFINES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


class Place(NamedTuple):
    """A banned word in a file: `kind` is "docstring or message", "comment" or "name"."""

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
    """Return the banned words of the file `path`, each with what to write instead."""
    lines = [line.strip() for line in path.read_text(encoding="utf-8").splitlines()]
    pairs = [line.partition(":") for line in lines if line and not line.startswith("#")]
    return {word.strip().lower(): instead.strip() for word, _, instead in pairs}


def places_below(path: Path, banned: dict[str, str]) -> list[Place]:
    """Return the places of the file `path`, or of every Python file below the folder `path`, in order."""
    files = sorted(path.rglob("*.py")) if path.is_dir() else [path]
    return [place for file in files for place in places_of(file, banned)]


def places_of(path: Path, banned: dict[str, str]) -> list[Place]:
    """Return the places of one file `path` that use a word of `banned`, by line."""
    text = path.read_text(encoding="utf-8")
    if banned.keys().isdisjoint(map(str.lower, _WORD.findall(_ESCAPE.sub(" ", text)))):
        return []  # to read the parts of a file takes most of the time
    pieces = [*_comments(text), *_strings_and_names(ast.parse(text))]
    found = {
        Place(path, line + offset, kind, word.lower(), banned[word.lower()])
        for line, kind, piece in pieces
        for offset, part in enumerate(piece.split("\n"))
        for word in _WORD.findall(part)
        if word.lower() in banned
    }
    return sorted(found, key=lambda place: (place.line, place.word))


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
