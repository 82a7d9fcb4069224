"""The page of rules: search, lives, edits and undo; and the form of a rule with its preview."""

import asyncio
from collections.abc import Mapping
from typing import Annotated, Any, NamedTuple

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import RedirectResponse
from starlette.datastructures import FormData

from evolabel._utils.text import first_names
from evolabel.core.events import EDITS, MERGES, SHIFTS, Event
from evolabel.errors import EvolabelError
from evolabel.explain.answer_parts import CLAIMED_FROM, some_names
from evolabel.server.http.access import Actor, Entered, Sent, access_of, read
from evolabel.server.http.problems import ProblemError
from evolabel.server.http.rules import act_on_rule, begin_undo, from_copy, try_rule_act
from evolabel.server.http.schemas import MOST_NUMBER, RuleNumber
from evolabel.server.log.times import DAY, now_us
from evolabel.server.pages.render import project_page
from evolabel.server.pages.texts import text
from evolabel.server.pages.visitors import Entrant, Visitor, checked_form
from evolabel.server.project.rule_edits import MovedError, acts_since, last_act_of
from evolabel.server.project.rule_list import label_parts, rule_list, show_rule
from evolabel.server.project.state import Facts, ProjectState
from evolabel.server.project.worker import Worker

_SHOWN_LABELS = 3
KINDS = ("written", "threshold", "learned")
"""Kinds of rules, in the order of the page."""


class LifeLine(NamedTuple):
    """The line of a rule's life: places in per cent of the stream, and the width of the line."""

    birth: float
    marks: list[float]
    locked: list[tuple[float, float]]
    width: float


class PartsRow(NamedTuple):
    """Labels that the same parts of the model answer, as text, and the shares in per cent, the largest first.

    There are no shares while there is no model.
    """

    labels: str
    shares: list[tuple[str, int]]


class RulePage(NamedTuple):
    """The rules that are shown, with their lives, how many there are of each kind, and what answers each label.

    `unclaimed` is the reason why a learned rule states no label: `parts`, `model` or `both`.
    """

    rules: list[dict[str, Any]]
    counts: dict[str, int]
    seen: int
    parts: list[PartsRow]
    unclaimed: str


def parts_rows(parts: Mapping[str, Mapping[str, float]]) -> list[PartsRow]:
    """Return the shares of the `parts` in the answers of each label; those of rules are always there if any are."""
    groups: dict[tuple[tuple[str, int], ...], list[str]] = {}
    for label, shares in parts.items():
        shown = {part: round(100.0 * share) for part, share in shares.items()}
        kept = [(part, share) for part, share in shown.items() if any(shown.values()) and (share or part == "rules")]
        groups.setdefault(tuple(sorted(kept, key=lambda pair: -pair[1])), []).append(label)
    return [PartsRow(some_names(labels), list(shares)) for shares, labels in groups.items()]


def rule_page(state: ProjectState, search: str, kind: str, show: int | None = None) -> RulePage:
    """Return the rules of `state` that have the text `search` somewhere and are of this `kind`.

    Without a kind these are the written and the threshold rules, and the rule with the number `show`; a search finds
    learned regions, too.
    """
    rules = rule_list(state)
    events = state.learner.classifier.events_
    learned = [event.sample for event in events if event.kind not in SHIFTS]  # a shift has its row of the stream
    seen = max([rule.get("last_won", 0) for rule in rules] + learned, default=0)
    counts = {name: sum(rule["kind"] == name for rule in rules) for name in KINDS}
    chosen = [
        rule
        for rule in rules
        if _has_text(rule, search)
        and (kind == rule["kind"] or (not kind and (search or rule["kind"] != "learned" or rule["rule"] == show)))
    ]
    for rule in chosen:
        own = [event for event in events if rule["rule"] in (event.rule, event.other)]
        rule["life"] = life_line(own, rule.get("born"), seen, rule.get("activity", 0.2))
        rule["claims"] = sorted(rule["labels"], key=lambda label: -abs((label["share"] or 0.0) - 0.5))[:_SHOWN_LABELS]
    parts = label_parts(state)
    return RulePage(chosen, counts, seen, parts_rows(parts), why_unclaimed(parts))


