"""Machine code of the package is used where it fits, and only as it was installed."""

import shutil

import pytest
from images import count_compiled, run

from evolabel.engine.installed_code import (
    BASELINES,
    Contents,
    Machine,
    read_contents,
    this_machine,
    why_not,
    write_contents,
)

HASWELL = frozenset(BASELINES["x86_64"].needs) | {"sse2", "avx", "aes"}
NEWER = HASWELL | {"avx512f", "avx512vl", "amx-tile"}
NEHALEM = frozenset({"sse2", "ssse3", "sse4.2", "popcnt", "cx16"})
WITHOUT_FMA = HASWELL - {"fma"}
CODE = Contents("Linux", "x86_64", "x86-64-v3", "3.12", "0.68.1", list(BASELINES["x86_64"].needs), {})
HERE = Machine("Linux", "x86_64", "3.12", "0.68.1", HASWELL)
CALL = """
from pathlib import Path
import evolabel.engine.installed_code as installed
installed.package_folder = lambda: Path({folder!r})
import numpy as np
from evolabel.paper.rules.loops.rotated import substitute
print(substitute(np.eye(2), np.ones(2), 0, 2, 0.0, 9.0, np.ones(2)))
"""


@pytest.mark.parametrize("features", [HASWELL, NEWER])
def test_code_of_a_baseline_is_used_on_every_processor_that_has_its_features(features):
    assert why_not(CODE, HERE._replace(features=features)) == ""


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"features": WITHOUT_FMA}, "the processor has no fma"),
        ({"features": NEHALEM}, "the processor has no avx2, bmi, bmi2, f16c, fma, lzcnt, movbe, xsave"),
        ({"system": "Darwin"}, "it is for Linux, this is Darwin"),
        ({"family": "aarch64", "features": frozenset({"neon"})}, "it is for x86_64, this is aarch64"),
        ({"python": "3.13"}, "it is for Python 3.12, this is Python 3.13"),
        ({"numba": "0.70.0"}, "it is for numba 0.68, this is numba 0.70"),
        ({"numba": "0.68.2"}, ""),
    ],
)
def test_code_that_does_not_fit_is_not_used_and_the_reason_is_named(changed, reason):
    assert why_not(CODE, HERE._replace(**changed)) == reason


@pytest.mark.parametrize("text", [None, "{", "[]", '{"system": "Linux"}'])
def test_a_folder_without_a_list_of_its_contents_brings_no_code(tmp_path, text):
    if text is not None:
        (tmp_path / "contents.json").write_text(text)
    assert read_contents(tmp_path) is None


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A folder of machine code for the baseline, as it lies in a package."""
    cache, folder = tmp_path_factory.mktemp("cache"), tmp_path_factory.mktemp("package") / "machine_code"
    processor = BASELINES[this_machine().family].name
    code = CALL.format(folder=str(folder))
    done = run(code, NUMBA_CACHE_DIR=str(cache), NUMBA_CPU_NAME=processor, NUMBA_CPU_FEATURES="")
    assert done.stdout.split() == ["2.0"]
    shutil.copytree(cache / "evolabel" / "kernels", folder)
    assert read_contents(folder) is None
    assert write_contents(folder) == read_contents(folder)
    return folder


@pytest.mark.compiled
def test_code_of_the_package_is_read_and_nothing_is_compiled_or_written(installed, tmp_path):
    done = run(count_compiled(CALL.format(folder=str(installed))), NUMBA_CACHE_DIR=str(tmp_path))
    assert (done.stdout.split(), done.stderr) == (["2.0", "0"], "")
    assert not list(tmp_path.iterdir())


@pytest.mark.compiled
def test_another_processor_is_asked_for_so_kernels_are_compiled(installed, tmp_path):
    code = count_compiled(CALL.format(folder=str(installed)))
    done = run(code, NUMBA_CACHE_DIR=str(tmp_path), NUMBA_CPU_NAME="generic")
    assert (done.stdout.split()[0], done.stdout.split()[1] != "0", done.stderr) == ("2.0", True, "")


@pytest.mark.compiled
@pytest.mark.parametrize("ending", ["nbi", "nbc"])
def test_code_that_was_changed_is_compiled_into_the_cache_of_the_user(installed, tmp_path, ending):
    """No byte of it is read by numba, which would run what a crafted file names."""
    folder = shutil.copytree(installed, tmp_path / "changed")
    for file in folder.rglob(f"*.{ending}"):
        file.write_bytes(file.read_bytes() + b"\0")
    code = count_compiled(CALL.format(folder=str(folder)))
    done = run(code, NUMBA_CACHE_DIR=str(tmp_path / "cache"))
    assert (done.stdout.split()[0], done.stdout.split()[1] != "0", done.stderr) == ("2.0", True, "")
    again = run(code, NUMBA_CACHE_DIR=str(tmp_path / "cache"))
    assert again.stdout.split() == ["2.0", "0"]
