"""The answer page: a sample, a question about it, the last answers; and the forms on it.

With the header X-Fragment a form returns the new content of the page alone, so that the script of the page shows the
next question at once. Without it a form leads to the page, as browsers without scripts need.
"""

import asyncio
from functools import partial
from typing import Any, NamedTuple
from urllib.parse import urlencode

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from sqlalchemy import Connection

from evolabel.server.http.access import Entered, Sent, access_of, carry_out, read
from evolabel.server.http.questions import keep_draft
from evolabel.server.http.schemas import MOST_NUMBER
from evolabel.server.log.times import SECOND, now_us
from evolabel.server.pages.feature_rows import read_feature_rows
from evolabel.server.pages.render import render, render_page
from evolabel.server.pages.texts import counted, text
from evolabel.server.pages.visitors import Entrant, Visitor, checked_form
from evolabel.server.project import operations, reading
from evolabel.server.project.batch import RecordBatch
from evolabel.server.project.follower import check_can_write
from evolabel.server.project.operations import ConflictError
from evolabel.server.project.questions import read_draft
from evolabel.server.project.sample_rows import answers_before, responses_by
from evolabel.server.project.settings import Label
from evolabel.server.project.worker import Worker

router = APIRouter(prefix="/p/{slug}", include_in_schema=False)
_MOST_SKIPPED = 50
_LONGEST_WORK = 24 * 3600 * 1000  # milliseconds
ANSWER_VALUES = {"1": 1, "0": 0, "u": None}
"""What the buttons of a label say."""
_CODES = {value: code for code, value in ANSWER_VALUES.items()}
_NOTICES = ("sent", "refused", "late", "taken_back", "final", "skipped")


class ShownQuestion(NamedTuple):
    """What the page shows: one question or the next one, after those skipped; what was just done; what is missing."""

    number: int | None = None
    skipped: tuple[int, ...] = ()
    notice: str | None = None
    chosen: dict[str, str] | None = None
    missing: tuple[str, ...] = ()


@router.get("/answer")
async def get_answer(
    worker: Entered, visitor: Entrant, request: Request, *, number: int | None = None, skip: str = "", notice: str = ""
) -> Response:
    """Show a question, which is kept for the person."""
    check_can_write(worker)
    return await _show(
        request, worker, visitor, ShownQuestion(number, _numbers(skip), notice if notice in _NOTICES else None)
    )


@router.get("/answer/last")
async def get_last(worker: Entered, visitor: Entrant, request: Request) -> Response:
    """Show the last answers alone."""
    last = await _last_answers(request, worker, visitor, 2)
    return HTMLResponse(render("last_answers.html", last=last, project=worker.project, visitor=visitor, now=now_us()))


@router.post("/questions/{number}/answer")
async def post_answer(worker: Entered, visitor: Entrant, origin: Sent, number: int, request: Request) -> Response:
    """Send, skip, or refuse, by the button that was used."""
    form = await checked_form(request, visitor)
    act, skipped = str(form.get("act", "send")), _numbers(str(form.get("skipped", "")))
    if act == "skip":
        await read(worker, lambda batch: worker.leases.give_back(number, visitor.person.id))
        return await _go(
            request, worker, visitor, ShownQuestion(skipped=(*skipped, number)[-_MOST_SKIPPED:], notice="skipped")
        )
    if act == "refuse":
        reason = str(form.get("reason", ""))[:500] or None
        result = await carry_out(worker, lambda batch: operations.refuse(batch, number, reason, origin), origin)
        return await _go(
            request, worker, visitor, ShownQuestion(skipped=skipped, notice="late" if result["late"] else "refused")
        )
    labels, asked = await read(worker, lambda batch: (list(batch.state.labels), reading.asked_labels(batch, number)))
    chosen = {label.name: str(form.get(f"y{place}", "")) for place, label in enumerate(labels)}
    given: dict[str, Any] = {name: ANSWER_VALUES[code] for name, code in chosen.items() if code in ANSWER_VALUES}
    missing = tuple(name for name in asked if name not in given)
    if not given and not missing:  # the question was closed, and nothing was chosen
        return await _go(request, worker, visitor, ShownQuestion(skipped=skipped))
    if missing and ("as_is" not in form or not given):
        return await _show(
            request, worker, visitor, ShownQuestion(number, skipped, chosen=chosen, missing=missing), 422
        )
    given |= dict.fromkeys(missing)
    took = _took(str(form.get("shown", "")))
    result = await carry_out(
        worker, lambda batch: operations.give_answer(batch, number, given, origin, took_ms=took), origin
    )
    notice = "late" if result["late"] else "refused" if result["status"] == "refused" else "sent"
    return await _go(request, worker, visitor, ShownQuestion(skipped=skipped, notice=notice))