def why_unclaimed(parts: Mapping[str, Mapping[str, float]]) -> str:
    """Return why a learned rule can state no label, by the shares of the `parts` in the answers of each label.

    `parts`: others answer; `model`: the whole model predicts otherwise in the rule; `both`: it depends on the label.
    """
    by_rules = [shares["rules"] > CLAIMED_FROM for shares in parts.values()]
    return "model" if all(by_rules) else "both" if any(by_rules) else "parts"


def life_line(events: list[Event], born: int | None, seen: int, activity: float) -> LifeLine:
    """Return the line of a rule with these `events`, `born` at a sample, in a stream of `seen` samples.

    `activity` is the share of the samples in which the rule was active.
    """

    def place(sample: int) -> float:
        return round(100.0 * min(sample, seen) / max(seen, 1), 2)

    begin = born if born is not None else events[0].sample if events else 0
    locks, locked_at = [], None
    for event in events:
        if event.kind == "locked":
            locked_at = event.sample
        elif event.kind == "unlocked" and locked_at is not None:
            locks.append((place(locked_at), place(event.sample)))
            locked_at = None
    if locked_at is not None:
        locks.append((place(locked_at), 100.0))
    marked = [e.sample for e in events if e.kind in (*MERGES, *EDITS) and e.kind not in ("added", "locked", "unlocked")]
    return LifeLine(place(begin), [place(sample) for sample in marked], locks, round(3.0 + 5.0 * min(activity, 1.0), 1))


def _has_text(rule: Facts, search: str) -> bool:
    sought = search.strip().lower()
    return not sought or sought in f"{rule['rule']} {rule['name']} {rule['text']}".lower()


router = APIRouter(prefix="/p/{slug}", include_in_schema=False)
_LISTED = 30 * DAY
_ACTS = {
    "lock": "rule.locked",
    "unlock": "rule.unlocked",
    "rename": "rule.renamed",
    "delete": "rule.deleted",
    "merge": "rule.merged",
}
_LONGEST_FORM = 20_000  # characters


@router.get("/rules")
async def get_rules_page(
    worker: Entered,
    visitor: Entrant,
    request: Request,
    *,
    q: Annotated[str, Query(max_length=200)] = "",
    kind: Annotated[str, Query(max_length=20)] = "",
    show: Annotated[int | None, Query(ge=0, le=MOST_NUMBER)] = None,
    act: Annotated[int | None, Query(ge=0, le=MOST_NUMBER)] = None,
    runs: bool = False,
) -> Response:
    """Show the rules that have the text `q` and are of this `kind` (`rule_page`); `show` is the one that is open.

    `act` is the number of what the person has just done, which the page shows. `runs`: an undo was begun, which the
    page shows until it has ended.
    """
    kind = kind if kind in KINDS else ""
    page = await from_copy(worker, lambda copy: rule_page(copy.state, q, kind, show))
    acts = await asyncio.to_thread(acts_since, worker, now_us() - _LISTED)
    facts: Facts = {"q": q, "kind": kind, "show": show, "page": page, "acts": acts}
    facts["runs"] = runs and worker.project.slug in access_of(request).service.changing
    facts["done"] = next((known for known in acts if known["seq"] == act), None)
    return await project_page(request, "rules.html", visitor=visitor, worker=worker, **facts)


@router.get("/rules/edit")
async def get_rule_form(
    worker: Entered, visitor: Entrant, request: Request, rule: Annotated[int | None, Query(ge=0, le=MOST_NUMBER)] = None
) -> Response:
    """Show the form of a `rule`, or of a new one."""
    form, facts = "", dict[str, Any]()
    if rule is not None:
        facts = await from_copy(worker, lambda copy: show_rule(copy.state, rule))
        form = facts["form"] or ""
    last = await read(worker, last_act_of)
    return await _form_page(request, worker, visitor, rule=rule, form=form, last=last, kind=facts.get("kind"))


