"""Members, tokens, invitations, users, audit and preferences over the API."""

import time

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select

from evolabel.errors import ParameterError, StateError
from evolabel.server.app import create_app
from evolabel.server.log.engines import read_url
from evolabel.server.log.schema import LOG, TOKEN
from evolabel.server.log.times import DAY
from evolabel.server.people.accounts import create_invite, create_token, describe_people, set_disabled
from evolabel.server.people.tokens import end_of_token
from evolabel.server.project import operations
from evolabel.server.project.batch import Origin
from evolabel.server.project.operations import weigh_annotator
from evolabel.server.project.service import Service
from server.conftest import on_sqlite
from server.pumps import call, checksum, new_project, samples, send
from server.signed_in import PASSWORD, add_person, browser

P = "/api/v1/projects/pumps"


class Client:
    """Requests with the token of an operator, or another one."""

    def __init__(self, service, role="operator", person="omar"):
        self.http = TestClient(create_app(service, token_per_minute=10_000), raise_server_exceptions=False)
        self.token = create_token(service.url, person, None if role is None else "pumps", role, "test")

    def __call__(self, method, path, json=None, token=None):
        headers = {"Authorization": f"Bearer {token or self.token}"}
        return self.http.request(method, path, json=json, headers=headers)


@pytest.fixture
def service(sqlite, start):
    return start(sqlite)


@pytest.fixture
def operator(service):
    return Client(service)


@pytest.fixture(scope="module")
def unchanged(tmp_path_factory):
    """An operator and an administrator of a service, for tests of refusals, which change nothing."""
    service = Service(read_url(f"sqlite:///{tmp_path_factory.mktemp('unchanged')}/evolabel.db"))
    service.start()
    service.create_project(new_project())
    operator = Client(service)
    create_token(service.url, "root", None, None, "test")
    yield operator
    service.stop()


def names(response):
    return [member["name"] for member in response.json()["members"]]


def actions(service):
    root = Client(service, None, "root")
    return [entry["action"] for entry in root("GET", "/api/v1/audit").json()["entries"]]


def test_members_are_added_changed_and_removed(service, operator):
    root, anna = Client(service, None, "root"), add_person(service, "anna", None, PASSWORD)
    page = browser(service, anna)
    assert page.get("/p/pumps").status_code == 404
    assert operator("POST", f"{P}/members", {"person": "Anna", "role": "expert"}).status_code == 201
    assert page.get("/p/pumps").status_code == 200
    assert operator("POST", f"{P}/members", {"person": "anna", "role": "expert"}).status_code == 409
    assert names(operator("GET", f"{P}/members")) == ["anna", "omar"]
    token = root("POST", f"{P}/tokens", {"person": "anna", "role": "expert"}).json()["token"]
    changed = operator("PATCH", f"{P}/members/anna", {"role": "annotator"})
    assert (changed.json()["role"], changed.json()["weight"]) == ("annotator", 1.0)
    assert page.get("/p/pumps").status_code == 303  # a session ends with the role
    assert operator("GET", P, token=token).status_code == 401  # and so do tokens for more than the new role
    kept = root("POST", f"{P}/tokens", {"person": "anna", "role": "annotator"}).json()["token"]
    assert operator("PATCH", f"{P}/members/anna", {"role": "operator"}).status_code == 200
    assert operator("GET", P, token=kept).status_code == 200
    assert operator("DELETE", f"{P}/members/anna").status_code == 204
    assert operator("GET", P, token=kept).status_code == 401
    assert names(operator("GET", f"{P}/members")) == ["omar"]
    made = ["member-added", "token-made", "role-changed", "token-made", "role-changed", "member-removed"]
    assert [action for action in actions(service) if action in made][2:-1] == made


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [("POST", "members", {"person": "nobody", "role": "expert"}, 404),
     ("POST", "members", {"person": "omar", "role": "king"}, 422),
     ("PATCH", "members/nobody", {"role": "expert"}, 404),
     ("PATCH", "members/omar", {}, 422),
     ("PATCH", "members/omar", {"role": None}, 422),
     ("PATCH", "members/omar", {"role": "king", "weight": 0.5}, 422),
     ("PATCH", "members/omar", {"weight": 1.5}, 422),
     ("PATCH", "members/omar", {"weight": True}, 422),
     ("DELETE", "members/nobody", None, 404),
     ("DELETE", "tokens/999", None, 404),
     ("DELETE", "invites/abc", None, 404),
     ("POST", "tokens", {"person": "eve", "role": "king"}, 422),
     ("POST", "tokens", {"person": "e/ve", "role": "producer"}, 422),
     ("POST", "tokens", {"person": "eve", "role": "producer", "until": "soon"}, 422),
     ("POST", "tokens", {"person": "eve", "role": "producer", "until": "2020-01-01"}, 422),
     ("POST", "invites", {"person": "eve", "role": "producer"}, 422),
     ("POST", "invites", {"person": "root", "role": "annotator"}, 409)],
)  # fmt: skip
def test_refusals_change_nothing(unchanged, method, path, body, status):
    operator = unchanged
    before = operator("GET", f"{P}/members").json(), operator("GET", f"{P}/tokens").json()["tokens"][0]["id"]
    refused = operator(method, f"{P}/{path}", body)
    assert refused.status_code == status, refused.text
    assert ";" in refused.json()["detail"] or refused.json().get("errors")
    assert (operator("GET", f"{P}/members").json(), operator("GET", f"{P}/tokens").json()["tokens"][0]["id"]) == before


