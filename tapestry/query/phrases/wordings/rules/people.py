"""Rules about senders."""

from __future__ import annotations

import re

_KIN = (
    "(friend | boss | manager | colleague | co-worker | coworker | wife | husband | brother | "
    "sister "
    "| mother | father)"
)


def _of_domain(found: re.Match[str]) -> str:
    return f"from @{found['domain'].lstrip('@')} "


RULES = (
    (
        "^ MAIL? did {who:NAME} (send | mail) (me | us) (any | some | a | the)? FILES",
        "from {who} to me with attachments",
    ),
    ("^ MAIL? did {who:NAME} (send | write) (me | us) (any | some | a)?", "from {who} to me "),
    (
        "^ MAIL? WHICH? {who:NAME} (sent | wrote | mailed | emailed) (to)? (me | us)",
        "from {who} to me ",
    ),
    (
        "^ (everything | anything) WHICH? {who:NAME} (sent | wrote) (to)? (me | us)",
        "from {who} to me ",
    ),
    ("^ MAIL WHICH? {who:NAME} (sent | wrote)", "from {who}"),
    (
        "(from | by) (people | persons | anyone | senders)? outside (of | the)? {domain:DOMAIN}",
        lambda found: f"not from @{found['domain'].lstrip('@')} ",
    ),
    ("(from | in | of) (the | this | my | that) (account | mailbox | inbox)", ""),
    (
        "^ (from)? (no-reply | noreply | do-not-reply | donotreply) (senders | addresses | MAIL)? "
        "$",
        "from addresses like no-reply@* or from addresses like noreply@* ",
    ),
    ("(from | by) the? {who:ADDRESS}", "from {who}"),
    ("(from | by) {domain:HOST}", _of_domain),
    ("^ (everyone | anyone | people | everybody) (at | from | in) {domain:HOST} $", _of_domain),
    (
        "^ (everyone | anyone | people | everybody) (at | from | in) {domain:HOST} (and | or) "
        "(at | from | in)? {other:HOST}",
        lambda found: f"{_of_domain(found)}or from @{found['other'].lstrip('@')} ",
    ),
    ("^ reply (from | by)", "replies by "),
    ("^ my (posts | post)", "from me "),
    ("^ my (questions | question)", "from me asking a question "),
    ("^ (open)? (questions | question)", "asking a question "),
    ("unanswered (questions | question)", "unanswered asking a question "),
    ("(myself) $", ""),
    ("WHICH? I (was | am)? mentioned (in)? $", "mentioning me "),
    ("A? SENT MAIL", "from me "),
    ("^ (sends | send) MAIL", "from me "),
    ("A? (incoming | inbound) MAIL", "not from me "),
    ("MAIL? WHICH? I (have)? ALSO? WRITE $", "from me "),
    ("MAIL? WHICH? I (have)? ALSO? (sent | wrote | written | posted | mailed)", "from me "),
    ("WHICH? I (have)? (received | got)", ""),
    (
        "what did {who:NAME} (say | write) (about | on) (the)? {words:WORDS} $",
        "from {who} about {words}",
    ),
    ("^ MAIL form {who:NAME} $", "from {who}"),
    ("^ form {who:NAME} $", "from {who}"),
    (
        "(from | by) (A | someone)? (specific | certain | particular) (people | person | sender "
        "| user | address | account) :?",
        "from ",
    ),
    (
        f"(from | by) (my | his | her | our | your | their) {_KIN} (and {_KIN})? {{who:NAME}} $",
        "from {who}",
    ),
    ("(from | by) (my | his | her | our | your | their) {who:NAME}", "from {who}"),
    (
        "(from | by)? (OTHERS | senders | customers)? WHICH? I (have)? (never | NOT) (ever)? "
        "WRITE (A? MAIL)? (to)? (before)? $",
        "from unknown senders ",
    ),
    (
        "(from | by)? (OTHERS | senders) WHICH? (NEVER | has never | have never) (ever)? (wrote "
        "| written | contacted | mailed | emailed) (to)? (me | us)? (before)?",
        "from new senders ",
    ),
    ("(from | by)? new people", "from new senders "),
    ("(from | by)? unknown people", "from unknown senders "),
)