@router.post("/rules/edit")
async def post_rule_form(worker: Entered, visitor: Entrant, origin: Sent, request: Request) -> Response:
    """Preview or save a rule; what is wrong with it is shown beside its text."""
    form = await checked_form(request, visitor)
    rule, last = _number(form, "rule"), _number(form, "last") or 0
    written = " ".join(str(form.get("form", ""))[:_LONGEST_FORM].split())
    shown: Facts = {"rule": rule, "form": written, "last": last, "kind": str(form.get("kind", "")) or None}
    kind = "rule.added" if rule is None else "rule.edited"
    payload: Facts = {"form": written} if rule is None else {"rule": rule, "form": written}
    try:
        if form.get("act") != "save":
            preview = await try_rule_act(worker, kind, payload)
            return await _form_page(request, worker, visitor, preview=preview, **shown)
        done = await act_on_rule(worker, kind, payload, origin, last)
    except MovedError:
        shown["last"] = await read(worker, last_act_of)
        return await _form_page(request, worker, visitor, error=text("rule_edit.moved"), **shown)
    except EvolabelError as error:
        return await _form_page(request, worker, visitor, error=str(error), **shown)
    return _to_rule(worker, done["rule"], done["seq"])


@router.post("/rules/{number}/{act}")
async def post_rule_act(
    worker: Entered, visitor: Entrant, origin: Sent, number: RuleNumber, act: str, *, request: Request
) -> Response:
    """Lock, unlock, rename or delete a rule, or merge it with another one."""
    form = await checked_form(request, visitor)
    if act not in _ACTS:
        raise ProblemError(404, "not-found", f"{act[:50]!r} is no act on a rule; use {first_names(list(_ACTS))}")
    payload: Facts = {"rule": number}
    if act == "rename":
        payload["name"] = str(form.get("name", ""))[:200].strip()
    if act == "merge":
        payload = {"one": number, "other": _number(form, "other")}
        if payload["other"] is None:
            raise ProblemError(422, "invalid", "the number of the other rule is missing; write it beside Merge")
    done = await act_on_rule(worker, _ACTS[act], payload, origin)
    return _to_rule(worker, done["rule"], done["seq"])


@router.post("/acts/{number}/undo")
async def post_undo_form(
    worker: Entered, visitor: Entrant, sender: Actor, number: RuleNumber, request: Request
) -> Response:
    """Undo the edit of record `number`."""
    await checked_form(request, visitor)
    done = await begin_undo(access_of(request), worker, sender, number)
    query = "runs=1" if "records" in done else f"act={done['seq']}"
    return RedirectResponse(f"/p/{worker.project.slug}/rules?{query}#live", 303)


async def _form_page(
    request: Request, worker: Worker, visitor: Visitor, *, preview: Facts | None = None, error: str = "", **shown: Any
) -> Response:
    """Return the form of a rule as `shown`, with a `preview` or what is wrong (`error`)."""

    def example(batch: Any) -> Facts:
        return {"feature": batch.state.features[0].name, "label": batch.state.asked_names[0]}

    facts = {"preview": preview, "error": error, "example": await read(worker, example), **shown}
    return await project_page(
        request, "rule_edit.html", visitor=visitor, worker=worker, status=422 if error else 200, **facts
    )  # fmt: skip


def _to_rule(worker: Worker, rule: int, act: int) -> Response:
    """Return the way to `rule` on its page, which shows what `act` did."""
    return RedirectResponse(f"/p/{worker.project.slug}/rules?show={rule}&act={act}#rule-{rule}", 303)


def _number(form: FormData, name: str) -> int | None:
    """Return the number in the field `name` of `form`, None without one."""
    value = str(form.get(name, ""))
    return int(value) if value.isascii() and value.isdigit() and len(value) <= 16 else None
