"""Passwords, sessions, forms of one's own, one-time links."""

import html
import time

import pytest
from sqlalchemy import select, update

from evolabel.errors import ParameterError
from evolabel.server.log.schema import AUDIT, INVITE, SESSION
from evolabel.server.people import passwords, sessions
from evolabel.server.people.accounts import create_invite
from evolabel.server.people.passwords import SignInLimits
from server.signed_in import PASSWORD, add_person, browser, post, refuse_audits, session_of

COST = passwords._COST  # before it is lowered for tests


@pytest.fixture
def service(sqlite, start):
    return start(sqlite)


def sign_in(client, name="anna", password=PASSWORD, to="/", **headers):
    return client.post("/sign-in", data={"name": name, "password": password, "to": to}, headers=headers)


def test_a_hash_costs_128_mebibytes(monkeypatch):
    asked = {}
    monkeypatch.setattr(passwords, "_COST", COST)
    monkeypatch.setattr("hashlib.scrypt", lambda password, **named: asked.update(named) or bytes(32))
    passwords.hash_password(PASSWORD)
    assert asked["n"] * asked["r"] * 128 == 128 * 2**20
    assert asked["maxmem"] >= 128 * 2**20


def test_sign_in_and_out(service):
    add_person(service, password=PASSWORD)
    client = browser(service)
    assert client.get("/p/pumps/answer").headers["location"] == "/sign-in?to=/p/pumps/answer"
    entered = sign_in(client, "Anna", to="/p/pumps/answer")
    assert (entered.status_code, entered.headers["location"]) == (303, "/p/pumps/answer")
    cookie = entered.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    assert "Nothing to ask." in client.get("/p/pumps/answer").text
    client.csrf = session_of(service, client).csrf.hex()
    secret = client.cookies["evolabel"]
    assert post(client, "/sign-out").headers["location"] == "/sign-in"
    client.cookies.set("evolabel", secret)
    assert client.get("/").status_code == 303


def test_over_tls_the_cookie_is_bound_to_the_host(service):
    add_person(service, password=PASSWORD)
    client = browser(service, base_url="https://testserver")
    cookie = sign_in(client).headers["set-cookie"]
    assert cookie.startswith("__Host-evolabel=")
    assert "Secure" in cookie
    assert client.get("/").status_code == 200


@pytest.mark.parametrize(("name", "password"), [("anna", "wrong"), ("nobody", PASSWORD), ("", ""), ("bob", "")])
def test_a_wrong_name_and_a_wrong_password_look_the_same(service, name, password):
    add_person(service, password=PASSWORD)
    add_person(service, "bob")  # has no password yet
    response = sign_in(browser(service), name, password)
    assert response.status_code == 401
    assert "Name or password is wrong." in response.text
    assert "set-cookie" not in response.headers
    with service.reader.connect() as connection:
        assert [row.action for row in connection.execute(select(AUDIT))] == ["sign-in-failed"]


def test_a_refused_sign_in_that_is_not_in_the_audit_table_is_an_error_in_the_log(service, caplog):
    refuse_audits(service)
    response = sign_in(browser(service), "anna", "wrong")
    assert response.status_code == 401
    assert "Name or password is wrong." in response.text
    (line,) = [record for record in caplog.records if record.levelname == "ERROR"]
    assert "'sign-in-failed' of 'anna' is missing in the audit table: " in line.getMessage()
    assert line.request_id == response.headers["x-request-id"]


FOREIGN_TARGETS = [
    "//evil.example", "///evil.example/", "////evil.example", "/\\evil.example", "\\\\evil.example", "/\t/evil.example",
    "/\n/evil.example", "/\r\n/evil.example", "\t//evil.example", " //evil.example", "/\x85/evil.example",
    "/\u2028/evil.example", "https://evil.example/", "https:evil.example", "https:/evil.example", "javascript:alert(1)",
    "//[", "https://[", "evil", "", "/a\nb",
]  # fmt: skip
OWN_TARGETS = ["/", "/me", "/p/pumps/events?kind=acts&before=9", "/p/pumps/rules?q=//evil.example", "/%09/evil.example",
               "/%2F/evil.example", "/%5Cevil.example", "/.//evil.example", "/@evil.example", "/:80"]  # fmt: skip


def signed_in(service):
    add_person(service, password=PASSWORD)
    client = browser(service)
    assert sign_in(client).status_code == 303
    return client


