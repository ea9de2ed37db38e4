"""Email/query: a filter and an order, asked of records and cards; words, of the messages' text.

filter ─┬─ mailboxes, keywords, instants, subject, sender ─> the database
└─ text, body, to, cc, bcc, header ────────────────> MOST_READ messages, one by one
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import chain
from typing import Annotated, Any

from django.db.models import Exists, OuterRef, Q
from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from filters.compose.models import Attachment
from filters.inbox.mailboxes import originals
from filters.jmap.arguments import Count, EmailQuery, EmailQueryChanges, read
from filters.jmap.calls.boxes import DEEPEST, parts_of
from filters.jmap.calls.columns import Emails, columns_of, few, has_word, keyword_word
from filters.jmap.calls.orders import RECEIVED, in_order
from filters.jmap.calls.texts import has_words, words_of
from filters.jmap.headers import fields_of
from filters.jmap.letters import raw_of
from filters.jmap.models import JmapAccount, JmapRecord
from filters.jmap.objects import key_of, page, query_changes
from filters.jmap.protocol import Arguments, MethodError
from filters.jmap.records import present
from filters.site.work.db.batching import in_batches
from tapestry.core.clock import parse_instant

MOST_CONDITIONS = 100
"""Conditions of a filter."""

_HAS_FILES = Exists(Attachment.objects.filter(message=OuterRef("letter")))

_ALL, _NONE = Q(pk__gt=0), Q(pk__in=[])
"""Conditions that every Email meets, and none."""


class Condition(BaseModel):
    """A condition on Emails (RFC 8621, 4.4.1)."""

    model_config = ConfigDict(alias_generator=to_camel, extra="forbid", strict=True)

    in_mailbox: str | None = None
    in_mailbox_other_than: list[str] | None = None
    before: str | None = None
    after: str | None = None
    has_keyword: str | None = None
    not_keyword: str | None = None
    all_in_thread_have_keyword: str | None = None
    some_in_thread_have_keyword: str | None = None
    none_in_thread_have_keyword: str | None = None
    has_attachment: bool | None = None
    min_size: Count = 0
    max_size: Count = 2**53 - 1
    subject: str | None = None
    from_: str | None = Field(None, alias="from")
    text: str | None = None
    to: str | None = None
    cc: str | None = None
    bcc: str | None = None
    body: str | None = None
    header: Annotated[list[str], Field(min_length=1, max_length=2)] | None = None


def email_query(account: JmapAccount, given: EmailQuery) -> Arguments:
    """Return the Emails that meet a filter, in order (RFC 8621, 4.4)."""
    answer = page(account, JmapRecord.EMAIL, given, _results(account, given))
    return answer | {"collapseThreads": given.collapse_threads}


def email_query_changes(account: JmapAccount, given: EmailQueryChanges) -> Arguments:
    """Return what became of the results of a query (RFC 8621, 4.5).

    What changes of an Email may make others of its thread results, or show them in its place.
    """

    def related(keys: set[int]) -> set[int]:
        roots = {
            _root(name)
            for batch in in_batches(account.records.all(), keys)
            for name in batch.values_list("name", flat=True)
        }
        rows = present(account, JmapRecord.EMAIL).values_list("pk", "name") if roots else ()
        return keys.union(key for key, name in rows if _root(name) in roots)

    results = partial(_results, account, given)
    return query_changes(account, JmapRecord.EMAIL, given, results, related)


def _results(account: JmapAccount, given: EmailQuery | EmailQueryChanges) -> list[int]:
    emails = emails_of(account)
    if given.filter is not None:
        emails = emails.filter(read_filter(account, emails, given.filter))
    ordered_rows = in_order(account, emails, given.sort or [])
    if not given.collapse_threads:
        return [key for key, _ in ordered_rows]
    first: dict[str, int] = {}
    for key, name in ordered_rows:
        first.setdefault(_root(name), key)
    return list(first.values())


def emails_of(account: JmapAccount) -> Emails:
    """Return all Emails, as conditions and orders take them."""
    return present(account, JmapRecord.EMAIL).alias(received=RECEIVED)


def _root(name: str) -> str:
    return name.partition(":")[2]


def _among(keys: Iterable[int]) -> Q:
    """Return the condition that an Email is one of any number."""
    met = _NONE
    for records in in_batches(JmapRecord.objects.all(), keys):
        met |= Q(pk__in=records.values("pk"))
    return met


def read_filter(account: JmapAccount, emails: Emails, given: Any) -> Q:
    """Return the condition of a filter of Emails; MethodError if it is none."""
    return _Filter(account, emails).read(given)


class _Filter:
    """Reads a filter as a condition of the database."""

    def __init__(self, account: JmapAccount, emails: Emails) -> None:
        self._account, self._emails = account, emails
        self._boxes = dict(present(account, JmapRecord.MAILBOX).values_list("pk", "name"))
        self._room = MOST_CONDITIONS

    def read(self, given: Any, depth: int = 0) -> Q:
        self._room -= 1
        if not isinstance(given, dict) or depth > DEEPEST or self._room < 0:
            raise MethodError("unsupportedFilter", "The filter is no object, or is too large.")
        if "operator" not in given:
            return self._condition(read(Condition, given, "unsupportedFilter"))
        parts = [self.read(part, depth + 1) for part in parts_of(given)]
        operator = given["operator"]
        met = _ALL if operator == "AND" else _NONE
        for part in parts:
            met = met & part if operator == "AND" else met | part
        return ~met if operator == "NOT" else met

    def _condition(self, given: Condition) -> Q:
        met = self._of_lists(given) & self._of_threads(given)
        if given.before is not None:
            met &= Q(received__lt=_instant(given.before))
        if given.after is not None:
            met &= Q(received__gte=_instant(given.after))
        if given.has_attachment is not None:
            attached = Q(card__attachments__gt=0) | Q(_HAS_FILES)
            met &= attached if given.has_attachment else ~attached
        tests = _tests(given)
        return met if not tests else _among(self._read_for(met, tests))

    def _of_lists(self, given: Condition) -> Q:
        met = _ALL
        if given.in_mailbox is not None:
            met &= has_word(self._box(given.in_mailbox))
        if given.in_mailbox_other_than is not None:
            others = set(self._boxes.values()) - set(map(self._box, given.in_mailbox_other_than))
            elsewhere = _NONE
            for name in others:
                elsewhere |= has_word(name)
            met &= elsewhere
        if given.has_keyword is not None:
            met &= has_word(keyword_word(given.has_keyword))
        if given.not_keyword is not None:
            met &= ~has_word(keyword_word(given.not_keyword))
        return met

    def _of_threads(self, given: Condition) -> Q:
        met = _ALL
        if given.some_in_thread_have_keyword is not None:
            met &= self._in_threads(has_word(keyword_word(given.some_in_thread_have_keyword)))
        if given.none_in_thread_have_keyword is not None:
            met &= ~self._in_threads(has_word(keyword_word(given.none_in_thread_have_keyword)))
        if given.all_in_thread_have_keyword is not None:
            met &= ~self._in_threads(~has_word(keyword_word(given.all_in_thread_have_keyword)))
        return met

    def _in_threads(self, condition: Q) -> Q:
        """Return the condition that an Email of the same thread meets a condition."""
        roots = {
            _root(name) for name in self._emails.filter(condition).values_list("name", flat=True)
        }
        rows = self._emails.values_list("pk", "name")
        return _among(key for key, name in rows if _root(name) in roots)

    def _box(self, text: str) -> str:
        try:
            return self._boxes[key_of(text)]
        except KeyError:
            raise MethodError("unsupportedFilter", "There is no such mailbox.") from None

    def _read_for(self, narrowed: Q, tests: Sequence[Test]) -> list[int]:
        """Return the keys of what a condition leaves that meets all tests."""
        rows = few(self._emails.filter(narrowed).select_related("card", "letter__owner"))
        for test in tests:
            met = test(self._account, rows)
            rows = [row for row in rows if row.pk in met]
        return [row.pk for row in rows]


Test = Callable[[JmapAccount, Sequence[JmapRecord]], set[int]]
"""Returns the keys of those of some Emails that meet it."""

_OF_TEXT = {
    "text": ("subject", "sender", "sender_name", "to", "cc", "body"),
    "from": ("sender", "sender_name"),
    "subject": ("subject",),
    "to": ("to",),
    "cc": ("cc",),
    "body": ("body",),
}
"""The columns of messages in which the words of a condition are looked for."""


def _tests(given: Condition) -> list[Test]:
    texts = given.model_dump(by_alias=True, exclude_none=True)
    tests = [
        _column_test(columns, partial(has_words, words_of(texts[name])))
        for name, columns in _OF_TEXT.items()
        if name in texts
    ]
    if given.model_fields_set & {"min_size", "max_size"}:
        least, most = given.min_size, given.max_size
        tests.append(_column_test(("size",), lambda row: least <= (row[0] or 0) < most))
    if given.bcc is not None:
        tests.append(_header_test("bcc", given.bcc))
    if given.header is not None:
        tests.append(_header_test(*given.header))
    return tests


def _column_test(columns: Sequence[str], is_met: Callable[[Sequence[Any]], bool]) -> Test:
    def met(account: JmapAccount, rows: Sequence[JmapRecord]) -> set[int]:
        return {key for key, values in columns_of(account, rows, columns) if is_met(values)}

    return met


def _header_test(name: str, text: str = "") -> Test:
    words = words_of(text)

    def met(account: JmapAccount, rows: Sequence[JmapRecord]) -> set[int]:
        keys = {row.card_id: row.pk for row in rows if row.card_id is not None}
        raws = ((keys[card], raw) for card, raw in originals(account.owner, keys))
        letters = ((row.pk, raw_of(row.letter)) for row in rows if row.letter is not None)
        return {
            key
            for key, raw in chain(raws, letters)
            for field, value in fields_of(raw)
            if field.lower() == name.lower() and has_words(words, [value])
        }

    return met


def _instant(text: str) -> int:
    try:
        return parse_instant(text)
    except ValueError as error:
        raise MethodError("invalidArguments", "This is no UTCDate.") from error
