"""Rules about answers: whose there are, whose there are not, and whose there should be."""

from __future__ import annotations

import re

from tapestry.query.phrases.wordings.lexicon import left_out
from tapestry.query.phrases.wordings.rules.clauses import any_of

_UNANSWERED = "with no reply "
_BUT_ME = "OTHERS (else | but me | other than me | except me | but I)"
_OWED = "to me and with no reply by me "


def counted(age: str) -> str:
    """Return an age as phrases have it.

    >>> counted("a week")
    'one week'
    """
    return re.sub(r"^an?\s", "one ", age, flags=re.IGNORECASE)


def _aged(found: re.Match[str]) -> str:
    """Return what is so old, and unanswered."""
    return f"{counted(found['age'])} old {found['whose'].rstrip()} "


def _reminder(found: re.Match[str]) -> str:
    age = found["age"] or found["within"]
    return f"from me {counted(age) + ' old ' if age else ''}{_UNANSWERED}"


def _reminder_of(found: re.Match[str]) -> str:
    who, age = found["who"], found["age"]
    return f"from me to {who} {counted(age) + ' old ' if age else ''}with no reply by {who} "


def _asked(found: re.Match[str]) -> str:
    who, words = found["who"], found["words"]
    topic = f'about "{words}" ' if words else ""
    return f"from me to {who} {topic}with no reply by {who} "


def _aged_by(found: re.Match[str]) -> str:
    who = found.groupdict().get("who")
    if found.string[: found.start()].endswith(("last ", "past ", "than ")):
        return found[0]
    return f"{counted(found['age'])} old with no reply {f'by {who} ' if who else ''}"


_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")


def _numbered(found: re.Match[str]) -> str:
    return f"replies numbered {_ORDINALS.index(found['nth'].lower()) + 1} "


def _paused(found: re.Match[str]) -> str:
    return f"replies following a pause of {counted(found['age'])} "


def _one_alone(found: re.Match[str]) -> str:
    """Return what nobody else replied to: of another person no phrase says it."""
    who = found["who"] or found["whom"]
    return "unanswered by others " if who == "me" else f"replied to by {who} only "


def _kind_of(found: re.Match[str]) -> str:
    """Return what has files of a kind from their owner: “anna's photos”."""
    files = left_out(found["kind"]) if found["kind"] else "with attachments"
    return f"from {found['owner'][:-2]} {files} {found['next'] or ''} "


