"""What a mail program is told by JMAP of the lists of a person, without ids: these are random."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from django.test import Client

from filters.jmap.protocol import CORE, MAIL

SHOWN = (
    "subject",
    "from",
    "receivedAt",
    "keywords",
    "preview",
    "hasAttachment",
    "size",
    "textBody",
)
COUNTS = ("name", "totalEmails", "unreadEmails", "totalThreads", "unreadThreads")
FILTERS: tuple[dict[str, Any], ...] = (
    {},
    {"text": "plan"},
    {"from": "mary"},
    {"hasKeyword": "$seen"},
    {"header": ["subject"]},
)


def told_by_jmap(client: Client, headers: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the mailboxes, and what is found by each filter, each by a name."""
    session = client.get("/.well-known/jmap", headers=headers).json()
    account = {"accountId": next(iter(session["accounts"]))}
    calls = [["Mailbox/get", account | {"properties": COUNTS}, "boxes"]]
    for number, condition in enumerate(FILTERS):
        sort = [{"property": "receivedAt"}, {"property": "subject"}]
        found = {"resultOf": f"q{number}", "name": "Email/query", "path": "/ids"}
        calls += [
            ["Email/query", account | {"filter": condition, "sort": sort}, f"q{number}"],
            ["Email/get", account | {"#ids": found, "properties": SHOWN}, f"g{number}"],
        ]
    words = {"#emailIds": {**found, "resultOf": "q0"}, "filter": {"text": "plan"}}
    calls.append(["SearchSnippet/get", account | words, "s"])
    by_size = {"sort": [{"property": "size"}, {"property": "to"}, {"property": "subject"}]}
    calls.append(["Email/query", account | by_size, "q"])
    sized = {"#ids": {**found, "resultOf": "q"}, "properties": ["size", "to"]}
    calls.append(["Email/get", account | sized, "g"])
    content = json.dumps({"using": [CORE, MAIL], "methodCalls": calls})
    response = client.post("/jmap/api/", content, content_type="application/json", headers=headers)
    for name, answer, call in response.json()["methodResponses"]:
        assert name != "error", answer
        if name != "Email/query":
            rows = [_without_ids(row) for row in answer["list"]]
            yield f"{name} {call}", json.dumps(rows, sort_keys=True)


def _without_ids(row: dict[str, Any]) -> dict[str, Any]:
    parts = [{**part, "blobId": ""} for part in row.get("textBody", ())]
    return {**row, "id": "", "emailId": "", "textBody": parts}
