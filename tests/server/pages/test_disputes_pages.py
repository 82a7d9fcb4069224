"""The pages and routes of disputes: an expert decides, people correct final answers, roles, languages."""

import pytest

from evolabel.server.project import operations
from server.people.test_members import Client, P
from server.project.test_disputes import answer, asked
from server.pumps import ANNA, BOB, call
from server.signed_in import add_person, browser, post


@pytest.fixture
def service(sqlite, start):
    """A project in which anna and bob differ on a question."""
    service = start(sqlite, min_answers=2)
    for name, role in (("anna", "annotator"), ("bob", "annotator"), ("eva", "expert")):
        add_person(service, name, role)
    return service


@pytest.fixture
def disputed(service):
    number = asked(service)
    answer(service.workers["pumps"], number, True, ANNA, wear=True)
    answer(service.workers["pumps"], number, False, BOB, wear=True)
    return number


def place(service, label="leak"):
    return call(service.workers["pumps"], lambda batch: batch.state.label_names.index(label))


def test_an_expert_decides_over_the_api(service, disputed):
    eva = Client(service, "expert", "eva")
    found = eva("GET", f"{P}/disputes").json()
    (dispute,) = found["disputes"]
    assert (dispute["number"], dispute["labels"], dispute["open"]) == (disputed, ["leak"], True)
    assert [(one["person"], one["answers"]["leak"], one["at"][-1]) for one in dispute["responses"]] == [
        ("anna", 1, "Z"), ("bob", 0, "Z")
    ]  # fmt: skip
    agreement = found["agreement"]
    assert (agreement["units"], agreement["labels"]["wear"]) == (2, {"alpha": None, "units": 1})
    assert agreement["alpha"] == pytest.approx(0.0)  # 1 - 3 * 2 / (16 - 10)
    decided = eva("PUT", f"{P}/questions/{disputed}/decision", {"answers": {"leak": True}})
    assert decided.json() == {"learned": 2}
    again = eva("PUT", f"{P}/questions/{disputed}/decision", {"answers": {"leak": True}})
    assert (again.json(), again.headers["idempotent-replayed"]) == ({"learned": 0}, "true")
    assert eva("GET", f"{P}/disputes").json()["disputes"] == []
    (done,) = eva("GET", f"{P}/disputes?decided=1").json()["disputes"]
    assert done["decisions"][0]["answers"] == {"leak": 1}
    shown = eva("GET", f"{P}/samples/{disputed}").json()
    assert shown["decisions"][0]["person"] == "eva"
    assert eva("PUT", f"{P}/questions/9999/decision", {"answers": {"leak": True}}).status_code == 404
    assert eva("PUT", f"{P}/questions/{disputed}/decision", {"answers": {"rust": True}}).status_code == 422
    assert eva("PUT", f"{P}/questions/{disputed}/decision", {"answers": {"leak": None}}).status_code == 422
    kinds = [item["kind"] for item in eva("GET", f"{P}/activity?kind=decision").json()["activity"]]
    assert kinds == ["decision"]


@pytest.mark.parametrize("role", ["annotator", "producer", "bridge"])
def test_only_experts_decide(service, disputed, role):
    client = Client(service, role, f"new-{role}")
    assert client("GET", f"{P}/disputes").status_code == 403
    assert client("PUT", f"{P}/questions/{disputed}/decision", {"answers": {"leak": True}}).status_code == 403


def test_an_annotator_has_no_page_of_disputes_and_no_form(service, disputed):
    anna = browser(service, 1)
    assert anna.get("/p/pumps/disputes").status_code == 403
    assert post(anna, f"/p/pumps/questions/{disputed}/decision", y0="1").status_code == 403
    shown = anna.get(f"/p/pumps/samples/{disputed}").text
    assert "Decide as an expert" not in shown
    assert "/disputes" not in shown


def test_an_expert_decides_on_the_page(service, disputed):
    eva, form = browser(service, 3), f"/p/pumps/questions/{disputed}/decision"
    page = eva.get("/p/pumps/disputes").text
    assert page.index("anna") < page.index("bob")
    assert "people differ on leak" in page
    assert "waits for another person" in page
    assert "choose yes or no" in eva.get(post(eva, form, to="disputes").headers["location"]).text
    done = post(eva, form, to="disputes", **{f"y{place(service)}": "1"})
    assert done.headers["location"].endswith("#notice")
    page = eva.get(done.headers["location"]).text
    assert f"Sample {disputed} is decided." in page
    assert "No answers differ." in page
    page = eva.get("/p/pumps/disputes?decided=1", headers={"accept-language": "de"}).text
    assert "Streitfälle" in page
    assert ">Entscheidung<" in page
    changed = post(eva, form, to="sample", **{f"y{place(service)}": "0"})
    page = eva.get(changed.headers["location"]).text
    assert f"Sample {disputed} is decided." in page
    assert page.count(">decision<") == 2
    assert "eva decided sample" in eva.get("/p/pumps/events").text


def test_a_person_corrects_a_final_answer(service, disputed):
    bob = browser(service, 2)
    call(service.workers["pumps"], operations.decide, disputed, {"wear": True}, operations.Origin(3))
    page = bob.get(f"/p/pumps/samples/{disputed}?form=correction").text
    assert 'id="correction" open' in page
    assert page.count(" checked") == 2
    assert "Correct this answer" in bob.get("/p/pumps/answers").text
    assert "Correct this answer" in bob.get("/p/pumps/answer/last").text
    chosen = {f"y{place(service, name)}": "1" for name in ("leak", "wear")}
    done = post(bob, f"/p/pumps/questions/{disputed}/correction", **chosen)
    page = bob.get(done.headers["location"]).text
    assert f"The answer to sample {disputed} is corrected." in page
    assert "before, " in page
    assert "correction, learned" in bob.get("/p/pumps/answers").text
    assert "has learned the correction: 1 label" in bob.get("/p/pumps/answer/last").text
    same = post(bob, f"/p/pumps/questions/{disputed}/correction", **chosen)
    assert "notice=same" in same.headers["location"]
    api = Client(service, "annotator", "bob")("GET", f"{P}/samples/{disputed}").json()["responses"][1]
    assert (api["answers"]["leak"], api["earlier"][0]["answers"]["leak"]) == (1, 0)


def test_an_answer_that_is_not_final_is_taken_back_and_not_corrected(service):
    number = asked(service)
    call(service.workers["pumps"], operations.change_settings, {"hold_seconds": 60}, ANNA)
    answer(service.workers["pumps"], number, True, ANNA)
    assert "Correct this answer" not in browser(service, 1).get(f"/p/pumps/samples/{number}").text
