"""Rules about senders."""

from __future__ import annotations

import re

_KIN = (
    "(friend | boss | manager | colleague | co-worker | coworker | wife | husband | brother | "
    "sister "
    "| mother | father)"
)


def _from(found: re.Match[str]) -> str:
    """Return “form joe” as it was meant, and the word that follows."""
    following = found[0].split()[-1]
    return f"from {found['who']} {'' if following == found['who'] else following} "


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
        "(what | when | where | how often | how many MAIL)? did {who:NAME} (say | write | talk | "
        "post | mail) (about | on) (the)? {words:WORDS} $",
        "from {who} about {words}",
    ),
    ("^ who (wrote | writes | asked | talked) (me)? (about | on)", "about "),
    (
        "(when | where | how often) did {who:NAME} mention (the)? {words:WORDS} $",
        "from {who} mentioning {words}",
    ),
    (
        "WHICH {who:NAME} (mentions | mentioned) (the)? {words:WORDS} $",
        "from {who} mentioning {words}",
    ),
    (
        "WHICH {who:NAME} (writes | wrote | talks | talked | speaks) about (the)? {words:WORDS} $",
        "from {who} about {words}",
    ),
    ("^ {what:PICTURES} (from | by)", "with {what} from "),
    ("^ MAIL? form {who:NAME} ($ | about | since | with | before | after | to)", _from),
    ("(from | by) strangers", "from unknown senders "),
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
