"""What each phrase finds in one small mailbox, by the oracle."""

from dataclasses import replace
from datetime import datetime, timedelta, timezone

import pytest

from tapestry.core.clock import DAY, HOUR, WEEK, to_instant
from tapestry.query.context import Context
from tapestry.query.frontend import read
from tapestry.query.phrases.recognize import recognize
from tapestry.query.tree.printer import print_tql
from tests.support.oracle.queries import Oracle

NOW = 100 * WEEK
TERRY = Context(owner="terry", addresses=("terry@parc.com", "terry@home.org"))


def message(msgid, age, **columns):
    return {"msgid": msgid, "audience": "public", "ts": NOW - age} | columns


def vote(number, msgid, owner, age=0, kind="vote", value=None):
    found = {"audience": "public", "ts": NOW - age, "msgid": msgid, "owner": owner, "kind": kind}
    return found | {"annid": f"{msgid} {owner} {age}", "number": number, "value": value}


def contact(owner, address, **more):
    said = vote(None, f"contacts of {owner}", owner, kind="contact", value=address)
    return said | {"annid": f"{owner} {address} {more}", "audience": f"user:{owner}"} | more


DATA = {
    "messages": [
        message("q", 3 * WEEK, sender="joe@x.org", sender_name="Joe Jones", to=("terry@parc.com",)),
        message("q1", 2 * WEEK, sender="mary@y.org", inreplyto="q", references=("q",)),
        message("q1", 2 * WEEK, sender="mary@y.org", inreplyto="q", audience="user:terry"),
        message("q2", 6 * DAY, sender="jones@x.org", inreplyto="q1", references=("q", "q1")),
        message("q3", 2 * HOUR, sender="terry@home.org", to=("mary@y.org",), inreplyto="q")
        | {"event": "e1"},
        message("r", 2 * WEEK, sender="ann@jones.org", to=("mary@y.org",), cc=("x.joe@x.org",)),
        message("r1", 2 * WEEK, sender="joe.jones@x.org", to=("joe@z.org",), inreplyto="r"),
        message("s", 2 * WEEK + 1, sender="xjoe@x.org", to=("ann@joe.org", "joey@x.org")),
    ],
    "annotations": [
        vote(1, "q", "ann", 2 * WEEK),
        vote(1, "q", "ann", 2 * WEEK - 1),
        vote(1, "q", "joe", WEEK),
        vote(-1, "q", "mary", DAY),
        vote(1, "r", "ann", WEEK - 1),
        vote(1, "r", "joe", DAY - 1),
        vote(-1, "s", "joe"),
        vote(-1, "s", "ann"),
        vote(5, "q1", "joe", kind="priority"),
        vote(None, "q2", "joe", kind="tag", value="later"),
        contact("terry", "joe@x.org"),
        contact("terry", "ann@jones.org"),
        contact("joe", "mary@y.org"),
        contact("terry", "joe@x.org", kind="meeting", starts=NOW + DAY),
        contact("terry", "ann@jones.org", kind="meeting", starts=NOW + 9 * DAY),
        contact("terry", "mary@y.org", kind="meeting", starts=NOW - 1),
        contact("joe", "mary@y.org", kind="meeting", starts=NOW + DAY),
        contact("terry", "e1", kind="cancelled"),
    ],
}


