"""What /get and /changes do for all kinds of objects: records by their ids, and as objects."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from typing import Any

from filters.jmap.arguments import Changes, Get, Import, PushSet, Query, QueryChanges, Set
from filters.jmap.models import JmapAccount, JmapRecord
from filters.jmap.protocol import LIMITS, Arguments, MethodError
from filters.jmap.records import changes, present, state_of
from filters.site.work.crypto.opaque_keys import decrypt, encrypt
from filters.site.work.db.batching import in_batches


class SetError(Exception):
    """One object is not made, changed or deleted (RFC 8620, 5.3)."""

    def __init__(self, kind: str, *properties: str, description: str = "") -> None:
        super().__init__(kind)
        self.answer: dict[str, Any] = {"type": kind}
        if properties:
            self.answer["properties"] = list(properties)
        if description:
            self.answer["description"] = description


MOST_CHANGES, MOST_CHANGED = 500, 5000
"""Changes that are told at once of a kind, and of a query."""

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
        for record in batch.select_related("card", "letter__owner")
    }
    return {text: found[key] for key, text in keys.items() if key in found}


def get(
    account: JmapAccount, kind: str, given: Get, properties: Sequence[str], objects: Objects
) -> Arguments:
    """Return objects of a kind; ``properties`` are those that are given unless some are named."""
    if given.ids is None:
        records = list(
            present(account, kind).select_related("card", "letter__owner")[
                : LIMITS["maxObjectsInGet"] + 1
            ]
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


def no_changes(account: JmapAccount, state: str, given: Changes) -> Arguments:
    """Return that nothing has changed; MethodError where there is another state."""
    if given.since_state != state:
        raise MethodError("cannotCalculateChanges")
    lists: Arguments = {"created": [], "updated": [], "destroyed": [], "hasMoreChanges": False}
    return {"accountId": id_of(account), "oldState": state, "newState": state, **lists}


def check_state(given: Set | Import, state: str) -> None:
    """Raise MethodError where a program knows another state."""
    if given.if_in_state not in (None, state):
        raise MethodError("stateMismatch")


def set_objects(
    given: Set | PushSet,
    create: Callable[[str, Any], Any],
    update: Callable[[str, Any], Any],
    destroy: Callable[[str, Any], Any],
) -> Arguments:
    """Make, change and delete objects one by one; return what became of each (RFC 8620, 5.3)."""
    doomed = dict.fromkeys(given.destroy or ())
    answer: Arguments = {}
    for name, objects, act in (
        ("Created", given.create, create),
        ("Updated", given.update, update),
        ("Destroyed", doomed, destroy),
    ):
        done, refused = {}, {}
        for key, values in (objects or {}).items():
            try:
                done[key] = act(key, values)
            except SetError as error:
                refused[key] = error.answer
        answer |= {name.lower(): done or None, f"not{name}": refused or None}
    return answer | {"destroyed": list(answer["destroyed"] or ()) or None}


def refusing(
    kind: str, description: str = "", known: Container[str] | None = None
) -> Callable[[str, Any], Any]:
    """Return what refuses to act on an object; ``known`` are the ids of all that there are."""

    def refuse(key: str, _: Any) -> Any:
        if known is not None and key not in known:
            raise SetError("notFound")
        raise SetError(kind, description=description)

    return refuse


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
        "canCalculateChanges": True,
        "position": start,
        "ids": list(map(encrypt, keys[start : start + limit])),
    }
    if given.limit is None or given.limit > most:
        answer["limit"] = most
    return answer | ({"total": len(keys)} if given.calculate_total else {})


def query_changes(
    account: JmapAccount,
    kind: str,
    given: QueryChanges,
    results: Callable[[], Sequence[int]],
    related: Callable[[set[int]], set[int]] = set,
) -> Arguments:
    """Return what became of the results of a query since a state (RFC 8620, 5.6).

    All that has changed since is taken out of the results, and put in where it is one now: it may
    stand elsewhere.  So is what is ``related`` to it, by whose changes it becomes a result.
    """
    most = MOST_CHANGED if given.max_changes is None else given.max_changes
    found = changes(account, kind, given.since_query_state, MOST_CHANGED)
    new = set(found.created)
    changed = related({*new, *found.updated, *found.destroyed})
    removed = sorted(changed - new)
    keys = results() if changed or given.calculate_total else ()
    added = [(index, key) for index, key in enumerate(keys) if key in changed]
    if found.more or len(removed) + len(added) > most:
        raise MethodError("tooManyChanges")
    answer: Arguments = {
        "accountId": id_of(account),
        "oldQueryState": given.since_query_state,
        "newQueryState": found.until,
        "removed": list(map(encrypt, removed)),
        "added": [{"id": encrypt(key), "index": index} for index, key in added],
    }
    return answer | ({"total": len(keys)} if given.calculate_total else {})
