"""Rules about senders."""

from __future__ import annotations

import re

from tapestry.query.phrases.spellings import DAYS
from tapestry.query.phrases.wordings.rules.clauses import any_of

KIN = (
    "(friend | boss | manager | colleague | co-worker | coworker | wife | husband | brother | "
    "sister "
    "| mother | father)"
)


def _from(found: re.Match[str]) -> str:
    """Return “form joe” as it was meant; a “form 1040” is one."""
    return re.sub(r"\bform (?![0-9])", "from ", found[0], flags=re.IGNORECASE)


def _exchange(found: re.Match[str]) -> str:
    who, after = found["who"], found[0].split()[-1]
    return f"(from {who} or to {who}) {'' if after == who else after} "


def _of_domain(found: re.Match[str]) -> str:
    how = found[0].split()[0].lower()
    return f"{how if how in ('to', 'cc') else 'from'} @{found['domain'].lstrip('@')} "


def _to_whom(found: re.Match[str]) -> str:
    """Return “i sent joe” as mail to him, “i sent tuesday” as it stands."""
    who, after = found["who"], found["after"] or found["day"] or ""
    return found[0] if DAYS.fullmatch(who) else f"from me to {who} {after} "


RULES = (
    (
        "^ MAIL? did {who:NAME} (send | mail) (me | us) (any | some | a | the)? FILES",
        "from {who} to me with attachments",
    ),
    (
        "BY (people | persons | anyone | anybody | everyone | senders)? outside (of | the)? "
        "{domain:DOMAIN}",
        lambda found: f"not from @{found['domain'].lstrip('@')} ",
    ),
    ("(from | in | of) (the | this | my | that) (account | mailbox | inbox)", ""),
    (
        "^ (from)? (no-reply | noreply | do-not-reply | donotreply) (senders | addresses | MAIL)? "
        "$",
        "from addresses like no-reply@* or from addresses like noreply@* ",
    ),
    ("BY the? {who:ADDRESS}", "from {who}"),
    ("BY {domain:HOST}", _of_domain),
    ("(PREP the? | ^) domain {domain:DOMAIN}", _of_domain),
    ("^ sender {who:NAMES} $", "from {who}"),
    ("^ (recipient | addressee) {who:NAMES} $", "to {who}"),
    (
        "BY {end:DOTTED} (addresses | address | senders | domains)?",
        "from addresses like *{end}",
    ),
    ("BY {domain:NAME} (addresses | accounts)", "from addresses like *@{domain}.*"),
    ("^ EVERYONE (at | from | in) {domain:HOST} $", _of_domain),
    (
        "^ EVERYONE (at | from | in) {domain:HOST} (and | or) (at | from | in)? {other:HOST}",
        lambda found: f"{_of_domain(found)}or from @{found['other'].lstrip('@')} ",
    ),
    ("^ reply BY", "replies by "),
    ("^ the? (newest | latest | most recent) {how:PREP}", "{how}"),
    ("^ my (posts | post)", "from me "),
    ("^ the? first MAIL (BY | of) OTHERS new", "from new senders "),
    ("BY OTHERS new", "from new senders "),
    ("{how:WHOM} (the)? {domain:DOMAIN} domain", "{how} @{domain}"),
    ("{how:WHOM} {mask:MASK}", "{how} addresses like {mask}"),
    (
        "BY (a | an | any)? (newcomers | newcomer | beginners | new (sender | person | "
        "contributor | contributors | poster | posters | members | subscribers))",
        "from new senders ",
    ),
    (
        "^ (new | first-time | first time) (contributors | posters | senders | people) "
        "WHICH? (WRITE | writes | writing | mailing | emailing)?",
        "from new senders ",
    ),
    (
        "BY (programs | robots | bots | machines | scripts | computers | a robot | a bot "
        "| a machine)",
        "from programs ",
    ),
    ("(with | ,) ME (in | on) (the)? (cc | copy)", "cc me "),
    ("with {who:NAME} (in | on) (the)? (cc | copy)", "cc {who}"),
    (
        "^ (has | did) {who:NAME} ALSO? (written | write | sent | send | mailed | emailed) "
        "(to)? (me | us)",
        "from {who} to me ",
    ),
    (
        "^ {one:NAME} to {other:NAME} (or | and) {third:NAME} to {fourth:NAME}",
        "from {one} to {other} or from {third} to {fourth}",
    ),
    ("^ my (questions | question)", "from me asking a question "),
    ("^ (open)? questions", "asking a question "),
    ("unanswered (questions | question)", "unanswered asking a question "),
    ("(myself) $", ""),
    ("WHICH? I (was | am)? mentioned (in)? $", "mentioning me "),
    ("A? SENT MAIL", "from me "),
    ("^ (sends | send) MAIL", "from me "),
    ("A? (incoming | inbound) MAIL", "not from me "),
    (
        "MAIL? WHICH? I (have)? ALSO? WROTE (to)? {who:NAME} ($ | {after:AFTERLIST} | {day:DATE})",
        _to_whom,
    ),
    ("MAIL? WHICH? I (have)? ALSO? WRITE $", "from me "),
    ("MAIL? WHICH? I (have)? ALSO? (sent | wrote | written | posted | mailed)", "from me "),
    ("WHICH? I (have)? (received | got)", ""),
    ("OTHERS HAS? WROTE (to)? (me | us)", "to me "),
    ("shared with (me | us) BY", "to me from "),
    (
        "(what | when | where | how often | how many MAIL)? (did | has | have) "
        "{who:SENDERS} (been)? (say | said | saying | write | written | writing | talk | talking "
        "| post | mail) (about | on) (the)? {words:WORDS} $",
        lambda found: f"from {any_of(found['who'])} about {found['words']} ",
    ),
    ("^ who (wrote | writes | asked | talked) (me)? (about | on)", "about "),
    (
        "(^ | when | where | how often) did {who:NAME} mention (the)? {words:WORDS} $",
        "from {who} mentioning {words}",
    ),
    (
        "WHICH {who:NAME} (mentions | mentioned | says | said) (the)? {words:WORDS} $",
        "from {who} mentioning {words}",
    ),
    (
        "WHICH {who:NAME} (writes | wrote | talks | talked | speaks) about (the)? {words:WORDS} $",
        "from {who} about {words}",
    ),
    ("^ (files | attachments) DONE? BY", "with attachments from "),
    ("^ {what:PICTURES} DONE? {how:PREP}", "with {what} {how}"),
    (
        "^ (MAIL | FILES | REPLY | PICTURES | patches)? form {who:NAME} "
        "($ | about | since | with | before | after | to)",
        _from,
    ),
    (
        "BY (strangers | unknown senders | (OTHERS | senders) WHICH? I (don't | do not) know)",
        "from unknown senders ",
    ),
    ("^ (has | did) OTHERS (written | write | said | say | asked | ask) about", "about "),
    ("^ (has | did) OTHERS (mention | mentioned)", "mentioning "),
    ("MENTION my name", "mentioning me "),
    ("(to and from | from and to) {who:NAME}", "(from {who} or to {who}) "),
    ("(sent or received | received or sent) by {who:NAME}", "(from {who} or to {who}) "),
    (
        "^ A? (correspondence | exchange | exchanges | back and forth | dialogue) "
        "with {who:NAME} ($ | and | about | since | before | last | this)",
        _exchange,
    ),
    ("(involving | exchanged with | to/from | from/to) {who:NAME}", "(from {who} or to {who}) "),
    ("(authored | signed) by", "from "),
    ("(copied | cc'd | cc'ed) to", "cc "),
    (
        "{how:WHOM} (anyone | anybody | somebody | someone | people) (at | from | in) "
        "{one:DOMAIN} or {other:DOMAIN}",
        "{how} @{one} or @{other}",
    ),
    (
        "^ (show)? (the | my)? LATEST SINGULAR BY {who:SOMEBODY} $",
        "among the latest one from {who}",
    ),
    (
        "^ (show)? the? (LATEST | recent) (PLURAL | THREAD) {how:PHRASE}",
        "{how}",
    ),
    (
        "{how:PREP} {who:ADDRESS} (or | and) (from | to) (it | them | him | her)",
        "(from {who} or to {who}) ",
    ),
    (
        "BY (A | someone)? (specific | certain | particular) (people | person | sender "
        "| user | address | account) :?",
        "from ",
    ),
    (f"BY (my | his | her | our | your | their) {KIN} (and {KIN})? {{who:NAME}} $", "from {who}"),
    ("BY (my | his | her | our | your | their) {who:NAME}", "from {who}"),
    (
        "BY? (OTHERS | senders | customers)? WHICH? I (have)? (never | NOT) (ever)? "
        "WRITE (A? MAIL)? (to)? (before)? $",
        "from unknown senders ",
    ),
    (
        "BY? (OTHERS | senders) WHICH? (NEVER | has never | have never) (ever)? (wrote "
        "| written | contacted | mailed | emailed) (to)? (me | us)? (before)?",
        "from new senders ",
    ),
    ("BY? new people", "from new senders "),
    ("^ the? first MAIL from (each | every) (person | sender)", "from new senders "),
    ("BY? unknown people", "from unknown senders "),
)
