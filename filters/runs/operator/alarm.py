"""The alarm of the operator: something has stood still for longer than a limit, or moves again.

    a look each minute ─ unwell ─> Alarm ─ for as long as the limit ─> mail and webhook, once
                         well ───> ended ────────────────────────────> mail and webhook, once

The parts are those of the health page, and each source that brings nothing.  What is over before
anybody was told is told to nobody.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC
from hashlib import sha256

from django.conf import settings
from django.db.models import F, Q

from filters.delivery.mail import outgoing
from filters.delivery.mail.outgoing import RecipientRefusedError
from filters.people.membership.notices import known_address
from filters.people.models import User
from filters.runs.models import Alarm
from filters.runs.operator.health import states
from filters.runs.operator.reasons import public_reason
from filters.site.settings.email_url import is_kept_only
from filters.site.work.parts import services
from filters.sources.models import Source
from tapestry.core.clock import MINUTE, SECOND, to_datetime, wall_clock
from tapestry.core.errors import TapestryError
from tapestry.core.files.site_lock import site_lock
from tapestry.core.log import event
from tapestry.deliver.http.post import post
from tapestry.servers.account import ANYWHERE

log = logging.getLogger(__name__)

MOST = 100
"""Alarms that one mail or request names."""

SLACK = 5 * MINUTE
"""How long a source may bring nothing beside three of its intervals."""


def look() -> None:
    """See what is unwell, and tell the operator what has been so for long, and what is well again.

    One process does so at a time; a mail or request that fails is tried again at the next look.
    """
    with site_lock(services.data() / "run" / "alarm.lock") as acquired:
        if acquired:
            _note(unwell())
            channels: dict[str, Callable[[Sequence[str], Sequence[str], str], bool]]
            channels = {"mailed": _mail, "posted": _post}
            for channel, tell in channels.items():
                _tell(channel, tell)
            Alarm.objects.filter(mailed=Alarm.ENDED, posted=Alarm.ENDED).delete()


def unwell() -> dict[str, str]:
    """Return what is unwell now, each in a sentence for the operator, by its name."""
    found = {name: str(state["says"]) for name, state in states().items() if not state["ok"]}
    for source in standing():
        found[f"source/{source.pk}"] = _of_source(source)
    return found


def standing() -> Sequence[Source]:
    """Return the sources in use that fail or are not read, and have not been complete for long."""
    now = wall_clock()
    long_ago = now - SLACK - 3 * SECOND * F("every")
    silent = Q(pulled_at=None) | Q(pulled_at__lt=long_ago) | Q(complete_until__lt=long_ago)
    is_late = Q(failures__gt=0) | Q(due_at__lt=now - SLACK) | ~Q(error="")
    used = Source.objects.filter(silent, is_late, active=True, owner__is_active=True)
    return list(used.select_related("owner").order_by("pk")[:MOST])


def _of_source(source: Source) -> str:
    why = public_reason(source.error) or "It waits for its turn."
    whose = f"{source.content} of {source.owner.get_username()}"
    return f"The {whose} at {source.host} stands still: {why}"


def _note(found: Mapping[str, str]) -> None:
    """Store what is unwell, since when, and until when."""
    now = wall_clock()
    before = {alarm.key: alarm for alarm in Alarm.objects.filter(ended_at=None)}
    for key, says in found.items():
        if key in before:
            Alarm.objects.filter(key=key).update(says=says)
        else:  # one of which it was not told yet that it is over begins anew
            Alarm.objects.update_or_create(
                key=key, defaults={"says": says, "since": now, "ended_at": None}
            )
            event("alarm", part=key)
    over = [key for key in before if key not in found]
    Alarm.objects.filter(key__in=over).update(ended_at=now)
    for key in over:
        event("alarm_over", part=key)


def _tell(channel: str, tell: Callable[[Sequence[str], Sequence[str], str], bool]) -> None:
    """Tell by a channel what nobody was told by it, and store that."""
    long_ago = wall_clock() - int(settings.ALARM_SECONDS * SECOND)
    silent, told = {channel: Alarm.SILENT}, {channel: Alarm.TOLD}
    Alarm.objects.exclude(ended_at=None).filter(**silent).update(**{channel: Alarm.ENDED})
    begun = list(Alarm.objects.filter(ended_at=None, since__lte=long_ago, **silent)[:MOST])
    over = list(Alarm.objects.exclude(ended_at=None).filter(**told)[:MOST])
    if not (begun or over):
        return
    named = [(alarm.pk, alarm.since, alarm.ended_at) for alarm in (*begun, *over)]
    key = f"alarm-{channel}-{sha256(str(named).encode()).hexdigest()[:16]}"
    if tell([_line(alarm) for alarm in begun], [_line(alarm) for alarm in over], key):
        Alarm.objects.filter(pk__in=[alarm.pk for alarm in begun]).update(**told)
        ended = Alarm.objects.filter(pk__in=[alarm.pk for alarm in over])
        ended.update(**{channel: Alarm.ENDED})


def _line(alarm: Alarm) -> str:
    since = to_datetime(alarm.since).astimezone(UTC)
    return f"{since:%Y-%m-%d %H:%M} UTC: {alarm.says}"


def operators() -> list[str]:
    """Return where mail to the operator goes: the addresses set, else those of superusers."""
    if settings.ALARM_MAIL:
        return list(settings.ALARM_MAIL)
    staff = User.objects.filter(is_superuser=True, is_active=True).order_by("pk")
    return list(dict.fromkeys(filter(None, map(known_address, staff))))


def _mail(begun: Sequence[str], over: Sequence[str], key: str) -> bool:
    """Send mail to the operator; return False if it is to be tried again."""
    if is_kept_only():
        return True
    subject = f"{settings.SITE_URL}: " + ("something stands still" if begun else "it moves again")
    parts = []
    if begun:
        parts.append("This has stood still for longer than it may, since:\n\n" + "\n".join(begun))
    if over:
        parts.append("This moves again; it had stood still since:\n\n" + "\n".join(over))
    parts.append(f"{settings.SITE_URL}/operator/ says more.\n")
    sent = True
    for number, email in enumerate(operators()):
        message = outgoing.signed_mail(email, subject, "\n\n".join(parts), f"{key}-{number}")
        try:
            sent &= outgoing.send(message, email).state != "retry"
        except RecipientRefusedError:
            log.warning("The mail server takes no alarm for %s.", email)
    return sent


def _post(begun: Sequence[str], over: Sequence[str], key: str) -> bool:
    """Post to the webhook of the operator; return False if it is to be tried again."""
    if not settings.ALARM_WEBHOOK:
        return True
    told = {"site": settings.SITE_URL, "standing_still": list(begun), "moving_again": list(over)}
    headers = {"Content-Type": "application/json", "Idempotency-Key": key}
    body = json.dumps(told).encode()
    try:
        answer = post(settings.ALARM_WEBHOOK, body, headers, allowed=ANYWHERE)
    except TapestryError as error:
        log.warning("The webhook of alarms: %s", error)
        return False
    if not 200 <= answer.status < 300:
        log.warning("The webhook of alarms: %s", answer.summary)
    return 200 <= answer.status < 300
