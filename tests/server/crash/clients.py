"""Producers and annotators over real HTTP, who keep every acknowledgement and send again what has none."""

import http.client
import json
import threading
import time

import numpy as np

from evolabel.server.log.times import DAY
from evolabel.server.people.people import find_or_insert_person, set_member
from evolabel.server.people.tokens import make_token
from evolabel.server.project.service import Service
from server.pumps import new_project

PROJECT = "/api/v1/projects/pumps"


def prepare(url, people, **settings):
    """Make the project, and return a token of each person, by name; `people` are (name, role)."""
    service = Service(url)
    service.start()
    at = time.time_ns() // 1000
    project = service.create_project(new_project(**settings))
    tokens = {}
    with service.writer.transaction() as connection:
        for name, role in people:
            person = find_or_insert_person(connection, name, at)
            set_member(connection, project.id, person, role)
            named = {"name": "crash", "at": at, "expires": at + DAY, "per_minute": 1_000_000}
            tokens[name] = make_token(connection, person, project.id, role, **named)
    service.stop()
    return tokens


class Client:
    """One person or machine: `work` runs until the server is gone, and goes on at the next server."""

    def __init__(self, name, token):
        self.name = name
        self.acknowledged = []
        """(request, response) of each request that was answered with 200."""
        self.refusals = []
        """Status and type of each problem document."""
        self._token = token
        self._unsent = None
        self._made = 0

    def start(self, port, gone):
        """Work at this port in a thread until the event `gone` is set."""
        thread = threading.Thread(target=self._work, args=(port, gone), daemon=True)
        thread.start()
        return thread

    def _work(self, port, gone):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        while not gone.is_set():
            try:
                self._unsent = self._unsent or self._next(connection)
                if self._unsent is None:
                    time.sleep(0.01)
                    continue
                answer = self.call(connection, *self._unsent)
            except (OSError, http.client.HTTPException):
                connection.close()
                time.sleep(0.01)
                continue
            if answer is not None:
                self.acknowledged.append((self._unsent, answer))
                self._unsent = None
        connection.close()

    def call(self, connection, method, path, body):
        """The JSON that the server returns, {} without any; None for a problem that is worth another try."""
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        connection.request(method, path, json.dumps(body), headers)
        response = connection.getresponse()
        content = response.read()
        if response.status >= 400:
            self.refusals.append((response.status, json.loads(content)["type"]))
            if response.status < 500:
                raise AssertionError(f"{self.name}: {method} {path}: {content.decode()}")
            time.sleep(0.02)
            return None
        return json.loads(content) if content else {}

    def _next(self, connection):
        """The next request: method, path and body; None if there is nothing to do."""
        raise NotImplementedError


class Producer(Client):
    """Sends samples with ids of its own, sometimes several in one request."""

    def _next(self, connection):
        rng = np.random.default_rng([self._made, *self.name.encode()])
        samples = []
        for _ in range(rng.choice([1, 1, 1, 5])):
            pressure, flow = rng.normal(size=2).tolist()
            x = {"pressure": pressure, "flow": flow, "machine": "M-01" if flow > 0 else "M-02"}
            samples.append({"id": f"{self.name}-{self._made}", "x": x})
            self._made += 1
        return "POST", f"{PROJECT}/samples", {"samples": samples}


class Annotator(Client):
    """Takes the next question and answers it by the values of its sample."""

    def _next(self, connection):
        found = self.call(connection, "POST", f"{PROJECT}/questions/next", {})
        if not found:
            return None
        x = found["x"]
        truth = {"leak": x["pressure"] < 0.0, "wear": x["flow"] > 0.5}
        answers = {label: truth[label] for label in found["question"]["labels"]}
        return "PUT", f"{PROJECT}/questions/{found['number']}/answer", {"answers": answers}
