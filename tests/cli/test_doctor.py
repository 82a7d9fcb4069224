"""`evolabel doctor`, `evolabel completion`, and what `evolabel` alone prints."""

import json
import subprocess
import sys

import pytest

from evolabel import __version__
from evolabel._utils.optional import install_command
from evolabel.cli import doctor
from evolabel.cli.doctor import Package
from evolabel.engine.cache_state import KernelCache, PackagedCode


def test_doctor_lists_versions_kernels_packages_and_data(command, tmp_path, monkeypatch):
    monkeypatch.setenv("EVOLABEL_DATA", str(tmp_path / "nowhere"))
    told = command("doctor")
    assert (told.code, told.err) == (0, "")
    assert told.out.startswith(f"evolabel {__version__} in ")
    assert told.out.splitlines()[-1].startswith("Verdict: ")
    for text in ("numpy ", "Compiled kernels: ", "nowhere (there is no such folder)", "cli: cyclopts "):
        assert text in told.out


def test_doctor_prints_the_same_as_json(command, tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    found = json.loads(command("doctor", "--json").out)
    assert found["evolabel"]["version"] == __version__
    assert found["packages"]["numba"]["usable"]
    assert found["verdict"].startswith("usable; the first call compiles them")
    assert found["kernels"] == {
        "folder": str(tmp_path / "evolabel" / "kernels"),
        "writable": True,
        "compiled": 0,
        "megabytes": 0.0,
        "other_megabytes": 0.0,
    }
    assert not {"all", "test", "check", "docs"} & found["extras"].keys()


def test_an_absent_optional_package_has_its_command_and_changes_nothing(command, monkeypatch):
    absent = {"river": [Package("river", "0.26", None)], "cli": [Package("rich", "13", "13.0")]}
    monkeypatch.setattr(doctor, "optional_packages", lambda: absent)
    told = command("doctor")
    assert told.code == 0
    assert f"  river: river absent; run: {install_command('river')}\n  cli: rich 13.0\n" in told.out


def test_a_needed_package_that_is_too_old_is_code_3(command, monkeypatch):
    monkeypatch.setattr(doctor, "needed_packages", lambda: [Package("numpy", "2.10", "2.9.1")])
    told = command("doctor")
    assert told.code == 3
    assert told.out.endswith("Verdict: not usable, absent or too old: numpy\n")
    assert f"absent or too old: numpy; run: {sys.executable} -m {install_command()}\n" in told.err


def test_a_cache_that_cannot_be_written_is_code_1(command, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "file"))
    told = command("doctor")
    assert told.code == 1
    assert "cannot be stored there" in told.out
    assert told.out.endswith(
        "Verdict: usable, but every start compiles anew, because compiled kernels cannot be stored\n"
    )
    assert "set NUMBA_CACHE_DIR to a folder that can" in told.err


def test_compiled_kernels_in_a_folder_that_cannot_be_written_are_named_and_suffice(command, tmp_path, monkeypatch):
    there = KernelCache(tmp_path, False, 12, 3.25, 0.0)
    monkeypatch.setattr(doctor, "kernel_cache", lambda: there)
    told = command("doctor")
    assert (told.code, told.err) == (0, "")
    assert f"Compiled kernels: those of 12 source files, 3.2 MB, read-only (in {tmp_path})" in told.out
    assert told.out.endswith("Verdict: ready, kernels are compiled\n")


@pytest.mark.parametrize(
    ("unused", "said"),
    [("", "used, nothing has to be compiled"), ("the processor has no fma", "not used: the processor")],
)
def test_machine_code_of_the_package_and_why_it_is_not_used_are_printed(command, tmp_path, monkeypatch, unused, said):
    """Where it is used, a cache that cannot be written is no failure."""
    monkeypatch.setattr(doctor, "packaged_code", lambda: PackagedCode(tmp_path, "x86-64-v3", 6.04, unused))
    monkeypatch.setattr(doctor, "kernel_cache", lambda: KernelCache(tmp_path, False, 0, 0.0, 0.0))
    told = command("doctor")
    assert f"Machine code in the package: for x86-64-v3, 6.0 MB; {said}" in told.out
    assert told.code == (1 if unused else 0)
    assert json.loads(command("doctor", "--json").out)["packaged"]["unused"] == unused


def test_requirements_are_those_of_the_metadata(monkeypatch):
    lines = [
        "numpy>=2.0",
        'cyclopts>=4; extra == "cli"',
        "evolabel[cli]; extra == 'server'",
        'ruff>=0.9; extra == "check"',
    ]
    monkeypatch.setattr(doctor, "requires", lambda name: lines)
    assert [package.name for package in doctor.needed_packages()] == ["numpy"]
    assert {extra: [p.least for p in found] for extra, found in doctor.optional_packages().items()} == {"cli": ["4"]}


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_have_the_commands(command, shell):
    told = command("completion", shell)
    assert told.code == 0
    assert "doctor" in told.out
    assert "--labels" in told.out or "labels" in told.out
    if shell == "bash":
        subprocess.run(["bash", "-n"], input=told.out, text=True, check=True)


@pytest.mark.parametrize("words", [[], ["--version"]])
def test_the_command_alone_and_its_version_load_nothing_heavy(words):
    call = "from evolabel.cli import main; main(); assert 'numpy' not in sys.modules"
    code = f"import sys; sys.argv[1:] = {words!r}; {call}"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert __version__ in told
    if words:
        assert told == f"{__version__}\n"
    else:
        assert "What to try next:" in told
        assert "    evolabel run\n" in told
        assert "    evolabel doctor\n" in told
        assert f"They need: {install_command('cli', 'report', 'server')}\n" in told