@pytest.mark.parametrize("to", FOREIGN_TARGETS)
def test_sign_in_leads_to_own_pages_alone(service, to):
    assert signed_in(service).get("/sign-in", params={"to": to}).headers["location"] == "/"
    shown = browser(service).get("/sign-in", params={"to": to})
    assert (shown.status_code, 'name="to" value="/"' in shown.text) == (200, True)
    assert sign_in(browser(service), to=to).headers["location"] == "/"


@pytest.mark.parametrize("to", OWN_TARGETS)
def test_sign_in_leads_to_the_page_that_was_asked_for(service, to):
    assert signed_in(service).get("/sign-in", params={"to": to}).headers["location"] == to
    assert f'name="to" value="{html.escape(to)}"' in browser(service).get("/sign-in", params={"to": to}).text
    assert sign_in(browser(service), to=to).headers["location"] == to


def test_failures_are_limited_by_name_and_address_and_by_address():
    now = [0.0]
    limits = SignInLimits(lambda: now[0])
    for _ in range(20):
        assert limits.wait("anna", "1.1.1.1") == 0.0
        limits.fail("anna", "1.1.1.1")
    assert limits.wait("anna", "1.1.1.1") == 600.0
    assert limits.wait("anna", "2.2.2.2") == 0.0  # nobody can lock anna out from elsewhere
    assert limits.wait("bob", "1.1.1.1") == 0.0
    for i in range(80):
        limits.fail(f"name {i}", "1.1.1.1")
    assert limits.wait("bob", "1.1.1.1") == 600.0
    now[0] = 601.0
    assert limits.wait("anna", "1.1.1.1") == limits.wait("bob", "1.1.1.1") == 0.0


def test_too_many_failures_are_refused(service):
    add_person(service, password=PASSWORD)
    client = browser(service)
    for _ in range(20):
        sign_in(client, password="wrong")
    refused = sign_in(client)
    assert refused.status_code == 429
    assert int(refused.headers["retry-after"]) > 500


def test_at_most_twenty_passwords_wait(monkeypatch):
    import asyncio
    import threading

    from evolabel.server.people.policies import SlowDownError

    release = threading.Event()
    monkeypatch.setattr(passwords, "is_password", lambda *_: release.wait(30))

    async def run():
        queue = passwords.PasswordQueue()
        checks = [asyncio.create_task(queue.check("x", None)) for _ in range(22)]
        await asyncio.sleep(0)
        with pytest.raises(SlowDownError):
            await queue.check("x", None)
        release.set()
        assert all(await asyncio.gather(*checks))
        assert await queue.check("x", None)

    asyncio.run(run())


def test_a_stored_hash_has_its_own_salt_and_fits_one_password():
    first, second = passwords.hash_password(PASSWORD), passwords.hash_password(PASSWORD)
    assert first != second
    assert passwords.is_password(PASSWORD, first)
    assert not passwords.is_password(PASSWORD + " ", first)
    assert not passwords.is_password("", None)


@pytest.mark.parametrize(
    ("password", "fault"),
    [("short", "short"), ("x" * 300, "long"), ("1q2w3e4r5t6y", "common"), ("aaaaaaaaaaaab", "common"),
     ("annapassword", "common"), ("passwordpassword", "common"), ("qwertyuiop1234", "common"),
     ("1234567890ab", "common"), ("zyxwvu654321!", "common"), ("Iloveyou2024!", "common"),
     ("correct horse battery", None), (PASSWORD, None)],
)  # fmt: skip
def test_passwords_that_are_easy_to_guess_are_refused(password, fault):
    assert passwords.password_fault(password, "anna") == fault


def test_a_session_ends_after_an_hour_without_use_and_after_twelve_hours(service):
    person = add_person(service)
    client = browser(service, person)
    row = session_of(service, client)
    assert sessions.is_alive(row, row.seen + sessions.IDLE - 1)
    assert not sessions.is_alive(row, row.seen + sessions.IDLE)
    used = row._replace(seen=row.seen + 13 * sessions.IDLE)
    assert not sessions.is_alive(used, row.seen + sessions.SESSION_TIME)
    with service.writer.transaction() as connection:
        connection.execute(update(SESSION).values(seen=row.seen - sessions.IDLE))
    assert client.get("/").status_code == 303


def test_the_secret_of_a_session_is_not_stored(service):
    client = browser(service, add_person(service))
    with service.reader.connect() as connection:
        stored = connection.execute(select(SESSION)).one()
    assert client.cookies["evolabel"].encode() not in bytes(stored.digest)
    assert len(stored.digest) == 32


