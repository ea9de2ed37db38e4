"""Searches that lei, notmuch and mu have saved, in files like those of git.

    [lei]                       [query]
        q = s:foo dfn:fs/ext4       netdev = list:netdev and not from:me

A lei.saved-search is one search, named by the mailbox that it fills; notmuch and mu name each.
"""

from __future__ import annotations

import re
from configparser import Error, RawConfigParser
from io import BytesIO
from pathlib import PurePosixPath
from urllib.parse import unquote

from dulwich.config import ConfigFile

from filters.authoring.importing.entries import Entry, UnreadableFileError, check_count
from filters.authoring.importing.statements import NoEquivalentError, Statement, phrased
from filters.authoring.models import as_title
from tapestry.query.context import Context
from tapestry.query.operators.syntax import Term
from tapestry.query.operators.translation import DIRECTLY, translate
from tapestry.query.phrases.catalogue.conditions import column, text
from tapestry.query.phrases.dates import is_settled, settled
from tapestry.query.phrases.nodes import Words
from tapestry.query.phrases.words import mentioned
from tapestry.query.tree import nodes as n

SAVED = "q"
"""The property of an entry that is such a search, not translated yet."""

MOST_SAVED = 1_000
"""Searches of a file."""

MOVING_DAY = "Approximately: the day is the one that this means now."

_OF_LEI = re.compile(r'^\[lei(?:[ \t]+"[^"\n]*")?\]', re.MULTILINE)
_OF_OTHERS = re.compile(r"^\[(?:query|bookmarks|mu)\]", re.MULTILINE)
_LISTED = re.compile(r"^query\.([^=\n]+)=(.+)$", re.MULTILINE)
_PHRASE_OF_LEI = re.compile(r'(\w+:)?([^"()]*\s[^"()]*)')
_JOINERS = re.compile(r"\b(?:AND|OR|NOT|XOR|NEAR|ADJ)\b|(?<!\A)\b[a-z]+:")


def are_saved_searches(text: str) -> bool:
    r"""Tell whether a text is a file of such searches, or what ``notmuch config list`` prints.

    >>> are_saved_searches('[lei]\n\tq = s:foo\n'), are_saved_searches("query.inbox=tag:inbox")
    (True, True)
    """
    return any(pattern.search(text) for pattern in (_OF_LEI, _OF_OTHERS, _LISTED))


def read_saved_searches(text: str) -> list[Entry]:
    """Return the searches of a file, not translated yet; raises UnreadableFileError."""
    found = _of_lei(text) if _OF_LEI.search(text) else _of_others(text)
    if not found:
        raise UnreadableFileError("This file has no search: it has no line such as q = s:foo.")
    check_count(len(found), MOST_SAVED)
    return [Entry(as_title(name), "", properties={SAVED: query}) for name, query in found]


def _of_lei(text: str) -> list[tuple[str, str]]:
    try:
        config = ConfigFile.from_file(BytesIO(text.encode()))
    except ValueError:
        raise UnreadableFileError("This is no lei.saved-search: choose it again.") from None
    words = [value.decode(errors="replace") for value in config.get_multivar((b"lei",), b"q")]
    if len(words) > 1:  # the arguments of a command: what has blanks was quoted there
        words = [_argument(word) for word in words]
    try:
        output = config.get((b"lei", b"q"), b"output").decode(errors="replace")
    except KeyError:
        output = ""
    name = unquote(PurePosixPath(output.rstrip("/")).name) or "lei search"
    return [(name, " ".join(words))] if words else []


def _argument(word: str) -> str:
    found = _PHRASE_OF_LEI.fullmatch(word)
    if not found or _JOINERS.search(word):
        return word
    return f'{found[1] or ""}"{found[2]}"'


class _Parser(RawConfigParser):
    """A parser that leaves the names of searches as they are written."""

    def optionxform(self, optionstr: str) -> str:
        return optionstr


def _of_others(text: str) -> list[tuple[str, str]]:
    if not _OF_OTHERS.search(text):
        return [(name.strip(), query.strip()) for name, query in _LISTED.findall(text)]
    parser = _Parser(delimiters="=", comment_prefixes="#", strict=False, default_section="")
    try:
        parser.read_string(text)
    except Error:
        raise UnreadableFileError("This is no configuration of notmuch or mu.") from None
    sections = [name for name in ("query", "bookmarks", "mu") if parser.has_section(name)]
    return [(name, query) for section in sections for name, query in parser.items(section) if query]


# Terms

_FIELDS = {"t": DIRECTLY, **dict.fromkeys(("d", "dt", "date"), "sent")}
"""Operators by what is the same here: ``t:`` is To alone, ``d:`` is the Date header."""


def saved_statement_of(term: Term, context: Context) -> Statement | None:
    """Return what a term of lei or notmuch says; raises NoEquivalentError, or TapestryError."""
    name = _FIELDS.get(term.operator, term.operator)
    if name == "dfn" and not re.search(r"[*?]", term.value):
        return Statement(n.Has(column("diff_paths"), text(term.value.strip("/"))))
    if not name:
        return _words(term, context)
    phrase = translate(name, term.value, term.span, is_quoted=term.is_quoted)
    if phrase is None:
        return None
    return phrased(settled(phrase, context), context, "" if is_settled(phrase) else MOVING_DAY)


def _words(term: Term, context: Context) -> Statement | None:
    if term.value == "*" and not term.is_quoted:
        return None
    named = re.match(r"([a-z]\w*):(?!//)", term.value)
    if named and not term.is_quoted:
        raise NoEquivalentError(f"a filter has nothing like {named[1]}:")
    return phrased(mentioned(Words(term.value, term.span)), context)
