"""`evolabel bench`: every learner on the paper's data sets, several shuffles, one table."""

from dataclasses import dataclass
from json import dumps
from pathlib import Path

from rich.console import Console

from evolabel.baselines import make_learner
from evolabel.cli.progress import LiveBars
from evolabel.cli.run import learner_names, print_json, seed_range
from evolabel.cli.source import Source, open_source, split_names
from evolabel.cli.tables import markdown_table, terminal_table, title
from evolabel.evaluate import Repeated, Results, prequential, repeat
from evolabel.whole_files import write_atomically

SETS = "emotions,yeast,water-quality,birds,mediamill-5k"
RIVALS = "ovr,chain,static,paper,rfwls,rls,knn,prior,river-br-lr,river-cc-lr,forest"
METRICS = ("pa", "ap", "macro_f1", "subset_accuracy")
STEP = 500  # rows between two updates of the bars


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
        Rivals, as in `evolabel run`.
    learner
        Who the rivals are compared with.
    seeds
        Shuffles 0 .. SEEDS-1.
    out
        Folder for comparison.json and comparison.md; written anew after every set.
    json
        Print the outcome as JSON instead of tables.
    quiet
        No progress bars.
    """
    names = learner_names(learner, against)
    found: dict[str, Repeated] = {}
    with LiveBars(names, quiet=quiet or json) as bars:
        for name in split_names(sets):
            source = open_source(name, (), "benchmark", None, None)
            found[name] = repeat(_Round(source, names, bars), seed_range(seeds))
            write(found, out)
            if not json:
                Console().print(terminal_table(found[name]))
    if json:
        print_json(documents(found))


@dataclass(frozen=True)
class _Round:
    """All learners over one shuffle of one set."""

    source: Source
    names: list[str]
    bars: LiveBars

    def __call__(self, seed: int) -> Results:
        self.bars.begin(f"{self.source.name} {seed}")
        learners = {name: make_learner(name, seed) for name in self.names}
        stream, initial = self.source.stream(seed), self.source.initial
        return prequential(
            learners, stream, initial=initial, metrics=METRICS, every=STEP, seed=seed, progress=self.bars.step
        )


def documents(found: dict[str, Repeated]) -> dict[str, object]:
    """Everything measured, as plain values."""
    return {name: repeated.document() for name, repeated in found.items()}


def write(found: dict[str, Repeated], out: Path) -> None:
    """Both files, as far as the sets are done."""
    out.mkdir(parents=True, exist_ok=True)
    write_atomically(out / "comparison.json", (dumps(documents(found), indent=1) + "\n").encode())
    sections = [f"## {name}\n\n{title(repeated)}\n\n{markdown_table(repeated)}" for name, repeated in found.items()]
    write_atomically(out / "comparison.md", "\n".join(sections).encode())
