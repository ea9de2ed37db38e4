"""What rules from elsewhere do is done here too; what they delete is not ticked."""

from __future__ import annotations

import json
from typing import Any

import pytest

from filters.authoring.importing.entries import DELETES, SPAM
from filters.authoring.importing.files import read_file
from filters.authoring.importing.imports import create_for, offered
from filters.authoring.importing.paging import pack, unpack
from filters.authoring.models import Filter
from filters.people.models import User
from filters.sources.models import Source
from tests.support.formats.gmail_file import gmail

FROM_ANN = 'if address "from" "ann@x.org"'


def offer_of(user: User, raw: bytes) -> Any:
    (offer,) = offered(user, read_file(raw))["offers"]
    return offer


def of_gmail(**properties: str) -> bytes:
    return gmail(**{"from": "ann@x.org", **properties})


def test_gmail_marks_stars_and_files(alice: User) -> None:
    offer = offer_of(
        alice, of_gmail(shouldMarkAsRead="true", shouldArchive="true", shouldStar="false")
    )
    assert offer["is_ticked"] and not offer["problem"]
    assert offer["facts"] == (
        "mark it read and keep it out of the inbox, for at most 500 messages a day, from now on",
    )
    texts = [clause["text"] for clause in offer["entry"]["clauses"]]
    assert texts[1:3] == ["mark it read", "keep it out of the inbox"]
    assert create_for(alice, [json.loads(offer["document"])], "")["created"] == 1
    made = Filter.objects.get()
    assert made.acts == "read skip" and made.acts_since is not None


@pytest.mark.parametrize(
    ("action", "acts"),
    [
        (r'addflag "\\Seen";', "read"),
        (r'setflag ["\\Flagged", "\\SEEN"];', "read star"),
        (r'addflag "flags" "\\Flagged \\Answered";', "star"),
        (r'fileinto :flags "\\Seen" "Lists";', "read label"),
        ('fileinto "INBOX/Archive";', "skip"),
        ('fileinto "Lists";', "label"),
        ('fileinto "INBOX";', ""),
        (r'addflag ["work", "\\Seen", "$Forwarded"];', "read label"),
        (r'addflag "NonJunk";', ""),
        (r'removeflag "\\Seen";', ""),
    ],
)
def test_sieve_marks_stars_and_files(alice: User, action: str, acts: str) -> None:
    offer = offer_of(alice, f"{FROM_ANN} {{ {action} }}".encode())
    assert offer["is_ticked"]
    assert json.loads(offer["document"]).get("acts", "") == acts


@pytest.mark.parametrize(
    ("raw", "label"),
    [
        (of_gmail(label="Lists/Tapestry"), "Lists/Tapestry"),
        (f'{FROM_ANN} {{ fileinto "INBOX.Lists"; addflag "work"; }}'.encode(), "Lists"),
        (f'{FROM_ANN} {{ addflag "Work"; }}'.encode(), "Work"),
    ],
)
def test_labels_folders_and_keywords_are_tags(alice: User, raw: bytes, label: str) -> None:
    entries = read_file(raw)
    assert unpack(alice, pack(alice, entries)) == entries
    offer = offer_of(alice, raw)
    assert f"tag it “{label}”" in offer["facts"][0]
    clauses = [part for part in offer["entry"]["clauses"] if part["is_action"]]
    assert f"tag it “{label}”" in clauses[0]["text"]
    assert [bool(part["problem"]) for part in clauses[1:]] in ([], [True]), "there is one tag"
    assert create_for(alice, [json.loads(offer["document"])], "")["created"] == 1
    made = Filter.objects.get()
    assert (made.acts, made.acts_label) == ("label", label)


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (of_gmail(shouldTrash="true", shouldMarkAsRead="true"), DELETES),
        (of_gmail(shouldSpam="true"), SPAM),
        (f"{FROM_ANN} {{ discard; }}".encode(), DELETES),
        (f'{FROM_ANN} {{ fileinto "INBOX.Trash"; }}'.encode(), DELETES),
        (f'{FROM_ANN} {{ fileinto "Junk"; }}'.encode(), SPAM),
    ],
)
def test_what_is_deleted_elsewhere_is_not_ticked(alice: User, raw: bytes, words: str) -> None:
    offer = offer_of(alice, raw)
    assert (offer["is_ticked"], offer["problem"]) == (False, words)
    problems = [part["problem"] for part in offer["entry"]["clauses"] if part["is_action"]]
    assert any(("Trash" if words == DELETES else "Spam") in text for text in problems), problems
    assert offer["document"], "one may tick it all the same"


def test_what_is_deleted_elsewhere_is_moved_to_trash_if_a_mailbox_allows_that(alice: User) -> None:
    place = {"host": "x.org", "port": 993, "audience": "user:alice"}
    Source.objects.create(owner=alice, kind="imap", may_act=True, **place)
    for raw in (of_gmail(shouldTrash="true"), f"{FROM_ANN} {{ discard; }}".encode()):
        offer = offer_of(alice, raw)
        assert offer["is_ticked"] and json.loads(offer["document"])["acts"] == "done trash"
    spam = offer_of(alice, of_gmail(shouldSpam="true"))
    assert (spam["is_ticked"], spam["problem"]) == (False, SPAM)


def test_what_waits_for_the_next_page_keeps_what_it_does(alice: User) -> None:
    entries = read_file(f'{FROM_ANN} {{ addflag "\\\\Seen"; discard; }}'.encode())
    assert (entries[0].acts, entries[0].objection) == ("read", DELETES)
    assert unpack(alice, pack(alice, entries)) == entries
    with_nothing = offer_of(alice, of_gmail(shouldTrash="false"))
    assert with_nothing["is_ticked"]


def test_an_act_that_is_none_is_told(alice: User) -> None:
    offer = offer_of(alice, b'[[filter]]\ntext = "from ann"\nacts = "read burn"\n')
    assert offer["problem"] == "A filter cannot do “burn” with a message."
