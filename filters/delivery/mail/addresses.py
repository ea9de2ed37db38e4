"""Mail addresses: nothing is sent until the owner confirms (double opt-in), nor after a bounce."""

from __future__ import annotations

import logging

from django.conf import settings
from django.core.mail import EmailMessage
from django.db import transaction
from django.db.models import Q, QuerySet
from django.template.loader import render_to_string

from filters.delivery import links
from filters.delivery.mail import outgoing
from filters.delivery.mail.outgoing import RecipientRefusedError
from filters.delivery.mail.signed import address_key
from filters.delivery.models import Address, ConfirmationMail
from filters.people.models import User
from filters.site.settings.email_url import is_kept_only
from filters.site.templatetags.mail import time_words
from filters.site.work.delivery_signer import delivery_signer
from tapestry.core.clock import HOUR, MINUTE, wall_clock
from tapestry.core.delivery_header import DELIVERY_HEADER
from tapestry.core.errors import TapestryError
from tapestry.core.log import event
from tapestry.deliver.batch import Outcome

log = logging.getLogger(__name__)

MOST_AN_HOUR = 3
"""Confirmation mails that a person may have sent to an address in an hour."""

MOST_STRANGE = 10
"""Addresses not confirmed yet that a person may have such mail sent to in an hour."""

MOST_BOUNCES = 3
"""Deliveries that come back before nothing more is sent to their address."""

EVERY = 10 * MINUTE
"""How long after a confirmation mail another may be sent to the same address, by whomever."""


def set_problem(address: Address, problem: str) -> None:
    """Send nothing more to an address, and say why; what was to be sent waits."""
    Address.objects.filter(pk=address.pk).update(problem=problem[:1000])
    event(log, "address_problem", address=address.pk)


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
    now = wall_clock()
    recent = ConfirmationMail.objects.filter(owner=address.owner, at__gt=now - EVERY, at__lte=now)
    return recent.filter(email__iexact=address.email).exists()


def send_link(address: Address) -> None:
    """Send mail to an address with the link that confirms it.

    Raise TapestryError if there was too much such mail lately, or if it cannot be sent.
    """
    counted, is_sent = _count_mail(address), False
    try:
        outcome = outgoing.send(_message(address), address.email)
        is_sent = outcome.state == "delivered"
    except RecipientRefusedError as error:
        outcome = Outcome("refused", error.message)
    finally:
        if not is_sent:
            counted.delete()
    if not is_sent:
        raise TapestryError(
            f"The mail to {address.email} could not be sent. {outcome.answer}",
            hint="Check the address, and ask for the link again.",
        )
    event(log, "confirmation_sent", address=address.pk)


@transaction.atomic
def _count_mail(address: Address) -> ConfirmationMail:
    """Store that a link is sent now; raise TapestryError if there were too many lately."""
    now = wall_clock()
    owner = User.objects.select_for_update().get(pk=address.owner_id)  # one mail at a time
    ConfirmationMail.objects.filter(at__lt=now - HOUR).delete()
    recent = ConfirmationMail.objects.filter(at__lte=now)
    to_address = recent.filter(email__iexact=address.email).order_by("at").last()
    if to_address is not None and to_address.at > now - EVERY:
        raise TapestryError(
            f"A link was sent to {address.email} a moment ago; it may be among the spam.",
            hint=f"Another can be sent at {time_words(to_address.at + EVERY)}.",
        )
    _check_counts(address, recent.filter(owner=owner).order_by("-at"))
    Address.objects.filter(pk=address.pk).update(asked_at=now)
    return ConfirmationMail.objects.create(owner=owner, email=address.email, at=now)


def _check_counts(address: Address, of_owner: QuerySet[ConfirmationMail]) -> None:
    """Raise TapestryError if too many links were sent for a person lately, the newest first.

    Those of one address count for that address; all together, only to addresses that may be those
    of strangers.  So no way of a person's is silenced by another.
    """
    same = list(of_owner.filter(email__iexact=address.email)[:MOST_AN_HOUR])
    if len(same) == MOST_AN_HOUR:
        raise TapestryError(
            f"{MOST_AN_HOUR} links were sent to {address.email} within an hour, as many as may be.",
            hint=f"Ask for the next one at {time_words(same[-1].at + HOUR)}.",
        )
    confirmed = address.owner.mail_addresses.exclude(confirmed_at=None)
    known = {email.lower() for email in confirmed.values_list("email", flat=True)}
    asked: dict[str, int] = {}
    for sent in of_owner:
        if sent.email.lower() not in known:
            asked.setdefault(sent.email.lower(), sent.at)
    if len(asked) >= MOST_STRANGE and address.email.lower() not in asked.keys() | known:
        raise TapestryError(
            f"Links were sent to {MOST_STRANGE} addresses within an hour that are not confirmed.",
            hint=f"Confirm one, or ask for the next at {time_words(min(asked.values()) + HOUR)}.",
        )


def _message(address: Address) -> EmailMessage:
    signer, key = delivery_signer(), address_key(address)
    context = {
        "person": address.owner.get_username(),
        "email": address.email,
        "site": settings.SITE_URL,
        "url": links.confirm_url(address.pk, address.email),
    }
    key = address_key(address)
    return EmailMessage(
        "Confirm your address for Tapestry",
        render_to_string("delivery/confirm.txt", context),
        outgoing.return_path(address, key),
        to=[address.email],
        headers={
            "From": settings.DEFAULT_FROM_EMAIL,
            "Message-ID": f"<{signer.message_id(key, outgoing.site_host())}>",
            "Auto-Submitted": "auto-generated",  # RFC 3834, section 5
            "X-Auto-Response-Suppress": "All",
            DELIVERY_HEADER: signer.value(key),
        },
    )
