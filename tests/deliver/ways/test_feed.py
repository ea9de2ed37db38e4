"""Delivery by feed: Atom that a feed reader's parser reads."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import feedparser
from hypothesis import given
from hypothesis import strategies as st

from tapestry.core.clock import HOUR
from tapestry.deliver.ways.feed import atom_feed, entry_id, listed, xml_text
from tests.support.delivery.delivered_matches import NOW, match

ATOM = {"a": "http://www.w3.org/2005/Atom"}
ANY_TEXT = st.text(st.characters())
"""Lone surrogates and control characters included."""


def feed_of(*matches, updated=NOW + HOUR, **changes):
    options = {
        "feed_id": "urn:uuid:00000000-0000-5000-8000-000000000007",
        "title": "jones-replies",
        "feed_url": "https://tapestry.example/feed/SECRET",
        "page_url": "https://tapestry.example/inbox",
        "updated": updated,
    }
    return atom_feed(matches, **options | changes)


def test_a_feed_reader_reads_it():
    read = feedparser.parse(feed_of(match(1), match(2, subject="Wörds & <b>")))
    assert not read.bozo
    assert read.version == "atom10"
    assert (read.feed.title, read.feed.updated) == ("jones-replies", "2026-11-23T08:00:00Z")
    assert read.feed.id == "urn:uuid:00000000-0000-5000-8000-000000000007"
    links = {link.rel: link.href for link in read.feed.links}
    assert links == {
        "self": "https://tapestry.example/feed/SECRET",
        "alternate": "https://tapestry.example/inbox",
    }
    newest, oldest = read.entries
    assert newest.title == "Wörds & <b>"
    assert oldest.title == "Subject 1"
    assert oldest.link == match(1).url
    assert (oldest.author_detail.name, oldest.author_detail.email) == (
        "Brian Jones",
        "jones@example.com",
    )
    assert oldest.summary == "Jones replied to message 1"
    assert (oldest.published, oldest.updated) == (
        "2026-11-23T06:00:00.000001Z",
        "2026-11-23T07:00:00Z",
    )
    assert [tag.term for tag in oldest.tags] == ["filter-1"]
    assert re.fullmatch(r"urn:uuid:[0-9a-f-]{36}", oldest.id)
    assert oldest.id != newest.id


def test_an_empty_feed_is_a_feed():
    read = feedparser.parse(feed_of())
    assert not read.bozo
    assert (read.version, read.entries) == ("atom10", [])


def test_an_entry_keeps_its_id_and_each_filter_has_its_own():
    of_lunch = match(1, 7, msgid="<1@x.org>")
    assert entry_id(of_lunch) == "urn:uuid:9d683c8f-7f47-5592-9852-507de526e034"
    assert entry_id(match(1)) == entry_id(match(9, msgid=match(1).msgid, subject="Other"))
    assert entry_id(match(1)) != entry_id(match(1, filter_id=8))
    assert entry_id(match(1)) != entry_id(match(2))


def test_what_has_left_a_list_is_no_entry():
    entered, left = match(1), match(2, msgid=match(1).msgid, op="delete")
    again = match(3, msgid=match(1).msgid)
    elsewhere = match(4, 8, msgid=match(1).msgid)
    assert listed([entered, left]) == []
    assert listed([again, left, entered, elsewhere]) == [elsewhere, again]


def test_entries_without_words_have_what_atom_demands():
    bare = match(1, subject=" ", sender_name="", sender="", explanation="", url="")
    (entry,) = ET.fromstring(feed_of(bare)).findall("a:entry", ATOM)
    assert entry.findtext("a:title", None, ATOM) == "(no subject)"
    assert entry.findtext("a:author/a:name", None, ATOM) == "(unknown)"
    assert entry.find("a:author/a:email", ATOM) is None
    assert entry.find("a:summary", ATOM) is None
    assert entry.find("a:link", ATOM).get("href") == "https://tapestry.example/inbox"


@given(ANY_TEXT, ANY_TEXT, ANY_TEXT, ANY_TEXT, ANY_TEXT)
def test_any_words_are_xml(subject, name, sender, explanation, filter_name):
    words = match(
        subject=subject,
        sender_name=name,
        sender=sender,
        explanation=explanation,
        filter_name=filter_name,
    )
    body = feed_of(words, title=filter_name)
    (entry,) = ET.fromstring(body).findall("a:entry", ATOM)
    expected = " ".join(xml_text(subject).split())
    assert entry.findtext("a:title", None, ATOM) == (expected or "(no subject)")
    assert entry.findtext("a:author/a:name", None, ATOM)
    read = feedparser.parse(body)
    assert not read.bozo
    assert len(read.entries) == 1


def test_words_keep_their_place_in_xml():
    assert xml_text("\x00a\t\n\ud800\ufffe😀\x7f") == "a\t\n😀\x7f"
