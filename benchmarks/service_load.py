"""Measure the labelling service on loopback beside the bare learner and the bare database, in one run.

    python benchmarks/service_load.py               # writes benchmarks/results/service_load.json
    python benchmarks/service_load.py --soak 30     # thirty minutes; writes benchmarks/results/service_soak.json

`--database postgresql://...` measures on PostgreSQL; the result is stored under the name of the database. Clients write
requests to bare sockets, in this process; the server is a process of its own. Each client sends its next request when
the response to the last one is there.

Batches are measured in rounds, each beside the bare learner and the bare database: with a model that has seen no answer
(`cold`), and with one that was fitted to 500 rows (`trained`), as it is in use. Where others use the machine, too, the
processor times of a row say more than rows per second.
"""

import argparse
import asyncio
import functools
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from shared import result_files
from sqlalchemy import text

from evolabel import EvolvingFuzzyClassifier
from evolabel.active import ActiveLearner
from evolabel.server.log.engines import read_url, writing_engine
from evolabel.streams import DriftingStream

FEATURES, LABELS = 20, 5
BATCH = 100
CLIENTS = (1, 16, 64, 256)
ANNOTATORS = 20
ROWS = 20_000
FITTED = 500  # rows of the history
ROUNDS = 3
NAMES, LABEL_NAMES = [f"f{j}" for j in range(FEATURES)], [f"l{k}" for k in range(LABELS)]
Facts = dict[str, Any]


@functools.cache
def stream() -> tuple[np.ndarray, np.ndarray]:
    return DriftingStream(n_features=FEATURES, n_labels=LABELS, drift_every=0, seed=1).take(ROWS)


# ---------------------------------------------------------------------- bare parts


def make_learner(*, trained: bool) -> ActiveLearner:
    """Return the learner of a project of this benchmark, with a model fitted to the first rows if `trained`."""
    learner = ActiveLearner.start(dict.fromkeys(NAMES), LABEL_NAMES, budget=0.05, per="labels")
    if trained:
        X, Y = stream()
        learner.replace_classifier(
            EvolvingFuzzyClassifier().fit(X[:FITTED], Y[:FITTED]).name_columns(NAMES, LABEL_NAMES)
        )
    return learner


def bare_learner(learner: ActiveLearner, seconds: float) -> Facts:
    """Return the rate of the `learner` alone: samples predicted, decided upon, counted; and its processor time."""
    X, count = stream()[0][FITTED:], 0
    used, start = time.process_time(), time.perf_counter()
    while (passed := time.perf_counter() - start) < seconds:
        first = count % (len(X) - BATCH)
        for x in X[first : first + BATCH]:
            learner.skip(learner.query(dict(zip(NAMES, x, strict=True))))
        count += BATCH
    return {"rows_per_second": count / passed, "cpu_us_per_row": round(1e6 * (time.process_time() - used) / count, 1)}


def bare_database(url: str, seconds: float) -> Facts:
    """Return rows per second in commits of a batch, and commits per second of one row, without any service."""
    engine = writing_engine(read_url(url))
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE bare (seq INTEGER PRIMARY KEY, part TEXT UNIQUE, body TEXT)"))
    insert, seq, found = text("INSERT INTO bare VALUES (:seq, :part, :body)"), 0, []
    for size in (BATCH, 1):
        count, end = 0, time.perf_counter() + seconds
        while time.perf_counter() < end:
            rows = [{"seq": seq + i, "part": f"k{seq + i}", "body": "x" * 730} for i in range(size)]
            with engine.begin() as connection:
                connection.execute(insert, rows)
            seq, count = seq + size, count + size
        found.append(count / seconds)
    with engine.begin() as connection:
        connection.execute(text("DROP TABLE bare"))
    engine.dispose()
    return {"rows_per_second": found[0], "commits_per_second": found[1]}


# ---------------------------------------------------------------------- the server


