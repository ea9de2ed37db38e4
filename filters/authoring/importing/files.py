"""Read a file of filters in whichever of the known formats it is."""

from __future__ import annotations

from collections.abc import Collection

from filters.authoring.importing.entries import Entry, UnreadableFileError
from filters.authoring.importing.gmail.filters import read_gmail
from filters.authoring.importing.maintainers import is_maintainers, read_maintainers
from filters.authoring.importing.own_file import is_own_file, read_filters
from filters.authoring.importing.saved_searches import are_saved_searches, read_saved_searches
from filters.authoring.importing.sieve.scripts import read_sieve

LARGEST = 1 << 20
"""Bytes of a file from elsewhere."""

LARGEST_OWN = 1 << 23
"""Bytes of a file of Tapestry: 5,000 filters have their place in it."""

LARGEST_SIEVE = 1 << 17
"""Bytes of a script in Sieve."""


def read_file(raw: bytes, addresses: Collection[str] = ()) -> list[Entry]:
    """Return the filters of a file; raises UnreadableFileError with a sentence.

    ``addresses`` are those of who reads it.  Filters of Gmail, and saved searches, are not
    translated yet.
    """
    check_file(raw)
    if raw.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<") or raw[:2] in (b"\xfe\xff", b"\xff\xfe"):
        _check_size(raw)
        return read_gmail(raw)
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UnreadableFileError("This is not a text file: choose a file of filters.") from None
    text = text.replace("\r\n", "\n")
    if is_own_file(text):
        return read_filters(text)
    _check_size(raw)
    if are_saved_searches(text):
        return read_saved_searches(text)
    if is_maintainers(text):
        return read_maintainers(text, addresses)
    if len(raw) > LARGEST_SIEVE:
        raise UnreadableFileError("This Sieve script is larger than 128 KB: import it in parts.")
    return read_sieve(text)


def check_file(raw: bytes) -> None:
    """Refuse what is seen at once to be no file of filters; raises UnreadableFileError."""
    if len(raw) > LARGEST_OWN:
        raise UnreadableFileError("This file is larger than 8 MB: import it in parts.")
    if not raw.strip():
        raise UnreadableFileError("This file is empty: choose a file of filters.")


def _check_size(raw: bytes) -> None:
    if len(raw) > LARGEST:
        raise UnreadableFileError("This file is larger than 1 MB: choose a file of filters.")
