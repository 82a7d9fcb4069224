"""The workflows on GitHub: what they name exists, a release waits for all tests that can pass, services are there."""

import ast
import re
import shlex
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml
from test_declared_packages import PROJECT

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / ".github" / "workflows"
WORKFLOWS = {file.name: yaml.safe_load(file.read_text("utf-8")) for file in FOLDER.glob("*.yml")}
JOBS = [(file, name) for file, workflow in WORKFLOWS.items() for name in workflow["jobs"]]
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)) | {".venv/.ready"}
# Names of `os` and `signal` that Windows lacks, or that do something else there, and paths of POSIX systems.
POSIX = re.compile(
    r"\.(SIGKILL|SIGSTOP|SIGCONT|kill|killpg|fork|mkfifo|symlink_to|symlink|chmod|chown|geteuid|setrlimit)\b"
    r"|\"/(dev|proc)/|get_context\(\"fork"
)

every_job = pytest.mark.parametrize(("file", "name"), JOBS, ids=lambda value: value)
pytestmark = pytest.mark.skipif(not WORKFLOWS, reason="the source archive has no workflows")


def triggers(workflow):
    return workflow[True]  # YAML reads the word `on` as true


def needed(job):
    needs = job.get("needs", [])
    return [needs] if isinstance(needs, str) else needs


def commands(job):
    """The words of each command of a job; strings of the shell are one word."""
    lines = (line for step in job.get("steps", ()) for line in step.get("run", "").splitlines())
    return [shlex.split(line, comments=True) for line in lines]


@every_job
def test_what_a_job_needs_exists(file, name):
    jobs = WORKFLOWS[file]["jobs"]
    assert set(needed(jobs[name])) <= jobs.keys() - {name}
    if "uses" in jobs[name]:
        called = (ROOT / jobs[name]["uses"]).name
        assert "workflow_call" in triggers(WORKFLOWS[called])


@every_job
def test_the_commands_of_a_job_exist(file, name):
    for words in commands(WORKFLOWS[file]["jobs"][name]):
        match words:
            case ["make", *targets]:
                assert set(targets) <= TARGETS
            case ["python" | ".venv/bin/python", "-m", module, *_]:
                assert find_spec(module) is not None, module
            case ["python" | ".venv/bin/python", "-c", code, *_]:
                compile(code, file, "exec")
            case ["python", file] | [file] if file.startswith("tools/"):
                assert (ROOT / file).is_file()
            case [program, *_]:
                assert program in {"test", "uv", "rm"}, words
        for extras in re.findall(r"\.\[([\w,]+)\]", " ".join(words)):
            assert set(extras.split(",")) <= PROJECT["optional-dependencies"].keys()
        for path in (word for word in words if word.startswith("tests/")):
            assert (ROOT / path).exists(), path


def test_a_release_waits_for_the_tests_and_the_build():
    jobs = WORKFLOWS["release.yml"]["jobs"]
    publishing = [job for job in jobs.values() if "pypa/gh-action-pypi-publish" in str(job)]
    assert [set(needed(job)) for job in publishing] == [{"tests", "build"}]
    assert jobs["tests"]["uses"] == "./.github/workflows/tests.yml"


def test_only_systems_on_which_nobody_develops_may_fail():
    for file, name in JOBS:
        job = WORKFLOWS[file]["jobs"][name]
        systems = job.get("strategy", {}).get("matrix", {}).get("os", [job.get("runs-on")])
        may_fail = job.get("continue-on-error", False)
        assert bool(may_fail) == any(system.startswith(("windows", "macos")) for system in systems if system), name


def test_one_job_has_a_database_a_browser_and_the_packages_for_fuzz_tests():
    (job,) = [job for job in WORKFLOWS["tests.yml"]["jobs"].values() if "services" in job]
    (service,) = job["services"].values()
    assert service["image"].startswith("postgres:")
    password = service["env"]["POSTGRES_PASSWORD"]
    assert job["env"]["EVOLABEL_TEST_POSTGRES_URL"] == f"postgresql://postgres:{password}@127.0.0.1:5432/postgres"
    run = str(commands(job))
    assert "EVOLABEL_CHROMIUM=" in run  # the tests fail if it is set and there is no browser
    assert ["make", "test"] in commands(job)  # in the environment of the extra `check`, which has schemathesis
    assert any(line.startswith("schemathesis") for line in PROJECT["optional-dependencies"]["check"])


def marks(body, node):
    """The decorators of a function and the marks of its module as text."""
    own = [
        assign for assign in body if isinstance(assign, ast.Assign) and ast.unparse(assign.targets[0]) == "pytestmark"
    ]
    return " ".join(map(ast.unparse, (*own, *node.decorator_list)))


def unmarked(file):
    """Tests in `file` that use what only POSIX systems have, without a mark by which other systems skip them."""
    body = ast.parse(file.read_text("utf-8")).body
    tests = [node for node in body if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")]
    using = [node for node in tests if POSIX.search(ast.unparse(node).replace("'", '"'))]
    return [node.name for node in using if not re.search(r"mark\.(posix|skipif)", marks(body, node))]


def test_tests_of_posix_systems_are_marked():
    found = {file.name: unmarked(file) for file in (ROOT / "tests").rglob("test_*.py")}
    assert {name: tests for name, tests in found.items() if tests} == {}