def test_a_person_sees_and_ends_own_sessions_alone(service):
    anna, bob = add_person(service), add_person(service, "bob")
    here, there, other = browser(service, anna), browser(service, anna), browser(service, bob)
    assert here.get("/me").text.count("/me/sessions") == 2
    post(here, "/me/sessions", session=session_of(service, other).digest.hex())
    assert other.get("/me").status_code == 200
    post(here, "/me/sessions", session=session_of(service, there).digest.hex())
    assert there.get("/me").status_code == 303
    post(here, "/me/sessions", session="no digest")
    assert here.get("/me").status_code == 200


def test_preferences_are_kept(service):
    client = browser(service, add_person(service))
    assert "data-theme" not in client.get("/me").text
    assert post(client, "/me", theme="dark").status_code == 303
    shown = client.get("/me").text
    assert '<html lang="en" data-theme="dark">' in shown
    assert 'data-keys="off"' in shown
    post(client, "/me", theme="<script>", keys="on")
    assert 'data-keys="on"' in client.get("/me").text


FOREIGN = [
    {"sec-fetch-site": "cross-site"},
    {"sec-fetch-site": "same-site"},
    {"origin": "https://evil.example"},
    {"origin": "null"},
]


@pytest.mark.parametrize("headers", FOREIGN)
def test_forms_of_other_sites_are_refused(service, headers):
    client = browser(service, add_person(service, password=PASSWORD))
    assert post(client, "/me", theme="dark", headers=headers).status_code == 403
    assert sign_in(client, **headers).status_code == 403


def test_a_form_needs_the_token_of_its_session(service):
    anna, bob = add_person(service), add_person(service, "bob")
    client = browser(service, anna)
    client.csrf = browser(service, bob).csrf
    assert post(client, "/me", theme="dark").status_code == 403
    client.csrf = ""
    assert post(client, "/me", theme="dark").status_code == 403
    own = session_of(service, client).csrf.hex()
    given = client.post("/me", data={"theme": "dark"}, headers={"x-csrf-token": own, "sec-fetch-site": "same-origin"})
    assert given.status_code == 303


def invited(service, **options):
    chosen = {"project": "pumps", "role": "annotator", "admin": False, **options}
    return create_invite(service.url, "mira", time.time_ns() // 1000, **chosen)


def test_a_link_works_once(service):
    code, client = invited(service), browser(service)
    for _ in range(2):  # opening it does not use it
        shown = client.get(f"/invite/{code}")
        assert "Welcome, mira" in shown.text
    assert client.post(f"/invite/{code}", data={"password": "short"}).status_code == 422
    used = client.post(f"/invite/{code}", data={"password": PASSWORD})
    assert used.headers["location"] == "/p/pumps/answer"
    assert client.get("/p/pumps/answer").status_code == 200
    for again in (client.get(f"/invite/{code}"), client.post(f"/invite/{code}", data={"password": PASSWORD + "!"})):
        assert again.status_code == 404
    assert sign_in(browser(service), "mira").status_code == 303


def test_a_link_ends_and_a_wrong_one_is_unknown(service):
    code, client = invited(service), browser(service)
    with service.writer.transaction() as connection:
        connection.execute(update(INVITE).values(until=time.time_ns() // 1000))
    assert client.get(f"/invite/{code}").status_code == 404
    assert client.get("/invite/guess").status_code == 404
    with service.reader.connect() as connection:
        assert code not in str(connection.execute(select(INVITE)).all())


def test_a_link_of_an_administrator_opens_every_project(service):
    code = invited(service, project=None, role=None, admin=True)
    client = browser(service)
    assert client.post(f"/invite/{code}", data={"password": PASSWORD}).headers["location"] == "/"
    assert "Pump station" in client.get("/").text


def test_a_new_password_ends_sessions_with_the_old_one(service):
    client = browser(service, add_person(service, "mira", password=PASSWORD))
    other = browser(service)
    other.post(f"/invite/{invited(service)}", data={"password": "another quiet pump"})
    assert client.get("/").status_code == 303
    assert sign_in(browser(service), "mira").status_code == 401


@pytest.mark.parametrize(
    "options",
    [{"admin": True}, {"role": None}, {"project": None}, {"project": "none"}, {"role": "king"},
     {"project": None, "role": None}],
)  # fmt: skip
def test_a_link_is_for_a_role_in_a_project_or_an_administrator(service, options):
    with pytest.raises(ParameterError):
        invited(service, **options)
