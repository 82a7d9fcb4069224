"""Machine code is never older than what it was compiled from."""

import re
import sys
from pathlib import Path

import pytest
from images import count_compiled, lock, run

from evolabel.engine import compile

DECORATED = re.compile(r"^@(?:kernel|inner|inlined|allocating_kernel)\b", re.MULTILINE)
IMPORTED = re.compile(r"^ *from evolabel\.([\w.]+) import", re.MULTILINE)
READ_BEYOND = """
import numpy as np
from evolabel.{module} import {kernel}
print({kernel}({arguments}))
"""
BEYOND = [
    ("stages.rules.loops.antecedents", "ward_pair", "np.ones((2, 3)), np.ones((1, 3)), np.ones(2)"),
    pytest.param(  # features of two samples, compared in lanes
        "stages.feedback.loops",
        "shift_rows",
        "np.ones((1, 8)), np.array([1]), np.ones((1, 3)), np.array([0]), np.ones((1, 1)), np.ones((1, 1)), np.ones(1), "
        "np.ones((2, 1)), np.ones(1), np.ones(1), np.ones((1, 1)), np.ones(1)",
        marks=pytest.mark.slow,
    ),
]


def test_sources_options_and_bounds_checks_name_the_folder(tmp_path):
    """The file itself, one it imports, and one that is imported by that and lies in a sub-folder."""
    names = ("loops/one.py", "loops/two.py", "loops/paper/three.py", "loops/four.py")
    one, two, three, four = (tmp_path / name for name in names)
    three.parent.mkdir(parents=True)
    one.write_text("from evolabel.loops.two import f")
    two.write_text("from evolabel.loops.one import g\nfrom evolabel.loops.paper.three import h")
    three.write_text("a")
    four.write_text("imported by no other file")

    def name(options=False, bounds_check=None):
        return compile.cache_name(one, tmp_path, {"fastmath": options}, bounds_check)

    names = [name(), name(True), name(bounds_check=1)]
    for file in (one, two, three):
        file.write_text(file.read_text() + "\n# changed")
        names.append(name())
    assert len(set(names)) == len(names)
    four.write_text("changed")
    assert name() == names[-1]


def test_every_source_has_a_folder():
    """`evolabel doctor` asks for all of them, and some import modules from a package of loops."""
    for source in Path(compile.__file__).parents[1].rglob("*.py"):
        assert compile.folder_of(source).name.startswith(source.stem)


def test_no_kernel_is_imported_from_a_module_that_does_not_name_the_folder():
    """A change of such a module would leave old machine code in use."""
    package = Path(compile.__file__).parents[1]
    for source in package.rglob("*.py"):
        text = source.read_text("utf-8")
        if DECORATED.search(text):
            imported = {package.joinpath(*name.split(".")).with_suffix(".py") for name in IMPORTED.findall(text)}
            of_kernels = {file for file in imported if file.exists() and DECORATED.search(file.read_text("utf-8"))}
            assert of_kernels <= compile.imported_sources(source, package), source


@pytest.mark.compiled
@pytest.mark.parametrize(("module", "kernel", "arguments"), BEYOND)
def test_bounds_are_checked_although_unchecked_machine_code_lies_in_the_cache(tmp_path, module, kernel, arguments):
    code = READ_BEYOND.format(module=module, kernel=kernel, arguments=arguments)
    assert run(code, NUMBA_CACHE_DIR=str(tmp_path)).returncode == 0
    unchecked = set(tmp_path.rglob("*.nbi"))
    checked = run(code, NUMBA_CACHE_DIR=str(tmp_path), NUMBA_BOUNDSCHECK="1")
    assert "IndexError" in checked.stderr
    assert set(tmp_path.rglob("*.nbi")) > unchecked


@pytest.mark.compiled
def test_kernels_of_other_libraries_are_cached_where_they_were(tmp_path):
    code = "import numba; before = numba.config.CACHE_DIR; import evolabel.engine.symmetric\n"
    code += "assert numba.config.CACHE_DIR == before"
    assert run(code, NUMBA_CACHE_DIR=str(tmp_path)).returncode == 0


@pytest.mark.compiled
def test_without_a_folder_to_write_kernels_are_compiled_and_not_kept(tmp_path):
    (tmp_path / "file").write_text("no folder")
    arguments = "np.eye(2), np.ones(2), 0, 2, 0.0, 9.0, np.ones(2)"
    code = READ_BEYOND.format(module="paper.rules.loops.rotated", kernel="substitute", arguments=arguments)
    done = run(code, NUMBA_CACHE_DIR=str(tmp_path / "file"))
    assert (done.returncode, done.stdout.strip()) == (0, "2.0")


@pytest.mark.compiled
@pytest.mark.skipif(sys.platform != "linux", reason="rights are taken from root by a program of Linux")
def test_kernels_of_an_image_that_cannot_be_written_to_are_read_by_another_user(tmp_path):
    arguments = "np.eye(2), np.ones(2), 0, 2, 0.0, 9.0, np.ones(2)"
    code = READ_BEYOND.format(module="paper.rules.loops.rotated", kernel="substitute", arguments=arguments)
    code = count_compiled(code)
    image = tmp_path / "image"
    built = run(code, NUMBA_CACHE_DIR=str(image))
    value, n_compiled = built.stdout.split()
    assert (value, n_compiled != "0") == ("2.0", True)
    before = lock(image)
    here = {"NUMBA_CACHE_DIR": str(image), "HOME": str(image), "XDG_CACHE_HOME": str(image)}
    done = run(code, *before, **here)
    assert (done.stdout.split(), done.stderr) == (["2.0", "0"], "")
    other = run(code.replace("9.0", "9"), *before, **here)  # for which it has no code
    assert (other.stdout.split()[0], other.stdout.split()[1] != "0", other.stderr) == ("2.0", True, "")


@pytest.mark.compiled
@pytest.mark.parametrize("ending", ["nbi", "nbc"])
def test_damaged_machine_code_is_compiled_again_and_replaced(tmp_path, ending):
    arguments = "np.eye(2), np.ones(2), 0, 2, 0.0, 9.0, np.ones(2)"
    code = count_compiled(
        READ_BEYOND.format(module="paper.rules.loops.rotated", kernel="substitute", arguments=arguments)
    )
    assert run(code, NUMBA_CACHE_DIR=str(tmp_path)).stdout.split()[0] == "2.0"
    for file in tmp_path.rglob(f"*.{ending}"):
        file.write_bytes(file.read_bytes()[:40])
    damaged = run(code, NUMBA_CACHE_DIR=str(tmp_path))
    assert (damaged.stdout.split()[0], damaged.stdout.split()[1] != "0", damaged.stderr) == ("2.0", True, "")
    again = run(code, NUMBA_CACHE_DIR=str(tmp_path))
    assert again.stdout.split() == ["2.0", "0"]
