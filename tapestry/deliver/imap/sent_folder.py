r"""The folder of what its owner has sent: the special-use mailbox (\Sent) of RFC 6154."""

from __future__ import annotations

from imapclient.exceptions import IMAPClientAbortError, IMAPClientError

from tapestry.core.clock import to_datetime
from tapestry.deliver.imap.folders import MailFolders
from tapestry.deliver.imap.message_identity import MessageIdentity
from tapestry.servers.account import Account, RefusedError
from tapestry.servers.imap import UNREADABLE, connected, explained, hierarchy_of, listed_folders
from tapestry.servers.quoted_reply import quoted_reply

SENT = rb"\sent"
"""The special use of a mailbox (\\Sent), in lower case as folders are listed."""


def keep_sent(
    account: Account, raw: bytes, sent_at: int, timeout: float, seconds: float | None = None
) -> str | None:
    r"""Put a message that was sent into the folder \Sent, once; return its name, None without one.

    What is there by its Message-ID is not put in again: a try that broke off may have put it
    there, or the server that sent it.  Raises ConnectionLostError or RefusedError, in words.
    """
    with connected(account, timeout, seconds) as client, explained(account):
        listed = listed_folders(client)
        names = [name for flags, name in listed if SENT in flags and not flags & UNREADABLE]
        if not names:
            return None
        folders = MailFolders(account, client, hierarchy_of(client), names[0], set(names))
        if folders.find(names[0], MessageIdentity.of(raw)):
            return names[0]
        try:
            # Without the keyword of deliveries: sources of others take it in like all mail.
            client.append(names[0], raw, [rb"\Seen"], to_datetime(sent_at))
        except IMAPClientAbortError:
            raise
        except IMAPClientError as error:
            said = quoted_reply(error, account.secret)
            raise RefusedError(
                f"{account.host} does not take it into {names[0]}: {said}."
            ) from error
        return names[0]
