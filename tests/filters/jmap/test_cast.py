"""A cast of three against every method: the owner, a member of her group, and a stranger to it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from filters.api.models import SCOPES, AccessToken
from filters.compose.sending.outbox import queue
from filters.delivery.models import Address
from filters.jmap.methods import METHODS
from filters.jmap.protocol import CORE, MAIL
from filters.people.models import User
from tapestry.tables.delta.log import Tables
from tests.filters.jmap.conftest import Program
from tests.filters.jmap.test_lists import RAW, put
from tests.support.lists.listed_mail import find, installed

Sign = Callable[..., Program]


@pytest.fixture
def audiences(tables: Tables, alice: User, bob: User, carol: User) -> None:
    """A message for all, for a group, and for alice; everybody's filter was given all three."""
    for msgid, audience in (("all", "public"), ("parc", "group:parc"), ("secret", "user:alice")):
        put(tables, f"{msgid}@x", RAW.replace(b"Tuesday", msgid.encode()), audience)
    for person in (alice, bob, carol):
        filter_ = installed(person, "plans")
        for msgid, audience in (
            ("all", "public"),
            ("parc", "group:parc"),
            ("secret", "user:alice"),
        ):
            find(tables, filter_, f"{msgid}@x", audience=audience)


def given(call: Program, ids: list[str]) -> dict[str, dict[str, Any]]:
    """Return what each method is given that can name an Email."""
    state = call("Email/get", ids=[])["state"]
    named = {"ids": ids} if ids else {}
    return {
        "Email/get": named | {"fetchAllBodyValues": True},
        "Thread/get": named,
        "Mailbox/get": named,
        "Identity/get": {},
        "Email/set": {
            "update": {key: {"keywords/$flagged": True} for key in ids},
            "destroy": ids,
        },
        "Mailbox/set": {"update": {key: {"name": "x"} for key in ids}},
        "Email/query": {"filter": {"text": "secret"}},
        "Email/import": {"emails": {f"new {key}": {"blobId": key} for key in ids}},
        "Email/parse": {"blobIds": [f"m{key}" for key in ids]},
        "SearchSnippet/get": {"emailIds": ids, "filter": {"text": "secret"}},
        "EmailSubmission/get": named,
        "EmailSubmission/query": {},
        "EmailSubmission/set": {
            "create": {key: {"identityId": "x", "emailId": key} for key in ids},
            "update": {key: {"undoStatus": "canceled"} for key in ids},
            "destroy": ids,
        },
        "Email/copy": {"fromAccountId": "x", "create": {}},
        "Blob/copy": {"fromAccountId": "x", "blobIds": ids},
        "PushSubscription/get": named,
        "PushSubscription/set": {"destroy": ids},
        "Identity/set": {"update": {key: {"textSignature": "x"} for key in ids}},
        "Mailbox/query": {},
        **{name: {"sinceState": state} for name in METHODS if name.endswith("/changes")},
        "Identity/changes": {"sinceState": call("Identity/get")["state"]},
        **{name: {"sinceQueryState": state} for name in METHODS if name.endswith("/queryChanges")},
    }


def test_each_sees_what_is_for_them(
    program: Sign, alice: User, bob: User, carol: User, audiences: None
) -> None:
    programs = [program(person) for person in (alice, bob, carol)]
    assert [call.boxes()["plans"]["totalEmails"] for call in programs] == [3, 2, 1]
    assert [len(call("Email/get")["list"]) for call in programs] == [3, 2, 1]


def test_others_get_nothing_of_hers_by_any_method(
    program: Sign, alice: User, bob: User, carol: User, audiences: None
) -> None:
    Address.objects.create(owner=alice, email=alice.email, confirmed_at=1)
    hers = program(alice)
    emails = hers("Email/get", properties=["threadId"])["list"]
    keys = [row["id"] for row in emails] + [row["threadId"] for row in emails]
    keys += [box["id"] for box in hers.boxes().values()]
    draft = {"mailboxIds": {hers.boxes()["Drafts"]["id"]: True}, "subject": "secret"}
    made = hers("Email/set", create={"a": draft, "b": draft | {"to": [{"email": "x@x.org"}]}})
    keys += [key for row in made["created"].values() for key in (row["id"], row["threadId"])]
    queue(alice.outgoing_messages.get(to="x@x.org"))
    keys += hers("EmailSubmission/query")["ids"]
    assert len(keys) == 17
    for person in (bob, carol):
        theirs = program(person)
        for name, arguments in given(theirs, keys).items():
            answers = theirs.calls((name, arguments))
            assert "secret" not in str(answers).replace("secrets", ""), name
            _, answer, _ = answers[0]
            assert (not answer.get("updated") and answer.get("list", []) == []) or "Id" in name
        ((_, answer, _),) = theirs.calls(("Email/get", {"accountId": hers.account}))
        assert answer["type"] == "accountNotFound"
        for account in (hers.account, theirs.account):
            address = f"/jmap/download/{account}/m{keys[0]}/m.eml"
            assert theirs.get(address).status_code == 404
    assert not alice.message_states.exists() and not bob.message_states.exists()
    states = alice.outgoing_messages.order_by("pk").values_list("state", flat=True)
    assert list(states) == ["draft", "queued"]


def test_every_method_is_given_something_here(program: Sign, alice: User, audiences: None) -> None:
    call = program(alice)
    assert given(call, []).keys() == METHODS.keys()
    for name, arguments in given(call, []).items():
        ((answered, answer, _),) = call.calls((name, arguments))
        assert answered != "error" or answer["type"] == "fromAccountNotFound", answer


def test_what_is_no_longer_ones_own_to_see_is_gone(
    program: Sign, alice: User, bob: User, audiences: None
) -> None:
    call = program(bob)
    keys = call("Email/query")["ids"]
    state = call("Email/get", ids=[])["state"]
    bob.groups.clear()
    answer = call("Email/get", ids=keys)
    assert len(answer["list"]) == 1 and len(answer["notFound"]) == 1
    assert call("Email/changes", sinceState=state)["destroyed"] == answer["notFound"]
    lost = call.get(f"/jmap/download/{call.account}/m{answer['notFound'][0]}/m.eml")
    assert lost.status_code == 404


def test_a_token_of_other_scopes_opens_nothing(program: Sign, alice: User) -> None:
    other = program(alice, *(SCOPES.keys() - {"jmap"}))
    ended, nobody = program(alice, "jmap"), program(alice)
    nobody.headers = {}
    AccessToken.objects.filter(scopes="jmap").update(ends_at=1)
    body = {"using": [CORE, MAIL], "methodCalls": []}
    for call, status in ((other, 403), (ended, 401), (nobody, 401)):
        assert call.post(body).status_code == status
        for address in (
            "/.well-known/jmap",
            "/jmap/eventsource/?types=*",
            f"/jmap/download/{ended.account}/x/y",
        ):
            assert call.get(address).status_code == status
    assert ended.get("/.well-known/jmap")["WWW-Authenticate"] == "Bearer"


def test_what_a_program_did_is_shown_to_its_owner(program: Sign, alice: User) -> None:
    call = program(alice)
    call("Mailbox/get")
    uses = {(use.call, use.about) for use in AccessToken.objects.get().uses.all()}
    assert ("POST jmap/api/", "Mailbox/get") in uses
    assert ("GET .well-known/jmap", "") in uses
