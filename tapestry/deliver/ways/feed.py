"""Delivery by feed: the matches that are in the lists, as an Atom 1.0 document (RFC 4287).

A long feed is several documents, each with the address of the next, older one (RFC 5005, 3).
"""

from __future__ import annotations

import json
import re
import uuid
import xml.etree.ElementTree as ET
from collections.abc import Iterable

from tapestry.core.clock import format_instant
from tapestry.deliver.batch import DeliveredMatch, Excerpts

CONTENT_TYPE = "application/atom+xml; charset=utf-8"

_ATOM = "http://www.w3.org/2005/Atom"
_NAMESPACE = uuid.uuid5(uuid.NAMESPACE_URL, "tag:tapestry,1992:matches")
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_MAILBOX = re.compile(r"[^\s@<>]+@[^\s@<>]+")


def atom_feed(
    matches: Iterable[DeliveredMatch],
    *,
    feed_id: str,
    title: str,
    feed_url: str,
    page_url: str,
    updated: int,
    subtitle: str = "",
    next_url: str = "",
    excerpts: Excerpts | None = None,
) -> bytes:
    """Return the feed of the messages that are in the lists after these matches, newest first.

    A message that has left a list is no entry.  ``feed_id`` is a URI that stays the same where
    ``feed_url``, the secret address, is changed.  ``updated`` is the instant of the last change of
    what the feed shows: the last release of a match, not its ``matched_at``, for a match of one
    filter may be shown long after a later one of another.  ``next_url`` is the address of the
    document with what is older, empty if nothing is.
    """
    feed = ET.Element("feed", {"xmlns": _ATOM})
    _add(feed, "id", feed_id)
    _add(feed, "title", title)
    if subtitle:
        _add(feed, "subtitle", subtitle)
    _add(feed, "updated", format_instant(updated))
    _add(feed, "generator", "Tapestry")
    ET.SubElement(feed, "link", {"rel": "self", "href": xml_text(feed_url)})
    ET.SubElement(feed, "link", {"rel": "alternate", "href": xml_text(page_url)})
    if next_url:
        ET.SubElement(feed, "link", {"rel": "next", "href": xml_text(next_url)})
    for match in listed(matches):
        excerpt = (excerpts or {}).get((match.msgid, match.audience), "")
        _add_entry(feed, match, page_url, _one_line(excerpt))
    body: bytes = ET.tostring(feed, encoding="utf-8", xml_declaration=True)
    return body


def listed(matches: Iterable[DeliveredMatch]) -> list[DeliveredMatch]:
    """Return the last match of each message in each filter, newest first, without what has left."""
    last: dict[str, DeliveredMatch] = {}
    for match in sorted(matches, key=lambda match: match.sequence):
        last[entry_id(match)] = match
    newest_first = sorted(last.values(), key=lambda match: -match.sequence)
    return [match for match in newest_first if match.op == "insert"]


def entry_id(match: DeliveredMatch) -> str:
    """Return the URI of a message in a filter's list, the same wherever the site stands."""
    return uuid.uuid5(_NAMESPACE, json.dumps([match.filter_id, match.msgid])).urn


def xml_text(text: str) -> str:
    r"""Return a text without the characters that XML 1.0 forbids (section 2.2).

    >>> xml_text("a\x00b\ud800c")
    'abc'
    """
    return _FORBIDDEN.sub("", text)


def _add_entry(feed: ET.Element, match: DeliveredMatch, page_url: str, excerpt: str) -> None:
    entry = ET.SubElement(feed, "entry")
    _add(entry, "id", entry_id(match))
    _add(entry, "title", _one_line(match.subject) or "(no subject)")
    _add(entry, "updated", format_instant(match.matched_at))
    _add(entry, "published", format_instant(min(match.received, match.matched_at)))
    author = ET.SubElement(entry, "author")
    name = _one_line(match.sender_name) or _one_line(match.sender) or "(unknown)"
    _add(author, "name", name)
    if _MAILBOX.fullmatch(xml_text(match.sender)):
        _add(author, "email", match.sender)
    ET.SubElement(entry, "category", _category(match))
    ET.SubElement(entry, "link", {"rel": "alternate", "href": xml_text(match.url or page_url)})
    if _one_line(match.explanation):
        _add(entry, "summary", match.explanation)
    if excerpt:
        ET.SubElement(entry, "content", {"type": "text"}).text = excerpt


def _category(match: DeliveredMatch) -> dict[str, str]:
    category = {"term": xml_text(match.filter_name)}
    if match.filter_label != match.filter_name:
        category["label"] = _one_line(match.filter_label)
    return category


def _add(parent: ET.Element, name: str, text: str) -> None:
    """Add an element with one line of plain text."""
    ET.SubElement(parent, name).text = _one_line(text)


def _one_line(text: str) -> str:
    return " ".join(xml_text(text).split())
