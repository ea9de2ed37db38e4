"""What became of the results of a query, told as RFC 8620, 5.6, has it; and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from filters.delivery.models import Address
from filters.people.models import User
from tapestry.tables.delta.log import Tables
from tests.filters.jmap.conftest import Program
from tests.support.lists.listed_mail import find, installed, letters

Sign = Callable[..., Program]

QUERIES: list[dict[str, Any]] = [
    {},
    {"collapseThreads": True},
    {"sort": [{"property": "receivedAt"}], "filter": {"notKeyword": "$seen"}},
    {"filter": {"noneInThreadHaveKeyword": "$seen"}},
    {"sort": [{"property": "hasKeyword", "keyword": "$flagged"}]},
    {"sort": [{"property": "to"}, {"property": "size"}, {"property": "subject"}]},
]


def changed(before: list[str], answer: dict[str, Any]) -> list[str]:
    """Return results as a program has them after it was told of changes."""
    results = [key for key in before if key not in answer["removed"]]
    for row in answer["added"]:
        results.insert(row["index"], row["id"])
    return results


@pytest.mark.parametrize("query", QUERIES)
def test_a_program_that_applies_the_changes_has_the_new_results(
    program: Sign, tables: Tables, alice: User, query: dict[str, Any]
) -> None:
    letters(tables, "a@x", "c@x", "d@x")
    letters(tables, "b@x", root="a@x")
    plans = installed(alice, "plans")
    find(tables, plans, "a@x", "c@x")
    call = program(alice)

    def seen(key: str) -> None:
        call("Email/set", update={key: {"keywords/$seen": True, "keywords/$flagged": True}})

    changes = [
        lambda: find(tables, plans, "b@x", "d@x"),
        lambda: seen(call("Email/query", filter={"subject": "b@x"})["ids"][0]),
        lambda: plans.matches.filter(msgid="c@x").delete(),
        lambda: None,
    ]
    for change in changes:
        found = call("Email/query", **query)
        assert found["canCalculateChanges"]
        change()
        since = {"sinceQueryState": found["queryState"]}
        answer = call("Email/queryChanges", **query, **since, calculateTotal=True)
        now = call("Email/query", **query)
        assert changed(found["ids"], answer) == now["ids"]
        assert answer["newQueryState"] == now["queryState"]
        assert answer["total"] == len(now["ids"])
    assert answer["added"] == answer["removed"] == []


def test_changes_of_mailboxes_are_told(program: Sign, tables: Tables, alice: User) -> None:
    plans = installed(alice, "plans")
    letters(tables, "a@x")
    call = program(alice)
    found = call("Mailbox/query", sort=[{"property": "name"}])
    find(tables, plans, "a@x")
    installed(alice, "archive")
    since = {"sinceQueryState": found["queryState"], "sort": [{"property": "name"}]}
    answer = call("Mailbox/queryChanges", **since)
    now = call("Mailbox/query", sort=[{"property": "name"}])["ids"]
    assert changed(found["ids"], answer) == now and len(now) == len(found["ids"]) + 1
    assert call.refusal("Mailbox/queryChanges", **since, maxChanges=1) == "tooManyChanges"
    assert call.refusal("Mailbox/queryChanges", sinceQueryState="x") == "cannotCalculateChanges"


def test_what_would_put_something_here_is_refused_in_the_words_of_the_standard(
    program: Sign, alice: User
) -> None:
    call = program(alice)
    answer = call("Email/import", emails={"new": {"blobId": "x", "mailboxIds": {}}})
    assert answer["notCreated"]["new"]["type"] == "invalidProperties"
    assert answer["created"] is None
    for name in ("Email/copy", "Blob/copy"):
        assert call.refusal(name, fromAccountId=call.account) == "invalidArguments"
        assert call.refusal(name, fromAccountId="x") == "fromAccountNotFound"


def test_the_signature_of_an_address_is_read_and_written(program: Sign, alice: User) -> None:
    Address.objects.create(owner=alice, email=alice.email, confirmed_at=1)
    call = program(alice)
    found = call("Identity/get")
    (row,) = found["list"]
    assert (row["email"], row["textSignature"]) == (alice.email, "")
    state = found["state"]
    assert call("Identity/changes", sinceState=state)["newState"] == state
    answer = call(
        "Identity/set",
        update={row["id"]: {"textSignature": "Alice\n"}, "x": {"name": "y"}},
        create={"new": {"email": "mary@example.org"}},
        destroy=[row["id"]],
    )
    assert answer["updated"] == {row["id"]: None}
    assert answer["notUpdated"]["x"]["type"] == "notFound"
    assert answer["notCreated"]["new"]["type"] == "forbiddenFrom"
    assert answer["notDestroyed"][row["id"]]["type"] == "forbidden"
    assert call("Identity/get")["list"][0]["textSignature"] == "Alice"
    assert call.refusal("Identity/changes", sinceState=state) == "cannotCalculateChanges"
    for patch in ({"textSignature": "x" * 2000}, {"textSignature": 1}, {"name": "Mary"}):
        answer = call("Identity/set", update={row["id"]: patch})
        assert answer["notUpdated"][row["id"]]["type"] == "invalidProperties"
    refused = call.refusal("Identity/set", ifInState=state)
    assert refused == "stateMismatch"
