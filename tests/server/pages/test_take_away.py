"""The page of files: each is offered, and is what it says."""

import io
import json
import re

import pytest

from evolabel.active import ActiveLearner
from evolabel.server.project import operations
from server.pumps import ANNA, call, run, samples
from server.signed_in import add_person, browser, post


@pytest.fixture
def operator(sqlite, start):
    service = start(sqlite)
    run(service.workers["pumps"], samples(20))
    labelled = [{"x": sample["x"], "y": truth} for sample, truth in samples(300, seed=1)]
    call(service.workers["pumps"], operations.send_samples, labelled, ANNA)
    return browser(service, add_person(service, "omar", "operator"))


def test_every_file_of_the_page_can_be_fetched(operator, tmp_path):
    page = operator.get("/p/pumps/export").text
    places = re.findall(r'href="(/p/pumps/export/[\w.]+)"', page)
    found = {}
    for place in places:
        answer = operator.get(place)
        name = place.rpartition("/")[2]
        assert answer.headers["content-disposition"] == f'attachment; filename="pumps-{name}"'
        found[name] = answer.content
    answers = [json.loads(line) for line in found["answers.ndjson"].splitlines()]
    assert len(found["answers.csv"].splitlines()) == len(answers) + 1
    lines = found["samples.csv"].decode().splitlines()
    assert (len(lines), len(found["samples.ndjson"].splitlines())) == (321, 320)
    assert "x.pressure,x.flow,x.machine,p.leak,p.wear,y.leak,y.wear" in lines[0]
    assert found["rules.txt"].startswith(b"Rules")
    lines = re.search(r"<pre[^>]*>(from evolabel.*?)</pre>", page, re.DOTALL)[1].splitlines()
    assert len(lines) == 2
    (tmp_path / "pumps-model.safetensors").write_bytes(found["model.safetensors"])
    assert 'ActiveLearner.load("pumps-model.safetensors")' in lines[1]
    assert ActiveLearner.load(tmp_path / "pumps-model.safetensors").classifier.n_rules_ > 0
    parquet = pytest.importorskip("pyarrow.parquet")
    assert parquet.read_table(io.BytesIO(found["answers.parquet"])).num_rows == len(answers)
    table = parquet.read_table(io.BytesIO(found["samples.parquet"]))
    assert table.column_names == found["samples.csv"].decode().splitlines()[0].split(",")


def test_unknown_files_are_not_found(operator):
    assert operator.get("/p/pumps/export/secrets.csv").status_code == 404


def test_a_webhook_is_made_and_removed_by_forms(operator):
    made = post(operator, "/p/pumps/export", act="add", url="https://example.org/hook", kinds=["question", "answer"])
    assert made.status_code == 200
    assert re.search(r"<code>[\w-]{43}</code>", made.text)
    page = operator.get("/p/pumps/export").text
    assert "https://example.org/hook" in page
    assert "<code>" not in page  # the secret is shown once
    number = re.search(r'name="webhook" value="(\d+)"', page)[1]
    assert post(operator, "/p/pumps/export", act="remove", webhook=number).status_code == 303
    assert "https://example.org/hook" not in operator.get("/p/pumps/export").text
    again = post(operator, "/p/pumps/export", act="remove", webhook=number)
    assert (again.status_code, "there is no such address" in again.text) == (422, True)


def test_what_is_no_address_stays_in_the_form(operator):
    for url, kinds in (("ftp://example.org/", ["event"]), ("https://example.org/", [])):
        refused = post(operator, "/p/pumps/export", act="add", url=url, kinds=kinds)
        assert refused.status_code == 422
        assert f'value="{url}" aria-invalid="true"' in refused.text
