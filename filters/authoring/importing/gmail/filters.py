"""Gmail's mailFilters.xml: an Atom feed with one entry for each filter, of named properties.

Conditions are searches in Gmail's language: they become phrases, or TQL where there is no phrase.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from xml.etree.ElementTree import Element, ParseError

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import fromstring

from filters.authoring.acts import acts_named
from filters.authoring.importing.entries import (
    DELETES,
    MOST_CLAUSES,
    SPAM,
    Clause,
    Entry,
    UnreadableFileError,
    check_count,
    shown,
)
from filters.authoring.importing.gmail.dialect import GMAIL
from filters.authoring.importing.gmail.meaning import statement_of_all
from filters.authoring.importing.gmail.terms import size_over, statement_of
from filters.authoring.importing.saved_searches import SAVED, saved_statement_of
from filters.authoring.importing.statements import NoEquivalentError, Statement, all_of
from filters.authoring.models import ACTS, LONGEST_TAG, acts_words, as_title
from tapestry.core.errors import TapestryError
from tapestry.query.context import Context
from tapestry.query.operators.reading import COMMON
from tapestry.query.operators.syntax import (
    Group,
    MisreadSearchError,
    Negation,
    Search,
    Term,
    parse_search,
)

_ENTRY = "{http://www.w3.org/2005/Atom}entry"
_PROPERTY = "{http://schemas.google.com/apps/2006}property"

_UNITS = {"s_sb": "", "s_skb": "k", "s_smb": "m"}
_NUMBER = re.compile("[0-9]{1,12}")
_WORD = re.compile(r"[^\s(){}|\"“”]+")

MOST_OF_GMAIL = 1_000
"""Filters that Gmail lets a person have."""

MOST_WORDS = 20_000
"""Words of all conditions of a file: each takes its time to be read."""

LONGEST_VALUE = 1_500
"""Characters of a condition, as many as Gmail’s search takes."""

_SEARCHES = {
    "from": "from",
    "to": "to",
    "subject": "subject",
    "hasTheWord": "",
    "doesNotHaveTheWord": "",
}
"""Properties whose values are searches, and the operator that each stands for."""

_CONDITIONS = (*_SEARCHES, SAVED, "hasAttachment", "size", "sizeOperator", "sizeUnit")


@dataclass(frozen=True, slots=True)
class Condition:
    """A clause, and what it says of a message: nothing at all, or what a filter of a text says."""

    clause: Clause
    statement: Statement | None = None
    text: str = ""


ACTS_OF_GMAIL = {"shouldArchive": "skip", "shouldMarkAsRead": "read", "shouldStar": "star"}
"""Properties that a filter here does too."""

OBJECTIONS = {"shouldTrash": DELETES, "shouldSpam": SPAM}
"""Properties of which the opposite would be done here."""

ACTIONS = {
    "shouldTrash": "Delete it: a filter only moves to Trash, in a mailbox that allows that.",
    "shouldNeverSpam": "Never send it to Spam: Tapestry has no Spam folder.",
    "shouldSpam": "Send it to Spam: Tapestry has no Spam folder.",
    "shouldAlwaysMarkAsImportant": "Always mark as important: rules under Importance do that.",
    "shouldNeverMarkAsImportant": "Never mark as important: rules under Importance do that.",
    "forwardTo": "Forward it: set up forwarding under Delivery, for this filter.",
    "smartLabelToApply": "Categorize: Tapestry has no categories.",
    "cannedResponse": "Send a template: Tapestry does not answer by itself.",
    "excludeChats": "Leave out chats: there are none here.",
}
"""Properties that are no conditions, and what is said of each."""


def read_gmail(raw: bytes) -> list[Entry]:
    """Return the filters of a mailFilters.xml, not translated yet; raises UnreadableFileError.

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
    check_count(len(entries), MOST_OF_GMAIL)
    values = (item.get("value", "") for item in feed.iter(_PROPERTY))
    words = sum(len(_WORD.findall(value)) for value in values)
    if words > MOST_WORDS:
        raise UnreadableFileError(
            f"The conditions of this file have {words:,} words, more than {MOST_WORDS:,}: "
            "import it in parts."
        )
    return [_entry(number, entry) for number, entry in enumerate(entries, 1)]


def _entry(number: int, entry: Element) -> Entry:
    properties = {item.get("name", ""): item.get("value", "") for item in entry.findall(_PROPERTY)}
    title = properties.get("label", "").rpartition("/")[2].strip()
    return Entry(title or f"Gmail filter {number}", "", properties=properties)


