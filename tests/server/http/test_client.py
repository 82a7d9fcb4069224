"""The clients, against a server on a port and, without waiting, against the application itself."""

import asyncio
import subprocess
import sys

import pytest

pytest.importorskip("httpx")

import httpx

from evolabel import EvolvingFuzzyClassifier
from evolabel._utils.optional import install_command
from evolabel.active import ActiveLearner
from evolabel.client import AsyncClient, Client, ConnectionLostError, Retry, ServiceError
from evolabel.errors import DataError, ModelFileError, ParameterError
from evolabel.persistence.model_file import stored_checksum
from evolabel.server.app import create_app
from evolabel.server.people.accounts import create_token
from evolabel.server.project import operations, reading
from server.listening import listening
from server.pumps import ANNA, call, run, samples

QUICK = Retry(seconds=30.0, first=0.001, longest=0.001)
ROLES = ("producer", "annotator", "operator")


@pytest.fixture
def served(sqlite, start):
    """The service, and a function that makes a client for a role."""
    service = start(sqlite)
    tokens = {role: create_token(sqlite, role, "pumps", role, "test") for role in ROLES}
    tokens["admin"] = create_token(sqlite, "root", None, None, "test")
    with listening(service) as url:

        def client(role, project="pumps", **options):
            return Client(url, tokens[role], project, **{"retry": QUICK, **options})

        client.url, client.tokens = url, tokens
        yield service, client


def counted(service):
    return call(service.workers["pumps"], reading.show_project)["samples"]


class Losing(httpx.HTTPTransport):
    """Loses the response to every second request, after the service has carried it out."""

    def __init__(self):
        super().__init__()
        self.lost = 0
        self.n = 0

    def handle_request(self, request):
        response = super().handle_request(request)
        self.n += 1
        if self.n % 2:
            self.lost += 1
            response.close()
            raise httpx.ReadError("the connection was cut")
        return response


class Refusing(httpx.HTTPTransport):
    """Answers the first requests with a status and a problem document, as a busy service does."""

    def __init__(self, status, times=2, type="busy"):
        super().__init__()
        self.status = status
        self.left = times
        self.type = type

    def handle_request(self, request):
        if not self.left:
            return super().handle_request(request)
        self.left -= 1
        return httpx.Response(self.status, json={"type": f"/problems/{self.type}", "detail": "wait"})


def test_a_sample_a_question_an_answer(served):
    _, client = served
    with client("producer") as producer, client("annotator") as annotator:
        results = producer.send(sample for sample, _ in samples(9))
        assert [result.number for result in results] == list(range(1, 10))
        assert results[0].prediction.keys() == {"leak", "wear"}
        asked = [result for result in results if result.asked]
        assert {q.number for q in annotator.questions()} == {result.number for result in asked}
        question = annotator.next_question()
        assert (question.number, question.labels) == (asked[-1].number, asked[-1].asked)
        assert question.lease_until > question.asked_at
        hidden = annotator.sample(question.number)
        assert hidden.hidden
        assert hidden.prediction is None
        receipt = annotator.answer(question.number, {"leak": True, "wear": None}, took_ms=900)
        assert (receipt.status, receipt.late) == ("submitted", False)
        assert annotator.answer(question.number, {"leak": False}).late
        assert annotator.refuse(annotator.next_question(skip=[1]).number, reason="dark").status == "refused"
        assert producer.late_labels("s0", {"leak": True}) == 1
        assert producer.sample("s0").prediction == results[0].prediction


def test_a_project_from_its_beginning(served):
    _, client = served
    with client("admin", "mills") as admin:
        admin.create_project(["speed", {"name": "kind", "kind": "text", "choices": ["a", "b"]}], ["hot"], budget=0.2)
        with pytest.raises(ServiceError, match="there is a project 'mills' already") as refused:
            admin.create_project(["speed"], ["hot"])
        assert (refused.value.status, refused.value.type) == (409, "conflict")
        assert refused.value.document["instance"]
        assert admin.change_settings(max_open=3)["max_open"] == 3
        admin.add_label("cold", title="Too cold")
        admin.retire_label("hot")
        admin.set_paused(paused=True)
        status = admin.project()
        assert status.paused
        assert status.settings["budget"] == 0.2
        assert [label["name"] for label in status.labels] == ["hot", "cold"]
        (said,) = admin.predict([[float("nan"), "a"]])
        assert said.prediction.keys() == {"hot", "cold"}
        with pytest.raises(DataError, match="finite"):
            admin.predict([[float("inf"), "a"]])
        with pytest.raises(DataError, match="needs its values"):
            admin.send([{"speed": 1.0}])
        with pytest.raises(ServiceError, match="there is no feature 'sped'") as refused:
            admin.send([{"x": {"sped": 1.0}}])
        assert refused.value.document["errors"][0]["pointer"] == "/samples/0"