@pytest.mark.parametrize(
    ("phrase", "found"),
    [
        ("from Jones", "q q2"),
        ("from joe", "q"),
        ("from joe.jones", "q r1"),
        ("from @x.org", "q q2 r1 s"),
        ("from me", "q3"),
        ("to joe", "r1"),
        ("cc joe", ""),
        ("cc X.Joe", "r"),
        ("to x", ""),
        ("to org", ""),
        ("to @x.org", "r s"),
        ("to joey@x.org", "s"),
        ("to me", "q"),
        ("directly to me", "q"),
        ("directly to joe", "r1"),
        ("directly to x.joe@x.org", ""),
        ("only to me", "q"),
        ("only to joey@x.org", ""),
        ("only to mary@y.org", "q3"),  # and not r, of which another has a copy
        ("from new senders", "q q1 q2 q3 r r1 s"),
        ("from unknown senders", "q q2 q3 r r1 s"),
        ("from contacts", "q r"),
        ("from people I meet within one week", "q"),
        ("from people I meet within two weeks", "q r"),
        ("not from people I meet this week and from contacts", "r"),
        ("about cancelled events", "q3"),
        ("from nobody in my address book", "q1 q2 q3 r1 s"),
        ("in a thread with mary", "q q1 q2 q3"),
        ("in a thread with jones@x.org", "q q1 q2 q3"),
        ("in a thread with ann", "r r1"),
        ("in a thread with xjoe", "s"),
        ("replies", "q1 q2 q3 r1"),
        ("replies by Jones", "q2"),
        ("replies to Jones", "q1 q3"),
        ("replied to", "q q1 r"),
        ("replied to by me", "q"),
        # A reply that two audiences see is one reply.
        ("with more than one reply", "q"),
        ("with more than two replies", ""),
        ("with at least two replies", "q"),
        ("with at least one reply", "q q1 r"),
        ("with fewer than two replies", "q1 q2 q3 r r1 s"),
        ("with fewer than one reply", "q2 q3 r1 s"),
        ("with at least one reply by mary", "q"),
        ("with at least two replies by mary", ""),
        ("with no reply", "q2 q3 r1 s"),
        ("with no reply by mary", "q1 q2 q3 r r1 s"),
        ("two weeks old", "q s"),
        ("newer than two weeks", "q2 q3"),
        ("between 2 and 3 weeks old", "s"),
        ("with no reply for two weeks", "r r1 s"),
        ("with no reply for one week", "r r1 s"),
        ("starting a thread", "q r s"),
        ("starting a thread of more than 0", "q r s"),
        ("starting a thread of more than one", "q r"),
        ("starting a thread of more than two", "q"),
        ("starting a thread of more than three", "q"),
        ("starting a thread of more than four", ""),
        ("in a thread of more than two people", "q q1 q2 q3"),
        ("in a thread of more than three people", "q q1 q2 q3"),
        ("in a thread of more than four people", ""),
        ("in a thread with at least two messages by Jones", "q q1 q2 q3"),
        ("in a thread with at least three messages by Jones", ""),
        ("in a thread with at least two messages by mary", ""),
        ("among the latest two from @x.org", "q2 r1"),
        ("among the latest one from terry", "q3"),
        ("without a body and from joe", "q"),
        ("voted for by ann", "q r"),
        ("voted against by joe", "s"),
        ("without an annotation", "q3 r1"),
        ("without an annotation by ann", "q1 q2 q3 r1"),
        # Who votes twice is one person, and scores twice.
        ("voted for by more than one person", "q r"),
        ("voted for by more than two people", ""),
        ("voted for by more than 0 people", "q r"),
        ("voted against by more than one person", "s"),
        ("with a score above one", "q r"),
        ("with a score above two", ""),
        ("with a score below 3", "q r s"),
        ("with a score below -1", "s"),
        ("with a score above -2", "q r"),
        ("with more than half of the replies by mary", ""),
        ("with at least half of the replies by mary", "q"),
        ("with less than half of the replies by mary", "q1 r"),
        ("with less than half of the replies by mary and not replied to by joe.jones", "q1"),
        ("with more than half of the replies by people at x.org", "q1 r"),
        ("voted for by more than half of the voters", "q r"),
        ("voted for by more than two thirds of the voters", "r"),
        ("voted for by at least two thirds of the voters", "q r"),
        ("voted for by at least 66.7% of the voters", "r"),
        ("voted against by more than 33 percent of the voters", "q s"),
        ("among the top one by votes", "q"),
        ("among the top two by votes", "q r"),
        ("among the top three by votes", "q r s"),
        ("among the top ten by votes", "q r s"),
        ("among the top one by votes this week", "r"),
        ("among the top one by votes today", "r"),
        ("among the top two by votes today", "r s"),
        ("among the top one by replies", "q"),
        ("among the top two by replies", "q q1"),
        ("among the top ten by replies", "q q1 r"),
        ("among the top ten by replies this week", "q q1"),
        ("among the top ten by replies today", "q"),
        ("tagged later", "q2"),
        ("tagged later by ann", ""),
        ("annotated by joe", "q q1 q2 r s"),
    ],
)
def test_a_phrase_finds_what_it_says(phrase, found):
    query = read(phrase, TERRY)
    assert query.notation == "phrase"
    assert Oracle(query, DATA, ("public", "user:terry")).answer(NOW) == set(found.split())


