"""Calls about the rules of importance: which messages come first in the caller's lists."""

from __future__ import annotations

from ninja import Router, Schema, Status

from filters.api.authentication import PersonalToken
from filters.api.given import checked, form_data, own
from filters.inbox.appraisers import changes
from filters.inbox.appraisers.forms import RuleForm, WeightForm
from filters.inbox.models import AppraiserRule
from filters.people.models import User
from filters.people.requests import PersonRequest
from filters.site.work.crypto import opaque_keys
from filters.site.work.queues.queue import APPRAISE, run_soon

router = Router(tags=["importance"])
READ, ACT = PersonalToken("read"), PersonalToken("acts")


class WeightIn(Schema):
    """The points of a rule, for a message or against it."""

    weight: int


class RuleIn(WeightIn):
    """A new rule: its points, and for which messages, in words."""

    text: str


class RuleOut(Schema):
    """A rule of importance."""

    key: str
    weight: int
    text: str


@router.get("/importance", auth=READ, response=list[RuleOut])
def list_rules(request: PersonRequest) -> list[RuleOut]:
    """List the caller's rules, in their order."""
    return _rules(request.user)


@router.post("/importance", auth=ACT, response={201: list[RuleOut]})
def add_rule(request: PersonRequest, given: RuleIn) -> Status[list[RuleOut]]:
    """Add a rule behind the others; return all."""
    form = checked(RuleForm(form_data(given.dict()), owner=request.user))
    if not form.store():
        checked(form)
    run_soon(APPRAISE)
    return Status(201, _rules(request.user))


@router.patch("/importance/{key}", auth=ACT, response=list[RuleOut])
def weigh_rule(request: PersonRequest, key: str, given: WeightIn) -> list[RuleOut]:
    """Give a rule other points; return all rules."""
    rule = own(AppraiserRule, request.user, key)
    changes.weigh(rule, checked(WeightForm(form_data(given.dict()))).cleaned_data["weight"])
    return _rules(request.user)


@router.post("/importance/{key}/up", auth=ACT, response=list[RuleOut])
def move_rule(request: PersonRequest, key: str) -> list[RuleOut]:
    """Move a rule up by one place, the first to the end; return all rules."""
    changes.move_up(own(AppraiserRule, request.user, key))
    return _rules(request.user)


@router.delete("/importance/{key}", auth=ACT, response={204: None})
def remove_rule(request: PersonRequest, key: str) -> Status[None]:
    """Remove a rule."""
    changes.remove(own(AppraiserRule, request.user, key))
    return Status(204, None)


def _rules(owner: User) -> list[RuleOut]:
    return [
        RuleOut(key=opaque_keys.encrypt(rule.pk), weight=rule.weight, text=rule.text)
        for rule in AppraiserRule.objects.filter(owner=owner)
    ]
