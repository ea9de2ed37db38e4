"""What a hostile program or letter may send: refused, or read within bounds; others are served."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from filters.inbox import mailboxes
from filters.jmap import methods
from filters.jmap.calls import columns
from filters.jmap.objects import LIMITS
from filters.jmap.protocol import CORE, MAIL
from filters.people.models import User
from tapestry.tables.delta.log import Tables
from tests.filters.jmap.conftest import USING, Program
from tests.filters.jmap.test_lists import put
from tests.support.lists.listed_mail import find, installed

Sign = Callable[..., Program]

HOSTILE = [
    b"",
    b"\0\0\0",
    b"Subject: =?utf-8?q?=ff=fe?=\nFrom: <<<>>>@@\nTo: ,,,;;:\nDate: never\n\n\r\r\r",
    b'Content-Type: multipart/mixed; boundary=""\n\n--\n--\n----\n',
    b"Content-Type: multipart/x; boundary=a\n\n"
    + b"--a\nContent-Type: multipart/x; boundary=a\n\n" * 300,
    b"Content-Type: message/rfc822\n\n" * 200 + b"x",
    b"Subject: " + b"x" * 200_000 + b"\n\n" + b"y" * 200_000,
    b"From: a@b\nSubject: a\r\nSubject: b\n" + bytes(range(256)),
    b"Content-Type: text/html; charset=utf-16\n\n<p\xd8\x00",
]


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"", "notJSON"),
        (b"{", "notJSON"),
        (b"\xff", "notJSON"),
        (b'{"using": ["\\ud800"], "methodCalls": []}', "notJSON"),
        (b'{"using": [], "methodCalls": [NaN]}', "notJSON"),
        (b"[" * 100_000, "notJSON"),
        ([], "notRequest"),
        ({"using": [CORE]}, "notRequest"),
        ({"using": [1], "methodCalls": []}, "notRequest"),
        ({"using": [CORE], "methodCalls": [["Core/echo", {}]]}, "notRequest"),
        ({"using": [CORE], "methodCalls": [["Core/echo", [], "0"]]}, "notRequest"),
        ({"using": [CORE], "methodCalls": [], "createdIds": {"a": 1}}, "notRequest"),
        ({"using": [CORE, "urn:example:none"], "methodCalls": []}, "unknownCapability"),
        ({"using": [CORE], "methodCalls": [["Core/echo", {}, "0"]] * 33}, "limit"),
        (b" " * 1_000_001, "limit"),
        (b" " * 3_000_000, "limit"),
    ],
)
def test_what_is_no_request_is_refused_as_a_whole(
    program: Sign, alice: User, content: Any, kind: str
) -> None:
    response = program(alice).post(content)
    assert response.status_code == 400
    assert response["Content-Type"] == "application/problem+json"
    assert response.json()["type"] == f"urn:ietf:params:jmap:error:{kind}"


def test_an_error_costs_the_call_that_caused_it(
    program: Sign, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*_: object) -> None:
        raise RuntimeError("secret")

    monkeypatch.setitem(
        methods.METHODS, "Mailbox/get", (*methods.METHODS["Mailbox/get"][:2], failing)
    )
    call = program(alice)
    answers = call.calls(("Mailbox/get", {}), ("Core/echo", {"a": [1]}), ("Other/get", {}))
    assert answers[0] == ["error", {"type": "serverFail"}, "0"]
    assert answers[1] == ["Core/echo", {"accountId": call.account, "a": [1]}, "1"]
    assert answers[2] == ["error", {"type": "unknownMethod"}, "2"]
    request = {"using": [CORE], "methodCalls": [["Email/get", {}, "0"]], "createdIds": {"a": "b"}}
    answer = call.post(request).json()
    assert answer["methodResponses"][0][1]["type"] == "unknownMethod"
    assert answer["createdIds"] == {"a": "b"}


@pytest.mark.parametrize(
    "reference",
    [
        None,
        {"resultOf": "0", "name": "Core/echo"},
        {"resultOf": "9", "name": "Core/echo", "path": "/a"},
        {"resultOf": "0", "name": "Email/get", "path": "/a"},
        {"resultOf": "0", "name": "Core/echo", "path": "a"},
        {"resultOf": "0", "name": "Core/echo", "path": "/b"},
        {"resultOf": "0", "name": "Core/echo", "path": "/a/-1"},
        {"resultOf": "0", "name": "Core/echo", "path": "/a/*/*/*"},
        {"resultOf": "0", "name": "Core/echo", "path": "/*" * 1000},
        {"resultOf": ["0"], "name": {}, "path": []},
    ],
)
def test_a_reference_that_leads_nowhere_is_refused(
    program: Sign, alice: User, reference: Any
) -> None:
    call = program(alice)
    answers = call.calls(("Core/echo", {"a": [1, 2]}), ("Core/echo", {"#x": reference}))
    assert answers[1][1]["type"] == "invalidResultReference"


def test_references_to_references_do_not_grow_without_bound(program: Sign, alice: User) -> None:
    def all_of(call: int) -> dict[str, Any]:
        reference = {"resultOf": str(call), "name": "Core/echo", "path": ""}
        return {f"#{letter}": reference for letter in "abcdefgh"}

    calls = [("Core/echo", {"x": "x" * 1000})]
    calls += [("Core/echo", all_of(number)) for number in range(30)]
    answers = program(alice).calls(*calls)
    assert answers[1][0] == "Core/echo" and answers[-1][0] == "error"
    assert len(json.dumps(answers)) < 10_000_000


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("Email/get", {"ids": "x"}),
        ("Email/get", {"ids": [], "properties": ["nonsense"]}),
        ("Email/get", {"ids": [], "properties": ["header:From:asDate"]}),
        ("Email/get", {"ids": [], "properties": ["header:"]}),
        ("Email/get", {"ids": [], "bodyProperties": ["nonsense"]}),
        ("Email/get", {"ids": [], "maxBodyValueBytes": -1}),
        ("Email/get", {"ids": [], "unknown": 1}),
        ("Email/get", {"accountId": 1}),
        ("Mailbox/get", {"properties": ["x"]}),
        ("Email/query", {"filter": []}),
        ("Email/query", {"limit": -1}),
        ("Email/query", {"position": 1.5}),
        ("Email/query", {"filter": {"before": "yesterday"}}),
        ("Email/query", {"filter": {"operator": "XOR", "conditions": []}}),
        ("Email/query", {"filter": {"operator": "AND"}}),
        ("Email/changes", {"sinceState": 1}),
        ("Email/changes", {"sinceState": "1.1", "maxChanges": 0}),
        ("Email/set", {"update": []}),
        ("Mailbox/query", {"filter": {"operator": 1, "conditions": []}}),
    ],
)
def test_wrong_arguments_are_named(
    program: Sign, alice: User, name: str, given: dict[str, Any]
) -> None:
    ((answered, answer, _),) = program(alice).calls((name, given))
    assert answered == "error" and answer["type"] in ("invalidArguments", "accountNotFound")


def test_a_draft_beside_too_many_tags_is_made_once(
    program: Sign, alice: User, tables: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mailboxes, "MOST_TAGGED", 1)
    for msgid in ("a@x", "b@x"):
        put(tables, msgid, HOSTILE[2])
    find(tables, installed(alice, "plans"), "a@x", "b@x")
    call = program(alice)
    drafts = call.boxes()["Drafts"]["id"]
    letter = {"mailboxIds": {drafts: True}, "keywords": {"$draft": True}, "subject": "Plans"}
    first, second = call("Email/query")["ids"]
    update = {key: {"keywords/todo": True, "keywords/$flagged": True} for key in (first, second)}
    answer = call("Email/set", create={"d": letter}, update=update)
    assert list(answer["created"]) == ["d"] and list(answer["updated"]) == [first]
    assert answer["notUpdated"][second]["type"] == "rateLimit"
    [flagged] = call("Email/query", filter={"hasKeyword": "$flagged"})["ids"]
    assert flagged == first and alice.outgoing_messages.count() == 1


def test_what_is_too_much_is_refused(
    program: Sign, alice: User, tables: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    call = program(alice)
    many = [str(number) for number in range(LIMITS["maxObjectsInGet"] + 1)]
    assert call.refusal("Email/get", ids=many) == "requestTooLarge"
    assert call.refusal("Email/set", destroy=many) == "requestTooLarge"
    deep: dict[str, Any] = {"text": "x"}
    for _ in range(20):
        deep = {"operator": "NOT", "conditions": [deep]}
    wide = {"operator": "OR", "conditions": [{"subject": "x"}] * 200}
    for filter_ in (deep, wide, {"inMailbox": "none"}, {"nonsense": 1}):
        assert call.refusal("Email/query", filter=filter_) == "unsupportedFilter"
    monkeypatch.setattr(columns, "MOST_READ", 1)
    for msgid in ("a@x", "b@x"):
        put(tables, msgid, HOSTILE[0])
    find(tables, installed(alice, "plans"), "a@x", "b@x")
    assert call.refusal("Email/query", filter={"body": "x"}) == "unsupportedFilter"
    for odd in ("", "\0", "%", "_", "a" * 10_000, "\U0001f600"):
        assert call("Email/query", filter={"hasKeyword": odd or "$"})["ids"] == []
        assert call("Email/get", ids=[odd])["notFound"] == [odd]


def test_hostile_letters_cost_nobody_else_anything(
    program: Sign, alice: User, tables: Tables
) -> None:
    filter_ = installed(alice, "plans")
    msgids = [f"{number}@x" for number in range(len(HOSTILE))]
    for msgid, raw in zip(msgids, HOSTILE, strict=True):
        put(tables, msgid, raw)
    find(tables, filter_, *msgids)
    call = program(alice)
    forms = [f"header:Subject:{form}" for form in ("asRaw", "asText:all")]
    forms += ["header:To:asGroupedAddresses", "header:X:asURLs", "bodyStructure", "headers"]
    answer = call(
        "Email/get", fetchAllBodyValues=True, properties=["subject", "bodyValues", *forms]
    )
    assert len(answer["list"]) == len(HOSTILE)
    assert len(call("Email/query", filter={"header": ["Subject"]})["ids"]) >= 3
    for row in answer["list"]:
        blob = f"m{row['id']}"
        assert call.get(f"/jmap/download/{call.account}/{blob}/x").status_code in (200, 404)
        parts = [f"{blob}{end}" for end in ("-1", "-1_1", "-", "-x", "_1", "-1_1" * 20)]
        answer = call("Email/parse", blobIds=[blob, *parts], fetchAllBodyValues=True)
        named = [*(answer["parsed"] or ()), *(answer["notParsable"] or ())]
        assert len(named) + len(answer["notFound"] or ()) == len(parts) + 1


def test_using_is_what_opens_methods(program: Sign, alice: User) -> None:
    call = program(alice)
    for using, name in (([MAIL], "Core/echo"), ([CORE, MAIL], "Identity/get")):
        request = {"using": using, "methodCalls": [[name, {"accountId": call.account}, "0"]]}
        answer = call.post(request).json()["methodResponses"][0]
        assert answer == ["error", {"type": "unknownMethod"}, "0"]
    assert USING[0] == CORE and call("Identity/get")["list"] == []
