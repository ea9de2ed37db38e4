"""Follow a change of a person or group with a change of filters: what they see, who `me` is.

Filters begin again when their owner joins or leaves a group: they find what they would have
found had it always been so.  What they have found stays, as far as the owner may see it.  They
are detached from the shared window, and no run of them that is under way is stored: it may have
read what the owner could see before.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any

from django.contrib.auth.models import Group
from django.db import transaction
from django.db.models import QuerySet
from django.db.models.signals import m2m_changed, post_save, pre_delete, pre_save

from filters.authoring.ahead import Ahead, Change
from filters.authoring.dependents import filters_of, recompile_all_of
from filters.authoring.models import Filter
from filters.inbox.lists.cards import CopyKey, ensure_cards
from filters.inbox.models import Match, MessageState
from filters.people import people
from filters.people.models import User
from filters.runs.store.shared_window import begin_again, run_again
from filters.runs.store.visibility_loss import Pair, drop_invisible, move_states
from filters.site.work import services

_OLD_NAME = "_old_username"
"""Attribute of an account that is saved with a new `me`: the old username."""

_NEW_ZONE = "_has_new_zone"
"""Attribute of an account that is saved with another time zone."""

_AHEAD = "_compiled_ahead"
"""Attribute of an account in whose transaction it is saved: what was compiled before."""

ME = ("username", "email", "aliases")
"""Fields of an account that say who `me` is."""

WATCHED = (*ME, "is_active", "time_zone")
"""Fields of an account by which filters are run again, or compiled."""


def connect_signals() -> None:
    """Follow every change of accounts, groups and memberships."""
    people.Saving.within = _saving
    pre_save.connect(_account_changes, sender=User, dispatch_uid="account")
    post_save.connect(_me_changed, sender=User, dispatch_uid="account saved")
    m2m_changed.connect(_members_changed, sender=User.groups.through, dispatch_uid="members")
    pre_save.connect(_group_changes, sender=Group, dispatch_uid="group")
    post_save.connect(_group_changed, sender=Group, dispatch_uid="group saved")
    pre_delete.connect(_group_goes, sender=Group, dispatch_uid="group deleted")


@contextmanager
def _saving(account: User, fields: Collection[str]) -> Iterator[None]:
    """Have what depends on an account compiled before the transaction that saves its fields."""
    ahead = Ahead()
    with ahead.locked(lambda: _change_of(account, fields), lambda: None):
        setattr(account, _AHEAD, ahead)
        try:
            yield
        finally:
            delattr(account, _AHEAD)


def _change_of(account: User, fields: Collection[str]) -> Change:
    """Return the change of an account as it is stored, with these fields as they will be."""
    stored = User.objects.filter(pk=account.pk).first()
    if stored is None or not _differing(stored, account, {*ME, "time_zone"}.intersection(fields)):
        return Change()
    username = stored.username
    for name in fields:
        setattr(stored, name, getattr(account, name))
    return Change(filters_of(username), user=stored)


def _differing(before: User, after: User, fields: Collection[str]) -> set[str]:
    return {field for field in fields if getattr(before, field) != getattr(after, field)}


def _account_changes(instance: User, update_fields: Collection[str] | None, **_: Any) -> None:
    fields = WATCHED if update_fields is None else set(WATCHED) & set(update_fields)
    before = User.objects.filter(pk=instance.pk).first() if fields and instance.pk else None
    changed = _differing(before, instance, fields) if before is not None else set()
    if before is not None and changed - {"time_zone"}:
        run_again(Filter.objects.filter(owner=instance.pk))
    if before is not None and changed.intersection(ME):
        setattr(instance, _OLD_NAME, before.username)
    elif "time_zone" in changed:
        setattr(instance, _NEW_ZONE, True)


def _me_changed(instance: User, **_: Any) -> None:
    """Recompile the filters that say `me` or a date, and those that refer to them."""
    old_name = instance.__dict__.pop(_OLD_NAME, None)
    has_new_zone = instance.__dict__.pop(_NEW_ZONE, False)
    ahead = instance.__dict__.get(_AHEAD)
    if has_new_zone:
        recompile_all_of(instance.username, None, changed_only=True, ahead=ahead)
    if old_name is not None:
        for name in {old_name, instance.username}:
            # The save may be part of a transaction: no clock.
            recompile_all_of(name, None, ahead=ahead)


def _members_changed(
    instance: User | Group, action: str, pk_set: Collection[int] | None, **_: Any
) -> None:
    if isinstance(instance, User):
        if action in ("post_add", "post_remove", "post_clear"):
            _change_audiences(User.objects.filter(pk=instance.pk))
    elif action == "pre_clear":  # afterwards the members are unknown
        _group_goes(instance)
    elif action in ("post_add", "post_remove"):
        _change_audiences(User.objects.filter(pk__in=pk_set or ()))


def _group_changes(instance: Group, **_: Any) -> None:
    for before in Group.objects.filter(pk=instance.pk).exclude(name=instance.name):
        _group_goes(before)


def _group_changed(instance: Group, **_: Any) -> None:
    run_again(Filter.objects.filter(owner__in=instance.user_set.all()))


def _group_goes(instance: Group, **_: Any) -> None:
    _change_audiences(instance.user_set.all(), [f"group:{instance.name}"])


@transaction.atomic
def _change_audiences(users: QuerySet[User], lost: Collection[str] = ()) -> None:
    """Let the filters of these users begin again, and drop the matches they may not see.

    What they did with messages follows the copies that they see.
    """
    begin_again(Filter.objects.filter(owner__in=users))
    seen = {person: set(people.audiences(person)).difference(lost) for person in users}
    moved: set[Pair] = set()
    for person, audiences in seen.items():
        states = MessageState.objects.filter(owner=person).exclude(audience__in=audiences)
        moved |= move_states(states, lost)
    if moved:
        ensure_cards(services.tables(), [CopyKey(*copy) for copy in sorted(moved)])
    for person, audiences in seen.items():
        matches = Match.objects.filter(filter__owner=person).exclude(audience__in=audiences)
        drop_invisible(matches, lost)