RULES = (
    (
        "^ {owner:OWNER} REPLY to my MAIL (about | on)",
        lambda found: f"replies to me from {found['owner'][:-2]} and replies to a message about ",
    ),
    (
        "REPLY to {owner:OWNER} (MAIL | QUESTION) about",
        lambda found: f"replies to {found['owner'][:-2]} and replies to a message about ",
    ),
    (
        "^ REPLY (from {who:NAME})? to (my | our) (MAIL | QUESTION) (about | on)",
        lambda found: (
            f"replies to me {'from ' + found['who'] if found['who'] else ''} "
            "and replies to a message about "
        ),
    ),
    (
        "WHICH? (NOBODY (but | except | other than) {who:SOMEBODY} (has)? ANSWERED | "
        "NOBODY (has)? ANSWERED (but | except | other than) (by)? {whom:SOMEBODY})",
        _one_alone,
    ),
    ("^ (did | have) i ALSO? ANSWER (to)? {whom:NAME} $", "replies to {whom} from me"),
    ("^ NOBODY (has)? ANSWERED (this | it | that | them)", _UNANSWERED),
    ("NEVER ANSWERED by (anyone | anybody)", _UNANSWERED),
    ("REPLY BY {who:NAME} to A? LETTER BY", "from {who} and replies to "),
    ("REPLY to A? LETTER BY {who:NAME} about", "replies to {who} and replies to a message about "),
    ("REPLY to A? LETTER WHICH? BE? about", "replies to a message about "),
    (
        "REPLY to A? LETTER WHICH? MENTION (the)? (word | words)?",
        "replies to a message mentioning ",
    ),
    ("REPLY to A? LETTER WHICH? BE? DONE? BY", "replies to "),
    ("^ REPLY to A? MAIL $", "replies "),
    ("^ no replies please? COMMA only?", "not replies and "),
    (
        "{how:SOURCE} {who:NAME} (not | not yet | never) (been)? ANSWERED $",
        "{how} {who} with no reply ",
    ),
    ("BUT NOT ANSWER (to)? (it | them)? $", "and with no reply by me "),
    (
        "still? unanswered (for more than | for over | after | since more than | after more "
        "than) {age:AGE}",
        lambda found: f"with no reply {counted(found['age'])} old ",
    ),
    ("^ still unanswered", "unanswered "),
    ("WHICH {who:NAME} (has)? ALSO? ANSWERED {whom:NAME} $", "replies to {whom} from {who}"),
    ("(and | WHICH) {who:NAME} NOT ANSWER $", "with no reply by {who}"),
    ("^ (did | has) OTHERS ALSO? ANSWER A? (me | us | MAIL | QUESTION)", "replies to me "),
    ("REPLY to A? QUESTION about", "replies to a message about "),
    (
        "WHICH? {who:NAME} (has)? ALSO? ANSWERED within {age:AGE}",
        "replied to by {who} within {age}",
    ),
    ("not REPLY from {who:NAME}", "not replies by {who}"),
    (
        "^ {owner:OWNER} REPLY to {who:SOMEBODY}",
        lambda found: f"replies to {found['who']} from {found['owner'][:-2]} ",
    ),
    ("^ REPLY BY {who:NAME} to my (MAIL | QUESTION)", "replies to me from {who}"),
    (
        "REPLY BY {who:NAME} to {owner:OWNER} (MAIL | THREAD | REPLY)",
        lambda found: f"replies to {found['owner'][:-2]} and replies by {found['who']} ",
    ),
    (
        "^ (did | has) {who:NAME} ALSO? ANSWER (to)? (me | my MAIL) (about | on)",
        "replies to me from {who} and replies to a message about ",
    ),
    ("^ {owner:OWNER} REPLY", lambda found: f"replies by {found['owner'][:-2]} "),
    ("^ {owner:OWNER} THREAD", lambda found: f"from {found['owner'][:-2]} starting a thread "),
    ("^ {owner:OWNER} patches", lambda found: f"patch series from {found['owner'][:-2]} "),
    ("^ {owner:OWNER} QUESTION", lambda found: f"from {found['owner'][:-2]} asking a question "),
    ("^ {owner:OWNER} ({kind:KIND} | FILES) ($ | {next:FOLLOW})", _kind_of),
    ("^ {owner:OWNER} MAIL", lambda found: f"from {found['owner'][:-2]} "),
    ("^ who (has)? ALSO? ANSWER A? (me | us | MAIL)", "replies to me "),
    (
        "^ (did | has) {who:SENDERS} ALSO? ANSWER A? (me | us | my MAIL | my QUESTION) $",
        lambda found: f"replies to me from {any_of(found['who'])} ",
    ),
    ("^ (did | has) {who:NAME} ALSO? ANSWER {whom:NAME} $", "replies to {whom} from {who}"),
    ("^ (did | has) OTHERS ALSO? ANSWER {whom:NAME} $", "replies to {whom}"),
    ("^ REPLY to my (MAIL | QUESTION)", "replies to me "),
    ("to {who:NAME} WHICH? (she | he | they) NOT ANSWER", "to {who} with no reply by {who}"),
    (
        f"(ANSWERED by {_BUT_ME} | WHICH? {_BUT_ME} HAS? ANSWERED)",
        "not unanswered by others ",
    ),
    (
        "^ who NOT ANSWER (my | our | the | about) {words:TOPIC} $",
        "from me about {words} with no reply",
    ),
    (
        "^ (MAIL WHICH?)? {who:NAME} NOT ANSWER (to)? (me | my MAIL | my QUESTION) "
        "(WITHIN {age:AGE})? $",
        _reminder_of,
    ),
    ("^ who NOT ANSWER (ME | (to)? (my | our) MAIL)?", f"from me {_UNANSWERED}"),
    (
        "^ (what | which) (follow-ups | follow-up | followups) do i (need | have) to send $",
        f"from me {_UNANSWERED}",
    ),
    (
        "^ (who | (MAIL | PEOPLE)? WHICH?) ALSO? (owe | owes) (me | us) A? REPLY $",
        f"from me {_UNANSWERED}",
    ),
    ("^ (who | what) (am i | are we) ALSO? WAIT (for | on) $", f"from me {_UNANSWERED}"),
    ("{who:NAME} ALSO? owes me A? REPLY", "from me to {who} with no reply by {who}"),
    ("I ALSO? owe {who:NAME} A? REPLY", "from {who} to me with no reply by me"),
    ("^ who do i ALSO? (owe A REPLY | MUST ANSWER) $", _OWED),
    ("^ who is WAIT (for | on) A? REPLY (from me)? $", _OWED),
    ("^ who is WAIT (for | on) me $", _OWED),
    (
        "^ remind me (in {age:AGE})? (if | when) (nobody | no one | noone | no | none) (has)? "
        "(ANSWER | answers | replies) (to | for | UPON)? A? MAIL? (for | in | within | after)? "
        "{within:AGE}? $",
        _reminder,
    ),
    (
        "^ follow up on? A? SENT? MAIL? (if | when) A? PEOPLE NOT (ANSWER | GET A? REPLY)",
        f"from me {_UNANSWERED}",
    ),
    (
        "^ follow up on? A? SENT? MAIL? (if | when) (nobody | no one | noone) (ANSWER | answers "
        "| replies)",
        f"from me {_UNANSWERED}",
    ),
    ("WHICH? I ALSO? MUST (to)? ANSWER", _OWED),
    ("WHICH? I ALSO? owe A? REPLY (to)?", _OWED),
    ("^ MAIL WHICH? (need | needs | needing) A? (attention | REPLY) $", _OWED),
    ("^ MAIL to (reply | answer | respond) (to)? $", _OWED),
    ("^ (what | which) (have | did) i not ANSWER", _OWED),
    (
        "^ I (have)? (ASK | WRITE | told) to? {who:NAME} (something | anything | A? QUESTION "
        "| A? MAIL)? (about the? {words:WORDS})? (, | and | but | which)? (and | but | which)? "
        "(he | she | they | {other:NAME})? HAS? (NOT ANSWER "
        "| (got | had | have) no REPLY) "
        "(me | it | yet)? $",
        _asked,
    ),
    (
        "^ (let me know | (remind | tell | alert | notify | warn | ping | nudge) me) "
        "(if | when | unless) "
        "{who:NAMES} (NOT | never)? (ANSWER | answers | replies) (to me | to my MAIL | me)? "
        "(WITHIN {age:AGE})? $",
        _reminder_of,
    ),
    ("in (reply | answer) to {who:NAME} ($ | ,)", "replies to {who} "),
    (
        "to {who:NAME} WHICH? I? NOT (hear | heard) back (on | about | from)?",
        "from me to {who} with no reply by {who}",
    ),
    ("^ I? NOT (heard | had word) (back)? from {who:NAME} (WITHIN {age:AGE})? $", _reminder_of),
    ("{age:AGE} (with | and | of | ,)? (no | without) A? REPLY BY {who:NAME}", _aged_by),
    ("(with no | without) A? REPLY (after | in) {age:AGE} ($ | and | ,)", _aged_by),
    (
        "(no | without) A? REPLY BY {who:NAME} WITHIN {age:AGE} to my (MAIL | QUESTION)",
        _reminder_of,
    ),
    ("(no | without) A? REPLY BY {who:NAME} WITHIN {age:AGE}", _aged_by),
    ("^ {age:AGE} (with | and | of | ,)? (no | without) A? REPLY $", _aged_by),
    ("^ no REPLY yet BY {who:NAME} $", "from me to {who} with no reply by {who}"),
    (
        "WHICH? BE? WAIT (for | on) A? REPLY BY {who:NAME}",
        "from me to {who} with no reply by {who}",
    ),
    (
        "(follow-ups | followups | REPLY) to {owner:OWNER} (MAIL | THREAD)",
        lambda found: f"replies to {found['owner'][:-2]} ",
    ),
    (
        "REPLY BY {who:NAME} to (something | anything | MAIL)? (i wrote | i sent | "
        "me | my MAIL | my QUESTION)",
        "replies to me from {who}",
    ),
    (
        "WHICH? BE? WAIT (for | on | of)? (my REPLY | A? REPLY (from | by) me)",
        "with no reply by me ",
    ),
    ("WHICH? BE? WAIT (for | on)? me (to ANSWER)?", "with no reply by me "),
    ("WHICH? BE? WAIT (for | on | of)? A? REPLY", "unanswered "),
    ("without my REPLY", "with no reply by me "),
    ("HAVE A? REPLY BY {who:NAME}", "replied to by {who}"),
    ("^ OTHERS HAS? ALSO? ANSWERED me", "replies to me "),
    ("^ {who:NAME} HAS? (replied | responded) to $", "replied to by {who}"),
    ("^ {who:NAME} HAS? ALSO? ANSWERED $", "replies by {who}"),
    ("^ (did | has) {who:NAME} ALSO? ANSWER $", "replies by {who}"),
    (
        "^ {who:NAME} HAS? ALSO? ANSWERED (in (the)? thread)? about {words:TOPIC} $",
        "replies by {who} and replies to a message about {words}",
    ),
    ("WHICH? I ALSO? NOT (yet)? ANSWER", "with no reply by me "),
    ("WHICH? I ALSO? NOT GET A? REPLY (to | for | UPON)?", _UNANSWERED),
    ("BUT? WHICH? PEOPLE? NOT ALSO? GET A? REPLY", _UNANSWERED),
    ("WHICH? HAS? NOBODY (has | ever)? (ANSWER | answers)", _UNANSWERED),
    ("WHICH? A? PEOPLE NOT ANSWER", _UNANSWERED),
    ("WHICH? {who:NAME} NOT ANSWER WITHIN {age:AGE}", _aged_by),
    ("WHICH? {who:NAME} NOT ANSWERED", "with no reply by {who}"),
    ("WHICH? {who:NAME} DIDNT ANSWER", "with no reply by {who}"),
    ("WHICH? GET no REPLY", _UNANSWERED),
    ("WHICH? NOT (been)? ANSWERED by {who:NAME}", "with no reply by {who}"),
    ("WHICH? NOT (been)? ANSWERED", _UNANSWERED),
    ("ANSWERED by NOBODY {next:PREP}", f"{_UNANSWERED}and {{next}}"),
    ("WHICH? BE? ANSWERED by NOBODY", _UNANSWERED),
    ("WHICH? (got | GET | BE) ANSWERED by", "replied to by "),
    ("WHICH? (got | GET | BE) ANSWERED", "replied to "),
    ("WHICH? I ALSO? ANSWERED", "replied to by me "),
    ("(that | which) {who:NAME} (has)? ALSO? ANSWERED", "and replied to by {who}"),
    ("BUT {who:NAMES} (has)? ALSO? ANSWERED", "and replied to by {who}"),
    ("^ MAIL WHICH? {who:NAME} (has)? ALSO? ANSWERED", "replied to by {who}"),
    (
        "WHICH? (got | received | have got | have received) (a | an | any | some | at least "
        "one) REPLY",
        "replied to ",
    ),
    (
        "(with | has | have)? no REPLY WITHIN {age:AGE} to (a | my)? from me asking a question",
        "from me asking a question and {age} old with no reply",
    ),
    (
        "no (counterparty | recipient) REPLY WITHIN {age:AGE}",
        "from me {age} old unanswered by others",
    ),
    ("(with | has | have)? no (counterparty | inbound | further)? REPLY", _UNANSWERED),
    ("from me (asking a question)? , {age:AGE} old", lambda found: found[0].replace(" ,", "")),
    ("{whose:UNANSWERED} WITHIN {age:AGE}", _aged),
    (
        "OTHERS HAS? (ANSWERED | reply to | replies to | reply | answers) (any of | "
        "one of)? my (MAIL | THREAD)",
        "replies to me ",
    ),
    ("COMMA? WHICH? NOT A? REPLY to (anything | any MAIL | other MAIL)", "and starting a thread "),
    ("COMMA? not a (reply | answer | response)", "and not replies "),
    ("WHICH? BE? ALSO? (sent)? (separately | on its own | on their own)", "starting a thread "),
    ("unanswered (incoming | inbound | received) MAIL?", "not from me with no reply "),
    ("MAIL? by {who:NAME} to my MAIL", "replies by {who} to me"),
    (
        "^ the? {nth:ORDINAL} REPLY (to (a | each | every) (mail | message | question))? $",
        _numbered,
    ),
    (
        "^ ARTICLE? the? REPLY (that came)? (more than)? {age:AGE} after the "
        "(one | reply | answer) before (it)? $",
        _paused,
    ),
)
