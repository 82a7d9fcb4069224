"""Rules of a person in files of older versions, where they were learned rules that had a text."""

from evolabel._utils.notes import note
from evolabel.errors import DataError
from evolabel.stages.rules.stream_terms import stream_terms
from evolabel.stages.written_rules.edits.journal import EditedModel
from evolabel.stages.written_rules.edits.rule_edits import add_rule, lock_rule, slot_of_rule
from evolabel.stages.written_rules.expert_reader import read_form
from evolabel.stages.written_rules.specification import RuleSpec, resolve, spec_of


def write_old_regions(model: EditedModel, features: list[str], labels: list[str]) -> None:
    """Add a written rule to `model` for each learned rule that has a text; columns are called `features` and `labels`.

    The written rule takes over text and name, and is locked if the learned rule is; that stays as it was learned. A
    text that cannot be read any more is dropped, with a note.
    """
    base, names = model.trained(), model.trained().rule_names
    learned = base.arrays.identity[1 : base.n_rules + 1].tolist()
    regions = sorted(number for number in learned if number in names.texts)
    for number in regions:
        text = names.texts.pop(number)
        try:
            spec = _read(text, model, features, labels)
        except DataError as error:
            note(f"the text of rule {number} cannot be read any more ({error}); it stays as a rule that was learned")
            continue
        new = add_rule(model, spec, text, names.names.get(number, ""), in_front_of=number)
        if base.arrays.locked[slot_of_rule(base, number)]:
            lock_rule(model, new)
    if regions:
        model.journal.clear()  # the edits of the older version were about other rules


def _read(text: str, model: EditedModel, features: list[str], labels: list[str]) -> RuleSpec:
    """Return the rule with this `text` in numbers; DataError if it names a column that is gone or reads otherwise."""
    rule = resolve(read_form(text), stream_terms(model, features))
    if moved := sorted(rule.names & {*model.sensors.corrections(features)}):
        raise DataError(f"sensor {moved[0]} was corrected since it was written")
    return spec_of(rule, model, features, labels)