class Server:
    """`evolabel serve` in a process of its own on the database `url`, with an administrator's token."""

    def __init__(self, url: str) -> None:
        self.url, self.port = url, _free_port()
        self._start()
        command = [sys.executable, "-m", "evolabel", "serve", "token", "load", "--database", url]
        self.token = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()[-1]

    def _start(self) -> None:
        command = [sys.executable, "-m", "evolabel", "serve", "--database", self.url, "--port", str(self.port)]
        limits = {"EVOLABEL_LIMITS_TOKEN_PER_MINUTE": "1000000", "EVOLABEL_LOG_LEVEL": "warning"}
        begun = time.perf_counter()
        self.process = subprocess.Popen(command, env=os.environ | limits)
        while not self._is_ready():
            if self.process.poll() is not None:
                raise RuntimeError(f"the server has ended with {self.process.returncode}; its errors are above")
            time.sleep(0.05)
        self.seconds = time.perf_counter() - begun

    def restart(self) -> None:
        """Kill the process by SIGKILL and start it again."""
        self.process.kill()
        self.process.wait()
        self._start()

    def stop(self) -> None:
        """End the process."""
        self.process.terminate()
        self.process.wait(60)

    def memory_mb(self) -> float:
        """Return the resident memory of the process."""
        lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        return float(next(line for line in lines if line.startswith("VmRSS")).split()[1]) / 1024

    def cpu_seconds(self) -> float:
        """Return the processor time of the process so far."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def _is_ready(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self.port), 5) as connection:
                connection.sendall(b"GET /readyz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
                return b" 200 " in connection.recv(64)
        except OSError:
            return False


@contextmanager
def serving(url: str) -> Iterator[Server]:
    server = Server(url)
    try:
        yield server
    finally:
        server.stop()


def _free_port() -> int:
    with socket.socket() as port:
        port.bind(("127.0.0.1", 0))
        return int(port.getsockname()[1])


# ---------------------------------------------------------------------- clients


class Connection:
    """One connection of a client, on which requests follow each other."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, token: str) -> None:
        self._reader, self._writer, self._token = reader, writer, token

    async def send(self, method: str, path: str, body: Facts) -> tuple[int, Facts]:
        """Return status and document of the response."""
        content = json.dumps(body).encode()
        head = (
            f"{method} /api/v1/projects{path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {self._token}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n"
        )
        self._writer.write(head.encode() + content)
        lines = (await self._reader.readuntil(b"\r\n\r\n")).decode().lower().split("\r\n")
        length = next((int(line[15:]) for line in lines if line.startswith("content-length:")), 0)
        found = await self._reader.readexactly(length)
        return int(lines[0].split()[1]), json.loads(found) if found else {}


@asynccontextmanager
async def connected(server: Server) -> AsyncIterator[Connection]:
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    try:
        yield Connection(reader, writer, server.token)
    finally:
        writer.close()


async def create_project(server: Server, slug: str, **settings: Any) -> None:
    body = {
        "slug": slug,
        "features": [{"name": name} for name in NAMES],
        "labels": [{"name": name} for name in LABEL_NAMES],
        "settings": settings,
    }
    async with connected(server) as connection:
        status, found = await connection.send("POST", "", body)
        assert status == 201, found


async def closed_loop(
    server: Server, clients: int, seconds: float, request: Callable[[Connection, int], Awaitable[int]]
) -> Facts:
    """Return rows per second and times of `request` with so many `clients`; it returns the rows that were taken."""
    times, counts = list[float](), [0]
    start = time.perf_counter()

    async def client(number: int) -> None:
        async with connected(server) as connection:
            turn = number
            while time.perf_counter() - start < seconds:
                begun = time.perf_counter()
                taken = await request(connection, turn)
                counts[0] += taken
                times.append(time.perf_counter() - begun)
                turn += clients

    await asyncio.gather(*(client(number) for number in range(clients)))
    passed = time.perf_counter() - start
    return {"clients": clients, "seconds": passed, "rows_per_second": counts[0] / passed, **quantiles(times)}


def quantiles(times: list[float]) -> Facts:
    """Return median, 95th and 99th percentile of `times` in milliseconds."""
    cuts = statistics.quantiles(times, n=100) if len(times) > 1 else times * 99
    return {f"p{place}_ms": round(1000 * cuts[place - 1], 1) for place in (50, 95, 99)}


def posting(slug: str, rows: int) -> Callable[[Connection, int], Awaitable[int]]:
    """Return the request that sends so many `rows` of the stream to the project `slug`."""
    X, mark = stream()[0].tolist(), time.time_ns()  # the ids of two measurements differ

    async def request(connection: Connection, turn: int) -> int:
        samples = [{"id": f"{mark}-{turn}-{i}", "x": X[(turn * rows + i) % ROWS]} for i in range(rows)]
        status, found = await connection.send("POST", f"/{slug}/samples", {"samples": samples})
        assert status == 200, found
        return rows

    return request


async def annotators(server: Server, seconds: float) -> Facts:
    """Return the times of people who answer questions, while samples come in."""
    await create_project(server, "people", budget=0.5, max_open=1000, hold_seconds=0, overlap=0.0)
    answers = list[float]()

    async def person(connection: Connection, turn: int) -> int:
        status, question = await connection.send("POST", "/people/questions/next", {})
        if status != 200:
            await asyncio.sleep(0.05)
            return 0
        begun = time.perf_counter()
        given = dict.fromkeys(question["question"]["labels"], True)
        await connection.send("PUT", f"/people/questions/{question['number']}/answer", {"answers": given})
        answers.append(time.perf_counter() - begun)
        return 1

    sending = asyncio.create_task(closed_loop(server, 1, seconds, posting("people", 10)))
    found = await closed_loop(server, ANNOTATORS, seconds, person)
    await sending
    return {"people": ANNOTATORS, "answers_per_second": len(answers) / seconds, **quantiles(answers), "cycle": found}


