"""Texts of the pages in every language: the same keys and values, and pages in the language of their reader."""

import re
from string import Formatter

import pytest

from evolabel.server.pages.texts import LANGUAGES, date_text, decimal_text, set_language, text, texts_in
from server.signed_in import add_person, browser, post


def named(text):
    """Names of the values in a text."""
    return sorted(name for _, name, _, _ in Formatter().parse(text) if name)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_catalogue_has_the_keys_and_values_of_the_english_one(language):
    english, other = texts_in("en"), texts_in(language)
    assert other.keys() == english.keys()
    assert {key: named(said) for key, said in other.items()} == {key: named(said) for key, said in english.items()}
    for key, said in other.items():
        assert "!" not in said, key


def test_every_text_is_used():
    """A key that no template and no module has is dead; keys that are put together are known by their beginning."""
    from importlib import resources

    web = resources.files("evolabel.server.pages")
    sources = [*web.joinpath("templates").iterdir(), *web.iterdir(), *web.joinpath("texts").iterdir()]
    code = "\n".join(path.read_text("utf-8") for path in sources if path.name.endswith((".html", ".py")))
    whole = set(re.findall(r"[\"']([a-z_]+\.[a-z_0-9]+)[\"']", code))
    begun = tuple(re.findall(r"[\"']([a-z_]+\.[a-z_]*)(?:\{|[\"'] ?~)", code))
    dead = [
        key
        for key in texts_in("en")
        if key not in whole and not key.startswith(begun) and re.sub("_(one|many)$", "", key) not in whole
    ]
    assert dead == []


def test_pages_are_in_the_language_of_the_browser_or_in_the_one_chosen(sqlite, start):
    service = start(sqlite)
    client = browser(service, add_person(service))
    german = {"accept-language": "de-AT,de;q=0.9,en;q=0.8"}
    assert '<html lang="de">' in browser(service).get("/sign-in", headers=german).text
    assert "Noch keine Probe" in client.get("/p/pumps", headers=german).text
    assert post(client, "/me", theme="light", language="en").status_code == 303
    assert "No sample yet" in client.get("/p/pumps", headers=german).text
    assert post(client, "/me", theme="light", language="de").status_code == 303
    assert "Nicht gefunden" in client.get("/p/pumps/samples/9").text
    assert post(client, "/me", theme="light", language="fr").status_code == 303  # is not known: the choice stays
    assert '<html lang="de" data-theme="light">' in client.get("/me").text


def test_numbers_and_dates_are_written_as_the_language_does():
    import datetime

    day = datetime.date(2026, 3, 7)
    assert (date_text(day, year=True), decimal_text("-0.5")) == ("7 Mar 2026", "\u22120.5")
    set_language("de")
    try:
        assert (date_text(day, year=False), decimal_text("0.5"), text("answer.yes")) == ("7. März", "0,5", "Ja")
    finally:
        set_language("")
