"""What /get and /changes do for all kinds of objects: records by their ids, and as objects."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from filters.jmap.arguments import Changes, Get, Query
from filters.jmap.models import JmapAccount, JmapRecord
from filters.jmap.protocol import LIMITS, Arguments, MethodError
from filters.jmap.records import changes, present, state_of
from filters.site.work.crypto.opaque_keys import decrypt, encrypt
from filters.site.work.db.batching import in_batches

MOST_CHANGES = 500

Objects = Callable[[JmapAccount, Sequence[JmapRecord], Sequence[str]], list[dict[str, Any]]]
"""Returns properties of records, in their order."""


def id_of(account: JmapAccount) -> str:
    """Return the id of an account."""
    return encrypt(account.pk)


def key_of(text: str) -> int:
    """Return the key of the record that an id names; 0, which is that of none, if there is none."""
    try:
        return decrypt(text)
    except ValueError:
        return 0


def records_of(account: JmapAccount, kind: str, ids: Iterable[str]) -> dict[str, JmapRecord]:
    """Return the records that are there under some ids, by id."""
    keys = {key_of(text): text for text in ids}
    found = {
        record.pk: record
        for batch in in_batches(present(account, kind), keys)
        for record in batch.select_related("card")
    }
    return {text: found[key] for key, text in keys.items() if key in found}


def get(
    account: JmapAccount, kind: str, given: Get, properties: Sequence[str], objects: Objects
) -> Arguments:
    """Return objects of a kind; ``properties`` are those that are given unless some are named."""
    if given.ids is None:
        records = list(
            present(account, kind).select_related("card")[: LIMITS["maxObjectsInGet"] + 1]
        )
        missing: list[str] = []
    else:
        check_count(given.ids, "maxObjectsInGet")
        found = records_of(account, kind, given.ids)
        records, missing = list(found.values()), [text for text in given.ids if text not in found]
    check_count(records, "maxObjectsInGet")
    names = list(
        dict.fromkeys(["id", *(properties if given.properties is None else given.properties)])
    )
    return {
        "accountId": id_of(account),
        "state": state_of(account, kind),
        "list": objects(account, records, names),
        "notFound": list(dict.fromkeys(missing)),
    }


def check_count(items: Sequence[object], limit: str) -> None:
    """Raise MethodError where there are more than a limit allows."""
    if len(items) > LIMITS[limit]:
        raise MethodError("requestTooLarge", f"At most {LIMITS[limit]} at a time ({limit}).")


def check_properties(names: Sequence[str], known: Iterable[str]) -> None:
    """Raise MethodError for a property that no object of a kind has."""
    unknown = sorted(set(names).difference(known))
    if unknown:
        raise MethodError("invalidArguments", f"“{unknown[0][:100]}” is no property.")


def changes_of(account: JmapAccount, kind: str, given: Changes) -> Arguments:
    """Return what became of the objects of a kind since a state."""
    most = min(given.max_changes or MOST_CHANGES, MOST_CHANGES)
    found = changes(account, kind, given.since_state, most)
    answer: Arguments = {
        "accountId": id_of(account),
        "oldState": given.since_state,
        "newState": found.until,
        "hasMoreChanges": found.more,
        "created": list(map(encrypt, found.created)),
        "updated": list(map(encrypt, found.updated)),
        "destroyed": list(map(encrypt, found.destroyed)),
    }
    return answer | ({"updatedProperties": None} if kind == JmapRecord.MAILBOX else {})


def page(account: JmapAccount, kind: str, given: Query, keys: Sequence[int]) -> Arguments:
    """Return the part of the results of a query that is asked for (RFC 8620, 5.5)."""
    start = given.position
    if given.anchor is not None:
        try:
            start = max(0, keys.index(key_of(given.anchor)) + given.anchor_offset)
        except ValueError:
            raise MethodError("anchorNotFound") from None
    elif start < 0:
        start = max(0, len(keys) + start)
    most = LIMITS["maxObjectsInGet"]
    limit = most if given.limit is None else min(given.limit, most)
    answer: Arguments = {
        "accountId": id_of(account),
        "queryState": state_of(account, kind),
        "canCalculateChanges": False,
        "position": start,
        "ids": list(map(encrypt, keys[start : start + limit])),
    }
    if given.limit is None or given.limit > most:
        answer["limit"] = most
    return answer | ({"total": len(keys)} if given.calculate_total else {})
