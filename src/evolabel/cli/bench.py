"""`evolabel bench`: every learner on the paper's data sets, several shuffles, one table."""

import re
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from threadpoolctl import threadpool_limits

from evolabel._utils.files import write_atomically
from evolabel.cli import output
from evolabel.cli.learners import Factory, chosen_learners
from evolabel.cli.output import Force, Quiet, check_overwriting
from evolabel.cli.ready import compile_kernels
from evolabel.cli.run import check_seeds
from evolabel.cli.source import DataSource, open_source, split_names
from evolabel.errors import FileFormatError, ParameterError
from evolabel.evaluate import Repeated, Results, prequential, repeat
from evolabel.evaluate.learner import Learner, stable_repr
from evolabel.streams import Dataset
from evolabel.words.markup import markdown_text

_SETS = "emotions,yeast,water-quality,birds,mediamill-5k"
_RIVALS = "tuned,macro-f1,paper-tuned,ovr,chain,static,paper,rfwls,rls,knn,prior,river-br-lr,river-cc-lr,forest"
_METRICS = ("pa", "ap", "macro_f1", "subset_accuracy")
_STEP = 500  # rows between two updates of the bars
_UNFINISHED = "unfinished"  # folder for finished rounds while others are missing
_ROUND_FILE = re.compile(r"\d+-\d+\.json")  # index of the set, and seed


def bench(
    *,
    sets: str = _SETS,
    against: str = _RIVALS,
    learner: str = "evolabel",
    seeds: int = 5,
    out: Path = Path("bench"),
    force: Force = False,
    json: bool = False,
    quiet: Quiet = False,
) -> None:
    """Compare learners on the paper's five data sets, under the benchmark protocol.

    Rows are shuffled by the seed; the first fifth is the initial batch (scaling, ridge and first rules use nothing
    else), and every further row is predicted and then learned. The tables show mean and deviation over the seeds; every
    learner gets the same rows in the same run.

    For example:

    `evolabel bench --sets emotions,yeast --against ovr,knn --seeds 3`

    `evolabel bench --out bench`

    Parameters
    ----------
    sets
        Names of data sets, separated by commas.
    against
        Learners to compare with, as in `evolabel run`; by default all except river's Hoeffding trees, which are slow.
    learner
        The learner that the others are compared with.
    seeds
        Number of shuffles; their seeds are 0 .. SEEDS-1.
    out
        Folder for comparison.json and comparison.md, written again after every set. The same command continues after an
        interruption: finished shuffles are kept until all are done.
    json
        Print the results as JSON instead of tables.
    """
    if not (out / _UNFINISHED).is_dir():  # else an interrupted comparison is continued
        check_overwriting([out / "comparison.json"], force=force)
    learners = chosen_learners(learner, against)
    sources = [open_source(name, protocol="benchmark") for name in split_names(sets)]
    if not sources:
        raise ParameterError("--sets names no data set; `evolabel datasets` lists them")
    output.check_folder(out)
    compile_kernels(quiet=quiet or json)
    found: dict[str, Repeated] = {}
    for place, source in enumerate(sources):
        check_seeds(seeds, source, 1.0)
        with threadpool_limits(1), output.LiveBars(list(learners), quiet=quiet or json) as bars:
            once = partial(_round, source, learners, bars, out / _UNFINISHED / f"{place}")
            found[source.name] = repeat(once, range(seeds))
        _write(found, out)
        if not json:
            output.print_table(output.result_table(found[source.name]))
    _remove_rounds(out / _UNFINISHED)
    if json:
        output.print_json(_documents(found))


def _round(source: DataSource, learners: dict[str, Factory], bars: output.LiveBars, stem: Path, seed: int) -> Results:
    """Run all learners on one shuffle of `source`; results are kept in a file `stem`-SEED and not computed again."""
    bars.begin(f"{source.name} {seed}")
    made = {name: make(seed) for name, make in learners.items()}
    stream = source.stream(seed)
    file = stem.with_name(f"{stem.name}-{seed}.json")
    stored = _stored_results(file, made, stream)
    if stored is not None:
        return stored
    results = prequential(
        made, stream, initial=source.initial, metrics=_METRICS, every=_STEP, seed=seed, progress=bars.step
    )
    file.parent.mkdir(exist_ok=True)
    results.write(file)
    return replace(results, learners={}, label_counts={})  # large, and not needed any more


def _stored_results(file: Path, learners: dict[str, Learner], stream: Dataset) -> Results | None:
    """Return the stored results of these learners on this stream; None if the file has others, or none.

    The order of the learners matters: the others are compared with the first.
    """
    try:
        stored = Results.read(file)
    except FileFormatError:  # not there, or damaged: the round is run again
        return None
    then = stored.settings
    same = list(then["learners"].items()) == [(name, stable_repr(learner)) for name, learner in learners.items()]
    return stored if same and (then.get("stream"), then.get("rows")) == (stream.name, len(stream)) else None


def _remove_rounds(folder: Path) -> None:
    """Delete the files of finished rounds, and the folder if nothing else is in it."""
    for file in folder.glob("*.json"):
        if _ROUND_FILE.fullmatch(file.name):
            file.unlink()
    with suppress(OSError):
        folder.rmdir()


def _documents(found: dict[str, Repeated]) -> dict[str, object]:
    """Return all results as plain values, without those of single labels: they would be most of the file."""
    documents = {name: repeated.document() for name, repeated in found.items()}
    for document in documents.values():
        for runs in document["runs"].values():
            for run in runs:
                del run["labels"]
    return dict(documents)


def _write(found: dict[str, Repeated], out: Path) -> None:
    """Write both files with the sets that are finished."""
    out.mkdir(parents=True, exist_ok=True)
    output.write_json(out / "comparison.json", _documents(found))
    sections = []
    for name, repeated in found.items():
        title = f"## {markdown_text(name)}\n\n{markdown_text(output.result_title(repeated))}"
        sections.append(f"{title}\n\n{output.markdown_table(repeated)}")
    write_atomically(out / "comparison.md", "\n".join(sections).encode())
