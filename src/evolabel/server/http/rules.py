"""Routes of experts: rules, acts on them with trials, and undo."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, TypeVar

from fastapi import APIRouter, Depends, Header, Query, Response

from evolabel.server.http.access import Access, Actor, AppAccess, Entered, KeyedSent, carry_out, read
from evolabel.server.http.problems import ProblemError
from evolabel.server.http.schemas import EmptyIn, MergeIn, RuleIn, RuleNameIn, RuleNumber
from evolabel.server.log.times import readable_times
from evolabel.server.people.audit import Sender
from evolabel.server.project import rule_edits
from evolabel.server.project.batch import Origin
from evolabel.server.project.copies import StateCopy
from evolabel.server.project.rule_edits import undo_act, undo_cost
from evolabel.server.project.rule_list import label_parts, life_of, rule_list, show_rule
from evolabel.server.project.state import Facts
from evolabel.server.project.trials import COMPARED, dry_run, recent_samples
from evolabel.server.project.worker import Worker

router = APIRouter(prefix="/api/v1/projects/{slug}", tags=["rules"])
DryRun = Annotated[bool, Query(description="only return what would change")]
T = TypeVar("T")


@router.get("/rules")
async def get_rules(
    worker: Entered, response: Response, top: Annotated[int | None, Query(ge=1, le=10_000)] = None
) -> Facts:
    """Return the rules: written ones, threshold rules, then learned ones, of which the `top` best supported.

    `parts` has, for each label, the shares of rules, linear part, threshold rules and written rules in its answers.
    """
    await _tag(worker, response)
    return await from_copy(worker, lambda copy: {"parts": label_parts(copy.state), "rules": rule_list(copy.state, top)})


@router.get("/rules/{rule}")
async def get_rule(worker: Entered, rule: RuleNumber, response: Response) -> Facts:
    """Return one rule with its form, which an edit takes; the ETag is for If-Match of the edit."""
    await _tag(worker, response)
    return await from_copy(worker, lambda copy: show_rule(copy.state, rule))


@router.get("/rules/{rule}/life")
async def get_life(worker: Entered, rule: RuleNumber) -> Facts:
    """Return what happened to a rule, oldest first, also to one that is gone."""
    return {"events": await from_copy(worker, lambda copy: life_of(copy.state, rule))}


@dataclass
class RuleActs:
    """Acts on the rules of `worker` by `origin`; with `dry_run` they are only tried."""

    worker: Entered
    origin: KeyedSent
    dry_run: DryRun = False

    async def act(self, kind: str, payload: Facts, last: int | None = None) -> Facts:
        """Return what an act of this `kind` and `payload` did, or would change; `last` as in `act_on_rule`."""
        if self.dry_run:
            return await try_rule_act(self.worker, kind, payload)
        return readable_times(await act_on_rule(self.worker, kind, payload, self.origin, last))


Acts = Annotated[RuleActs, Depends()]
"""Parameter of a route: carries out its act, or tries it."""


@router.post("/rules", status_code=201, responses={200: {"description": "What would change"}})
async def post_rule(body: RuleIn, acts: Acts, response: Response) -> Facts:
    """Add a rule from its form, text or JSON."""
    response.status_code = 200 if acts.dry_run else 201
    return await acts.act("rule.added", {"form": body.form})


@router.put("/rules/{rule}")
async def put_rule(
    rule: RuleNumber, body: RuleIn, acts: Acts, if_match: Annotated[str | None, Header(max_length=40)] = None
) -> Facts:
    """Rewrite a rule from a form. If-Match is the ETag of the rules as they were read; 412 if they were changed."""
    last = None if acts.dry_run else _last_act(if_match)
    return await acts.act("rule.edited", {"rule": rule, "form": body.form}, last)


@router.post("/rules/merge")
async def post_merge(body: MergeIn, acts: Acts) -> Facts:
    """Merge two learned rules."""
    return await acts.act("rule.merged", {"one": body.one, "other": body.other})


@router.post("/rules/{rule}/lock")
async def post_lock(rule: RuleNumber, body: EmptyIn, acts: Acts) -> Facts:
    """Lock a rule: learning does not change it any more."""
    return await acts.act("rule.locked", {"rule": rule})


@router.post("/rules/{rule}/unlock")
async def post_unlock(rule: RuleNumber, body: EmptyIn, acts: Acts) -> Facts:
    """Unlock a rule: it learns again."""
    return await acts.act("rule.unlocked", {"rule": rule})


@router.post("/rules/{rule}/rename")
async def post_rename(rule: RuleNumber, body: RuleNameIn, acts: Acts) -> Facts:
    """Give a rule a name; an empty one removes it."""
    return await acts.act("rule.renamed", {"rule": rule, "name": body.name})


@router.post("/rules/{rule}/delete")
async def post_delete(rule: RuleNumber, body: EmptyIn, acts: Acts) -> Facts:
    """Remove a rule."""
    return await acts.act("rule.deleted", {"rule": rule})


@router.post("/acts/{seq}/undo")
async def post_undo_act(
    worker: Entered,
    sender: Actor,
    seq: RuleNumber,
    body: EmptyIn,
    *,
    access: AppAccess,
    response: Response,
    dry_run: DryRun = False,
) -> Facts:
    """Undo an act, also after learning: by its inverse, or by a replay without it, beside the live model.

    A replay answers 202 with what it takes; the event `act` of the stream follows when it is done.
    """
    if dry_run:
        return await asyncio.to_thread(undo_cost, worker, seq)
    done = await begin_undo(access, worker, sender, seq)
    response.status_code = 202 if "records" in done else 200
    return readable_times(done)


async def begin_undo(access: Access, worker: Worker, sender: Sender, seq: int) -> Facts:
    """Undo act `seq` of `worker` for `sender`, and return the record of that.

    If it needs a replay, that is begun in a thread of the service of `access`; records and seconds are returned.
    """
    cost, origin = await asyncio.to_thread(undo_cost, worker, seq), Origin(sender.person_id)
    if cost["way"] == "inverse":
        return await asyncio.to_thread(undo_act, worker, seq, origin)
    access.service.begin_change(worker, "undo", lambda: undo_act(worker, seq, origin), sender, act=seq)
    return cost


async def from_copy(worker: Worker, function: Callable[[StateCopy], T]) -> T:
    """Return the result of `function` of a copy of the state of `worker`."""
    return await asyncio.wrap_future(worker.view.read(function))


async def try_rule_act(worker: Worker, kind: str, payload: Facts) -> Facts:
    """Return what an act of this `kind` and `payload` would change in the model of `worker`."""

    def trial(copy: StateCopy) -> Facts:
        with worker.reading() as connection:
            samples = recent_samples(connection, worker.project.id, COMPARED)
        return dry_run(copy, kind, payload, samples)

    return await from_copy(worker, trial)


async def act_on_rule(worker: Worker, kind: str, payload: Facts, origin: Origin, last: int | None = None) -> Facts:
    """Carry out an act of this `kind` and `payload` by `origin`, with a snapshot before it; return it.

    `last` is the act after which the rules were read.
    """
    await carry_out(worker, lambda batch: rule_edits.prepare_act(batch, kind, payload, origin))
    done = await carry_out(worker, lambda batch: rule_edits.act(batch, kind, payload, origin, last), origin)
    return dict(done)


async def _tag(worker: Worker, response: Response) -> None:
    """Give `response` the number of the last act as its ETag; before the rules are read, so that none is missed."""
    response.headers["ETag"] = f'"{await read(worker, rule_edits.last_act_of)}"'


def _last_act(if_match: str | None) -> int:
    """Return the number in the header `if_match`."""
    number = (if_match or "").strip().strip('"')
    if not number.isascii() or not number.isdigit() or len(number) > 18:
        needed = "send the header If-Match with the ETag of the rules that you have read"
        raise ProblemError(428, "if-match-needed", needed)
    return int(number)
