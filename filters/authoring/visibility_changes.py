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

from filters.authoring.compilation.ahead import Ahead, Change
from filters.authoring.compilation.dependents import filters_of, recompile_all_of
from filters.authoring.models import Filter, Reminder
from filters.inbox.lists.cards import CopyKey, ensure_cards
from filters.inbox.models import Match, MessageState
from filters.people import people
from filters.people.models import User
from filters.people.names import retired_names
from filters.runs.store.schedule import OWNER_FIELDS, replan_all_of, time_digests_anew
from filters.runs.store.shared_window import begin_again, run_again
from filters.runs.store.visibility_loss import Pair, drop_invisible, move_states
from filters.site.work.parts import services
from filters.sources.models import Folder

ME = ("username", "email", "aliases")
"""Fields of an account that say who `me` is."""

MEANT = ("time_zone", "left_out")
"""Fields of an account by which some filters mean something else, and others do not."""

WATCHED = {*ME, *MEANT, "is_active", *OWNER_FIELDS}
"""Fields of an account by which filters are run again, compiled, or planned anew."""


@contextmanager
def compiled_ahead(account: User, fields: Collection[str]) -> Iterator[Ahead]:
    """Have what depends on an account compiled before the transaction that saves its fields."""
    ahead = Ahead()
    with ahead.locked(lambda: _change_of(account, fields), lambda: None):
        yield ahead


@contextmanager
def followed(
    account: User, update_fields: Collection[str] | None, ahead: Ahead | None
) -> Iterator[None]:
    """Have what depends on an account follow it, which is saved in the block.

    Its name is checked; its filters are run again where it sees or says of itself something else,
    compiled where they say `me` or a date, and what waits is planned anew by its choices.
    """
    fields = WATCHED if update_fields is None else WATCHED.intersection(update_fields)
    before = User.objects.filter(pk=account.pk).first() if fields and account.pk else None
    changed = fields if before is None else _differing(before, account, fields)
    if "username" in changed:
        retired_names.check_saved(account, before)
    if before is not None and changed & {*ME, "is_active"}:
        run_again(Filter.objects.filter(owner=account.pk))
    yield
    if before is None:
        return
    if changed.intersection(ME):
        for name in {before.username, account.username}:
            # The save may be part of a transaction: no clock.
            recompile_all_of(name, None, ahead=ahead)
    elif changed.intersection(MEANT):
        recompile_all_of(account.username, None, changed_only=True, ahead=ahead)
    if "time_zone" in changed:
        time_digests_anew(account.pk)
    if changed.intersection((*ME, "time_zone")):
        calendars = Folder.objects.filter(source__owner=account.pk, source__kind="caldav")
        calendars.update(read_anew_at=0)  # whom, and when, one meets differs
    if changed.intersection(OWNER_FIELDS):
        replan_all_of(account.pk)


def _change_of(account: User, fields: Collection[str]) -> Change:
    """Return the change of an account as it is stored, with these fields as they will be."""
    stored = User.objects.filter(pk=account.pk).first()
    if stored is None or not _differing(stored, account, {*ME, *MEANT}.intersection(fields)):
        return Change()
    username = stored.username
    for name in fields:
        setattr(stored, name, getattr(account, name))
    return Change(filters_of(username), user=stored)


def _differing(before: User, after: User, fields: Collection[str]) -> set[str]:
    return {field for field in fields if getattr(before, field) != getattr(after, field)}


def members_changed(
    instance: User | Group, action: str, pk_set: Collection[int] | None, **_: Any
) -> None:
    """Have the filters of whoever joined or left a group begin again."""
    if isinstance(instance, User):
        if action in ("post_add", "post_remove", "post_clear"):
            _change_audiences(User.objects.filter(pk=instance.pk))
    elif action == "pre_clear":  # afterwards the members are unknown
        _group_goes(instance)
    elif action in ("post_add", "post_remove"):
        _change_audiences(User.objects.filter(pk__in=pk_set or ()))


def group_changes(instance: Group, raw: bool, **_: Any) -> None:
    """Check the name of a group before it is saved; one that is renamed goes."""
    before = Group.objects.filter(pk=instance.pk).first()
    if before is not None and before.name == instance.name:
        return
    if not raw:
        retired_names.check_saved(instance, before)
    if before is not None:
        _group_goes(before)


def group_changed(instance: Group, **_: Any) -> None:
    """Have the filters of the members of a group that was saved run again."""
    run_again(Filter.objects.filter(owner__in=instance.user_set.all()))


def group_is_deleted(instance: Group, **_: Any) -> None:
    """Keep the name of a group before it is deleted."""
    retired_names.retire(instance)
    _group_goes(instance)


def _group_goes(instance: Group) -> None:
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
        for states in (Reminder.objects.all(), MessageState.objects.all()):
            unseen = states.filter(owner=person).exclude(audience__in=audiences)
            moved |= move_states(unseen, lost)
    if moved:
        ensure_cards(services.tables(), [CopyKey(*copy) for copy in sorted(moved)])
    for person, audiences in seen.items():
        matches = Match.objects.filter(filter__owner=person).exclude(audience__in=audiences)
        drop_invisible(matches, lost)
