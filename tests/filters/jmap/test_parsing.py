"""What programs upload, parse, and are shown of what a search has found."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from filters.jmap.calls.snippets import marked
from filters.jmap.models import JmapUpload
from filters.jmap.protocol import LIMITS
from filters.people.models import User
from filters.site.settings.budgets import read_budgets
from tapestry.tables.delta.log import Tables
from tests.filters.jmap.conftest import Program
from tests.filters.jmap.test_lists import RAW, put
from tests.support.lists.listed_mail import find, installed

Sign = Callable[..., Program]

FORWARDED = (
    b'Subject: Fwd\nContent-Type: multipart/mixed; boundary="f"\n\n--f\n'
    b"Content-Type: text/plain\n\nSee below.\n--f\nContent-Type: message/rfc822\n\n"
    + RAW
    + b"\n--f--\n"
)


def upload(call: Program, content: bytes, account: str = "") -> Any:
    return call.client.post(
        f"/jmap/upload/{account or call.account}/", content, "text/plain", headers=call.headers
    )


def test_an_attached_message_is_parsed(program: Sign, tables: Tables, alice: User) -> None:
    put(tables, "fwd@x", FORWARDED, attachments=1)
    find(tables, installed(alice, "plans"), "fwd@x")
    call = program(alice)
    (row,) = call("Email/get", properties=["blobId", "attachments"])["list"]
    (attached,) = row["attachments"]
    answer = call("Email/parse", blobIds=[attached["blobId"]], fetchTextBodyValues=True)
    parsed = answer["parsed"][attached["blobId"]]
    assert parsed["subject"] == "Café plan" and parsed["preview"] == "Shall we meet on Tuesday?"
    assert parsed["hasAttachment"] and "id" not in parsed
    (text,) = parsed["textBody"]
    assert "Tuesday" in parsed["bodyValues"][text["partId"]]["value"]
    (pdf,) = parsed["attachments"]
    file = call.get(f"/jmap/download/{call.account}/{pdf['blobId']}/plan.pdf")
    assert file.content == b"PDF"


def test_what_is_uploaded_is_its_owners_for_an_hour(
    program: Sign, alice: User, bob: User, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    call, other = program(alice), program(bob)
    answer = upload(call, RAW).json()
    assert (answer["size"], answer["type"]) == (len(RAW), "text/plain")
    blob = answer["blobId"]
    names = ["id", "threadId", "mailboxIds", "keywords", "receivedAt", "subject", "size"]
    parsed = call("Email/parse", blobIds=[blob, "none"], properties=names)
    assert parsed["parsed"][blob] == dict.fromkeys(names[:5]) | {
        "subject": "Café plan",
        "size": len(RAW),
    }
    assert parsed["notFound"] == ["none"]
    address = f"/jmap/download/{call.account}/{blob}/x"
    assert call.get(address).content == RAW
    assert other.get(address).status_code == 404
    assert other.get(address.replace(call.account, other.account)).status_code == 404
    assert other("Email/parse", blobIds=[blob])["notFound"] == [blob]
    assert upload(other, b"x", call.account).status_code == 404
    text = upload(call, b"no message at all").json()["blobId"]
    assert call("Email/parse", blobIds=[text])["notParsable"] == [text]
    JmapUpload.objects.update(at=1)
    assert call.get(address).status_code == 404
    settings.BUDGETS = read_budgets("bytes=3")
    assert upload(call, b"abc").status_code == 201
    assert JmapUpload.objects.count() == 1
    assert upload(call, b"d").status_code == 413
    monkeypatch.setitem(LIMITS, "maxSizeUpload", 3)
    refused = upload(call, b"abcd")
    assert refused.status_code == 400 and refused.json()["limit"] == "maxSizeUpload"


def test_the_words_of_a_filter_are_marked(program: Sign, tables: Tables, alice: User) -> None:
    put(tables, "café <plan>", RAW, body="Shall we meet & talk on Tuesday? " * 20)
    find(tables, installed(alice, "plans"), "café <plan>")
    call = program(alice)
    ids = call("Email/query")["ids"]
    ask = {
        "operator": "AND",
        "conditions": [
            {"text": "TUESDAY"},
            {"subject": "cafe"},
            {"operator": "NOT", "conditions": [{"text": "meet"}]},
        ],
    }
    answer = call("SearchSnippet/get", emailIds=[*ids, "none"], filter=ask)
    assert answer["notFound"] == ["none"]
    (row,) = answer["list"]
    assert row["emailId"] == ids[0]
    assert row["subject"] == "<mark>café</mark> &lt;plan&gt;"
    begin = "Shall we meet &amp; talk on <mark>Tuesday</mark>? Shall"
    assert row["preview"].startswith(begin) and len(row["preview"].encode()) <= 255
    answer = call("SearchSnippet/get", emailIds=ids, filter={"body": "elephant"})
    assert (answer["list"][0]["subject"], answer["list"][0]["preview"]) == (None, None)
    assert call("SearchSnippet/get", emailIds=ids)["notFound"] is None
    refused = call.refusal("SearchSnippet/get", emailIds=ids, filter={"unknown": 1})
    assert refused == "unsupportedFilter"


@pytest.mark.parametrize("text", ["a" * 300, "<" * 300, "é " * 300, "x" * 90 + " plan " + "&" * 99])
def test_a_marked_text_is_html_within_its_bytes(text: str) -> None:
    shown = marked(f"plan {text} plan", ["plan"])
    assert shown is not None and len(shown.encode()) <= 255
    assert shown.count("<mark>") == shown.count("</mark>") > 0
    assert not shown.endswith(("&", "&l", "&lt", "&am"))


def test_nothing_is_sent_that_is_not_there(program: Sign, alice: User) -> None:
    call = program(alice)
    answer = call("EmailSubmission/set", create={"new": {"emailId": "x"}}, destroy=["y"])
    assert answer["notCreated"]["new"]["type"] == "invalidProperties"
    state = answer["newState"]
    assert answer["notDestroyed"]["y"]["type"] == "notFound"
    assert call("EmailSubmission/get", ids=["y"])["notFound"] == ["y"]
    assert call("EmailSubmission/query", calculateTotal=True)["total"] == 0
    assert call("EmailSubmission/changes", sinceState=state)["created"] == []
    assert call("EmailSubmission/queryChanges", sinceQueryState=state)["added"] == []
    refused = call.refusal("EmailSubmission/changes", sinceState="1")
    assert refused == "cannotCalculateChanges"
    assert call.refusal("EmailSubmission/set", ifInState="1") == "stateMismatch"
