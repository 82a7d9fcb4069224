"""`evolabel bench`: every learner on the paper's data sets, several shuffles, one table."""

import re
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from threadpoolctl import threadpool_limits

from evolabel._utils.atomic_files import write_atomically
from evolabel.cli.json_output import print_json, write_json
from evolabel.cli.learners import Factory, chosen_learners
from evolabel.cli.progress import LiveBars
from evolabel.cli.ready import compile_kernels, ready_folder
from evolabel.cli.run import check_seeds
from evolabel.cli.source import DataSource, open_source, split_names
from evolabel.cli.tables import markdown_table, print_table, terminal_table, title
from evolabel.errors import FileFormatError, ParameterError
from evolabel.evaluate import Repeated, Results, prequential, repeat
from evolabel.evaluate.learner import Learner, stable_repr
from evolabel.explain.markup import words
from evolabel.streams import Dataset

SETS = "emotions,yeast,water-quality,birds,mediamill-5k"
RIVALS = "tuned,macro-f1,paper-tuned,ovr,chain,static,paper,rfwls,rls,knn,prior,river-br-lr,river-cc-lr,forest"
METRICS = ("pa", "ap", "macro_f1", "subset_accuracy")
STEP = 500  # rows between two updates of the bars
UNFINISHED = "unfinished"  # folder for the rounds that are done while others are not
ROUND = re.compile(r"\d+-\d+\.json")  # place of the set, and seed


def bench(
    *,
    sets: str = SETS,
    against: str = RIVALS,
    learner: str = "evolabel",
    seeds: int = 5,
    out: Path = Path("bench"),
    json: bool = False,
    quiet: bool = False,
) -> None:
    """Compare learners on the paper's five data sets, under the benchmark protocol.

    Rows are shuffled by the seed, the first fifth is the initial batch (scaling, ridge and rules see nothing else), the
    rest is answered and then learned. The tables show mean and spread over the seeds; every learner meets the same rows
    in the same run.

    Parameters
    ----------
    sets
        Names of data sets, separated by commas.
    against
        Rivals, as in `evolabel run`; river's Hoeffding trees, which are slow, only if they are named.
    learner
        Who the rivals are compared with.
    seeds
        Shuffles 0 .. SEEDS-1.
    out
        Folder for comparison.json and comparison.md; written anew after every set. The same command goes on after an
        interruption: shuffles that were learned are kept until all is written.
    json
        Print the outcome as JSON instead of tables.
    quiet
        No progress bars.
    """
    learners = chosen_learners(learner, against)
    sources = [open_source(name, (), "benchmark", None, None) for name in split_names(sets)]
    if not sources:
        raise ParameterError("--sets names no data set; `evolabel datasets` lists them")
    ready_folder(out)
    compile_kernels(quiet=quiet or json)
    found: dict[str, Repeated] = {}
    for place, source in enumerate(sources):
        check_seeds(seeds, source, 1.0)
        with threadpool_limits(1), LiveBars(list(learners), quiet=quiet or json) as bars:
            found[source.name] = repeat(_Round(source, learners, bars, out / UNFINISHED, place), range(seeds))
        write(found, out)
        if not json:
            print_table(terminal_table(found[source.name]))
    _remove_rounds(out / UNFINISHED)
    if json:
        print_json(documents(found))


@dataclass(frozen=True)
class _Round:
    """All learners over one shuffle of one set; its results are kept in a folder, and the round is not run again."""

    source: DataSource
    learners: dict[str, Factory]
    bars: LiveBars
    folder: Path
    place: int

    def __call__(self, seed: int) -> Results:
        self.bars.begin(f"{self.source.name} {seed}")
        learners = {name: make(seed) for name, make in self.learners.items()}
        stream, initial = self.source.stream(seed), self.source.initial
        file = self.folder / f"{self.place}-{seed}.json"
        kept = _kept(file, learners, stream)
        if kept is not None:
            return kept
        results = prequential(
            learners, stream, initial=initial, metrics=METRICS, every=STEP, seed=seed, progress=self.bars.step
        )
        self.folder.mkdir(exist_ok=True)
        results.write(file)
        return replace(results, learners={})  # many rule bases, and nobody looks at them any more


def _kept(file: Path, learners: dict[str, Learner], stream: Dataset) -> Results | None:
    """What these learners have found in this stream before; None if the file does not tell.

    Their order counts: others are compared with the first.
    """
    if not file.exists():
        return None
    try:
        kept = Results.read(file)
    except FileFormatError:  # damaged: the round is done again
        return None
    then = kept.settings
    same = list(then["learners"].items()) == [(name, stable_repr(learner)) for name, learner in learners.items()]
    return kept if same and (then.get("stream"), then.get("rows")) == (stream.name, len(stream)) else None


def _remove_rounds(folder: Path) -> None:
    """Our own files, and the folder if nothing else is in it."""
    for file in folder.glob("*.json"):
        if ROUND.fullmatch(file.name):
            file.unlink()
    with suppress(OSError):
        folder.rmdir()


def documents(found: dict[str, Repeated]) -> dict[str, object]:
    """Everything measured, as plain values."""
    return {name: repeated.document() for name, repeated in found.items()}


def write(found: dict[str, Repeated], out: Path) -> None:
    """Both files, as far as the sets are done."""
    out.mkdir(parents=True, exist_ok=True)
    write_json(out / "comparison.json", documents(found))
    sections = [
        f"## {words(name)}\n\n{words(title(repeated))}\n\n{markdown_table(repeated)}"
        for name, repeated in found.items()
    ]
    write_atomically(out / "comparison.md", "\n".join(sections).encode())
