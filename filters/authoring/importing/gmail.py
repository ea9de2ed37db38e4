"""Gmail's mailFilters.xml: an Atom feed with one entry for each filter, of named properties.

Conditions become phrases, which understand the operators of Gmail's search.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from xml.etree.ElementTree import Element, ParseError

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import fromstring

from filters.authoring.importing.entries import (
    MOST_CLAUSES,
    MOST_ENTRIES,
    Clause,
    Entry,
    UnreadableFileError,
    shown,
)
from tapestry.core.errors import TapestryError
from tapestry.query.context import Context
from tapestry.query.frontend import read
from tapestry.query.parts import join
from tapestry.query.phrases.bare_words import with_phrases

_ENTRY = "{http://www.w3.org/2005/Atom}entry"
_PROPERTY = "{http://schemas.google.com/apps/2006}property"

_UNITS = {"s_sb": "bytes", "s_skb": "KB", "s_smb": "MB"}
_NUMBER = re.compile("[0-9]{1,12}")

LONGEST_VALUE = 1_500
"""Characters of a condition, as many as Gmail’s search takes."""

_OF_SIZE = ("size", "sizeOperator", "sizeUnit")

ACTIONS = {
    "shouldArchive": "Skip the inbox: what a filter finds is in its own list and in the inbox.",
    "shouldMarkAsRead": "Mark as read: what a filter finds is unread until you have read it.",
    "shouldStar": "Star it: a filter only collects messages.",
    "shouldTrash": "Delete it: a filter never deletes mail.",
    "shouldNeverSpam": "Never send it to Spam: Tapestry has no Spam folder.",
    "shouldSpam": "Send it to Spam: Tapestry has no Spam folder.",
    "shouldAlwaysMarkAsImportant": "Always mark as important: a filter only collects messages.",
    "shouldNeverMarkAsImportant": "Never mark as important: a filter only collects messages.",
    "forwardTo": "Forward it: set up forwarding under Delivery, for this filter.",
    "smartLabelToApply": "Categorize: Tapestry has no categories.",
    "cannedResponse": "Send a template: Tapestry does not answer by itself.",
    "excludeChats": "Leave out chats: there are none here.",
}
"""Properties that are no conditions, and what is said of each."""


def read_gmail(raw: bytes, context: Context) -> list[Entry]:
    """Return the filters of a mailFilters.xml; raises UnreadableFileError.

    Entities and DTDs are refused, before any is expanded.
    """
    try:
        feed = fromstring(raw, forbid_dtd=True)
    except DefusedXmlException:
        raise UnreadableFileError(
            "This XML declares entities or a document type, which Gmail’s files never do."
        ) from None
    except (ParseError, ValueError, LookupError, RecursionError):
        raise UnreadableFileError("This is not a complete XML file: save it again.") from None
    entries = feed.findall(_ENTRY)
    if not entries:
        raise UnreadableFileError("This XML has no filters as Gmail exports them.")
    read_first = entries[:MOST_ENTRIES]  # what is not offered is counted alone
    known = [_entry(number, entry, context) for number, entry in enumerate(read_first, 1)]
    return known + [Entry("", "")] * (len(entries) - len(known))


def _entry(number: int, entry: Element, context: Context) -> Entry:
    properties = {item.get("name", ""): item.get("value", "") for item in entry.findall(_PROPERTY)}
    conditions = list(_conditions(properties, context))
    others = [_other(name, value) for name, value in properties.items() if name not in _CONDITIONS]
    texts = [clause.text for clause in conditions if clause.text]
    title = properties.get("label", "").rpartition("/")[2].strip()
    return Entry(
        title or f"Gmail filter {number}",
        join("phrase", texts),
        (*conditions, *others)[:MOST_CLAUSES],
        is_exact=all(not clause.problem for clause in conditions),
    )


def _conditions(properties: Mapping[str, str], context: Context) -> Iterator[Clause]:
    for name, value in properties.items():
        translate = _CONDITIONS.get(name)
        if translate is None or name in _OF_SIZE[1:]:
            continue
        source = shown(f"{name}: {value}")
        candidates = translate(value, properties) if len(value) <= LONGEST_VALUE else []
        text = _first_filter(candidates, context)
        if text:
            yield Clause(source, text)
        elif not (name == "hasAttachment" and value == "false"):
            yield Clause(source, problem=f"Not translated: “{source}” has no meaning here.")


def _first_filter(candidates: list[str], context: Context) -> str:
    """Return the first of some texts that is a filter, empty if none is."""
    for text in candidates:
        with suppress(TapestryError):
            checked = read(text, context)
            return checked.phrase or text
    return ""


def _people(operator: str) -> Callable[[str, Mapping[str, str]], list[str]]:
    def candidates(value: str, _: Mapping[str, str]) -> list[str]:
        alternatives = " OR ".join(value.strip("{}").split()) if value.startswith("{") else value
        return [f"{operator}:({alternatives})", f"{operator}:{alternatives}"]

    return candidates


def _subject(value: str, _: Mapping[str, str]) -> list[str]:
    quoted = value.replace('"', " ")
    return [f"subject:({value})", f'about "{quoted}"']


def _words(value: str, _: Mapping[str, str]) -> list[str]:
    candidates = (with_phrases(value), value)
    return [text for text in candidates if text]


def _without(value: str, properties: Mapping[str, str]) -> list[str]:
    return [f"not ({text})" for text in _words(value, properties)]


def _attachment(value: str, _: Mapping[str, str]) -> list[str]:
    return ["with attachments"] if value == "true" else []


def _size(value: str, properties: Mapping[str, str]) -> list[str]:
    if not _NUMBER.fullmatch(value) or not int(value):
        return []
    unit = _UNITS.get(properties.get("sizeUnit", "s_sb"), "bytes")
    word = "smaller" if properties.get("sizeOperator") == "s_ss" else "larger"
    return [f"{word} than {value} {unit}"]


_CONDITIONS: Mapping[str, Callable[[str, Mapping[str, str]], list[str]]] = {
    "from": _people("from"),
    "to": _people("to"),
    "subject": _subject,
    "hasTheWord": _words,
    "doesNotHaveTheWord": _without,
    "hasAttachment": _attachment,
    "size": _size,
    "sizeOperator": _size,
    "sizeUnit": _size,
}
"""How the value of each condition may read here, the best reading first."""


def _other(name: str, value: str) -> Clause:
    source = shown(f"{name}: {value}")
    if name == "label":
        return Clause(source, "the name of the filter", is_action=True)
    known = ACTIONS.get(name)
    sentence = f"Not translated. {known}" if known else "Not translated: Tapestry does not know it."
    return Clause(source, problem=sentence, is_action=known is not None)