def test_a_revoked_token_is_refused_at_once(service, operator):
    made = operator("POST", f"{P}/tokens", {"person": "gateway", "role": "producer", "until": "2030-01-31"})
    token = made.json()["token"]
    assert made.json()["expires"] == "2030-02-01T00:00:00Z"
    assert operator("GET", P, token=token).status_code == 200
    shown = operator("GET", f"{P}/tokens").json()["tokens"]
    assert token not in str(shown)
    mine = next(item for item in shown if item["person"] == "gateway")
    assert token.startswith(mine["hint"])
    assert operator("DELETE", f"{P}/tokens/{mine['id']}").status_code == 204
    assert operator("GET", P, token=token).status_code == 401
    assert operator("DELETE", f"{P}/tokens/{mine['id']}").status_code == 404


def test_the_last_use_of_a_token_is_kept(service, operator):
    operator("GET", P)
    for _ in range(100):
        with service.reader.connect() as connection:
            if used := connection.scalar(select(TOKEN.c.used)):
                break
        time.sleep(0.05)
    assert abs(used - time.time_ns() // 1000) < 60_000_000


def test_tokens_end():
    now = 1_800_000_000_000_000
    assert end_of_token(None, now) == now + 90 * DAY
    assert end_of_token("2027-01-31", now) == end_of_token("2027-02-01T00:00:00Z", now)
    for wrong in ("2027-01-01", "2077-01-01", "tomorrow", ""):
        with pytest.raises(ParameterError):
            end_of_token(wrong, now)


def test_an_invitation_is_made_listed_and_cancelled(service, operator):
    made = operator("POST", f"{P}/invites", {"person": "Mira", "role": "expert"}).json()
    code = made["link"].rpartition("/")[2]
    shown = operator("GET", f"{P}/invites").json()["invites"]
    assert [(item["person"], item["role"], item["made_by"]) for item in shown] == [("mira", "expert", "omar")]
    assert code not in str(shown)
    page = browser(service)
    assert page.get(f"/invite/{code}").status_code == 200
    assert operator("DELETE", f"{P}/invites/{shown[0]['id']}").status_code == 204
    assert page.get(f"/invite/{code}").status_code == 404


def test_an_operator_cannot_take_over_an_account_by_an_invitation(service, operator):
    add_person(service, "anna", "annotator", PASSWORD)
    refused = operator("POST", f"{P}/invites", {"person": "anna", "role": "annotator"})
    assert refused.status_code == 409
    assert "add the person as a member" in refused.json()["detail"]
    root = Client(service, None, "root")
    assert root("POST", f"{P}/invites", {"person": "anna", "role": "annotator"}).status_code == 201
    assert operator("POST", f"{P}/tokens", {"person": "root", "role": "annotator"}).status_code == 403


def test_the_use_of_a_link_ends_all_other_links_of_the_person(service, operator):
    """Else the maker of an older link could choose the password of someone who is an administrator by now."""
    older = operator("POST", f"{P}/invites", {"person": "carol", "role": "annotator"}).json()["link"]
    root = Client(service, None, "root")
    newer = root("POST", "/api/v1/users", {"name": "carol", "admin": True}).json()["link"]
    page = browser(service)
    assert page.post("/invite/" + newer.rpartition("/")[2], data={"password": PASSWORD}).status_code == 303
    assert page.post("/invite/" + older.rpartition("/")[2], data={"password": "mine from now on"}).status_code == 404


def test_an_operator_cannot_answer_in_the_name_of_a_person_who_signs_in(service, operator):
    add_person(service, "anna", "annotator", PASSWORD)
    body = {"person": "anna", "role": "annotator"}
    assert operator("POST", f"{P}/tokens", body).status_code == 403
    assert Client(service, None, "root")("POST", f"{P}/tokens", body).status_code == 201
    assert operator("POST", f"{P}/tokens", {"person": "gateway", "role": "producer"}).status_code == 201


def test_a_disabled_person_loses_sessions_and_tokens(service):
    root, anna = Client(service, None, "root"), add_person(service, "anna", "annotator", PASSWORD)
    page, token = browser(service, anna), create_token(service.url, "anna", "pumps", "annotator", "test")
    assert page.get("/p/pumps").status_code == root("GET", P, token=token).status_code == 200
    assert root("DELETE", "/api/v1/users/anna").status_code == 204
    assert page.get("/p/pumps").status_code == 303
    assert root("GET", P, token=token).status_code == 401
    with pytest.raises(StateError, match="is disabled"):
        create_token(service.url, "anna", "pumps", "annotator", "test")
    assert root("POST", f"{P}/tokens", {"person": "anna", "role": "annotator"}).status_code == 409
    assert root("DELETE", "/api/v1/users/root").status_code == 409
    assert root("DELETE", "/api/v1/users/nobody").status_code == 404
    shown = {user["name"]: user for user in root("GET", "/api/v1/users").json()["users"]}
    assert shown["anna"]["disabled"].endswith("Z")
    assert "password" not in shown["anna"]
    link = root("POST", "/api/v1/users", {"name": "anna"}).json()["link"]
    entered = browser(service).post("/invite/" + link.rpartition("/")[2], data={"password": PASSWORD})
    assert entered.status_code == 303
    assert root("GET", P, token=token).status_code == 401  # revoked for good


def test_users_on_the_command_line(service):
    add_person(service, "anna", "annotator", PASSWORD)
    assert describe_people(service.url, "Anna") == ["anna: has a password"]
    set_disabled(service.url, "anna", disabled=True)
    assert "disabled since" in describe_people(service.url)[0]
    set_disabled(service.url, "anna", disabled=False)
    assert describe_people(service.url) == ["anna: has no password"]
    for act in (lambda: describe_people(service.url, "bob"), lambda: set_disabled(service.url, "bob", disabled=True)):
        with pytest.raises(ParameterError, match="there is no person"):
            act()


@pytest.mark.parametrize("role", ["producer", "bridge"])
def test_programs_are_not_invited(service, role):
    with pytest.raises(ParameterError, match="programs have tokens"):
        create_invite(service.url, "gateway", 0, project="pumps", role=role, admin=False)


def test_commands_make_no_database(tmp_path):
    missing = read_url(f"sqlite:///{tmp_path}/plnat.db")
    for act in (lambda: create_token(missing, "eva", None, None, "x"), lambda: describe_people(missing)):
        with pytest.raises(ParameterError, match="there is no database"):
            act()
    assert list(tmp_path.iterdir()) == []


def test_preferences(operator):
    path = "/api/v1/me/preferences"
    assert operator("GET", path).json() == {"theme": "system", "keys": True, "language": "en"}
    chosen = {"theme": "dark", "keys": False, "language": "en"}
    assert operator("PUT", path, chosen).json() == operator("GET", path).json() == chosen
    assert operator("PUT", path, {"theme": "pink"}).status_code == 422


def test_the_audit_table_is_read_page_by_page(service, operator):
    operator("POST", f"{P}/tokens", {"person": "gateway", "role": "producer"})
    root = Client(service, None, "root")
    assert operator("GET", "/api/v1/audit").status_code == 403
    first = root("GET", "/api/v1/audit?limit=1").json()
    rest = root("GET", f"/api/v1/audit?after={first['next']}").json()
    assert len(first["entries"]) == 1
    made = next(entry for entry in rest["entries"] if entry["subject"] == "gateway")
    assert (made["action"], made["actor"], made["detail"]["role"]) == ("token-made", "omar", "producer")
    assert made["request_id"]
    assert rest["next"] is None


@on_sqlite
def test_a_weight_is_recorded_and_replayed(database, start):
    service = start(database, min_answers=2)
    worker, operator = service.workers["pumps"], Client(service)
    anna, bob = add_person(service, "anna"), add_person(service, "bob")
    asked = 0
    for sample, truth in samples(60):
        result = send(worker, sample)
        if not result["question"]:
            continue
        labels, number = result["question"]["labels"], result["number"]
        for person in (anna, bob):
            call(worker, operations.give_answer, number, {label: truth[label] for label in labels}, Origin(person))
        asked += 1
        if asked == 5:
            weighted = operator("PATCH", f"{P}/members/bob", {"weight": 0.0})
            assert (weighted.json()["weight"], weighted.json()["fixed"]) == (0.0, True)
            again = operator("PATCH", f"{P}/members/bob", {"weight": 0})
            assert again.json() == weighted.json()
    shown = {member["name"]: member for member in operator("GET", f"{P}/members").json()["members"]}
    assert shown["anna"]["compared"] >= 5  # by their names, not their numbers
    with service.reader.connect() as connection:
        kinds = list(connection.scalars(select(LOG.c.kind)))
    assert kinds.count("annotator.weighted") == 1
    before = checksum(worker)
    freed = call(worker, weigh_annotator, bob, "bob", None, Origin(anna))
    assert not freed["fixed"]
    call(worker, weigh_annotator, bob, "bob", 0.0, Origin(anna))
    assert checksum(worker) == before
    service.stop()
    assert checksum(start(database).workers["pumps"]) == before
