"""Delete accounts that their people have asked to be deleted."""

from __future__ import annotations

import secrets
from functools import partial

from django.db import transaction

from filters.authoring.compilation.dependents import present, recompile_all_of
from filters.people.membership.export import exports
from filters.people.membership.removal.consequences import is_last_administrator
from filters.people.models import Removal, RetiredName, User
from filters.people.sessions.record import sign_out
from filters.reading.annotations.outbox import append_all_of
from filters.runs.models import SetAside, SharedWindow
from filters.site.work import set_aside
from filters.site.work.crypto.opaque_keys import keyed_digest
from filters.site.work.parts import services
from filters.upkeep.forgetting import forget
from tapestry.core.clock import DAY, wall_clock
from tapestry.core.log import event

KEPT = 30 * DAY
"""How long the page tells that a deletion is complete."""


@transaction.atomic
def ask(user: User) -> str | None:
    """Begin to delete an account: nobody can use it from now on.  Return the token of its page.

    Return None where it is that of the last administrator: of two at one time the second stays.
    """
    administrators = User.objects.filter(is_superuser=True, is_active=True).order_by("pk")
    list(administrators.select_for_update().values_list("pk"))  # who is one is settled from here on
    if is_last_administrator(user):
        return None
    token = secrets.token_urlsafe(32)
    Removal.objects.create(
        user_id=user.pk, name=user.get_username(), digest=_digest(token), asked_at=wall_clock()
    )
    User.objects.filter(pk=user.pk).update(is_active=False)
    user.sources.update(active=False)
    user.destinations.update(active=False)
    sign_out(user)
    return token


def removal_of(token: str) -> Removal | None:
    return Removal.objects.filter(digest=_digest(token)).first()


def finish_waiting() -> None:
    """Delete what is to be deleted, one account after the other; one that fails costs no other."""
    removals = Removal.objects.filter(done_at=None).order_by("pk")
    works = {step_of(removal): partial(_finish, removal) for removal in removals}
    set_aside.each(SetAside.Kind.STEP, works)


def why_not(removal: Removal) -> str:
    """Return why the deletion of an account is late, for its person; "" if it is not."""
    return set_aside.reason_of(SetAside.Kind.STEP, step_of(removal))


def step_of(removal: Removal) -> str:
    return f"delete account {removal.pk}"


def forget_old() -> None:
    """Delete the records of deletions that were completed long ago."""
    Removal.objects.filter(done_at__lt=wall_clock() - KEPT).delete()


def _finish(removal: Removal) -> None:
    audience = f"user:{removal.name}"
    user = User.objects.filter(pk=removal.user_id)
    append_all_of(services.tables(), user)  # what they said to others, or took back, stays so
    with transaction.atomic():
        SharedWindow.lock_all()  # what a run is storing for their filters is there by then
        user.delete()
        RetiredName.objects.update_or_create(
            name=audience,
            defaults={"is_kept": True},
            create_defaults={"is_kept": True, "key": removal.user_id},
        )
    recompile_all_of(removal.name, present())
    gone = forget(audience)
    exports.forget_old()
    Removal.objects.filter(pk=removal.pk).update(done_at=wall_clock(), messages=gone.messages)
    event("account_deleted", messages=gone.messages, annotations=gone.annotations)


def _digest(token: str) -> str:
    return keyed_digest("removal", token)
