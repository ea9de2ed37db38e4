"""New messages of a mailbox that bounces are sent to; they stay, and no flag is changed.

A place in it is a UIDVALIDITY and a UID (RFC 3501, section 2.3.1.1).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tapestry.deliver.mail.bounces import LONGEST
from tapestry.servers.account import TIMEOUT, Account, reading_reply
from tapestry.servers.imap import connected, explained


@dataclass(frozen=True, slots=True)
class Place:
    """The place up to which a mailbox has been read: a UID, while its UIDVALIDITY is the same."""

    uidvalidity: int = 0
    uid: int = 0


def read_after(
    account: Account, folder: str, place: Place, timeout: float = TIMEOUT
) -> Iterator[tuple[Place, bytes]]:
    """Yield the messages after a place, oldest first, each with the place after it.

    At the first look, and if the server has numbered them anew, what is there already is skipped:
    one empty message is yielded, with the place at the end.  So no bounce counts twice.  Of each
    message at most ``LONGEST`` bytes are read.

    Raises ConnectionLostError or RefusedError.
    """
    with connected(account, timeout) as client:
        with explained(account):
            selected: Any = client.select_folder(folder, readonly=True)
            with reading_reply():
                uidvalidity = int(selected.get(b"UIDVALIDITY", 0))
            if uidvalidity != place.uidvalidity or not uidvalidity:
                uids = client.search(["UID", "*"]) if selected.get(b"EXISTS") else []
                found = None
            else:
                # ``n:*`` has the last one even if its UID is below n (RFC 3501, section 6.4.8).
                uids = client.search(["UID", f"{place.uid + 1}:*"])
                found = sorted(uid for uid in uids if uid > place.uid)
        if found is None:
            yield Place(uidvalidity, max(uids, default=0)), b""
            return
        for uid in found:
            with explained(account):
                fetched: Any = client.fetch([uid], [f"BODY.PEEK[]<0.{LONGEST}>"]).get(uid, {})
            content = next((fetched[key] for key in fetched if key.startswith(b"BODY[")), b"")
            yield Place(uidvalidity, uid), content or b""