def test_of_an_archive_that_came_at_once_only_the_first_mail_of_a_sender_is_of_a_new_one():
    def archived(msgid, number, sender, ts=DAY):
        return message(msgid, ts, sender=sender, received=NOW - 9 * DAY + number)

    mail = [
        *(archived("a2", 2, "ann"), archived("a1", 1, "ann"), archived("b1", 3, "bob")),
        archived("late", 0, "ann", HOUR),  # sent before all of these, and not here before them
        archived("next", 9, "ann", HOUR),
        archived("joe", 9, "joe", HOUR),
    ]
    query = read("from new senders", TERRY)
    found = Oracle(query, {"messages": mail, "annotations": []}, ("public",)).answer(NOW)
    assert found == {"a1", "b1", "joe"}


SPARSE = {
    "messages": [
        message("full", DAY, subject="spark", sender="joe@x.org", sender_name="Joe", list="r"),
        message("other", DAY, subject="delta", sender="ann@x.org", sender_name="Ann", list="s"),
        message("empty", DAY, subject="", sender="", sender_name="", list=""),
        message("bare", DAY),
        message("scored", DAY, subject="spark", sender="joe@x.org"),
    ],
    "annotations": [vote(1, "scored", "ann"), vote(1, "scored", "joe"), vote(-1, "full", "joe")],
}


@pytest.mark.parametrize(
    ("phrase", "found"),
    [
        ("about spark", "full scored"),
        ("not about spark", "other empty bare"),
        ("not not about spark", "full scored"),
        ("not mentioning spark", "other empty bare"),
        ("not from joe", "other empty bare"),
        ("not from joe@x.org", "other empty bare"),
        ("not from @x.org", "empty bare"),
        ("not from joe or ann", "empty bare"),
        ("neither from joe nor about delta", "empty bare"),
        ("not (from joe and about spark)", "other empty bare"),
        ("not (from joe and not about spark)", "full other empty bare scored"),
        ("not on list r", "other empty bare scored"),
        ("not to joe", "full other empty bare scored"),
        ("not replied to by joe", "full other empty bare scored"),
        ("not with a score above one", "full other empty bare"),
        ("not with a score below one", "other empty bare scored"),
        ("not in filter spark", "other empty bare"),
        ("not in filter dated", "full other empty bare scored"),
        ("not in filter undated", "full other empty bare scored"),
        ("not in filter unlike", "full scored"),
        ("not in filter unanswered", ""),
        ("not voted for by at least half of the voters", "full other empty bare"),
        ("not in filter disliked", "other empty bare scored"),
        ("not in filter early", "other empty bare scored"),
    ],
)
def test_not_in_a_phrase_means_everything_else(phrase, found):
    filters = {
        "spark": "m.subject HAS 'spark'",
        "dated": "m.date > m.ts",
        "undated": "NOT m.date > m.ts AND m.date IN (m.ts, NULL)",
        "unlike": "m.subject NOT HAS 'spark' OR m.subject IS NULL OR m.subject = NULL",
        "disliked": "SHARE(a IN annotations AMONG a.msgid = m.msgid: a.number > 0) < 0.5",
        "early": "NTILE(2, a IN annotations AMONG a.msgid = m.msgid: a.number > 0) = 1",
        "unanswered": "m.msgid NOT IN (SELECT r.inreplyto FROM messages r WHERE r.size > 0)",
    }
    context = replace(TERRY, resolve=lambda owner, name: filters[name])
    query = read(phrase, context)
    assert Oracle(query, SPARSE, ("public",)).answer(NOW) == set(found.split())
    if "filter" not in phrase:
        assert recognize(query.condition)
        assert read(print_tql(query), context).condition == query.condition


@pytest.mark.parametrize(
    ("phrase", "found"),
    [
        ("since 3 December 1971", "late midnight"),
        ("after 3 December 1971", "late"),
        ("on 3 December 1971", "midnight"),
        ("before 3 December 1971", "early"),
        ("until 3 December 1971", "early midnight"),
        ("in December 1971", "early late midnight"),
        ("in 1972", ""),
        ("before 1971", ""),
        ("since Thursday", "early late midnight"),
        ("since Saturday", "late"),
        ("since Friday", "midnight late"),
        ("on yesterday", "midnight"),
        ("between 2 and 3 December 1971", "early midnight"),
    ],
)
def test_dates_are_days_of_the_owner(phrase, found):
    zone = timezone(timedelta(hours=10))
    midnight = to_instant(datetime(1971, 12, 3, tzinfo=zone))
    messages = {"early": midnight - 1, "midnight": midnight, "late": midnight + DAY}
    rows = [
        {"msgid": msgid, "audience": "public", "ts": midnight + WEEK, "received": received}
        for msgid, received in messages.items()
    ]
    query = read(phrase, Context(now=midnight + DAY + HOUR, zone=zone))
    data = {"messages": rows, "annotations": []}
    assert Oracle(query, data, ("public",)).answer(midnight + WEEK) == set(found.split())


