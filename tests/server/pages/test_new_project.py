"""A new project of a file by forms, also without scripts: what is wrong stands at its place, nothing is half made."""

import re
import time

import pytest

from server.signed_in import PASSWORD, add_person, browser, post

CSV = "id,depth,site,frogs\n" + "".join(f"r{row},{row / 7:.3f},{'ab'[row % 2]},{row % 2}\n" for row in range(60))


@pytest.fixture
def root(sqlite, start):
    service = start(sqlite)
    client = browser(service, add_person(service, "root", None, admin=True))
    client.service = service
    return client


def upload(client, text=CSV, name="my_pond.csv"):
    return client.post("/new", data={"csrf": client.csrf}, files={"file": (name, text.encode())})


def fields(page):
    """Fields of the form as a browser would send them."""
    found = dict.fromkeys(re.findall(r'<input type="checkbox" name="(\w+)" checked', page), "on")
    found |= dict(re.findall(r'name="(\w+)" value="([^"]*)"[^>]*(?:checked|required)', page))
    found |= dict(re.findall(r'name="(one_of|per)" value="(\w+)" checked', page))
    found |= dict(re.findall(r'<textarea [^>]*name="(\w+)"[^>]*>([^<]*)<', page))
    for name, options in re.findall(r'<select [^>]*name="([\w-]+)".*?>(.*?)</select>', page, re.DOTALL):
        found[name] = re.search(r'value="(\w+)" selected', options)[1]
    return found


def begun(root, text=CSV, **changed):
    """Response to the form of a file, with some fields changed, and the address of the form."""
    place = upload(root, text).headers["location"]
    given = {**fields(root.get(place).text), **changed}
    return post(root, place, **{name: value for name, value in given.items() if value is not None}), place


def test_a_file_is_looked_at_and_becomes_a_project(root):
    assert 'href="/new"' in root.get("/").text
    assert root.get("/new").status_code == 200
    page = root.get(upload(root).headers["location"]).text
    assert "60 rows, 4 columns" in page
    assert fields(page) == {
        "use-0": "id", "use-1": "number", "use-2": "source", "use-3": "label", "labels": "frogs", "one_of": "any",
        "per": "labels", "budget": "10", "people": "", "title": "My pond", "slug": "my-pond", "waits": "on",
    }  # fmt: skip
    assert "Of 1 times 1,000 labels a day, people are asked for at most 100." in page
    done, place = begun(root, labels="frogs: heard\nnewts", people="mira\nEva expert", waits=None, a_day="10")
    assert done.status_code == 200
    assert done.text.count("/invite/") == 2
    assert root.service.workers["my-pond"].project.title == "My pond"
    assert root.get(place).status_code == 404  # the file is used up
    end = time.monotonic() + 60
    while "60 of 60 rows sent" not in (page := root.get("/p/my-pond/file").text):
        assert time.monotonic() < end
        time.sleep(0.02)
    assert "All rows are sent" in page
    assert post(root, "/p/my-pond/file", act="stop").status_code == 409
    assert post(root, "/p/my-pond/file", act="dance").status_code == 422


def test_a_person_with_an_account_keeps_the_password(root):
    add_person(root.service, "mira", None, PASSWORD)
    done, _ = begun(root, people="mira")
    assert "/invite/" not in done.text
    assert "mira has an account and is a member now" in done.text


@pytest.mark.parametrize(
    ("text", "name", "message"),
    [
        ("", "a.csv", "a.csv is empty"),
        ("a,a\n1,2\n", "a.csv", "a.csv, line 1: several columns are named &#39;a&#39;"),
        ("a,b\n1\n", "a.csv", "a.csv, line 2: 1 values, expected 2 as in the header"),
        (CSV, "a.doc", "has no ending of a table"),
        (CSV, "a.parquet", "a.parquet is no Parquet file"),
    ],
)
def test_a_wrong_file_is_shown_with_its_place(root, text, name, message):
    answer = upload(root, text, name)
    assert answer.status_code == 422
    assert message in answer.text
    assert "/tmp" not in answer.text


def test_a_form_without_a_file_and_one_that_is_too_large_are_refused(root):
    assert "No file was chosen" in root.post("/new", data={"csrf": root.csrf}, files={"other": b""}).text
    root.service.limits = root.service.limits._replace(file=1000)
    answer = upload(root, "a\n" + "1\n" * 50_000)
    assert (answer.status_code, "a file may have 0 MiB" in answer.text) == (422, True)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"use-2": "number"}, "my_pond.csv, line 2: &#39;site&#39; is &#39;a&#39;; expected a number"),
        ({"use-1": "label", "use-2": "number"}, "expected a number"),
        ({"labels": "frogs\ndepth"}, "&#39;depth&#39; is a label and a feature"),
        ({"labels": "", "use-3": "number"}, "0 labels were given"),
        ({"budget": "many"}, "The budget is “many”"),
        ({"budget": "0"}, "budget is 0"),
        ({"slug": "Pond!"}, "&#39;Pond!&#39; cannot be the name of a project"),
        ({"slug": "pumps"}, "there is a project &#39;pumps&#39; already"),
        ({"people": "mira wizard"}, "“mira wizard” ends in no role"),
        ({"people": "a/b"}, "&#39;a/b&#39; cannot be a name"),
        ({"use-0": "number", "use-1": "skip", "use-2": "skip"}, "&#39;id&#39; is &#39;r0&#39;; expected a number"),
    ],
)
def test_what_cannot_be_used_is_shown_and_there_is_no_half_project(root, changed, message):
    answer, place = begun(root, **changed)
    assert answer.status_code == 422
    assert message in answer.text
    assert list(root.service.workers) == ["pumps"]
    assert root.get(place).status_code == 200  # the file is kept for another try
    assert fields(answer.text).items() >= changed.items()


def test_others_than_administrators_make_no_projects(root):
    client = browser(root.service, add_person(root.service, "omar", "operator"))
    assert 'href="/new"' not in client.get("/").text
    assert client.get("/new").status_code == 403
    assert upload(client).status_code == 403


def test_a_project_without_a_file_says_how_to_send_rows(root):
    page = root.get("/p/pumps/file").text
    assert "Further rows" in page
    assert "rows sent" not in page


def test_the_pages_are_german_too(root):
    root.headers["accept-language"] = "de"
    assert "Neues Projekt" in root.get("/new").text
    done, _ = begun(root)
    assert "Zeilen gesendet" in done.text
