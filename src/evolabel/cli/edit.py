"""`evolabel edit`: a person's acts on the rules of a saved model."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from evolabel import EvolvingFuzzyClassifier
from evolabel.cli.ready import tell
from evolabel.errors import ParameterError

Rules = Annotated[tuple[str, ...], Parameter(negative="")]
Pairs = Annotated[tuple[tuple[str, str], ...], Parameter(negative="")]


def edit(
    model: Path,
    *,
    undo: Annotated[bool, Parameter(negative="")] = False,
    unlock: Rules = (),
    rename: Pairs = (),
    change: Pairs = (),
    merge: Pairs = (),
    delete: Rules = (),
    add: Rules = (),
    lock: Rules = (),
    out: Path | None = None,
) -> None:
    """Add, change, rename, lock, merge or delete rules of a saved model.

    Options may be given several times; acts happen in the order in which they are listed here, all of them or none.
    What was done is told line by line. A rule is called by its number or its name.

    Examples:
    `evolabel edit plant.model --add 'IF heat IS high THEN fault_a LIKELY CALLED "hot idle"' --lock "hot idle"`

    `evolabel edit plant.model --undo`

    Parameters
    ----------
    model
        File written by `save`.
    undo
        Take back the last act, as long as nothing was learned since.
    unlock
        Rule that shall learn again.
    rename
        Rule and its new name; an empty name takes it away.
    change
        Rule and the text it shall become.
    merge
        Two rules to unite.
    delete
        Rule to remove.
    add
        New rule, as text or JSON: `IF heat IS high AND flow BETWEEN 2 AND 5 THEN fault LIKELY WITH CONFIDENCE 0.8`.
    lock
        Rule that learning shall leave alone.
    out
        File to write; without it the model file itself is replaced.
    """
    if not (undo or unlock or rename or change or merge or delete or add or lock):
        raise ParameterError("nothing to do; give at least one act, such as --add or --lock")
    classifier = EvolvingFuzzyClassifier.load(model)
    book = classifier.rulebook
    undone = book.undo() if undo else None
    before = len(book.acts)
    for rule in unlock:
        book.unlock(_called(rule))
    for rule, name in rename:
        book.rename(_called(rule), name)
    for rule, form in change:
        book.edit(_called(rule), form)
    for rule, other in merge:
        book.merge(_called(rule), _called(other))
    for rule in delete:
        book.delete(_called(rule))
    for form in add:
        book.add(form)
    for rule in lock:
        book.lock(_called(rule))
    classifier.save(out or model)
    if undone is not None:
        tell(f"undone: {undone}")
    for act in book.acts[before:]:
        tell(str(act))


def _called(rule: str) -> int | str:
    """A rule's number, or its name."""
    return int(rule) if rule.isdecimal() else rule
