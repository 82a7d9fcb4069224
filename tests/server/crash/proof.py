"""Proof from the stored log: nothing acknowledged was lost, nothing counted twice, and replay gives the state."""

from collections import Counter

from sqlalchemy import select

from evolabel.server.log.canonical import canonical, parsed
from evolabel.server.log.engines import reading_engine
from evolabel.server.log.projects import find_project
from evolabel.server.log.schema import LOG
from evolabel.server.log.times import readable_times
from evolabel.server.people.people import names_of
from evolabel.server.project.replay import restore
from server.pumps import proven


def prove(url, clients):
    """Compare what `clients` were told with the log; return the number of acknowledged records."""
    engine = reading_engine(url)
    with engine.connect() as connection:
        project = find_project(connection, "pumps")
        checked = proven(connection)  # chain, budget at every record, tables, outcomes
        tail = restore(connection, project.id, project.head.epoch)
        assert tail.state.checksum() == checked.replay.checksum
        rows = connection.execute(select(LOG).order_by(LOG.c.seq)).all()
        people = {name: number for number, name in names_of(connection).items()}
    engine.dispose()
    samples = _outcomes(rows, ["sample"], lambda payload: payload["id"])
    responses = _outcomes(rows, ["answer", "correction"], lambda p: (p["number"], p["person"], canonical(p["answers"])))
    told = 0
    for client in clients:
        for (method, path, body), answer in client.acknowledged:
            if method == "POST":
                for result in answer["results"]:
                    assert [canonical(_without(result, "id"))] == samples[result["id"]]
                    told += 1
            else:
                answers = {label: int(value) for label, value in body["answers"].items()}
                found = responses[int(path.split("/")[-2]), people[client.name], canonical(answers)]
                logged = [readable_times({"final_at": parsed(outcome).get("final_at")}) for outcome in found]
                assert [{"final_at": answer["final_at"]}] == logged
                told += 1
    assert not [key for key, found in samples.items() if len(found) > 1]
    assert not [key for key, found in responses.items() if len(found) > 1]
    numbers = Counter(parsed(outcome[0])["number"] for outcome in samples.values())
    assert sorted(numbers) == list(range(1, len(samples) + 1))
    return told


def _outcomes(rows, kinds, key):
    """Outcomes as they are stored, without changes of rules, by the key of the payload."""
    found = {}
    for row in rows:
        if row.kind in kinds:
            found.setdefault(key(parsed(row.payload)), []).append(canonical(_without(parsed(row.outcome), "events")))
    return found


def _without(facts, name):
    return {key: value for key, value in facts.items() if key != name}
