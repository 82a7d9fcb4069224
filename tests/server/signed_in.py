"""People with passwords and sessions, for tests of pages."""

import time

from sqlalchemy import update
from starlette.testclient import TestClient

from evolabel.server.app import create_app
from evolabel.server.log.schema import PERSON
from evolabel.server.people.passwords import hash_password
from evolabel.server.people.people import find_or_insert_person, set_member
from evolabel.server.people.sessions import find_session, make_session
from evolabel.server.people.tokens import token_digest
from server.pumps import samples, send

PASSWORD = "three quiet pumps"


def add_person(service, name="anna", role="annotator", password=None, admin=False):
    """Number of a new person with a role in the project, and perhaps a password."""
    at = time.time_ns() // 1000
    with service.writer.transaction() as connection:
        person = find_or_insert_person(connection, name, at, admin=admin)
        if password is not None:
            connection.execute(update(PERSON).where(PERSON.c.id == person).values(password=hash_password(password)))
        if role is not None:
            set_member(connection, service.workers["pumps"].project.id, person, role)
    return person


def browser(service, person=None, **options):
    """A client of the application, with a session of a person; `csrf` is the token of its forms."""
    app = create_app(service)
    app.state.streams.stop()  # a stream ends after its first events: this client waits for the end
    client = TestClient(app, follow_redirects=False, headers={"accept": "text/html"}, **options)
    client.csrf = ""
    if person is not None:
        with service.writer.transaction() as connection:
            made = make_session(connection, person, time.time_ns() // 1000)
        client.cookies.set("evolabel", made.secret)
        client.csrf = made.csrf.hex()
    return client


def post(client, path, **fields):
    """Response to a form of the client's own session."""
    headers = fields.pop("headers", {})
    return client.post(path, data={"csrf": client.csrf, **fields}, headers=headers)


def ask(service, n=1, seed=0):
    """Send samples until n questions wait; return the number of the last and its labels."""
    worker, asked = service.workers["pumps"], []
    for sample, _ in samples(200, seed):
        result = send(worker, sample)
        if result["question"]:
            asked.append((result["number"], result["question"]["labels"]))
        if len(asked) == n:
            return asked[-1]
    raise AssertionError("nothing was asked")


def session_of(service, client):
    """The row of the client's session, or None."""
    with service.reader.connect() as connection:
        return find_session(connection, token_digest(client.cookies.get("evolabel") or ""))


def refuse_audits(service):
    """Let the database refuse every row of the audit table from now on."""
    refusal = "CREATE TRIGGER no_audit BEFORE INSERT ON audit BEGIN SELECT RAISE(ABORT, 'no room'); END"
    with service.writer.transaction() as connection:
        connection.exec_driver_sql(refusal)
