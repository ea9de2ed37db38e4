"""The orders of Email/query: of the database, of a subject without “Re:”, and of texts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from django.db.models import Case, F, TextField, Value, When
from django.db.models.functions import Coalesce, Lower

from filters.jmap.arguments import Comparator
from filters.jmap.calls.columns import Emails, columns_of, few, has_word, keyword_word
from filters.jmap.models import JmapAccount
from filters.jmap.protocol import MethodError
from tapestry.identity.base_subject import base_subject

RECEIVED = Coalesce("card__received", "letter__changed_at")

SORTS: dict[str, Any] = {
    "receivedAt": RECEIVED,
    "sentAt": Coalesce("card__date", "letter__changed_at"),
    "subject": Coalesce("card__subject", "letter__subject", output_field=TextField()),
    "from": Lower(
        Case(
            When(card=None, then=F("letter__sender")),
            When(card__sender_name="", then=F("card__sender")),
            default=F("card__sender_name"),
            output_field=TextField(),
        )
    ),
}
"""The orders that take no keyword."""

READ_SORTS = ("size", "to")
"""The orders for which messages are read."""

_COMPARED: dict[str, Callable[[Any], Any]] = {
    "size": lambda size: size or 0,
    "to": lambda to: (to if isinstance(to, str) else (to or [""])[0]).casefold(),
    "subject": lambda subject: base_subject(subject or "").casefold(),
}
"""What of a value is compared, in the orders that the database does not know."""


def in_order(
    account: JmapAccount, emails: Emails, comparators: Sequence[Comparator]
) -> list[tuple[int, str]]:
    """Return the keys and names of Emails in an order; MethodError if it is none.

    Those that are alike come with the newest first.
    """
    places = [place for place, by in enumerate(comparators, 1) if by.property in _COMPARED]
    most = max(places, default=0)
    orders = [_by(comparator) for comparator in comparators[most:]]
    rows = emails.order_by(*orders, RECEIVED.desc(), "pk")
    return _sorted(account, rows, comparators[:most])


def _sorted(
    account: JmapAccount, emails: Emails, comparators: Sequence[Comparator]
) -> list[tuple[int, str]]:
    """Return the keys and names of Emails by what the database does not compare."""
    read = [by.property for by in comparators if by.property in READ_SORTS]
    rows = few(emails.select_related("card", "letter__owner"), "order") if read else []
    texts = dict(columns_of(account, rows, read))
    ordered = list(emails.values_list("pk", "name"))
    for by in reversed(comparators):
        if by.property in READ_SORTS:
            place = read.index(by.property)
            values = {key: row[place] for key, row in texts.items()}
        else:
            values = dict(emails.order_by().values_list("pk", _column(by)))
        compared = _COMPARED.get(by.property, _nulls_first)
        compared_values = {key: compared(values.get(key)) for key, _ in ordered}
        ordered.sort(key=lambda row: compared_values[row[0]], reverse=not by.is_ascending)
    return ordered


def _nulls_first(value: Any) -> Any:
    return value is not None, value


def _by(comparator: Comparator) -> Any:
    column = _column(comparator)
    if comparator.is_ascending:
        return column.asc(nulls_first=True)
    return column.desc(nulls_last=True)


def _column(comparator: Comparator) -> Any:
    name, keyword = comparator.property, comparator.keyword
    is_known = name in SORTS if keyword is None else name == "hasKeyword"
    if not is_known or comparator.collation not in (None, "i;ascii-casemap"):
        raise MethodError("unsupportedSort", f"“{name[:100]}” is no order here.")
    if keyword is None:
        return SORTS[name]
    return Case(When(has_word(keyword_word(keyword)), then=Value(1)), default=Value(0))