@router.post("/questions/{number}/undo")
async def post_undo(worker: Entered, visitor: Entrant, origin: Sent, number: int, request: Request) -> Response:
    """Take the answer back, and show its question with what was chosen."""
    await checked_form(request, visitor)
    try:
        await carry_out(worker, lambda batch: operations.withdraw(batch, number, origin), origin)
    except ConflictError:
        return await _go(request, worker, visitor, ShownQuestion(notice="final"))
    return await _go(request, worker, visitor, ShownQuestion(number, notice="taken_back"))


@router.post("/questions/{number}/lease")
async def post_lease(worker: Entered, visitor: Entrant, number: int, request: Request) -> Response:
    """Keep the question for the person for another while."""
    await checked_form(request, visitor)
    await read(worker, lambda batch: reading.renew_lease(batch, worker.leases, number, visitor.person.id))
    return Response(status_code=204)


@router.post("/questions/{number}/draft")
async def post_draft(worker: Entered, visitor: Entrant, number: int, request: Request) -> Response:
    """Keep what the person has chosen so far, so that it is there in another browser, or after a crash."""
    form = await checked_form(request, visitor)
    labels = await read(worker, lambda batch: batch.state.label_names)
    chosen = {name: str(form.get(f"y{place}", "")) for place, name in enumerate(labels)}
    answers = {name: ANSWER_VALUES[code] for name, code in chosen.items() if code in ANSWER_VALUES}
    await keep_draft(access_of(request), worker, number, visitor.person.id, answers)
    return Response(status_code=204)


# ---------------------------------------------------------------------- what is shown


async def _go(request: Request, worker: Worker, visitor: Visitor, look: ShownQuestion) -> Response:
    """Return the content for `look`, or lead a browser without the script to it."""
    if "x-fragment" in request.headers:
        return await _show(request, worker, visitor, look)
    query = {"number": look.number, "skip": ",".join(map(str, look.skipped)), "notice": look.notice}
    given = {name: value for name, value in query.items() if value}
    return RedirectResponse(f"/p/{worker.project.slug}/answer?{urlencode(given)}", 303)


async def _show(request: Request, worker: Worker, visitor: Visitor, look: ShownQuestion, status: int = 200) -> Response:
    """Return the page for `look`, or its content alone."""
    person = visitor.person.id

    def find(batch: RecordBatch) -> dict[str, Any]:
        question = None
        if look.number is not None:
            question = reading.open_question(batch, worker.leases, look.number, person)
        if question is None:
            question = reading.next_question(batch, worker.leases, person, set(look.skipped))
        return {
            "question": question,
            "waiting": reading.waiting_for(batch, person),
            "labels": list(batch.state.labels),
            "features": list(batch.state.features),
            "paused": batch.state.paused,
        }

    found = await read(worker, find)
    question = found["question"]
    facts: dict[str, Any] = {
        **found,
        "last": await _last_answers(request, worker, visitor, 2 if question else 10),
        "look": look,
        "now": now_us(),
        "announcement": _announcement(look, question, found["waiting"]),
    }
    if question is not None:
        chosen = look.chosen if look.chosen is not None else await _chosen_before(request, worker, visitor, question)
        rows = partial(read_feature_rows, project_id=worker.project.id, features=found["features"], shown=question)
        facts |= {
            "rows": (await access_of(request).read(rows))[0],
            "asked": _label_rows(found["labels"], question["question"], chosen, asked=True),
            "others": _label_rows(found["labels"], question["question"], chosen, asked=False),
        }
    else:
        facts["counters"] = _counters(found["labels"], facts["last"])
    if "x-fragment" in request.headers:
        content = render("answer_main.html", visitor=visitor, project=worker.project, **facts)
        return HTMLResponse(content, status)
    return render_page(request, "answer.html", visitor=visitor, worker=worker, status=status, **facts)


