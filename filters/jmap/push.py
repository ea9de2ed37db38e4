"""Push: programs are told of what is new where they said (RFC 8620, 7.2; RFC 9749).

    PushSubscription/set ─ a code is sent there ─ it comes back ─> on
    a filter finds, or lets go ─ delivery ─> send ─┬─> StateChange
                                                   └─> EmailPush, of a filter of ours

A subscription is a destination, as that of a browser is, and listed with these: it is claimed,
tried again, limited and removed as they are.  It ends with its token.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils.crypto import constant_time_compare
from limits import parse

from filters.api.authentication import token_with
from filters.api.models import AccessToken
from filters.delivery.models import Destination
from filters.delivery.ways.push import MOST_BROWSERS, PROGRAM, browsers_of
from filters.delivery.ways.vapid import vapid_keys
from filters.jmap import arguments
from filters.jmap.arguments import PushGet, PushSet, read
from filters.jmap.calls.emails import email_objects
from filters.jmap.headers import moment
from filters.jmap.models import JmapAccount, JmapRecord
from filters.jmap.objects import SetError, id_of, key_of, set_objects
from filters.jmap.protocol import Arguments, MethodError
from filters.jmap.records import account_of, present, state_of
from filters.runs.models import ReleaseCounter
from filters.site.work.crypto import encryption
from filters.site.work.crypto.opaque_keys import encrypt, keyed_digest
from filters.site.work.db.deleting import delete_locked
from filters.site.work.parts import services
from filters.site.work.queues.queue import send as send_task
from filters.site.work.rate_limits import Count, TooManyTriesError, digest, reserve
from tapestry.core.clock import DAY, parse_instant, wall_clock
from tapestry.core.errors import TapestryError
from tapestry.deliver.batch import Batch, Outcome
from tapestry.deliver.http.push_keys import PushSubscription, read_subscription
from tapestry.deliver.one_line import one_line
from tapestry.deliver.ways import push
from tapestry.servers.private_hosts import read_target

LONGEST = 30 * DAY
"""How long a subscription lasts unless its program asks again."""

TYPES = (JmapRecord.EMAIL, JmapRecord.MAILBOX, JmapRecord.THREAD)
"""What a program is told of, beside "EmailDelivery" (RFC 8621, 1.5)."""

PROPERTIES = ("id", "deviceClientId", "verificationCode", "expires", "types", "emailPush")


MOST_PUSHED, ENVELOPE = 50, 200
"""Messages of a batch that are pushed, and bytes of what is around them."""

MADE = parse("20/hour")
"""Subscriptions that a person may make: each is sent a code."""

VERIFY = "filters.verify_push"

_NO_BODIES = arguments.EmailGet.model_validate({"accountId": ""})


def push_get(token: AccessToken, given: PushGet) -> Arguments:
    """Return the subscriptions of a token (RFC 8620, 7.2.1); addresses and keys are not told."""
    names = PROPERTIES if given.properties is None else given.properties
    if not {"id", *PROPERTIES}.issuperset(names):
        raise MethodError("forbidden" if {"url", "keys"} & set(names) else "invalidArguments")
    rows = {encrypt(row.pk): row for row in _subscriptions(token)}
    ids = list(rows) if given.ids is None else given.ids
    return {
        "list": [
            {name: _values(rows[text])[name] for name in ("id", *names)}
            for text in ids
            if text in rows
        ],
        "notFound": [text for text in ids if text not in rows],
    }


def push_set(token: AccessToken, given: PushSet) -> Arguments:
    """Make, change and delete subscriptions of a token (RFC 8620, 7.2.2)."""

    def create(_: str, values: dict[str, Any]) -> dict[str, Any]:
        return _create(token, values)

    def update(key: str, values: dict[str, Any]) -> None:
        _update(_one(token, key), values)

    def destroy(key: str, _: None) -> None:
        delete_locked(_subscriptions(token).filter(pk=_one(token, key).pk))

    return set_objects(given, create, update, destroy)


def verify(key: int) -> None:
    """Send a subscription its code, which its program sends back; nothing if it is gone."""
    row = Destination.objects.filter(pk=key).first()
    if row is None:
        return
    code = code_of(row)
    document = {
        "@type": "PushVerification",
        "pushSubscriptionId": encrypt(row.pk),
        "verificationCode": code,
    }
    _post(row, document, code)


def code_of(row: Destination) -> str:
    """Return the code of a subscription, which shows that its program reads what is sent there."""
    return keyed_digest("jmap push", str(row.uid))[:32]


def send(destination: Destination, batch: Batch) -> Outcome:
    """Tell a program what a batch has changed; it is refused where its token has ended."""
    program = destination.settings[PROGRAM]
    if token_with(program["token"], "jmap") is None or program["until"] <= wall_clock():
        return Outcome("refused", "The access of this program has ended.")
    outcome = Outcome("delivered", "Nothing of this was asked for.")
    account = account_of(destination.owner)
    for document in _documents(account, program, batch):
        outcome = _post(destination, document, batch.key)
        if outcome.state != "delivered":
            break
    return outcome


def _documents(
    account: JmapAccount, program: dict[str, Any], batch: Batch
) -> Iterator[dict[str, Any]]:
    emails, types = _pushed(account, program, batch), program["types"]
    states = {kind: state_of(account, kind) for kind in TYPES}
    if emails:
        state = states[JmapRecord.EMAIL]
        yield {
            "@type": "EmailPush",
            "accountId": id_of(account),
            "emails": emails,
            "state": state,
        }
    if batch.entered():
        states["EmailDelivery"] = states[JmapRecord.EMAIL]
    if told := {kind: state for kind, state in states.items() if types is None or kind in types}:
        yield {"@type": "StateChange", "changed": {id_of(account): told}}


def _pushed(account: JmapAccount, program: dict[str, Any], batch: Batch) -> list[dict[str, Any]]:
    """Return of what a filter found as many properties as a push service takes, the first first."""
    wanted = next(iter((program["emailPush"] or {}).values()), None)  # a restored one has its id
    found = [
        (match.msgid, match.audience)
        for match in batch.entered() * bool(wanted)
        if program["filter"] in (0, match.filter_id)
    ][:MOST_PUSHED]
    emails = present(account, JmapRecord.EMAIL).filter(card__msgid__in=[key for key, _ in found])
    records = [
        record
        for record in emails.select_related("card")
        if record.card is not None and (record.card.msgid, record.card.audience) in found
    ]
    names = list(wanted["properties"]) if wanted else []
    while names and records:
        pushed = email_objects(_NO_BODIES, account, records, names)
        if len(json.dumps(pushed)) <= push.LARGEST - ENVELOPE:
            return pushed
        names, records = (names[:-1], records) if len(names) > 1 else (names, records[:-1])
    return []


def _post(row: Destination, document: dict[str, Any], key: str) -> Outcome:
    stored = json.loads(encryption.decrypt(row.secret, services.data()))
    keys = _keys(stored)
    headers = push.headers_of(f"{key} {document['@type']}")
    if keys is None:
        headers = {**headers, "Content-Type": "application/json"}
        del headers["Content-Encoding"]
    return push.send_document(
        json.dumps(document, separators=(",", ":")).encode(),
        stored["endpoint"],
        keys,
        vapid_keys(),
        wall_clock(),
        headers,
        allowed=settings.PRIVATE_HOSTS,
    )


def _keys(stored: dict[str, Any]) -> PushSubscription | None:
    return read_subscription(stored) if stored.get("keys") else None


def _subscriptions(token: AccessToken) -> QuerySet[Destination]:
    """Return the subscriptions of a token; those that have expired are deleted."""
    rows = browsers_of(token.owner).filter(settings__program__token=token.pk)
    delete_locked(rows.filter(settings__program__until__lte=wall_clock()))
    return rows.order_by("pk")


def _one(token: AccessToken, text: str) -> Destination:
    row = _subscriptions(token).filter(pk=key_of(text)).first()
    if row is None:
        raise SetError("notFound")
    return row


def _values(row: Destination) -> dict[str, Any]:
    known = {"id": encrypt(row.pk), "verificationCode": code_of(row) if row.active else None}
    program = row.settings[PROGRAM]
    return known | {name: program[name] for name in PROPERTIES if name not in known}


def _create(token: AccessToken, values: dict[str, Any]) -> dict[str, Any]:
    owner = token.owner
    try:
        given = read(arguments.PushSubscription, values)
        stored = {"endpoint": given.url, "keys": given.keys}
        if read_target(given.url).scheme != "https":
            raise SetError("invalidProperties", "url")
        _keys(stored)
    except (MethodError, TapestryError) as error:
        raise SetError("invalidProperties", "url", "keys", "types") from error
    if given.verification_code is not None:
        raise SetError("invalidProperties", "verificationCode")
    program = {
        "token": token.pk,
        "deviceClientId": given.device_client_id,
        "types": given.types,
        **_until(given.expires),
        **_email_push(account_of(owner), given.email_push),
    }
    if browsers_of(owner).count() >= MOST_BROWSERS:
        raise SetError("overQuota")
    try:
        reserve([Count("push", MADE, digest("jmap push", str(owner.pk)))])
    except TooManyTriesError as error:
        raise SetError("rateLimit") from error
    row = Destination.objects.create(
        owner=owner,
        kind="push",
        name=one_line(given.device_client_id, 60),
        settings={PROGRAM: program, "digest": "", "browser": ""},
        secret=encryption.encrypt(json.dumps(stored), services.data()),
        active=False,
    )
    _verify_soon(row.pk)
    made = _values(row)
    return {name: made[name] for name in ("id", "expires")}


def _verify_soon(key: int) -> None:
    from tapestry.celery import app  # here alone: commands that send no task start sooner

    send_task(app.signature(VERIFY), (key,), otherwise="A code is not sent", expires=600)


@transaction.atomic
def _update(row: Destination, values: dict[str, Any]) -> None:
    try:
        given = read(arguments.PushChange, values)
    except MethodError as error:
        raise SetError("invalidProperties", *sorted(values)) from error
    position = ReleaseCounter.lock().last
    stored = Destination.objects.select_for_update().filter(pk=row.pk).first()
    if stored is None:
        raise SetError("notFound")
    row = stored  # where a delivery has come to by now
    program = row.settings[PROGRAM]
    if "verificationCode" in values:
        if not constant_time_compare(given.verification_code or "", code_of(row)):
            raise SetError("invalidProperties", "verificationCode")
        if not row.active:
            row.active, row.all_since, row.cursor, row.latest = True, position, position, position
    if "types" in values:
        program["types"] = given.types
    if "expires" in values:
        program |= _until(given.expires)
    if "emailPush" in values:
        program |= _email_push(account_of(row.owner), given.email_push)
    row.save(update_fields=["settings", "active", "all_since", "cursor", "latest"])


def _until(text: str | None) -> dict[str, Any]:
    """Return until when a subscription lasts of which a program says so."""
    until = wall_clock() + LONGEST
    try:
        until = until if text is None else min(parse_instant(text), until)
    except ValueError as error:
        raise SetError("invalidProperties", "expires") from error
    return {"until": until, "expires": moment(until)}


def _email_push(account: JmapAccount, given: dict[str, Any] | None) -> dict[str, Any]:
    """Return what messages are pushed, and of which filter: 0 for any.

    A condition of one mailbox, that of a filter, is what there is: it runs already.
    """
    if not given:
        return {"emailPush": None, "filter": 0}
    wanted = given.get(id_of(account))
    if len(given) > 1 or not isinstance(wanted, dict):
        raise SetError("invalidProperties", "emailPush")
    condition, names = wanted.get("filter"), wanted.get("properties")
    box = condition.get("inMailbox") if isinstance(condition, dict) else None
    rows = present(account, JmapRecord.MAILBOX).filter(pk=key_of(box) if box else 0)
    filter_ = next((name for name in rows.values_list("name", flat=True) if name.isdecimal()), "")
    is_known = not condition or (set(condition) == {"inMailbox"} and filter_)
    if not is_known or not isinstance(names, list) or not names:
        raise SetError("invalidProperties", "emailPush")
    try:
        email_objects(_NO_BODIES, account, [], names)
    except MethodError as error:
        raise SetError("invalidProperties", "emailPush") from error
    return {"emailPush": given, "filter": int(filter_ or 0)}