@pytest.mark.parametrize("with_id", [True, False])
def test_a_lost_response_does_not_count_a_sample_twice(served, with_id):
    service, client = served
    transport = Losing()
    with client("producer", transport=transport) as producer:
        for i, (sample, _) in enumerate(samples(6)):
            (result,) = producer.send([sample if with_id else {"x": sample["x"]}])
            assert result.number == i + 1
    assert transport.lost == 6
    assert counted(service) == 6


def test_answers_and_late_labels_are_sent_again(served):
    service, client = served
    with client("producer") as producer:
        number = next(r.number for r in producer.send(s for s, _ in samples(9)) if r.asked)
    with client("annotator", transport=Losing()) as annotator:
        assert annotator.answer(number, {"leak": True}).status == "submitted"
        with pytest.raises(ConnectionLostError, match="cut"):
            annotator.withdraw(number)  # it may have succeeded: no second try
    head = service.workers["pumps"].head.seq
    with client("producer", transport=Losing()) as producer:
        assert producer.late_labels(1, {"leak": True}) == 1
    assert service.workers["pumps"].head.seq == head + 1


@pytest.mark.parametrize("status", [429, 502, 503, 507])
def test_a_busy_service_is_asked_again(served, status):
    service, client = served
    with client("producer", transport=Refusing(status)) as producer:
        assert producer.send([{"x": {"flow": 1.0}}])[0].number == 1
    with (
        client("producer", transport=Refusing(status), retry=Retry(seconds=0.0)) as hasty,
        pytest.raises(ServiceError) as refused,
    ):
        hasty.send([{"x": {"flow": 1.0}}])
    assert refused.value.status == status
    assert counted(service) == 1


@pytest.mark.parametrize(
    ("type", "left"), [("busy", 0), ("standby", 0), ("rebuilding", 0), ("starting", 0), ("unknown", 1)]
)
def test_an_act_without_a_key_is_repeated_only_after_known_kinds_of_503(served, type, left):
    _, client = served
    transport = Refusing(503, type=type)
    with client("annotator", transport=transport) as annotator, pytest.raises(ServiceError):
        annotator.withdraw(1)
    assert transport.left == left
    transport = Refusing(503, type=type)
    with client("producer", transport=transport) as producer:
        assert producer.send([{"x": {"flow": 1.0}}])[0].number == 1  # it has a key


def test_other_errors_are_not_tried_again(served):
    _, client = served
    transport = Refusing(500, times=9)
    with client("producer", transport=transport) as producer, pytest.raises(ServiceError, match="wait") as refused:
        producer.project()
    assert transport.left == 8
    assert refused.value.__cause__ is None  # no chain of causes that leads back to itself
    with client("annotator") as annotator, pytest.raises(ServiceError) as refused:
        annotator.send([{"x": {}}])
    assert refused.value.status == 403
    nobody = Client("http://127.0.0.1:9", "ev_x", "pumps", retry=Retry(seconds=0.0))
    with nobody, pytest.raises(ConnectionLostError, match="has not answered"):
        nobody.project()
    with pytest.raises(ParameterError, match="is no address"):
        Client("127.0.0.1:9", "ev_x", "pumps")
    with pytest.raises(ParameterError, match="token"):
        Client("http://127.0.0.1:9", "ev_\n", "pumps")


def test_the_same_over_an_event_loop(served):
    service, client = served
    transport = httpx.ASGITransport(create_app(service))

    async def work():
        token = client.tokens["admin"]
        async with AsyncClient("http://service", token, "pumps", transport=transport, retry=QUICK) as admin:
            sent = await asyncio.gather(*(admin.send([sample]) for sample, _ in samples(9)))
            assert sorted(result.number for (result,) in sent) == list(range(1, 10))
            number = next(result.number for (result,) in sent if result.asked)
            assert (await admin.answer(number, {"leak": True})).status == "submitted"
            with pytest.raises(ServiceError, match="no question 999"):
                await admin.answer(999, {"leak": True})
            return await admin.project()

    assert asyncio.run(work()).samples == 9


