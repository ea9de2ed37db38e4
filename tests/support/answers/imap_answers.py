"""What mail programs are told by IMAP, below the socket: mailboxes, and what is in each."""

from __future__ import annotations

from collections.abc import Iterator

from filters.imap import folders
from filters.inbox import mailboxes
from filters.people.models import User


def told_by_imap(person: User) -> Iterator[tuple[str, str]]:
    """Yield the names of a person's mailboxes; of each the UIDs, the flags and the originals."""
    names = folders.names(person)
    yield "names of mailboxes", str(names)
    for name in names:
        mark, folder = mailboxes.mark(person), folders.folder_named(person, name)
        assert folder is not None
        found = folders.letters(person, folder, mark)
        rows = [
            (letter.uid, letter.internal_date, sorted(map(str, letter.permanent_flags)))
            for letter in found
        ]
        raws = mailboxes.originals(person, [letter.card for letter in found])
        yield f"mailbox {name}", f"{folder.next_uid} {rows} {sorted(raw for _, raw in raws)}"
