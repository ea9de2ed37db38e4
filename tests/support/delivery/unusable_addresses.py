"""Addresses that mail is never sent to, whoever types them."""

UNUSABLE = (
    "|/bin/sh@x.org",
    "-oQ/tmp/x@x.org",
    "/var/mail/x@x.org",
    "x%y@x.org",
    "x!y@x.org",
    '"x y"@x.org',
    '"|/bin/sh"@x.org',
    "root@localhost",
    "root@LocalHost.LocalDomain",
    "root@mail",
    "a@[127.0.0.1]",
    "a@127.0.0.1",
    "a@127\u30020\u30020\u30021",
)