class Pieces(httpx.SyncByteStream, httpx.AsyncByteStream):
    """A body that comes in pieces of three bytes."""

    def __init__(self, body):
        self.pieces = [body[i : i + 3] for i in range(0, len(body), 3)]

    def __iter__(self):
        yield from self.pieces

    async def __aiter__(self):
        for piece in self.pieces:
            yield piece


def test_lines_of_a_file_end_with_line_feeds_alone():
    written = ['{"note": "a\u2028b\x85c\x0bd"}', "", "x" * 7]
    body = "\n".join(written).encode()
    for ending in (b"", b"\n"):
        answering = httpx.MockTransport(lambda request, end=ending: httpx.Response(200, stream=Pieces(body + end)))
        with Client("http://service", "ev_x", "pumps", transport=answering) as client:
            assert list(client.export("answers.ndjson")) == written

        async def read(transport=answering):
            async with AsyncClient("http://service", "ev_x", "pumps", transport=transport) as client:
                return [line async for line in client.export("answers.ndjson")]

        assert asyncio.run(read()) == written


@pytest.mark.parametrize("classifier", [False, True])
def test_the_model_is_asked_for_with_and_without_what_the_service_adds(served, classifier, tmp_path):
    service, client = served
    run(service.workers["pumps"], samples(220))
    with client("operator") as operator:
        contents = operator.model(classifier=classifier)
        (served_now,) = operator.predict([{"pressure": 0.5, "flow": -0.3}])

    async def read():
        async with AsyncClient(client.url, client.tokens["operator"], "pumps", retry=QUICK) as operator:
            return await operator.model(classifier=classifier)

    assert stored_checksum(asyncio.run(read())) == stored_checksum(contents)
    (tmp_path / "model").write_bytes(contents)
    if classifier:
        assert EvolvingFuzzyClassifier.load(tmp_path / "model").n_rules_ > 0
        with pytest.raises(ModelFileError, match="not an active learner"):
            ActiveLearner.from_bytes(contents)
    else:
        shares = ActiveLearner.from_bytes(contents).predict_proba([{"pressure": 0.5, "flow": -0.3}])[0]
        assert dict(zip(["leak", "wear"], shares.tolist(), strict=True)) == served_now.prediction
        with pytest.raises(ModelFileError, match=r"load it with ActiveLearner\.load and take its `classifier`"):
            EvolvingFuzzyClassifier.load(tmp_path / "model")


def test_who_may_not_have_the_model_is_told_so(served):
    _, client = served
    with client("producer") as producer, pytest.raises(ServiceError, match="forbidden"):
        producer.model()


def test_both_clients_have_the_same_methods():
    public = [{name for name in vars(kind) if not name.startswith("_")} for kind in (Client, AsyncClient)]
    assert public[0] == public[1]


def test_without_httpx_the_error_names_the_extra():
    lines = [
        "import sys; sys.modules['httpx'] = None",
        "from evolabel.client import Client",
        "Client('http://x', 'e', 'p')",
    ]
    code = "\n".join(lines)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert f"run: {install_command('client')}" in done.stderr.splitlines()[-1]


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_rules_events_explanations_people_and_the_model_are_fetched(served, tmp_path):
    service, client = served
    labelled = [{**sample, "y": truth} for sample, truth in samples(300)]
    call(service.workers["pumps"], operations.send_samples, labelled, ANNA)
    with client("operator") as operator:
        rules = operator.rules(top=3)
        assert {rule.kind for rule in rules} <= {"written", "threshold", "learned"}
        assert rules[0].text
        explained = operator.explain("s7", "wear")
        assert explained["number"] == operator.explain(explained["number"], "wear")["number"]
        assert explained["now"]["label"] == "wear"
        events = operator.events(kind="project.")
        assert [(event.kind, event.seq) for event in events] == [("project.created", 1)]
        assert operator.events(after=events[-1].seq, kind="project.") == []
        link = operator.invite("mira", "expert")
        assert link.startswith(f"{client.url}/invite/")
        operator.download_model(tmp_path / "model.safetensors")
        operator.download_model(tmp_path / "classifier.safetensors", classifier=True)
    assert list(tmp_path.glob("*.unfinished")) == []
    probabilities = ActiveLearner.load(tmp_path / "model.safetensors").predict_proba([[0.1, 0.2, 1.0, 0.0]])
    assert probabilities.shape == (1, 2)
    assert EvolvingFuzzyClassifier.load(tmp_path / "classifier.safetensors").n_rules_ > 0
