"""JMAP for mail programs (RFC 8620, RFC 8621): the mailboxes of IMAP, over HTTP and JSON.

    request ─ token of the API ─> protocol ─ calls, references ─> methods ─┬─ records ─> state, ids
                                                                           ├─ parts <─ originals
                                                                           ├─ flags ─> as the pages
                                                      drafts, outbox <─────┴─ letters
    matches ─ delivery ─> push ─> programs, as browsers are told

Lists change for many reasons, also with the clock alone.  So each account has records of what was
last told of its lists (filters.jmap.records): what differs from them is a change, told once.
Drafts alone are made, deleted and sent, as the pages do it; nothing else is put, moved or deleted.
No kept library in Python serves JMAP; arguments are checked by pydantic.
"""