async def fit_history(server: Server, slug: str) -> None:
    """Fit the model of the project `slug` to the first rows of the stream."""
    X, Y = stream()
    rows = [
        {"x": x, "y": dict(zip(LABEL_NAMES, y, strict=True))}
        for x, y in zip(X[:FITTED].tolist(), (Y[:FITTED] == 1).tolist(), strict=True)
    ]
    async with connected(server) as connection:
        for path, body, expected in (("history", {"rows": rows}, 200), ("fit", {}, 202)):
            status, found = await connection.send("POST", f"/{slug}/{path}", body)
            assert status == expected, found
        while not (await connection.send("GET", f"/{slug}/activity?kind=fitted", {}))[1]["activity"]:
            await asyncio.sleep(0.1)


async def batches(server: Server, seconds: float, url: str, *, trained: bool) -> Facts:
    """Return the rates of batches in rounds beside the bare learner and the bare database at `url`, and their share."""
    slug, learner = "trained" if trained else "cold", make_learner(trained=trained)
    await create_project(server, slug, budget=0.05)
    if trained:
        await fit_history(server, slug)
    bare_learner(learner, 1.0)
    await closed_loop(server, 1, 1.0, posting(slug, BATCH))
    rounds = []
    for _ in range(ROUNDS):
        found = {"learner": bare_learner(learner, seconds), "database": bare_database(url, 2.0)}
        for clients in (1, 4):
            used = server.cpu_seconds()
            rate = await closed_loop(server, clients, seconds, posting(slug, BATCH))
            used = (server.cpu_seconds() - used) / (rate["rows_per_second"] * rate["seconds"])
            found[f"clients_{clients}"] = rate | {"cpu_us_per_row": round(1e6 * used, 1)}
        slower = min(found["learner"]["rows_per_second"], found["database"]["rows_per_second"])
        found["share_of_the_slower"] = max(found[f"clients_{n}"]["rows_per_second"] for n in (1, 4)) / slower
        found["share_by_cpu"] = found["learner"]["cpu_us_per_row"] / found["clients_4"]["cpu_us_per_row"]
        rounds.append(found)
    medians = {
        name: statistics.median(found[name] for found in rounds) for name in ("share_of_the_slower", "share_by_cpu")
    }
    return medians | {"rounds": rounds}


async def load(server: Server, seconds: float, url: str) -> Facts:
    """Return first request and memory, rows per second in batches and singly, and the times of annotators."""
    begun = time.perf_counter()
    await create_project(server, "first", budget=0.05)
    made = time.perf_counter()
    async with connected(server) as connection:
        await posting("first", 1)(connection, 0)
    start = {"seconds_until_ready": server.seconds, "mb": server.memory_mb()}
    start |= {"first_request_ms": 1000 * (made - begun), "first_sample_ms": 1000 * (time.perf_counter() - made)}
    machine = {"cores": os.cpu_count(), "load_average": os.getloadavg()[0]}  # above the cores: others use them, too
    found: Facts = {"machine": machine, "start": start, "batches": {}, "single": []}
    for name in ("cold", "trained"):
        found["batches"][name] = await batches(server, seconds, url, trained=name == "trained")
    for clients in CLIENTS:
        await create_project(server, f"single-{clients}", budget=0.05)
        found["single"].append(await closed_loop(server, clients, seconds, posting(f"single-{clients}", 1)))
    found["annotators"] = await annotators(server, seconds)
    return found | {"mb_at_the_end": server.memory_mb()}


async def soak(server: Server, minutes: float) -> list[Facts]:
    """Return memory and samples along `minutes` of 20 samples a second, with bursts, and a kill every five minutes."""
    await create_project(server, "soak", budget=0.05)
    X, found, sent = stream()[0].tolist(), list[Facts](), 0
    start, kills = time.time(), 0
    while (passed := time.time() - start) < 60 * minutes:
        if passed > 300 * (kills + 1):
            kills += 1
            server.restart()
        rows = 500 if int(passed) % 60 == 30 else 20
        samples = [{"id": f"s{sent + i}", "x": X[(sent + i) % ROWS]} for i in range(rows)]
        async with connected(server) as connection:
            status, document = await connection.send("POST", "/soak/samples", {"samples": samples})
            assert status == 200, document
        sent += rows
        if not found or passed - found[-1]["seconds"] > 30:
            found.append(
                {"seconds": round(passed), "samples": sent, "kills": kills, "mb": round(server.memory_mb(), 1)}
            )
            print(found[-1])
        await asyncio.sleep(max(0.0, 1.0 - (time.time() - start - passed)))
    return found


def main() -> None:
    """Measure, store, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--database", help="URL of an empty database; by default a SQLite file in a temporary folder")
    parser.add_argument("--seconds", type=float, default=5.0, help="of each measurement")
    parser.add_argument("--soak", type=float, help="minutes of the soak, instead of the load")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        url = options.database or f"sqlite:///{folder}/load.db"
        kind = read_url(url).get_backend_name()
        if options.soak:
            with serving(url) as server:
                result_files.write("service_soak", asyncio.run(soak(server, options.soak)))
            return
        bare = options.database or f"sqlite:///{folder}/bare.db"
        with serving(url) as server:
            found = asyncio.run(load(server, options.seconds, bare))
    result_files.write("service_load", result_files.read_if_any("service_load", {}) | {kind: found})
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
