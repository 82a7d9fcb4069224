"""`evolabel edit`: changes a person makes to the rules of a saved model."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from evolabel.cli.model import ModelFile, OwnStages, load_model
from evolabel.cli.output import Force, check_overwriting, print_message
from evolabel.errors import ParameterError

_Rules = Annotated[tuple[str, ...], Parameter(negative="", show_default=False)]
_Pairs = Annotated[tuple[tuple[str, str], ...], Parameter(negative="", show_default=False)]


def edit(
    model: ModelFile,
    *,
    undo: Annotated[bool, Parameter(negative="")] = False,
    unlock: _Rules = (),
    rename: _Pairs = (),
    change: _Pairs = (),
    merge: _Pairs = (),
    move: Annotated[tuple[tuple[str, int], ...], Parameter(negative="", show_default=False)] = (),
    delete: _Rules = (),
    add: _Rules = (),
    lock: _Rules = (),
    out: Path | None = None,
    stages: OwnStages = "",
    force: Force = False,
) -> None:
    """Add, change, move, rename, lock, merge or delete rules of a saved model.

    Options may be given several times. The changes are made in the order of the options below, all of them or none, and
    printed one per line. Rules are given by number or by name.

    For example:

    `evolabel edit plant.model --add 'IF heat IS high THEN fault_a LIKELY CALLED "hot idle"' --lock "hot idle"`

    `evolabel edit plant.model --undo`

    Parameters
    ----------
    undo
        Undo the last change, if nothing was learned since.
    unlock
        Let this rule learn again.
    rename
        Rule and its new name; an empty name removes the name.
    change
        Rule and its new text.
    merge
        Two rules to merge into one; written rules are never merged.
    move
        Written rule and its new place in the list, counted from 1: the first rule that holds answers.
    delete
        Rule to remove.
    add
        New rule, as text or JSON: `IF heat IS high AND flow BETWEEN 2 AND 5 THEN fault LIKELY WITH CONFIDENCE 0.8`.
    lock
        Keep this rule as it is: it does not learn any more.
    out
        File to write; without it the model file itself is replaced.
    """
    check_overwriting([out], force=force)
    if not (undo or unlock or rename or change or merge or move or delete or add or lock):
        raise ParameterError("nothing to do; give at least one change, such as --add or --lock")
    classifier = load_model(model, stages)
    book = classifier.rulebook
    undone = book.undo() if undo else None
    before = len(book.edits)
    for rule in unlock:
        book.unlock(_rule_key(rule))
    for rule, name in rename:
        book.rename(_rule_key(rule), name)
    for rule, form in change:
        book.edit(_rule_key(rule), form)
    for rule, other in merge:
        book.merge(_rule_key(rule), _rule_key(other))
    for rule, place in move:
        book.move(_rule_key(rule), place)
    for rule in delete:
        book.delete(_rule_key(rule))
    for form in add:
        book.add(form)
    for rule in lock:
        book.lock(_rule_key(rule))
    classifier.save(out or model)
    if undone is not None:
        print_message(f"undone: {undone}")
    for event in book.edits[before:]:
        print_message(str(event))


def _rule_key(rule: str) -> int | str:
    """Return the number of a rule as int, or its name."""
    return int(rule) if rule.isdecimal() else rule
