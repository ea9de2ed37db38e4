"""Lists over JMAP: mailboxes, messages, threads, queries, flags, and what has changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from filters.inbox.models import Match
from filters.inbox.triage.actions import ACTIONS
from filters.inbox.triage.steps import Target, act
from filters.jmap import records
from filters.jmap.models import JmapAccount, JmapRecord
from filters.jmap.objects import key_of
from filters.jmap.records import forget_accounts
from filters.people.models import User
from filters.runs.store.filter_store import DjangoClock
from tapestry.core.message import Message
from tapestry.tables.delta.log import Tables
from tapestry.tables.read.originals import Original
from tapestry.tables.write.append import append_messages
from tests.filters.jmap.conftest import Program
from tests.support.lists.listed_mail import find, installed, letters

Sign = Callable[..., Program]

RAW = b"""\
From: Mary Jones <mary@example.org>
To: alice@example.org, Friends: bob@x.org;
Subject: =?utf-8?q?Caf=C3=A9?= plan
Date: Mon, 2 Feb 2026 10:00:00 +0000
Message-ID: <plan@x>
List-Post: <mailto:plans@x.org>
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="b"

--b
Content-Type: multipart/alternative; boundary="c"

--c
Content-Type: text/plain; charset=utf-8

Shall we meet on Tuesday?
--c
Content-Type: text/html; charset=utf-8

<p>Shall we meet on <b>Tuesday</b>?</p>
--c--
--b
Content-Type: application/pdf; name="plan.pdf"
Content-Transfer-Encoding: base64

