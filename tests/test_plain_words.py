"""Docstrings, comments, messages, names, documents and pages use plain words: none of `tests/banned_words.txt`."""

from pathlib import Path

import plain_words
import pytest

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "evolabel"
PAGES = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")
DOCUMENTS = [ROOT / page for page in PAGES]
DOCUMENTS += [path for path in sorted((ROOT / "docs").rglob("*.md")) if "_build" not in path.parts]


@pytest.fixture(scope="module")
def banned():
    return plain_words.read_words(plain_words.WORDS_FILE)


@pytest.mark.parametrize("part", sorted(path.name for path in SOURCE.iterdir() if path.name != "__pycache__"))
def test_no_banned_word_is_used(part, banned):
    """In a package: Python files, English texts of pages and HTML templates."""
    places = plain_words.places_below(SOURCE / part, banned)
    assert not places, "\n".join(map(str, places))


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_banned_word_is_used_in_documents(document, banned):
    places = plain_words.places_of(document, banned)
    assert not places, "\n".join(map(str, places))


def found_in(file, text, banned):
    """Lines and words of the places of `file` with this `text`."""
    file.write_text(text)
    return [(place.line, place.word) for place in plain_words.places_of(file, banned)]


def test_banned_words_are_found_with_their_lines(tmp_path, banned):
    text = '"""First line.\n\nA purse."""\n\n\ndef heard(TellMe):  # nobody\n    raise E(f"we want {1} more")\n'
    expected = [(3, "purse"), (6, "heard"), (6, "nobody"), (6, "tell"), (7, "want")]
    assert found_in(tmp_path / "example.py", text, banned) == expected


def test_phrases_are_found_in_text_and_not_in_names(tmp_path, banned):
    text = '"""Trees have\nno say, or a\nsay."""\nno_say = a.has_say\nprint("they say so")  # it has a say\n'
    expected = [(2, "a say"), (2, "no say"), (5, "a say")]
    assert found_in(tmp_path / "example.py", text, banned) == expected


def test_of_documents_all_but_fenced_blocks_is_read(tmp_path, banned):
    text = "Tell\n\n```\necho $HOME\n```\n- nobody\n  ~~~~sh\n  echo\n  ~~~\n  echo\n  ~~~~\n\n`echo` has no say\n"
    assert found_in(tmp_path / "page.md", text, banned) == [(1, "tell"), (6, "nobody"), (13, "echo"), (13, "no say")]


def test_of_texts_only_values_are_read(tmp_path, banned):
    text = '# nobody\n[tell]\ncannot_tell = "who wants it"\nsomebody = "A person"\n'
    assert found_in(tmp_path / "en.toml", text, banned) == [(1, "nobody"), (3, "wants")]


def test_of_templates_only_shown_text_is_read(tmp_path, banned):
    text = '<h2 id="tally"\n title="a purse">{{ t("tell") }}{% if\n spoken %}</h2>\n<p>Nobody\n{# heard #}</p>\n'
    assert found_in(tmp_path / "page.html", text, banned) == [(1, "purse"), (4, "nobody"), (5, "heard")]
