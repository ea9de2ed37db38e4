"""The orders of Email/query."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from filters.jmap.models import JmapRecord
from filters.jmap.objects import key_of
from filters.people.models import User
from filters.runs.store.filter_store import DjangoClock
from tapestry.core.message import Message
from tapestry.tables.delta.log import Tables
from tapestry.tables.write.append import append_messages
from tests.filters.jmap.conftest import Program
from tests.support.lists.listed_mail import find, installed

Sign = Callable[..., Program]


def test_subjects_are_ordered_without_what_replies_and_lists_put_before_them(
    program: Sign, tables: Tables, alice: User
) -> None:
    subjects = {"c@x": "Re: [plans] beds", "a@x": "apples", "b@x": "Beds", "d@x": "AW: Fwd: cows"}
    for msgid, subject in subjects.items():
        append_messages(tables, DjangoClock(), [Message(msgid, subject=subject)])
    find(tables, installed(alice, "plans"), *subjects)
    call = program(alice)

    def found(*sort: dict[str, Any]) -> str:
        ids = call("Email/query", sort=list(sort))["ids"]
        records = JmapRecord.objects.in_bulk(map(key_of, ids))
        return "".join(record.card.msgid[0] for record in map(records.get, map(key_of, ids)))

    received = {"property": "receivedAt", "isAscending": True}
    assert found({"property": "subject"}, received) == "acbd"
    assert found({"property": "subject", "isAscending": False}, received) == "dcba"
    call(
        "Email/set",
        update={call("Email/query", sort=[received])["ids"][3]: {"keywords/$seen": True}},
    )
    is_seen = {"property": "hasKeyword", "keyword": "$seen", "isAscending": False}
    assert found(is_seen, {"property": "subject"}, received) == "dacb"
