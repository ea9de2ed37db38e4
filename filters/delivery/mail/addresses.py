"""Mail addresses: nothing is sent until the owner confirms (double opt-in), nor after a bounce."""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from django.core.mail import EmailMessage
from django.db import transaction
from django.db.models import Q
from django.template.loader import render_to_string
from limits import RateLimitItemPerMinute

from filters.delivery.contents import links
from filters.delivery.mail import outgoing
from filters.delivery.mail.outgoing import RecipientRefusedError
from filters.delivery.mail.signed import address_key
from filters.delivery.models import Address
from filters.people.models import User
from filters.site.settings.email_url import is_kept_only
from filters.site.templatetags.mail import time_words
from filters.site.work.rate_limits import Count, TooManyTriesError, digest, is_used, reserve
from tapestry.core.clock import SECOND, wall_clock
from tapestry.core.errors import TapestryError
from tapestry.core.log import event
from tapestry.deliver.batch import Outcome

PREFIX = "confirmation"

AGAIN = RateLimitItemPerMinute(1, 10, PREFIX)
OWN = RateLimitItemPerMinute(3, 60, PREFIX)
STRANGE = RateLimitItemPerMinute(10, 60, PREFIX)
"""Links to an address, by whomever; of a person to an address; of a person to addresses that are
not confirmed, each counted once an hour; and in how many minutes."""

MOST_BOUNCES = 3
"""Deliveries that come back before nothing more is sent to their address."""


def set_problem(address: Address, problem: str) -> None:
    """Send nothing more to an address, and say why; what was to be sent waits."""
    Address.objects.filter(pk=address.pk).update(problem=problem[:1000])
    event("address_problem", address=address.pk)


@transaction.atomic
def note_bounce(address: Address, delivery: str, said: str) -> None:
    """Store that a delivery came back, and why.

    One may be a mistake of a server on the way, and its owner is warned; at the third of another
    delivery the address is paused.
    """
    bounced = Address.objects.select_for_update().get(pk=address.pk)
    if delivery in bounced.bounced:
        return
    bounced.bounced = [*bounced.bounced, delivery][-MOST_BOUNCES:]
    bounced.warning = said[:1000]
    bounced.save(update_fields=["bounced", "warning"])
    if len(bounced.bounced) == MOST_BOUNCES and not bounced.problem:
        set_problem(bounced, said)


def address_of_person(owner: User, email: str) -> Address:
    """Return the row of a person's address; it is made if need be, and not confirmed then."""
    email = User.objects.normalize_email(email)
    return Address.objects.get_or_create(owner=owner, email=email)[0]


def is_usable(address: Address | None) -> bool:
    """Tell whether mail may be sent to an address; a destination without one needs none."""
    if address is None:
        return True
    return is_confirmed(address) and (is_kept_only() or not address.confirmed_here)


def is_confirmed(address: Address) -> bool:
    """Tell whether an address was confirmed, be it on a page, and has no problem."""
    return address.confirmed_at is not None and not address.problem


def usable() -> Q:
    """Return the destinations of which ``is_usable`` is true of their address."""
    confirmed = Q(address__confirmed_at__isnull=False, address__problem="")
    if not is_kept_only():
        confirmed &= Q(address__confirmed_here=False)
    return Q(address=None) | confirmed


@transaction.atomic
def confirm(address: Address, *, is_proof: bool) -> None:
    """Store that an address was confirmed: matches may be sent there from now on.

    With ``is_proof`` the person of its account did so, by a link that came by mail.  They may also
    write from it, and have it as the address of their account.  Without, somebody else may have
    done so who only wants the matches; what was proven before stays so.
    """
    now, rows = wall_clock(), Address.objects.filter(pk=address.pk, email=address.email)
    rows.filter(confirmed_at=None).update(proven=False, confirmed_here=True)
    if not is_kept_only():
        rows.update(confirmed_here=False)
    if is_proof:
        rows.update(proven=True)
    rows.update(confirmed_at=now, problem="", warning="", bounced=[])
    waiting = address.destinations.filter(due_at__isnull=False)
    waiting.update(due_at=now, failures=0, failing_since=None)


def was_asked(address: Address) -> bool:
    """Tell whether a link was sent to an address so lately that another may not be."""
    return 0 <= wall_clock() - address.asked_at < AGAIN.get_expiry() * SECOND


def send_link(address: Address) -> None:
    """Send mail to an address with the link that confirms it.

    Raise TapestryError if there was too much such mail lately, or if it cannot be sent.
    """
    give_back, is_sent = _count_mail(address), False
    try:
        outcome = outgoing.send(_message(address), address.email)
        is_sent = outcome.state == "delivered"
    except RecipientRefusedError as error:
        outcome = Outcome("refused", error.message)
    finally:
        if not is_sent:
            give_back()
    if not is_sent:
        raise TapestryError(
            f"The mail to {address.email} could not be sent. {outcome.answer}",
            hint="Check the address, and ask for the link again.",
        )
    Address.objects.filter(pk=address.pk).update(asked_at=wall_clock())
    event("confirmation_sent", address=address.pk)


def _count_mail(address: Address) -> Callable[[], None]:
    """Count a link that is sent now, and return what gives it back.

    Raise TapestryError if there were too many lately.
    """
    owner, email = str(address.owner_id), address.email.lower()
    own = Count("own", OWN, digest("confirmation", owner, email))
    counts = [Count("again", AGAIN, digest("confirmation", email)), own]
    confirmed = address.owner.mail_addresses.exclude(confirmed_at=None)
    if not confirmed.filter(email__iexact=email).exists() and not is_used(own):
        counts.append(Count("strange", STRANGE, digest("confirmation", owner)))
    try:
        return reserve(counts)
    except TooManyTriesError as refusal:
        sentence, hint = REFUSALS[refusal.reason]
        at = time_words(wall_clock() + refusal.seconds * SECOND)
        raise TapestryError(
            sentence.format(email=address.email), hint=hint.format(at=at)
        ) from refusal


REFUSALS = {
    "again": (
        "A link was sent to {email} a moment ago; it may be among the spam.",
        "Another can be sent at {at}.",
    ),
    "own": (
        f"{OWN.amount} links were sent to {{email}} within an hour, as many as may be.",
        "Ask for the next one at {at}.",
    ),
    "strange": (
        f"Links were sent to {STRANGE.amount} addresses within an hour that are not confirmed.",
        "Ask for the next at {at}.",
    ),
}
"""What is said where there were too many links, and what to do instead, by the count."""


def _message(address: Address) -> EmailMessage:
    context = {
        "person": address.owner.get_username(),
        "email": address.email,
        "site": settings.SITE_URL,
        "url": links.confirm_url(address.pk, address.email),
    }
    key = address_key(address)
    return outgoing.signed_mail(
        address.email,
        "Confirm your address for Tapestry",
        render_to_string("delivery/confirm.txt", context),
        key,
        outgoing.return_path(address, key),
    )
