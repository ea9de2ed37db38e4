"""Mailboxes as objects: get, query, and the refusal to change them (RFC 8621, 2)."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import partial
from operator import itemgetter
from typing import Any

from filters.jmap.arguments import Get, MailboxQuery, QueryChanges, Question
from filters.jmap.letters import DRAFTS, SENT
from filters.jmap.models import JmapAccount, JmapRecord
from filters.jmap.objects import check_properties, get, page, query_changes
from filters.jmap.protocol import Arguments, MethodError
from filters.jmap.records import SHELVES, present
from filters.site.work.crypto.opaque_keys import encrypt

ROLES = {"inbox": "inbox", "starred": "flagged", DRAFTS: DRAFTS, SENT: SENT}
"""The role of shelves that have one (RFC 8621, 2)."""

_RIGHTS = {"mayReadItems": True, "maySetSeen": True, "maySetKeywords": True} | dict.fromkeys(
    (
        *("mayAddItems", "mayRemoveItems", "mayCreateChild", "mayRename", "mayDelete"),
        "maySubmit",
    ),
    False,
)

_RIGHTS_OF_DRAFTS = _RIGHTS | dict.fromkeys(("mayAddItems", "mayRemoveItems", "maySubmit"), True)

_PROPERTIES = (
    *("name", "parentId", "role", "sortOrder", "totalEmails", "unreadEmails", "totalThreads"),
    *("unreadThreads", "myRights", "isSubscribed"),
)

_CONDITIONS = {"parentId", "name", "role", "hasAnyRole", "isSubscribed"}

DEEPEST = 10
"""Levels of operators in a filter."""


def mailbox_get(account: JmapAccount, given: Get) -> Arguments:
    """Return Mailboxes (RFC 8621, 2.1)."""

    def objects(
        account: JmapAccount, records: Sequence[JmapRecord], names: Sequence[str]
    ) -> list[dict[str, Any]]:
        check_properties(names, ("id", *_PROPERTIES))
        return [{name: _mailbox(record)[name] for name in names} for record in records]

    return get(account, JmapRecord.MAILBOX, given, _PROPERTIES, objects)


def mailbox_query(account: JmapAccount, given: MailboxQuery) -> Arguments:
    """Return the Mailboxes that meet a filter, in order (RFC 8621, 2.3)."""
    return page(account, JmapRecord.MAILBOX, given, _results(account, given))


def mailbox_query_changes(account: JmapAccount, given: QueryChanges) -> Arguments:
    """Return what became of the results of a query (RFC 8621, 2.4)."""
    return query_changes(account, JmapRecord.MAILBOX, given, partial(_results, account, given))


def _results(account: JmapAccount, given: Question) -> list[int]:
    boxes = [(record.pk, _mailbox(record)) for record in present(account, JmapRecord.MAILBOX)]
    kept = [(key, box) for key, box in boxes if meets(given.filter, partial(_met, box))]
    kept.sort(key=itemgetter(0))
    for order in reversed(given.sort or ()):
        if order.property not in ("name", "sortOrder"):
            raise MethodError("unsupportedSort", f"“{order.property[:100]}” is no order here.")
        name = order.property
        kept.sort(key=lambda row: _folded(row[1][name]), reverse=not order.is_ascending)
    return [key for key, _ in kept]


def _mailbox(record: JmapRecord) -> dict[str, Any]:
    name, total, unread, threads, unread_threads = json.loads(record.value)
    shelves = list(SHELVES.values())
    is_shelf = record.name in shelves
    return {
        "id": encrypt(record.pk),
        "name": name,
        "parentId": None,
        "role": ROLES.get(record.name),
        "sortOrder": shelves.index(record.name) + 1 if is_shelf else 10,
        "totalEmails": total,
        "unreadEmails": unread,
        "totalThreads": threads,
        "unreadThreads": unread_threads,
        "myRights": _RIGHTS_OF_DRAFTS if record.name == DRAFTS else _RIGHTS,
        "isSubscribed": True,
    }


def meets(condition: Any, met: Callable[[dict[str, Any]], bool], depth: int = 0) -> bool:
    """Tell whether a filter (RFC 8620, 5.5) is met, by what its conditions are."""
    if condition is None:
        return True
    if not isinstance(condition, dict) or depth > DEEPEST:
        raise MethodError("unsupportedFilter")
    if "operator" in condition:
        results = [meets(part, met, depth + 1) for part in parts_of(condition)]
        operator = condition["operator"]
        return {"AND": all(results), "OR": any(results), "NOT": not any(results)}[operator]
    return met(condition)


def _met(box: dict[str, Any], condition: dict[str, Any]) -> bool:
    if not _CONDITIONS.issuperset(condition):
        raise MethodError("unsupportedFilter")
    for name, value in condition.items():
        if name == "name":
            met = isinstance(value, str) and value.casefold() in box["name"].casefold()
        elif name == "hasAnyRole":
            met = (box["role"] is not None) == value
        else:
            met = box[name] == value
        if not met:
            return False
    return True


def parts_of(condition: dict[str, Any]) -> list[Any]:
    """Return the conditions of an operator; MethodError if it is none."""
    parts = condition.get("conditions")
    if (
        condition.keys() != {"operator", "conditions"}
        or condition["operator"] not in ("AND", "OR", "NOT")
        or not isinstance(parts, list)
    ):
        raise MethodError("invalidArguments", "An operator is AND, OR or NOT, of conditions.")
    return parts


def _folded(value: Any) -> Any:
    return value.casefold() if isinstance(value, str) else value
