"""Letters over JMAP: drafts that a program makes, imports and sends off, and what was sent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from filters.compose.models import OutgoingMessage
from filters.delivery.models import Address
from filters.people.models import User
from tapestry.tables.delta.log import Tables
from tests.filters.jmap.conftest import Program
from tests.filters.jmap.test_lists import put, told
from tests.support.delivery.composed import LETTER, send_due
from tests.support.servers.smtp import SmtpServer

Sign = Callable[..., Program]

MIXED = {
    "type": "multipart/mixed",
    "subParts": [
        {
            "type": "multipart/alternative",
            "subParts": [
                {"type": "text/plain", "partId": "t"},
                {"type": "text/html", "partId": "h"},
            ],
        }
    ],
}


@pytest.fixture
def call(program: Sign, alice: User) -> Program:
    """A mail program of alice, who may write from her address."""
    Address.objects.create(owner=alice, email=alice.email, confirmed_at=1)
    return program(alice)


def draft(call: Program, box: str = "Drafts", **more: Any) -> dict[str, Any]:
    """Return an Email with a text, to be made in a mailbox."""
    return {
        "mailboxIds": {call.boxes()[box]["id"]: True},
        "keywords": {"$draft": True, "$seen": True},
        "from": [{"name": "Alice", "email": "alice@example.org"}],
        "to": [{"name": "Jones, Mary", "email": "mary@x.org"}],
        "subject": "Café",
        "textBody": [{"partId": "t", "type": "text/plain"}],
        "bodyValues": {"t": {"value": "At noon?"}},
    } | more


def made(call: Program, **more: Any) -> dict[str, Any]:
    return call("Email/set", create={"d": draft(call, **more)})["created"]["d"]


def uploaded(call: Program, content: bytes) -> str:
    address = f"/jmap/upload/{call.account}/"
    answer = call.client.post(address, content, content_type="image/png", headers=call.headers)
    return answer.json()["blobId"]


def sent_off(call: Program, key: str, **more: Any) -> dict[str, Any]:
    (identity,) = (row["id"] for row in call("Identity/get")["list"])
    values = {"identityId": identity, "emailId": key, **more}
    return call("EmailSubmission/set", create={"s": values})


def test_a_draft_of_a_program_is_one_of_the_site(call: Program, alice: User) -> None:
    file = {"type": "image/png", "name": "../a.png", "blobId": uploaded(call, b"PNG")}
    body = MIXED | {"subParts": [*MIXED["subParts"], file]}
    texts = {"t": {"value": "At noon?"}, "h": {"value": "<b>At noon?</b>"}}
    bcc = [{"email": "boss@x.org"}]
    new = made(call, textBody=[], bodyStructure=body, bodyValues=texts, bcc=bcc)
    row = alice.outgoing_messages.get()
    assert (row.to, row.bcc) == ('"Jones, Mary" <mary@x.org>', "boss@x.org")
    assert (row.subject, row.body, row.is_draft) == ("Café", "At noon?", True)
    assert row.attachments.get().name == "a.png"
    wanted = ["subject", "to", "bcc", "keywords", "mailboxIds", "hasAttachment", "size", "threadId"]
    (read,) = call("Email/get", ids=[new["id"]], properties=[*wanted, "attachments"])["list"]
    assert read["to"] == [{"name": "Jones, Mary", "email": "mary@x.org"}]
    assert read["bcc"] == [{"name": None, "email": "boss@x.org"}]
    assert read["keywords"] == {"$draft": True, "$seen": True} and read["hasAttachment"]
    assert (read["size"], read["threadId"]) == (new["size"], new["threadId"])
    content = call.get(f"/jmap/download/{call.account}/{read['attachments'][0]['blobId']}/a")
    assert content.content == b"PNG"
    assert call.boxes()["Drafts"]["totalEmails"] == 1
    for condition in ({"text": "noon"}, {"hasAttachment": True}, {"header": ["bcc", "boss"]}):
        assert call("Email/query", filter=condition)["ids"] == [new["id"]]
    for name in ("receivedAt", "subject", "from", "size", "to"):
        assert call("Email/query", sort=[{"property": name}])["ids"] == [new["id"]]
    assert call("Thread/get", ids=[new["threadId"]])["list"][0]["emailIds"] == [new["id"]]


def test_a_draft_lies_where_it_was_put(call: Program, alice: User) -> None:
    new = made(call, box="INBOX", keywords={})
    assert new["keywords"] == {"$draft": True, "$seen": True}
    made(call)
    boxes = call.boxes()
    assert [boxes[name]["totalEmails"] for name in ("INBOX", "Drafts")] == [1, 1]


def test_a_file_without_a_name_has_one(call: Program, alice: User) -> None:
    blob = uploaded(call, b"PNG")
    for name in ("..", "", None):
        made(call, attachments=[{"type": "a/b", "name": name, "blobId": blob}])
    rows = alice.outgoing_messages.all()
    assert {row.attachments.get().name for row in rows} == {"file"}


def test_of_html_alone_its_text_is_kept(call: Program, alice: User) -> None:
    html = [{"partId": "t", "type": "text/html"}]
    made(call, textBody=[], htmlBody=html, bodyValues={"t": {"value": "<p>At <b>noon</b></p>"}})
    assert alice.outgoing_messages.get().body == "At noon"


def test_an_answer_is_one_if_its_parent_may_be_seen(
    call: Program, alice: User, tables: Tables
) -> None:
    put(tables, "plan@x", LETTER, "user:alice")
    put(tables, "secret@x", LETTER, "user:bob")
    for name, parent in (("plan@x", "plan@x"), ("secret@x", ""), ("nothing@x", "")):
        made(call, inReplyTo=[name], subject=name)
        assert alice.outgoing_messages.get(subject=name).parent == parent


@pytest.mark.parametrize(
    ("more", "error"),
    [
        ({"box": "Sent"}, "forbidden"),
        ({"mailboxIds": {}}, "invalidProperties"),
        ({"mailboxIds": {"x": True}}, "invalidProperties"),
        ({"keywords": {"$flagged": True}}, "invalidProperties"),
        ({"header:X-A": "b"}, "invalidProperties"),
        ({"replyTo": [{"email": "a@x.org"}]}, "invalidProperties"),
        ({"subject": "x" * 501}, "invalidProperties"),
        ({"attachments": [{"blobId": "unone", "type": "a/b"}]}, "blobNotFound"),
        ({"textBody": [{"partId": "none"}]}, "invalidProperties"),
    ],
)
def test_what_no_draft_can_be_is_refused(
    call: Program, alice: User, more: dict[str, Any], error: str
) -> None:
    answer = call("Email/set", create={"d": draft(call, **more)})
    assert answer["notCreated"]["d"]["type"] == error
    assert not alice.outgoing_messages.exists()


def test_a_draft_is_imported_and_no_other_mail(call: Program, alice: User) -> None:
    blob, nothing = uploaded(call, LETTER), uploaded(call, b"no message")
    boxes = {call.boxes()["Drafts"]["id"]: True}
    given = {
        "draft": {"blobId": blob, "mailboxIds": boxes, "keywords": {"$draft": True}},
        "mail": {"blobId": blob, "mailboxIds": boxes},
        "gone": {"blobId": "unone", "mailboxIds": boxes},
        "bad": {"blobId": nothing, "mailboxIds": boxes, "keywords": {"$draft": True}},
    }
    answer = call("Email/import", emails=given)
    assert list(answer["created"]) == ["draft"] and answer["oldState"] != answer["newState"]
    refused = {key: error["type"] for key, error in answer["notCreated"].items()}
    assert refused == {"mail": "forbidden", "gone": "invalidProperties", "bad": "invalidEmail"}
    assert "At noon?" in alice.outgoing_messages.get().body


def test_a_token_writes_and_sends_what_its_scopes_say(
    call: Program, program: Sign, alice: User
) -> None:
    key = made(call)["id"]
    reader = program(alice, "jmap")
    answer = reader("Email/set", create={"d": draft(reader)}, destroy=[key])
    assert answer["notCreated"]["d"]["type"] == answer["notDestroyed"][key]["type"] == "forbidden"
    assert sent_off(reader, key)["notCreated"]["s"]["type"] == "forbiddenToSend"
    assert alice.outgoing_messages.get().is_draft


def test_what_was_sent_off_is_taken_back_by_who_may_send_alone(
    call: Program, program: Sign, alice: User
) -> None:
    submission = sent_off(call, made(call)["id"])["created"]["s"]["id"]
    reader = program(alice, "jmap", "drafts")
    answer = reader("EmailSubmission/set", update={submission: {"undoStatus": "canceled"}})
    assert answer["notUpdated"][submission]["type"] == "forbidden"
    assert not alice.outgoing_messages.get().is_draft


def test_a_draft_that_is_changed_is_another_email(call: Program, alice: User) -> None:
    old = made(call)["id"]
    state = call("Email/get", ids=[])["state"]
    OutgoingMessage.objects.update(version=9, subject="Tea")
    ((new,), _, gone) = told(call, "Email", state)
    assert gone == [old]
    assert call("Email/set", destroy=[new])["destroyed"] == [new]
    assert not alice.outgoing_messages.exists() and call("Email/query")["ids"] == []


def test_a_draft_is_made_and_sent_in_one_request(
    call: Program, alice: User, tables: Tables, smtp: SmtpServer
) -> None:
    (identity,) = (row["id"] for row in call("Identity/get")["list"])
    boxes = {name: box["id"] for name, box in call.boxes().items()}
    state = call("EmailSubmission/get", ids=[])["state"]
    moved = {
        f"mailboxIds/{boxes['Sent']}": True,
        f"mailboxIds/{boxes['Drafts']}": None,
        "keywords/$draft": None,
    }
    envelope = {"mailFrom": {"email": alice.email}, "rcptTo": [{"email": "mary@x.org"}]}
    new = {"identityId": identity, "emailId": "#d", "envelope": envelope}
    answers = call.calls(
        ("Email/set", {"create": {"d": draft(call)}}),
        ("EmailSubmission/set", {"create": {"s": new}, "onSuccessUpdateEmail": {"#s": moved}}),
    )
    assert [name for name, _, _ in answers] == ["Email/set", "EmailSubmission/set", "Email/set"]
    key, submission = (answers[n][1]["created"] for n in (0, 1))
    assert answers[2][1]["updated"] == {key["d"]["id"]: None}
    assert submission["s"]["undoStatus"] == "pending"
    call("Email/set", update={key["d"]["id"]: {"keywords/$flagged": True}})
    send_due()
    assert smtp.recipients == ["mary@x.org"] and b"At noon?" in smtp.taken[0]
    wanted = ["mailboxIds", "keywords", "preview", "subject"]
    (read,) = call("Email/get", ids=[key["d"]["id"]], properties=wanted)["list"]
    assert read["mailboxIds"] == {boxes["Sent"]: True} and read["keywords"] == {"$seen": True}
    assert (read["subject"], read["preview"]) == ("Café", "At noon?")
    (known,) = call("EmailSubmission/get")["list"]
    assert known["undoStatus"] == "final" and known["emailId"] == key["d"]["id"]
    assert told(call, "EmailSubmission", state)[0] == [known["id"]]
    refused = call("EmailSubmission/set", update={known["id"]: {"undoStatus": "canceled"}})
    assert refused["notUpdated"][known["id"]]["type"] == "cannotUnsend"
    refused = call("Email/set", destroy=[key["d"]["id"]])["notDestroyed"]
    assert refused[key["d"]["id"]]["type"] == "forbidden"


def test_sending_is_taken_back(call: Program, alice: User) -> None:
    key = made(call)["id"]
    submission = sent_off(call, key)["created"]["s"]["id"]
    for condition, found in (
        ({"emailIds": [key]}, [submission]),
        ({"undoStatus": "final"}, []),
        ({"operator": "NOT", "conditions": [{"before": "2020-01-01T00:00:00Z"}]}, [submission]),
    ):
        sort = [{"property": "sentAt"}]
        assert call("EmailSubmission/query", filter=condition, sort=sort)["ids"] == found
    assert call.refusal("EmailSubmission/query", filter={"x": 1}) == "unsupportedFilter"
    answer = call("EmailSubmission/set", update={submission: {"undoStatus": "canceled"}})
    assert answer["updated"] == {submission: None}
    assert alice.outgoing_messages.get().is_draft
    assert call("EmailSubmission/get", ids=[submission])["notFound"] == [submission]
    assert call("Email/get", ids=[key], properties=["keywords"])["list"][0]["keywords"]["$draft"]


@pytest.mark.parametrize(
    ("draft_has", "more", "error"),
    [
        ({"to": []}, {}, "noRecipients"),
        ({"from": [{"email": "bob@example.org"}]}, {}, "forbiddenFrom"),
        ({}, {"identityId": "x"}, "invalidProperties"),
        ({}, {"emailId": "x"}, "invalidProperties"),
        ({"subject": "", "bodyValues": {"t": {"value": ""}}}, {}, "invalidEmail"),
        (
            {},
            {"envelope": {"mailFrom": {"email": "bob@example.org"}, "rcptTo": []}},
            "forbiddenMailFrom",
        ),
        (
            {},
            {"envelope": {"mailFrom": {"email": "alice@example.org"}, "rcptTo": []}},
            "invalidProperties",
        ),
    ],
)
def test_what_cannot_be_sent_is_refused(
    call: Program, alice: User, draft_has: dict[str, Any], more: dict[str, Any], error: str
) -> None:
    key = made(call, **draft_has)["id"]
    assert sent_off(call, key, **more)["notCreated"]["s"]["type"] == error
    assert alice.outgoing_messages.get().is_draft
