"""Docstrings, comments, messages and names use plain words: none of `tests/banned_words.txt`."""

from pathlib import Path

import plain_words
import pytest

SOURCE = Path(__file__).resolve().parent.parent / "src" / "evolabel"


@pytest.mark.parametrize("part", sorted(path.name for path in SOURCE.iterdir() if path.name != "__pycache__"))
def test_no_banned_word_is_used(part):
    places = plain_words.places_below(SOURCE / part, plain_words.read_words(plain_words.WORDS_FILE))
    assert not places, "\n".join(map(str, places))


def test_banned_words_are_found_with_their_lines(tmp_path):
    file = tmp_path / "example.py"
    file.write_text(
        '"""First line.\n\nA purse."""\n\n\ndef heard(TellMe):  # nobody\n    raise E(f"we want {1} more")\n'
    )
    found = plain_words.places_of(file, plain_words.read_words(plain_words.WORDS_FILE))
    assert [(place.line, place.word) for place in found] == [
        (3, "purse"),
        (6, "heard"),
        (6, "nobody"),
        (6, "tell"),
        (7, "want"),
    ]