def translated(entry: Entry, context: Context) -> Entry:
    """Return a filter of a file in our language; as it is, unless it is one of Gmail still."""
    properties = entry.properties
    if not properties:
        return entry
    conditions = [
        condition
        for name, value in properties.items()
        for condition in _conditions(name, value, properties, context)
    ]
    others = [_other(name, value) for name, value in properties.items() if name not in _CONDITIONS]
    does = {name for name, value in properties.items() if value == "true"}
    clauses = [condition.clause for condition in conditions]
    label = _label(properties.get("label", ""))
    tags = ["label"] if label else []
    return Entry(
        entry.title,
        _text(conditions, context),
        (*clauses, *others)[:MOST_CLAUSES],
        is_exact=not any(clause.problem for clause in clauses),
        acts=acts_named([*(ACTS_OF_GMAIL[name] for name in does & ACTS_OF_GMAIL.keys()), *tags]),
        label=label,
        objection=next((words for name, words in OBJECTIONS.items() if name in does), ""),
    )


def _label(value: str) -> str:
    """Return the tag that a label of Gmail becomes; empty if nothing of it can be seen."""
    return as_title(value)[:LONGEST_TAG]


def _text(conditions: Sequence[Condition], context: Context) -> str:
    """Return the text of all the statements, empty if there is none or that is too much."""
    stated = [condition for condition in conditions if condition.statement is not None]
    if len(stated) < 2:
        return stated[0].text if stated else ""
    with suppress(TapestryError):
        return all_of([part.statement for part in stated if part.statement]).text(context)
    return ""


def _conditions(
    name: str, value: str, properties: Mapping[str, str], context: Context
) -> Iterator[Condition]:
    """Yield what a property says of a message: as one, or part by part if some have a problem."""
    source = f"{name}: {value}"
    if name in (*_SEARCHES, SAVED):
        yield from _searched(name, value, context)
    elif name == "hasAttachment" and value == "true":
        attachment = Term("has", "attachment", source)
        yield _condition(source, partial(statement_of, attachment, context), context)
    elif name == "size":
        yield _condition(source, partial(_size, value, properties), context)


def _searched(name: str, value: str, context: Context) -> Iterator[Condition]:
    source = f"{name}: {value}"
    if len(value) > LONGEST_VALUE:
        yield _problem(source, f"it has more than {LONGEST_VALUE:,} characters")
        return
    try:
        parts = _parts(name, value)
    except MisreadSearchError as error:
        yield _problem(source, str(error))
        return
    say_term = saved_statement_of if name == SAVED else statement_of
    condition = _condition(source, partial(statement_of_all, parts, context, say_term), context)
    if not condition.clause.problem or len(parts) == 1:
        yield condition
        return
    for part in parts:
        say = partial(statement_of_all, [part], context, say_term)
        yield _condition(f"{name}: {part.source}", say, context)


def _parts(name: str, value: str) -> Sequence[Search]:
    """Return what must hold of a message, each part of a search by itself."""
    if name == SAVED:
        return parse_search(value, COMMON)
    if name != "doesNotHaveTheWord":
        return parse_search(value, GMAIL, _SEARCHES[name])
    (unwanted,) = parse_search(value, GMAIL, is_any=True)
    is_group = isinstance(unwanted, Group) and unwanted.word == "or"
    alternatives = unwanted.parts if isinstance(unwanted, Group) and is_group else (unwanted,)
    return [Negation(part, part.source) for part in alternatives]


def _condition(source: str, say: Callable[[], Statement | None], context: Context) -> Condition:
    """Return a clause and its statement, or the clause that says why there is none."""
    try:
        statement = say()
        if statement is None:
            return Condition(Clause(shown(source), "every message", is_action=True))
        text = statement.text(context)
    except NoEquivalentError as error:
        return _problem(source, str(error))
    except TapestryError as error:
        return _problem(source, error.message.removesuffix("."))
    return Condition(Clause(shown(source), shown(text), statement.problem), statement, text)


def _problem(source: str, reason: str = "") -> Condition:
    sentence = f"Tapestry has no equivalent for “{shown(source)}”"
    problem = f"{sentence}: {reason}." if reason else f"{sentence}."
    return Condition(Clause(shown(source), problem=problem))


def _size(value: str, properties: Mapping[str, str]) -> Statement:
    if not _NUMBER.fullmatch(value) or not int(value):
        raise NoEquivalentError
    unit = _UNITS.get(properties.get("sizeUnit", "s_sb"), "")
    return size_over(int(value), is_smaller=properties.get("sizeOperator") == "s_ss", unit=unit)


def _other(name: str, value: str) -> Clause:
    source = shown(f"{name}: {value}")
    if name == "label":
        if not _label(value):
            return Clause(source, problem="Not translated: it names no label.", is_action=True)
        tag = acts_words(["label"], _label(value))
        return Clause(source, f"the name of the filter; {tag}", is_action=True)
    if name in ACTS_OF_GMAIL and value == "true":
        return Clause(source, ACTS[ACTS_OF_GMAIL[name]], is_action=True)
    known = ACTIONS.get(name)
    sentence = f"Not translated. {known}" if known else "Not translated: Tapestry does not know it."
    return Clause(source, problem=sentence, is_action=known is not None)
