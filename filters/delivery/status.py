"""How a destination is doing, in words for its owner."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from filters.delivery.dispatch import throttle
from filters.delivery.dispatch.scope import matches_in, scopes_of
from filters.delivery.mail.addresses import is_usable, was_asked
from filters.delivery.models import Address, Destination
from filters.site.templatetags.mail import ago, time_words


@dataclass(frozen=True, slots=True)
class Status:
    """The state in a word, and in sentences what a person should know or do about it.

    ``ask`` is what stands on the button that sends a link to its address, empty if there is none.
    """

    word: Literal[
        "on", "off", "waiting", "waiting for confirmation", "failing", "address does not work"
    ]
    tone: Literal["", "past", "warn", "bad"] = ""
    sentence: str = ""
    ask: str = ""


def status_of(destination: Destination) -> Status:
    """Return how a destination is doing: the first reason that keeps it from delivering, if any."""
    address = destination.address
    if address is not None and not is_usable(address):
        return _status_of_address(address)
    if not destination.active:
        return Status("off", "past", _why_off(destination))
    if destination.failing_since is not None:
        next_try = f" Next try: {time_words(destination.due_at)}." if destination.due_at else ""
        since = f"Failing since {time_words(destination.failing_since)}."
        return Status("failing", "bad", f"{since} {destination.error}{next_try}")
    wait = throttle.waits([destination]).get(destination.pk) if destination.due_at else None
    if wait is not None:
        scopes = scopes_of({destination: destination.latest}).values()
        count = sum(rows.count() for rows in matches_in(scopes))
        what = "1 match waits" if count == 1 else f"{count:,} matches wait"
        return Status("waiting", "", f"{what} until {time_words(wait.until)}: {wait.why}.")
    if address is not None and address.warning:
        more = "If that happens with three, nothing more is sent there until you confirm it again."
        return Status("on", "warn", f"{address.warning} {more}")
    return Status("on")


def _why_off(destination: Destination) -> str:
    """Say why nothing is delivered; a refusal turns a destination off, a failure does not."""
    if not destination.error:
        return ""
    if destination.failing_since is not None:
        return f"The last answer was: {destination.error}"
    return f"It was turned off, for it was refused: {destination.error}"


def _status_of_address(address: Address) -> Status:
    if address.problem:
        sentence = (
            f"Nothing is sent to {address} for now: {address.problem} "
            "What is found waits. If the address works again, confirm it again."
        )
        again = "" if was_asked(address) else "Try again"
        if not again:
            sentence += f" A link was sent there {ago(address.asked_at)}."
        return Status("address does not work", "bad", sentence, again)
    if was_asked(address):
        sentence = (
            f"We sent a link to {address} {ago(address.asked_at)}. Open it to confirm that the "
            "address is yours; look in your spam folder too."
        )
        return Status("waiting for confirmation", "warn", sentence)
    sentence = f"Nothing is sent to {address} until you open the link that confirms it."
    again = "Send the link again" if address.asked_at else "Send the link"
    return Status("waiting for confirmation", "warn", sentence, again)
