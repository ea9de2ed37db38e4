"""What a site can be ordered to do, by name; each is a few lines over the product's own doors."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

from tests.simulation import site_programs

handler: Any = None
"""What answers requests: made once, before any site is."""

_clients: dict[str, Any] = {}


def person(name: str, email: str, groups: list[str], **choices: Any) -> int:
    """Make a person, or change them to be so."""
    from django.contrib.auth.models import Group
    from django.db import transaction

    from filters.people.models import User

    day = choices.get("holiday_until")
    if day is not None:
        choices["holiday_until"] = date.fromisoformat(day)
    with transaction.atomic():
        user, _ = User.objects.get_or_create(username=name, defaults={"email": email})
        for field, value in choices.items():
            setattr(user, field, value)
        user.save(update_fields=choices)
    wanted = [Group.objects.get_or_create(name=group)[0] for group in sorted(groups)]
    if set(user.groups.all()) != set(wanted):
        user.groups.set(wanted)
    return int(user.pk)


def group(name: str) -> None:
    """Make a group, before mail for it is here."""
    from django.contrib.auth.models import Group

    Group.objects.get_or_create(name=name)


def append(messages: list[dict[str, Any]], cursor: tuple[str, int]) -> dict[str, Any]:
    """Append mail with its originals, as a source does that has come so far."""
    from filters.runs.store.filter_store import DjangoClock
    from filters.site.work.parts import services
    from filters.site.work.queues.queue import TICK, run_soon
    from tapestry.core.message import Message
    from tapestry.tables.read.originals import Original
    from tapestry.tables.write.append import Cursor, append_messages

    originals = [Original(row["raw"]) for row in messages]
    rows = [
        Message(**{k: tuple(v) if isinstance(v, list) else v for k, v in row.items() if k != "raw"})
        for row in messages
    ]
    receipt = append_messages(
        services.tables(), DjangoClock(), rows, Cursor(*cursor), originals=originals
    )
    run_soon(TICK)
    return {"ts": receipt.ts, "added": receipt.added, "duplicates": receipt.duplicates}


def annotate(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Append annotations that were made elsewhere: of people who have no account here."""
    from filters.runs.store.filter_store import DjangoClock
    from filters.site.work.parts import services
    from tapestry.core.message import Annotation
    from tapestry.tables.write.append import append_annotations

    receipt = append_annotations(services.tables(), DjangoClock(), [Annotation(**r) for r in rows])
    return {"ts": receipt.ts, "added": receipt.added}


def task(name: str, args: list[Any], kwargs: dict[str, Any], task_id: str | None = None) -> str:
    """Run a task, and return the traceback of the error that it ended with."""
    from tapestry.celery import app

    result = app.tasks[name].apply(args=args, kwargs=kwargs, task_id=task_id, throw=False)
    return str(result.traceback or "")


def token(name: str) -> str:
    """Make a token by which programs of a person may do all that there is, and return it."""
    from filters.api.authentication import make_token
    from filters.api.models import SCOPES
    from filters.people.models import User

    return make_token(User.objects.get(username=name), "a program", list(SCOPES), 365)[1]


def request(
    user: str,
    method: str,
    path: str,
    data: Any = None,
    headers: dict[str, str] | None = None,
    **more: Any,
) -> dict[str, Any]:
    """Ask for a page as somebody who is signed in, or as nobody; ``more`` goes to the client."""
    from django.test import Client

    from filters.people.models import User

    if user not in _clients:
        _clients[user] = Client(SERVER_NAME="localhost")
        _clients[user].handler = handler
    client = _clients[user]
    for _ in range(2):
        response = getattr(client, method)(path, data or {}, headers=headers or {}, **more)
        location = response.get("Location", "")
        if not (user and location.startswith("/sign-in/")):
            break
        client.force_login(User.objects.get(username=user))
    body = b"".join(response) if response.streaming else response.content
    return {
        "status": response.status_code,
        "location": location,
        "text": body.decode("utf-8", "replace"),
    }


def destination(
    person: str,
    kind: str,
    name: str,
    filters: list[int] | None,
    address: str,
    settings: dict[str, Any],
) -> int:
    """Make a destination, its address confirmed; of these filters, None for all."""
    from django.db import transaction

    from filters.authoring.models import Filter
    from filters.delivery.mail.addresses import address_of_person
    from filters.delivery.models import Address, Destination
    from filters.people.models import User
    from filters.runs.store.subscriptions import add_destination
    from filters.site.work.crypto import encryption
    from filters.site.work.parts import services
    from tapestry.core.clock import wall_clock
    from tapestry.deliver.http.signature import make_secret

    owner = User.objects.get(username=person)
    with transaction.atomic():
        made = Destination(owner=owner, kind=kind, name=name, settings=settings)
        if address:
            made.address = address_of_person(owner, address)
            Address.objects.filter(pk=made.address.pk).update(confirmed_at=wall_clock())
        if kind == "webhook":
            made.secret = encryption.encrypt(make_secret(), services.data())
        elif kind == "mailbox":
            made.secret = encryption.encrypt("of a mailbox", services.data())
        chosen = None if filters is None else list(Filter.objects.filter(pk__in=filters))
        add_destination(made, chosen)
    return int(made.pk)