FILES = {
    "messages": [
        message("a", 1, to=("m@x.org",), to_names=("Mary Jones",), attachments=1)
        | {"filenames": ("Annual Report.pdf",), "media_types": ("application/pdf",)},
        message("b", 1, to=("b@x.org", "m@x.org"), to_names=("Mary Jones", "Bob Smith"))
        | {"cc": ("ann@x.org",), "cc_names": ("Ann Börg",)},
        message("c", 1, attachments=2, filenames=("annual.txt", "report.PDF"))
        | {"media_types": ("text/plain", "application/octet-stream")},
        message("d", 1, attachments=1, media_types=("image/png",)),
        message("e", 1, attachments=1, filenames=("notes.pdf.exe",)),
    ],
    "annotations": [],
}
"""Recipients with names, and attached files with and without."""


@pytest.mark.parametrize(
    ("phrase", "found"),
    [
        ("to mary", "a b"),
        ("to Mary Jones", "a b"),
        ("to smith", "b"),
        ('to "jones bob"', ""),
        ("to börg", "b"),
        ("to m", "a b"),
        ("cc ann", "b"),
        ("cc mary", ""),
        ("not to mary", "c d e"),
        ("attachment named report", "a c"),
        ("attachment named annual report", "a"),
        ("attachment named report.pdf", "a c"),
        ("filename:report.pdf -filename:txt", "a"),
        ("with pdf attachments", "a c"),
        ("filename:pdf", "a c"),
        ("attachment:pdf", "a c e"),
        ("with exe files", "e"),
        ("with pictures", "d"),
        ("without pictures", "a b c e"),
        ("with pictures or pdf files", "a c d"),
        ("with attachments of type text/*", "c"),
        ("mime:image/png", "d"),
    ],
)
def test_names_of_recipients_and_of_files_are_found(phrase, found):
    """Words are those of one name, never of two."""
    query = read(phrase, TERRY)
    assert Oracle(query, FILES, ("public",)).answer(NOW) == set(found.split())


PATCHES = {
    "messages": [
        message("cover", 1, sender="joe@x.org", patch=0),
        message("one", 1, sender="joe@x.org", patch=1, inreplyto="cover")
        | {"references": ("cover",), "diff_paths": ("fs/ext4/inode.c", "Makefile")},
        message("two", 1, sender="joe@x.org", patch=2, inreplyto="cover")
        | {"references": ("cover",), "diff_paths": ("fs/ext4.c",)},
        message("alone", 1, sender="joe@x.org", patch=1, diff_paths=("tools/fs/inode.c",)),
        message("other", 1, sender="joe@x.org", patch=0),
        message("robot", 1, sender="bot@x.org", inreplyto="alone", automatic="notice"),
        message("mine", 1, sender="joe@x.org", inreplyto="other", references=("other",)),
        message("review", 1, sender="ann@x.org", inreplyto="two", references=("cover", "two")),
    ],
    "annotations": [],
}
"""Three series of patches by Joe, of which one has a review of a patch."""


@pytest.mark.parametrize(
    ("phrase", "found"),
    [
        ("patches to fs/ext4", "one"),
        ("touching fs/", "one two"),
        ("touching inode.c", "one alone"),
        ("touching *inode.?", "one alone"),
        ("not touching Makefile and touching fs/", "two"),
        ("dfn:ext4/inode.c", ""),
        ("patch series", "cover alone other"),
        ("patch series with a review", "cover"),
        ("patch series reviewed by ann", "cover"),
        ("patch series with no review", "alone other"),
    ],
)
def test_patches_are_found_by_files_and_reviews(phrase, found):
    query = read(phrase, TERRY)
    assert Oracle(query, PATCHES, ("public",)).answer(NOW) == set(found.split())
