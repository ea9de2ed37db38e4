"""A word or an operator of Gmail's search to what it says of a message here.

Gmail compares words: ``from:amazon`` finds the sender ``news@mail.amazon.com`` too, as HAS does.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import date
from decimal import Decimal

from filters.authoring.importing.statements import NoEquivalentError, Statement, any_of, phrased
from tapestry.core.schema import Type
from tapestry.query.context import Context
from tapestry.query.operators.files import attached_file
from tapestry.query.operators.syntax import Term
from tapestry.query.phrases.catalogue.conditions import column, equal, escape, text
from tapestry.query.phrases.nodes import NOWHERE, Amount, Date, Person, Phrase, Words
from tapestry.query.tree import nodes as n

DAYS = "Approximately: here a month has 30 days, and a year 365."

_WORD = re.compile(r"[^\W_]")
_ADDRESS = re.compile(r"[^\s@*<>()\",;]+@[\w-]+(?:\.[\w-]+)*")
_DOMAIN = re.compile(r"@[\w-]+(?:\.[\w-]+)*")
_MAILBOX = re.compile(r"[^\s@*<>()\",;]+@")
_LIST = re.compile(r"[\w+=.-]+")
_DOTTED = re.compile(r"[\w-]+(?:\.[\w-]+)+")
_SIZE = re.compile(r"([0-9]{1,12})([km]?)b?", re.IGNORECASE)
_LENGTH = re.compile(r"([0-9]{1,4})([dhmy])", re.IGNORECASE)
_DATE = re.compile(r"([0-9]{4})[/-]([0-9]{1,2})[/-]([0-9]{1,2})")
_LENGTHS = {"h": (1, "hour"), "d": (1, "day"), "m": (30, "day"), "y": (365, "day")}


def statement_of(term: Term, context: Context) -> Statement | None:
    """Return what a term says, None if that is nothing.

    Raises NoEquivalentError, or TapestryError, if a filter cannot say it.

    >>> statement_of(Term("from", "mary@x.org", "from:mary@x.org"), Context()).text(Context())
    'from mary@x.org'
    >>> statement_of(Term("from", "amazon", "from:amazon"), Context()).text(Context())
    "m.sender HAS 'amazon' OR m.sender_name HAS 'amazon'"
    """
    return _READERS[term.operator](term.value.strip(" \t,;"), context)


def size_over(value: int, *, is_smaller: bool = False, unit: str = "") -> Statement:
    """Return what says that a message is larger, or smaller, than so many bytes, KB or MB."""
    size = n.Literal(value * {"k": 1 << 10, "m": 1 << 20}.get(unit, 1), Type.INTEGER)
    test = n.Compare("<" if is_smaller else ">", column("size"), size)
    if is_smaller or not unit:
        return Statement(test)
    amount = Amount(Decimal(value), NOWHERE, f"{unit.upper()}B")
    return Statement(test, Phrase("larger_than", NOWHERE, amount=amount))


def _has(columns: tuple[str, ...], value: str) -> Statement | None:
    if not _WORD.search(value):
        return None
    return Statement(n.Or.of([n.Has(column(name), text(value)) for name in columns]))


def _words(kind: str, value: str, context: Context) -> Statement | None:
    if not _WORD.search(value):
        return None
    return phrased(Phrase(kind, NOWHERE, words=Words(value, NOWHERE)), context)


def _person(kind: str, value: str, context: Context) -> Statement:
    of = "me" if value == "me" else "domain" if value.startswith("@") else "address"
    return phrased(Phrase(kind, NOWHERE, person=Person(of, value, NOWHERE)), context)


def _anywhere(value: str, context: Context) -> Statement | None:
    mentioned = _words("mentioning", value, context)
    if mentioned is None or not _ADDRESS.fullmatch(value):
        return mentioned
    people = [_person(kind, value.lower(), context) for kind in ("from", "to")]
    return any_of([*people, mentioned])


def _people(kind: str, columns: tuple[str, ...], names: tuple[str, ...]) -> _Reader:
    """Return the reader of an operator whose people are in some columns, and their names."""

    def read(value: str, context: Context) -> Statement | None:
        found = value.strip("*<>").lower()
        if found == "me" or _ADDRESS.fullmatch(found) or _DOMAIN.fullmatch(found):
            return _person(kind, found, context)
        if _MAILBOX.fullmatch(found):
            pattern = text(f"{escape(found)}%")
            return Statement(n.Or.of([n.Like(column(name), pattern) for name in columns]))
        if "*" in found or "@" in found:
            raise NoEquivalentError("this is no address as Gmail reads it")
        return _has((*columns, *names), value.strip("*<>"))

    return read


def _list(value: str, context: Context) -> Statement | None:
    identifier = value.strip("<>").replace("@", ".").lower()
    if not _LIST.fullmatch(identifier):
        raise NoEquivalentError("this is no identifier of a list")
    if not _DOTTED.fullmatch(identifier):
        return _has(("list",), identifier)
    return _words("on_list", identifier, context)


def _larger(value: str, _: Context) -> Statement:
    match = _SIZE.fullmatch(value)
    if match is None or not int(match[1]):
        raise NoEquivalentError
    return size_over(int(match[1]), unit=match[2].lower())


def _smaller(value: str, _: Context) -> Statement:
    match = _SIZE.fullmatch(value)
    if match is None:
        raise NoEquivalentError
    return size_over(int(match[1]), is_smaller=True, unit=match[2].lower())


def _age(kind: str) -> _Reader:
    def read(value: str, context: Context) -> Statement:
        match = _LENGTH.fullmatch(value)
        if match is None or not int(match[1]):
            raise NoEquivalentError
        times, unit = _LENGTHS[match[2].lower()]
        amount = Amount(Decimal(match[1]) * times, NOWHERE, unit)
        problem = DAYS if times > 1 else ""
        return phrased(Phrase(kind, NOWHERE, amount=amount), context, problem)

    return read


def _day(kind: str) -> _Reader:
    def read(value: str, context: Context) -> Statement:
        match = _DATE.fullmatch(value)
        with suppress(ValueError):
            if match:
                day = date(*map(int, match.groups()))
                written = Date(NOWHERE, day.year, day.month, day.day)
                return phrased(Phrase(kind, NOWHERE, date=written), context)
        raise NoEquivalentError("write the day as 2024/01/31")

    return read


def _attached(value: str, context: Context) -> Statement:
    if value.lower() != "attachment":
        raise NoEquivalentError
    return phrased(Phrase("with_attachments", NOWHERE), context)


def _file(value: str, context: Context) -> Statement | None:
    found = attached_file("filename", value, NOWHERE)
    if isinstance(found, Phrase):
        return phrased(found, context)
    raise NoEquivalentError("only whole words of a name can be looked for")


def _place(value: str, context: Context) -> Statement | None:
    if value.lower() == "anywhere":
        return None
    if value.lower() != "sent":
        raise NoEquivalentError("a filter looks at all mail, wherever it is filed")
    return _person("from", "me", context)


def _identifier(value: str, _: Context) -> Statement:
    return Statement(equal(column("msgid"), text(value.strip("<>"))))


def _never(reason: str) -> _Reader:
    def read(_value: str, _context: Context) -> Statement:
        raise NoEquivalentError(reason)

    return read


_Reader = Callable[[str, Context], Statement | None]
_READERS: Mapping[str, _Reader] = {
    "": _anywhere,
    "from": _people("from", ("sender",), ("sender_name",)),
    "to": _people("to", ("to", "cc"), ("to_names", "cc_names")),
    "cc": _people("cc", ("cc",), ("cc_names",)),
    "bcc": _never("blind copies are not in a message"),
    "deliveredto": _never("the header Delivered-To is not kept"),
    "subject": lambda value, context: _words("about", value, context),
    "list": _list,
    "has": _attached,
    "filename": _file,
    "larger": _larger,
    "size": _larger,
    "smaller": _smaller,
    "older_than": _age("old"),
    "newer_than": _age("newer_than"),
    "after": _day("since"),
    "newer": _day("since"),
    "before": _day("before"),
    "older": _day("before"),
    "category": _never("there are no categories here"),
    "label": _never("labels of Gmail are not in its messages"),
    "is": _never("how a message is marked is no part of a filter"),
    "in": _place,
    "rfc822msgid": _identifier,
}
"""How the value of each operator is read."""
