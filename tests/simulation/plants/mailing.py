"""Faults of mailboxes: what is pulled from them, and what is put into them."""

from __future__ import annotations

from tests.simulation.plants.plant import Plant

FOLDER, SESSION = "tapestry.ingest.imap.folder", "tapestry.ingest.imap.session"
PUT, FOLDERS = "tapestry.deliver.ways.mailbox", "tapestry.deliver.imap.folders"

PLANTS = (
    Plant(
        "the cursor of a mailbox passes messages before they are in",
        FOLDER,
        "NewMessages._results",
        "yield result\n",
        "yield result if len(batch[0]) < 2 else replace(result, message=None)\n",
        "what came in",
    ),
    Plant(
        "UIDVALIDITY is not asked",
        SESSION,
        "ImapSession.open",
        'origin = f"{address};uidvalidity={status.uidvalidity}@{audience}"',
        'origin = f"{address}@{audience}"',
        "what came in",
    ),
    Plant(
        "a folder that has changed is taken for the same",
        SESSION,
        "ImapSession.open",
        "version == known and",
        "version[0] == known[0] and",
        "what came in",
    ),
    Plant(
        "the first look skips the oldest message",
        FOLDER,
        "NewMessages._older_items",
        "windows(self.client, 1, look.below, downwards=True)",
        "windows(self.client, 2, look.below, downwards=True)",
        "what came in",
    ),
    Plant(
        "a folder is read from the message after the next",
        FOLDER,
        "NewMessages._new_items",
        "windows(self.client, last + 1, uidnext)",
        "windows(self.client, last + 2, uidnext)",
        "what came in",
    ),
    Plant(
        "what was put aside is not fetched again",
        "tapestry.ingest.fetch",
        "UnavailableMessages._retry",
        "if result.message is not None:",
        "if result.message is None:",
        "what came in",
    ),
    Plant(
        "a mailbox is pulled for the public",
        "filters.sources.pull.pulling",
        "_Work.run",
        "DjangoClock(), source.audience, intake",
        'DjangoClock(), "public", intake',
        "what came in",
    ),
    Plant(
        "flags of mail for many are kept",
        "tapestry.ingest.ingest_batch",
        "parsed_batches",
        "if width(target.audience) == 0 else",
        "if width(target.audience) >= 0 else",
        "mailboxes",
    ),
    Plant(
        "a copy is put in again without a look",
        PUT,
        "Mailbox._confirmed",
        "copies = self.folders.find(folder, identity)",
        "copies = {}",
        "mailboxes",
    ),
    Plant(
        "a copy is known again by its Message-ID alone",
        PUT,
        "Mailbox._identity",
        "MessageIdentity.of_bytes(raw) if is_shared else ",
        "",
        "mailboxes",
    ),
    Plant(
        "copies are not marked",
        FOLDERS,
        "MailFolders.append",
        "ours += permitted([DELIVERED_KEYWORD], self.permanent)",
        "ours += []",
        "mailboxes",
    ),
    Plant(
        "what has left a list is copied and not moved",
        FOLDERS,
        "MailFolders.move",
        "self.client.move(uids, target)",
        "self.client.copy(uids, target)",
        "mailboxes",
    ),
    Plant(
        "what has left a list stays in its folder",
        PUT,
        "Mailbox._move_out",
        "uids = [uid for uid, is_deleted in copies.items() if not is_deleted]",
        "uids = [uid for uid, is_deleted in copies.items() if is_deleted]",
        "mailboxes",
    ),
    Plant(
        "a mailbox confirms the message after",
        "filters.delivery.ways.mailbox",
        "_confirm",
        "confirmation.match.sequence)",
        "confirmation.match.sequence + 1)",
        "mailboxes",
    ),
)
