"""Changes of the rules of importance that their owner asks for, on the page or by a program."""

from __future__ import annotations

from django.db import transaction

from filters.inbox.appraisal.upkeep import rules_changed
from filters.inbox.models import AppraiserRule
from filters.site.work.queues.queue import APPRAISE, run_soon


def weigh(rule: AppraiserRule, weight: int) -> None:
    """Give a rule another weight."""
    AppraiserRule.objects.filter(pk=rule.pk).update(weight=weight)
    rules_changed(rule.owner)
    run_soon(APPRAISE)


@transaction.atomic
def move_up(rule: AppraiserRule) -> None:
    """Move a rule up by one place; the first becomes the last."""
    own = list(AppraiserRule.objects.select_for_update().filter(owner=rule.owner_id))
    place = next((at for at, other in enumerate(own) if other.pk == rule.pk), None)
    if place is not None:  # it was not removed meanwhile
        own.insert(place - 1 if place else len(own), own.pop(place))
    for at, other in enumerate(own):
        other.place = at
    AppraiserRule.objects.bulk_update(own, ["place"])


def remove(rule: AppraiserRule) -> None:
    """Remove a rule."""
    owner = rule.owner
    rule.delete()
    rules_changed(owner)
    run_soon(APPRAISE)
