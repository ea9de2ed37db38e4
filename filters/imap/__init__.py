"""IMAP for mail programs: each filter of a person, and their main shelves, as a mailbox.

    program ─ TLS ─> server ─> pymap (protocol) ─> session ─> folders ─> lists as the pages have
                                    login ─> tokens of the API    └─ contents ─> originals

The protocol is pymap's, the one kept IMAP server in Python that has IDLE, UIDPLUS and typed
interfaces for a storage of one's own; that of Twisted has no IDLE, and would bring a second loop.
Nothing is deleted or put here: filters fill the mailboxes, and a message leaves one as it leaves
the list.
"""