async def _chosen_before(
    request: Request, worker: Worker, visitor: Visitor, question: dict[str, Any]
) -> dict[str, str]:
    """Return what the visitor has chosen and not sent, or had chosen before it was taken back, by label."""
    key = worker.project.id, question["number"], visitor.person.id

    def find(connection: Connection) -> dict[str, int | None]:
        answers, at = answers_before(connection, *key)
        draft = read_draft(connection, *key)
        return draft[0] if draft is not None and draft[1] > at else answers

    return {name: _CODES[value] for name, value in (await access_of(request).read(find)).items()}


async def _last_answers(request: Request, worker: Worker, visitor: Visitor, most: int) -> list[dict[str, Any]]:
    """Return the last answers of `visitor`, at most `most`; predictions only where it may be seen."""
    project, person = worker.project.id, visitor.person.id
    own = await access_of(request).read(lambda c: responses_by(c, project, person, most, before=MOST_NUMBER))
    effects = await asyncio.to_thread(worker.effects.find, [response.number for response in own])
    order, held, seen = await read(
        worker,
        lambda batch: (
            batch.state.label_names,
            {r.number for r in own if reading.can_take_back(batch, r.number, person)},
            {r.number for r in own if reading.may_see(batch, r.number, person)},
        ),
    )
    now = now_us()
    shown = []
    for response in own:
        answers = {name: response.answers[name] for name in order if name in response.answers}
        model = {name: int(name in response.predicted) for name in answers}
        is_shown = response.number in seen and response.number not in held
        known = {name: y for name, y in answers.items() if y is not None}
        shown.append(
            {
                **response._asdict(),
                "answers": answers,
                "held": response.number in held,
                "left": max(0, ((response.final_at or now) - now) // SECOND),
                "model": model if is_shown and known else None,
                "differs": [name for name, y in known.items() if y != model[name]],
                "effect": effects.get(response.number),
            }
        )
    return shown


def _label_rows(
    labels: list[Label], question: dict[str, Any], chosen: dict[str, str], *, asked: bool
) -> list[dict[str, Any]]:
    """Return the rows of `labels` that the `question` asks about, or of the others, with what is `chosen`."""
    rows = []
    for place, label in enumerate(labels):
        is_asked = label.name in question["labels"]
        if is_asked == asked and (is_asked or not label.retired):
            reasons = question["reasons"].get(label.name, [])
            rows.append({"place": place, "label": label, "reasons": reasons, "chosen": chosen.get(label.name, "")})
    return rows


def _counters(labels: list[Label], last: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return for each of `labels` how often the `last` answers had it, agreed with the model, and what they changed."""
    rows = []
    for label in labels:
        given = [answer for answer in last if answer["answers"].get(label.name) is not None]
        judged = [answer for answer in given if answer["model"] is not None]
        agreed = sum(label.name not in answer["differs"] for answer in judged)
        effects = [answer["effect"]["labels"].get(label.name, {}) for answer in last if answer["effect"]]
        to_yes, to_no = (sum(effect.get(name, 0) for effect in effects) for name in ("to_yes", "to_no"))
        if given or to_yes or to_no:
            row = {"answered": len(given), "judged": len(judged), "agreed": agreed, "to_yes": to_yes, "to_no": to_no}
            rows.append({"label": label, **row})
    return rows


def _announcement(look: ShownQuestion, question: dict[str, Any] | None, waiting: int) -> str:
    """Return the text of the live region after `look` has led to `question`, while others are `waiting`."""
    parts = [text(f"answer.{look.notice}")] if look.notice else []
    if look.missing:
        return counted("answer.open", len(look.missing), label=look.missing[0])
    if question is None:
        return " ".join([*parts, text("answer.none")])
    n = len(question["question"]["labels"])
    sample = text("answer.sample", number=question["number"])
    return " ".join([*parts, f"{sample}.", counted("answer.labels", n), counted("answer.waiting", waiting)])


def _numbers(listed: str) -> tuple[int, ...]:
    """Return the numbers in `listed`, separated by commas; others are left out."""
    return tuple(
        int(part) for part in listed.split(",")[-_MOST_SKIPPED:] if part.isascii() and part.isdigit() and len(part) < 18
    )


def _took(shown: str) -> int | None:
    """Return the milliseconds since the time `shown`, or None if it is none."""
    if not (shown.isascii() and shown.isdigit()):
        return None
    took = (now_us() - int(shown[:20])) // 1000
    return took if 0 <= took <= _LONGEST_WORK else None
