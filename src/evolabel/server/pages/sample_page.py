"""The page of one sample: the prediction as it was logged, the model now in parts, what would turn it, answers."""

from typing import Annotated, Any, NamedTuple

from fastapi import APIRouter, Query, Request, Response
from sqlalchemy import Connection

from evolabel.server.http.access import Entered, access_of, read
from evolabel.server.http.samples import default_label, explain_now, sample_for, shown_responses
from evolabel.server.http.schemas import Number
from evolabel.server.log.times import now_us
from evolabel.server.pages.charts import value_text, waterfall
from evolabel.server.pages.disputes import NOTICES
from evolabel.server.pages.feature_rows import read_feature_rows
from evolabel.server.pages.render import project_page
from evolabel.server.pages.rules import parts_rows
from evolabel.server.pages.visitors import Entrant
from evolabel.server.project import reading
from evolabel.server.project.agreement import decisions_on
from evolabel.server.project.operations import ConflictError
from evolabel.server.project.sample_rows import closing_of
from evolabel.server.project.settings import Feature, Label
from evolabel.server.project.worker import Worker

router = APIRouter(prefix="/p/{slug}", include_in_schema=False)
_MOST_LABELS = 6  # beside each other


class TurnRow(NamedTuple):
    """A change that turns the label: feature, its value then and now as texts, and both places in per cent."""

    name: str
    after: str
    before: str
    at: float | None = None
    now: float | None = None


@router.get("/samples/{number}")
async def get_sample_page(
    worker: Entered,
    visitor: Entrant,
    number: Number,
    request: Request,
    label: Annotated[str | None, Query(max_length=200)] = None,
    *,
    form: str = "",
    notice: str = "",
) -> Response:
    """Show a sample; before the own answer is final, only its values."""
    access, identity = access_of(request), visitor.identity(worker.project.id)
    shown = await sample_for(worker, identity, str(number))
    facts = await read(
        worker,
        lambda batch: {
            "labels": list(batch.state.labels),
            "features": list(batch.state.features),
            "places": {name: place for place, name in enumerate(batch.state.label_names)},
            "seen": batch.state.seen,
            "held": reading.can_take_back(batch, number, visitor.person.id),
        },
    )

    def values(connection: Connection) -> dict[str, Any]:
        rows, recent = read_feature_rows(connection, worker.project.id, facts["features"], shown)
        cause, closed_at = closing_of(connection, worker.project.id, number)
        return {
            "rows": rows,
            "recent": recent,
            "cause": cause,
            "closed_at": closed_at,
            "decisions": decisions_on(connection, worker.project.id, number),
        }

    facts |= await access.read(values)
    given = facts["responses"] = await shown_responses(access, worker, identity, shown)
    asked, held = shown["question"] is not None and not shown["hidden"], facts.pop("held")
    facts["own_final"] = next((one for one in given if one["own"] and asked and not held), None)
    facts["may_decide"] = asked and bool(given) and visitor.role_in(worker.project.id) in ("expert", "operator")
    facts["answered_names"] = {name for one in given for name in one["answers"]}
    facts |= {"opened": form, "notice": notice if notice in NOTICES else ""}
    if not shown["hidden"]:
        facts |= await _model_now(worker, shown, facts, label)
    state = "open" if shown["question"] and facts["cause"] is None else facts["cause"] or shown.get("held") or "none"
    return await project_page(
        request, "sample.html", visitor=visitor, worker=worker, shown=shown, state=state, now=now_us(), **facts
    )


async def _model_now(worker: Worker, shown: dict[str, Any], facts: dict[str, Any], label: str | None) -> dict[str, Any]:
    """Return the label that is explained, the labels beside it, the chart and the changes; no chart without rules."""
    labels: list[Label] = facts["labels"]
    chosen = label if label in [known.name for known in labels] else default_label(shown)
    found: dict[str, Any] = {
        "chosen": next(known for known in labels if known.name == chosen),
        "fall": None,
        "turns": [],
    }
    found["verdicts"] = _verdicts(labels, shown, chosen)
    try:
        now = await explain_now(worker, shown, chosen)
    except ConflictError as error:
        return {**found, "problem": error.type}
    turns = [_turn_row(facts["features"], facts["recent"], turn) for turn in now["turns"]]
    answered = parts_rows({chosen: now["answered_by"]})[0].shares
    return {
        **found,
        "explained": now,
        "fall": waterfall(now, facts["features"]),
        "turns": turns,
        "answered": answered,
    }


def _verdicts(labels: list[Label], shown: dict[str, Any], chosen: str) -> list[dict[str, Any]]:
    """Return what was predicted for the labels that are shown beside each other: `chosen`, asked and likely ones."""
    question, prediction = shown["question"], shown["prediction"]
    asked = question["labels"] if question else []
    known = [label for label in labels if label.name in prediction]
    order = sorted(known, key=lambda label: (label.name not in (chosen, *asked), -prediction[label.name]))
    kept = {label.name for label in order[:_MOST_LABELS]}
    return [
        {"label": label, "share": prediction[label.name], "on": label.name in shown["labels"]}
        for label in known
        if label.name in kept
    ]


def _turn_row(features: list[Feature], recent: list[list[Any]], turn: dict[str, Any]) -> TurnRow:
    """Return the row of a change; numbers have places on the range of the `recent` samples."""
    place = next(i for i, feature in enumerate(features) if feature.name == turn["feature"])
    feature, before, after = features[place], turn["before"], turn["after"]
    name = feature.title or feature.name
    texts = value_text(after, feature.unit), value_text(before, feature.unit)
    if isinstance(after, str) or before is None:
        return TurnRow(name, *texts)
    seen = [row[place] for row in recent if row[place] is not None]
    low, high = min([before, after, *seen]), max([before, after, *seen])
    span = (high - low) or 1.0
    places = (round(2.0 + 96.0 * ((value - low) / span), 1) for value in (after, before))
    return TurnRow(name, *texts, *places)