UERG
--b--
"""


def put(tables: Tables, msgid: str, raw: bytes, audience: str = "public", **more: Any) -> None:
    """Append a message with its original."""
    message = Message(msgid, sender="mary@example.org", subject=msgid, audience=audience, **more)
    append_messages(tables, DjangoClock(), [message], originals=[Original(raw)])


@pytest.fixture
def three(tables: Tables, alice: User) -> list[str]:
    """A thread of two, and a message with an original, which a filter of alice found."""
    letters(tables, "a@x")
    letters(tables, "b@x", root="a@x")
    put(tables, "plan@x", RAW, body="Shall we meet on Tuesday?", attachments=1, size=200)
    found = ["a@x", "b@x", "plan@x"]
    find(tables, installed(alice, "plans"), *found)
    return found


def test_the_session_says_what_is_offered_and_where(program: Sign, alice: User) -> None:
    session = program(alice).get("/.well-known/jmap").json()
    assert session["username"] == "alice"
    assert session["apiUrl"].endswith("/jmap/api/")
    assert "{blobId}" in session["downloadUrl"] and "{types}" in session["eventSourceUrl"]
    (account,) = session["accounts"].values()
    assert account["isPersonal"] and not account["isReadOnly"]


def test_each_filter_is_a_mailbox(program: Sign, alice: User, bob: User, three: list[str]) -> None:
    installed(bob, "secrets")
    boxes = program(alice).boxes()
    assert list(boxes) == ["INBOX", "Starred", "Done", "Drafts", "Sent", "plans"]
    counts = ("totalEmails", "unreadEmails", "totalThreads", "unreadThreads")
    assert [boxes["plans"][name] for name in counts] == [3, 3, 2, 2]
    roles = ["inbox", "flagged", None, "drafts", "sent", None]
    assert [box["role"] for box in boxes.values()] == roles
    assert not boxes["plans"]["myRights"]["mayDelete"]
    assert boxes["Drafts"]["myRights"]["mayAddItems"]


def test_a_query_and_its_objects_are_one_request(
    program: Sign, alice: User, three: list[str]
) -> None:
    call = program(alice)
    _, emails, threads = call.calls(
        ("Email/query", {"sort": [{"property": "receivedAt"}]}),
        (
            "Email/get",
            {
                "#ids": {"resultOf": "0", "name": "Email/query", "path": "/ids"},
                "properties": ["threadId", "subject", "mailboxIds", "keywords"],
            },
        ),
        (
            "Thread/get",
            {"#ids": {"resultOf": "1", "name": "Email/get", "path": "/list/*/threadId"}},
        ),
    )
    rows = emails[1]["list"]
    assert [row["subject"] for row in rows] == ["About a@x", "About b@x", "Café plan"]
    boxes = call.boxes()
    assert set(rows[0]["mailboxIds"]) == {boxes["INBOX"]["id"], boxes["plans"]["id"]}
    assert [len(thread["emailIds"]) for thread in threads[1]["list"]] == [2, 1]
    assert threads[1]["list"][0]["emailIds"] == [rows[0]["id"], rows[1]["id"]]


def test_a_message_is_read_as_it_came(program: Sign, alice: User, three: list[str]) -> None:
    call = program(alice)
    (key,) = call("Email/query", filter={"subject": "plan@x"})["ids"]
    forms = ["header:Subject", "header:To:asGroupedAddresses", "header:List-Post:asURLs:all"]
    wanted = ["subject", "from", "to", "sentAt", "size", "messageId", "preview", "hasAttachment"]
    wanted += ["bodyStructure", "bodyValues", "textBody", "htmlBody", "attachments", *forms]
    (row,) = call(
        "Email/get", ids=[key], properties=wanted, fetchAllBodyValues=True, maxBodyValueBytes=10
    )["list"]
    assert row["subject"] == "Café plan" and row["size"] == len(RAW)
    assert row["from"] == [{"name": "Mary Jones", "email": "mary@example.org"}]
    assert row["sentAt"] == "2026-02-02T10:00:00Z" and row["messageId"] == ["plan@x"]
    assert row["header:Subject"] == " =?utf-8?q?Caf=C3=A9?= plan"
    groups = row["header:To:asGroupedAddresses"]
    assert [group["name"] for group in groups] == [None, "Friends"]
    assert row["header:List-Post:asURLs:all"] == [["mailto:plans@x.org"]]
    kinds = [part["type"] for part in row["bodyStructure"]["subParts"]]
    assert kinds == ["multipart/alternative", "application/pdf"]
    text, html, file = row["textBody"], row["htmlBody"], row["attachments"]
    assert [part[0]["type"] for part in (text, html)] == ["text/plain", "text/html"]
    assert row["bodyValues"][text[0]["partId"]] == {
        "value": "Shall we m",
        "isEncodingProblem": False,
        "isTruncated": True,
    }
    assert row["hasAttachment"] and file[0]["name"] == "plan.pdf"
    address = f"/jmap/download/{call.account}"
    assert call.get(f"{address}/m{key}/m.eml?type=message/rfc822").content == RAW
    part = call.get(f"{address}/{file[0]['blobId']}/plan.pdf?type=application/pdf")
    assert part.content == b"PDF" and part["Content-Type"] == "application/pdf"
    assert "attachment" in part["Content-Disposition"]
    assert call.get(f"{address}/m{key}-9/x").status_code == 404


def test_a_message_without_its_original_has_what_its_line_shows(
    program: Sign, alice: User, three: list[str]
) -> None:
    call = program(alice)
    (key,) = call("Email/query", filter={"subject": "a@x"})["ids"]
    (row,) = call("Email/get", ids=[key], fetchTextBodyValues=True)["list"]
    assert row["subject"] == "About a@x" and row["size"] == 0
    (value,) = row["bodyValues"].values()
    assert "not kept" in value["value"]


@pytest.mark.parametrize(
    ("filter_", "found"),
    [
        ({"subject": "a@x"}, ["a@x"]),
        ({"from": "jones"}, ["a@x", "b@x"]),
        ({"text": "tuesday meet"}, ["plan@x"]),
        ({"body": '"on tuesday"'}, ["plan@x"]),
        ({"hasAttachment": True}, ["plan@x"]),
        ({"minSize": 100}, ["plan@x"]),
        ({"minSize": 100, "maxSize": 200}, []),
        ({"header": ["list-post", "plans"]}, ["plan@x"]),
        ({"hasKeyword": "$seen"}, ["a@x"]),
        ({"notKeyword": "$seen"}, ["b@x", "plan@x"]),
        ({"someInThreadHaveKeyword": "$seen"}, ["a@x", "b@x"]),
        ({"allInThreadHaveKeyword": "$seen"}, []),
        ({"noneInThreadHaveKeyword": "$seen"}, ["plan@x"]),
        ({"before": "1970-01-01T00:00:00Z"}, []),
        ({"after": "1970-01-01T00:00:00Z"}, ["a@x", "b@x", "plan@x"]),
        ({"inMailboxOtherThan": []}, ["a@x", "b@x", "plan@x"]),
        (
            {"operator": "NOT", "conditions": [{"subject": "a@x"}, {"hasAttachment": True}]},
            ["b@x"],
        ),
        (
            {"operator": "OR", "conditions": [{"subject": "a@x"}, {"text": "tuesday"}]},
            ["a@x", "plan@x"],
        ),
        ({"operator": "AND", "conditions": []}, ["a@x", "b@x", "plan@x"]),
        ({"operator": "OR", "conditions": [{"subject": "a@x"}, {}]}, ["a@x", "b@x", "plan@x"]),
        ({"operator": "NOT", "conditions": [{}]}, []),
    ],
)
def test_a_filter_finds_what_it_says(
    program: Sign, alice: User, three: list[str], filter_: dict[str, Any], found: list[str]
) -> None:
    act(alice, ACTIONS["read"], [Target("a@x", "public", "")])
    call = program(alice)
    ids = call("Email/query", filter=filter_)["ids"]
    cards = JmapRecord.objects.filter(pk__in=map(key_of, ids))
    assert sorted(cards.values_list("card__msgid", flat=True)) == found


def test_a_query_is_read_by_pages(program: Sign, alice: User, three: list[str]) -> None:
    call = program(alice)
    everything = call("Email/query", calculateTotal=True)
    ids = everything["ids"]
    assert everything["total"] == 3 and everything["position"] == 0
    assert call("Email/query", position=1, limit=1)["ids"] == ids[1:2]
    assert call("Email/query", position=-1)["ids"] == ids[2:]
    assert call("Email/query", anchor=ids[1], anchorOffset=-1, limit=2)["ids"] == ids[:2]
    assert call.refusal("Email/query", anchor="none") == "anchorNotFound"
    assert len(call("Email/query", collapseThreads=True)["ids"]) == 2
    assert call.refusal("Email/query", sort=[{"property": "cc"}]) == "unsupportedSort"
    for name in ("receivedAt", "sentAt", "subject", "from"):
        rising, falling = (
            call("Email/query", sort=[{"property": name, "isAscending": up}])["ids"]
            for up in (True, False)
        )
        assert sorted(rising) == sorted(falling) == sorted(ids)
    call("Email/set", update={ids[1]: {"keywords/$flagged": True}})
    flagged = {"property": "hasKeyword", "keyword": "$flagged", "isAscending": False}
    assert call("Email/query", sort=[flagged])["ids"][0] == ids[1]
    assert call.refusal("Email/query", filter={"unknown": 1}) == "unsupportedFilter"


def test_flags_go_both_ways(program: Sign, alice: User, three: list[str]) -> None:
    call = program(alice)
    (key,) = call("Email/query", filter={"subject": "a@x"})["ids"]
    before = call("Email/get", ids=[])["state"]
    answer = call("Email/set", update={key: {"keywords/$seen": True, "keywords/$flagged": True}})
    assert answer["updated"] == {key: None} and answer["oldState"] == before != answer["newState"]
    assert Match.objects.get(msgid="a@x").read_at is not None
    assert alice.message_states.get(msgid="a@x").starred_at is not None
    assert keywords(call, key) == {"$seen": True, "$flagged": True}
    assert call.boxes()["Starred"]["totalEmails"] == 1
    act(alice, ACTIONS["unstar"], [Target("a@x", "public", "")])
    assert keywords(call, key) == {"$seen": True}
    call("Email/set", update={key: {"keywords/Todo": True, "keywords/later": True}})
    assert keywords(call, key) == {"$seen": True, "todo": True, "later": True}
    assert call("Email/query", filter={"hasKeyword": "TODO"})["ids"] == [key]
    assert call("Email/query", filter={"hasKeyword": "inbox"})["ids"] == []
    call("Email/set", update={key: {"keywords/todo": None}})
    assert keywords(call, key) == {"$seen": True, "later": True}
    call("Email/set", update={key: {"keywords": {"$flagged": True}}})
    assert keywords(call, key) == {"$flagged": True}
    assert Match.objects.get(msgid="a@x").read_at is None
    assert call.refusal("Email/set", ifInState=before, update={}) == "stateMismatch"


def test_programs_tell_each_other_what_was_answered(
    program: Sign, alice: User, three: list[str]
) -> None:
    call = program(alice)
    (key,) = call("Email/query", filter={"subject": "a@x"})["ids"]
    before = call("Email/get", ids=[])["state"]
    patch = {"keywords/$Answered": True, "keywords/$forwarded": True}
    assert call("Email/set", update={key: patch})["newState"] != before
    call("Email/set", update={key: {"keywords/$seen": True}})
    both = {"$answered": True, "$forwarded": True}
    assert keywords(call, key) == both | {"$seen": True}
    assert call("Email/query", filter={"someInThreadHaveKeyword": "$answered"})["ids"] != [key]
    assert told(call, "Email", before) == ([], [key], [])
    call("Email/set", update={key: {"keywords/$answered": None}})
    assert call("Email/query", filter={"hasKeyword": "$answered"})["ids"] == []
    call("Email/set", update={key: {"keywords": {}}})
    assert keywords(call, key) == {}


def test_a_keyword_of_programs_beside_a_tag_is_told_once(
    program: Sign, alice: User, three: list[str]
) -> None:
    call = program(alice)
    key = call("Email/query")["ids"][0]
    answer = call("Email/set", update={key: {"keywords/boat": True}})
    answer = call("Email/set", update={key: {"keywords/$forwarded": True}})
    assert told(call, "Email", answer["oldState"]) == ([], [key], [])
    call("Email/set", update={call("Email/query")["ids"][1]: {"keywords/$seen": True}})
    assert key not in told(call, "Email", answer["newState"])[1]


def keywords(call: Program, key: str) -> dict[str, bool]:
    return call("Email/get", ids=[key], properties=["keywords"])["list"][0]["keywords"]


def test_nothing_is_put_moved_or_deleted(program: Sign, alice: User, three: list[str]) -> None:
    call = program(alice)
    key = call("Email/query")["ids"][0]
    answer = call(
        "Email/set",
        create={"new": {"mailboxIds": {call.boxes()["plans"]["id"]: True}}},
        destroy=[key, "other"],
        update={key: {"mailboxIds": {}}, "other": {"keywords/$seen": True}},
    )
    assert answer["notCreated"]["new"]["type"] == "forbidden"
    assert answer["notDestroyed"][key]["type"] == "forbidden"
    assert answer["notDestroyed"]["other"]["type"] == "notFound"
    assert answer["notUpdated"][key]["type"] == "forbidden"
    assert answer["notUpdated"]["other"]["type"] == "notFound"
    for patch, error in (
        ({"subject": "x"}, "invalidProperties"),
        ({"keywords/$junk": True}, "invalidProperties"),
        ({"keywords": {}, "keywords/$seen": True}, "invalidPatch"),
        ({"keywords/$seen": 1}, "invalidProperties"),
    ):
        refused = call("Email/set", update={key: patch})["notUpdated"][key]
        assert refused["type"] == error, patch
    box = call.boxes()["plans"]["id"]
    answer = call("Mailbox/set", create={"n": {"name": "x"}}, update={box: {}}, destroy=[box])
    assert {name: bool(answer[name]) for name in answer if name.startswith("not")} == {
        "notCreated": True,
        "notUpdated": True,
        "notDestroyed": True,
    }
    assert len(call("Email/query")["ids"]) == 3


def test_each_change_is_told_once(
    program: Sign, alice: User, three: list[str], tables: Tables
) -> None:
    call = program(alice)
    start = {kind: call(f"{kind}/get", ids=[])["state"] for kind in ("Email", "Mailbox", "Thread")}
    assert told(call, "Email", start["Email"]) == ([], [], [])
    (old, gone) = (call("Email/query", filter={"subject": n})["ids"][0] for n in ("a@x", "plan@x"))
    letters(tables, "c@x", root="a@x")
    find(tables, alice.filters.get(), "c@x")
    act(alice, ACTIONS["read"], [Target("a@x", "public", "")])
    Match.objects.filter(msgid="plan@x").update(retracted_at=9)
    (new,) = call("Email/query", filter={"subject": "c@x"})["ids"]
    assert told(call, "Email", start["Email"]) == ([new], [old], [gone])
    now = call("Email/get", ids=[])["state"]
    assert told(call, "Email", now) == ([], [], [])
    created, updated, destroyed = told(call, "Thread", start["Thread"])
    assert (len(created), len(updated), len(destroyed)) == (0, 1, 1)
    boxes = call.boxes()
    changed = {boxes[name]["id"] for name in ("INBOX", "plans")}
    created, updated, destroyed = told(call, "Mailbox", start["Mailbox"])
    assert (created, set(updated), destroyed) == ([], changed, [])
    assert len(updated) == len(changed)
    Match.objects.filter(msgid="plan@x").update(retracted_at=None)
    created, _, destroyed = told(call, "Email", now)
    assert created != [gone] and destroyed == []  # one that comes back is a new one
    pieces: list[str] = []
    state, more = start["Email"], True
    while more:
        answer = call("Email/changes", sinceState=state, maxChanges=1)
        pieces += [*answer["created"], *answer["updated"], *answer["destroyed"]]
        state, more = answer["newState"], answer["hasMoreChanges"]
    assert sorted(pieces) == sorted([new, old, gone, *created])
    for unknown in ("", "x", "1.2", f"{now}.1.1.1", "9" * 100, f"{now[:-1]}99999"):
        assert call.refusal("Email/changes", sinceState=unknown) == "cannotCalculateChanges"


def told(call: Program, kind: str, since: str) -> tuple[list[str], list[str], list[str]]:
    answer = call(f"{kind}/changes", sinceState=since)
    assert not answer["hasMoreChanges"]
    return answer["created"], answer["updated"], answer["destroyed"]


def test_changes_that_are_forgotten_are_not_made_up(
    program: Sign, alice: User, three: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(records, "MOST_GONE", 1)
    call = program(alice)
    before = call("Email/get", ids=[])["state"]
    Match.objects.update(retracted_at=9)
    call("Email/query")
    assert call.refusal("Email/changes", sinceState=before) == "cannotCalculateChanges"
    assert told(call, "Email", call("Email/get", ids=[])["state"]) == ([], [], [])


def test_after_a_restore_all_is_read_anew(program: Sign, alice: User, three: list[str]) -> None:
    program(alice)("Email/get", ids=[])
    JmapAccount.objects.update(validity=1)
    call = program(alice)
    before = call("Email/get", ids=[])["state"]
    forget_accounts()
    assert call.refusal("Email/get") == "accountNotFound"
    assert program(alice).refusal("Email/changes", sinceState=before) == "cannotCalculateChanges"
