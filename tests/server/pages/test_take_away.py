"""The page of files: each is offered, and is what it says."""

import io
import json
import re

import pytest

from evolabel.active import ActiveLearner
from evolabel.server.project import operations
from server.pumps import ANNA, call, run, samples
from server.signed_in import add_person, browser


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