def may_write(name: str, email: str) -> None:
    """Let somebody write from an address, as if they had proven that it is theirs."""
    from filters.delivery.models import Address
    from filters.people.models import User
    from tapestry.core.clock import wall_clock

    owner = User.objects.get(username=name)
    proof = {"proven": True, "confirmed_at": wall_clock()}
    Address.objects.update_or_create(owner=owner, email=email, defaults=proof)


def let_publish(name: str) -> None:
    """Let somebody bring mail for all whose mail they see."""
    from django.contrib.auth.models import Permission

    from filters.people.models import User

    publish = Permission.objects.get(codename="publish", content_type__app_label="sources")
    User.objects.get(username=name).user_permissions.add(publish)


def choose(key: int, filters: list[int] | None) -> None:
    """Have a destination take these filters, None for all."""
    from filters.authoring.models import Filter
    from filters.delivery.models import Destination
    from filters.runs.store.subscriptions import choose_filters

    chosen = None if filters is None else list(Filter.objects.filter(pk__in=filters))
    choose_filters(Destination.objects.get(pk=key), chosen)


def check_data() -> list[str]:
    """Return the problems that check-data finds."""
    from filters.upkeep import check_data

    return [str(damage) for damage in check_data.check().damages]


def health() -> dict[str, dict[str, object]]:
    """Return what the page of health says of each part."""
    from filters.runs.operator import health

    return health.states()


def waits() -> list[str]:
    """Return what `manage.py wait` waits for of all mail and votes that are here."""
    from filters.delivery.reached import remaining
    from filters.site.work.parts import services
    from tapestry.core.clock import wall_clock
    from tapestry.tables.delta.log import newest_instant

    return list(remaining(newest_instant(services.tables()), votes_until=wall_clock()).now)


def forget(audience: str, before: int | None) -> dict[str, int]:
    """Forget an audience's mail."""
    from dataclasses import asdict

    from filters.upkeep.forgetting import forget as forget_mail

    return asdict(forget_mail(audience, before))


def retain(audience: str, days: int) -> str:
    """Do what an hour brings, where mail of an audience is kept for so many days.

    The clock is believed: upkeep has run in each hour before.
    """
    from django.conf import settings

    from filters.upkeep import retention

    settings.RETENTION = {audience: days}
    trusted, retention.TRUSTED = retention.TRUSTED, 1 << 62
    try:
        return task("filters.compact", [], {})
    finally:
        settings.RETENTION, retention.TRUSTED = {}, trusted


def leave(name: str) -> None:
    """Delete the account of a person, as they ask for it, and all that goes with it."""
    from filters.people.membership.removal import removals
    from filters.people.models import User

    user = User.objects.filter(username=name, is_active=True).first()
    if user is not None:
        removals.ask(user)
    if failed := task("filters.tend_accounts", [], {}):
        raise RuntimeError(failed)  # the worker's beat asks for it again


def take_in(path: str, audience: str) -> None:
    """Take in the mail of an archive."""
    from filters.runs.store.filter_store import DjangoClock
    from filters.site.work.parts import services
    from filters.sources.pull.intake import SiteIntake
    from tapestry.ingest.command import ingest

    ingest(path, services.tables(), DjangoClock(), audience, SiteIntake())


def back_up(target: str) -> None:
    """Make a backup."""
    from filters.upkeep import backup

    backup.back_up(Path(target))


def restore(source: str) -> None:
    """Bring a backup back into an empty directory, and do what `manage.py restore` does then."""
    from filters.compose.sending.outbox import hold_restored
    from filters.imap.folders import forget_uids
    from filters.jmap.records import forget_accounts
    from filters.runs.store.release import begin_anew
    from filters.upkeep import backup

    backup.restore(Path(source))
    begin_anew()
    hold_restored()
    forget_uids()
    forget_accounts()


def be_small() -> None:
    """Have a small world have all that a large one has: checkpoints, merges, pages, floods."""
    from filters.delivery import feeds
    from filters.inbox.lists import conversations
    from tapestry.deliver.timing import flood
    from tapestry.tables.delta import commit
    from tapestry.tables.keys import hash_runs
    from tapestry.tables.write import compact

    commit.CHECKPOINT_EVERY, hash_runs.TAIL_FILES = 12, 4
    compact.compact_small_files.__defaults__ = (8,)
    feeds.MOST, flood.ALWAYS_ALLOWED, conversations.SHORT = 10, 6, 10


ORDERS = {
    order.__name__: order
    for order in (
        *(person, append, annotate, task, request, destination, choose, check_data, forget),
        *(group, health, retain, leave, take_in, back_up, restore, let_publish),
        *(may_write, token, waits),
        *(site_programs.read_mailbox, site_programs.set_flag),
        *(site_programs.read_by_jmap, site_programs.set_by_jmap),
        *(site_programs.send_by_jmap, site_programs.take_back_by_jmap),
    )
}
"""By name."""
