"""Rules about what says nothing, at the beginning and at the end of a request."""

from __future__ import annotations

import re

from tapestry.query.phrases.wordings.rules.people import KIN

_LOOK = (
    "(show | find | list | give | get | display | select | fetch | query | see | view | check "
    "| match | include | collect | search for | searching for | search | look for | looking "
    "for | filter for "
    "| filter | filer)"
)
_EACH = (
    "(only | just | every | each | all | any | of | the | those | these | that | a list of "
    "| ARTICLE)"
)


def _forwarded(found: re.Match[str]) -> str:
    parties = {name: "me" if who.lower() == "i" else who for name, who in found.groupdict().items()}
    whom = f"to {parties['whom']} " if "whom" in parties else ""
    forwards = (f'with a subject starting with "{sign}:"' for sign in ("fwd", "fw"))
    return f"from {parties['who']} {whom}({' or '.join(forwards)}) "


def _mine(found: re.Match[str]) -> str:
    """Return “my mails” as those that one sent where their answers are asked for."""
    rest = found["rest"]
    is_answered = re.search(r"\b(?:repl|answer|respon)", rest) is not None
    is_sent = is_answered and re.search(r"\b(?:i|me)\b", rest, re.IGNORECASE) is None
    goes_out = re.match(r"(?:to|cc) (?!me\b)", rest, re.IGNORECASE) is not None
    return f"from me {rest} " if is_sent or goes_out else found[0]


def _left_out(found: re.Match[str]) -> str:
    """Return “all except A or B” as what is neither."""
    rest = f"{found['how']} {found['rest']}"
    return f"not ({rest}) " if re.search(r"\bor\b", rest) else found[0]


_GOVERNING = ("from", "to", "by", "cc", "about", "tagged")


def _neither(found: re.Match[str]) -> str:
    """Return a list that is left out, of senders, recipients or words."""
    how = found["how"].lower()
    how = how if how.split()[-1] in _GOVERNING else "mentioning"
    return f"{'and ' if found.start() else ''}not {how} {found['words']} or {found['other']} "


RULES = (
    ("MENTION me by name", "mentioning me "),
    ("^ list (mail | traffic | posts) NOT (DONE)? to", "on any list and not to "),
    (
        "^ EVERYTHING MAIL? (except | but | excluding) (for | not)? (the)? (ones | those | MAIL)? "
        "{how:PHRASE} {rest:ALL}",
        _left_out,
    ),
    ("(but | except) (for)? (the)? (ones | those)", "and not "),
    ("except (if | when | where)", "unless "),
    ("^ EVERYTHING MAIL? (except | but | excluding) (for)? MAIL? {how:PHRASE}", "not {how}"),
    ("^ (only | solely) (addressed | sent | written)? to ME", "exclusively to me "),
    (
        "^ (what's | what is) (the status of | new with | up with | happening with) "
        "(my | the | our)? {words:WORDS} $",
        lambda found: f'mentioning "{found["words"]}" ',
    ),
    (
        "^ (ignore | hide | skip | exclude) {what:WORDS} unless "
        "(it | they)? (is | are | it's | they're)?",
        "{what} and ",
    ),
    ("^ (hide | remove | drop | filter out) {what:WORDS} and only (leave | keep | show)", ""),
    (
        "^ (ignore | hide | skip | exclude | leave out | filter out | NOT (show | include | want))",
        "not ",
    ),
    ("from (anyone | anybody | everyone | everybody) $", ""),
    ("^ (check | read | open) (my | the) (MAIL | inbox | mailbox) $", "newer than one day "),
    ("^ (anything | something | everything | what's) new {how:PREP}", "newer than one week {how}"),
    ("^ MAIL of mine", "from me "),
    (
        "^ (only | just) (stuff | things | those) (DONE | from | by)",
        lambda found: f"{found[0].split()[-1]} ",
    ),
    ("^ (stuff | things | anything | something | whatever) (that | which)?", ""),
    ("BAR", "or "),
    ("AMP", "and "),
    ("either {words:WORDS} or", "{words} or"),
    ("^ both", ""),
    ("{how:HOW} both {words:WORDS} and", "{how} {words} and"),
    ("{how:HOW} OPEN {words:WORDS} CLOSE", "{how} {words}"),
    ("(from or to | to or from) {who:NAME}", "(from {who} or to {who})"),
    ("(replys | reply's)", "replies "),
    ("{how:HOW} (any | one | some | all) of", "{how}"),
    ("(and | or | but)? {how:HOW} neither {words:WORDS} nor {other:WORD}", _neither),
    ("(and | or | but)? neither {how:HOW} {words:WORDS} nor {other:WORD} $", _neither),
    ("^ (please | hey | hi | ok | okay) ,?", ""),
    ("^ (how many | any news | let me | where (is | are) | where's | what are)", ""),
    ("^ (can | could | would | will) (you | I) please?", ""),
    ("^ I (only | just | really)? (want | need | would like | can | wish) (only)? to?", ""),
    ("^ i'd like to?", ""),
    ("^ list {words:DASHED} $", "on list {words}"),
    (
        "^ (long | lengthy | big) THREAD WHICH? I (am | was)? NOT "
        "(part of | in | involved in | on) $",
        "starting a thread of more than ten not in a thread with me ",
    ),
    (
        "{threads:THREAD} WHICH? I (am | was)? NOT (part of | in | involved in | on) $",
        "not in a thread with me ",
    ),
    (
        "MAIL WHICH? {who:PARTY} HAS? forwarded to {whom:SOMEBODY}",
        _forwarded,
    ),
    (
        "MAIL WHICH? BE? forwarded BY {who:SOMEBODY}",
        _forwarded,
    ),
    ("^ MAIL? (only | just) (cc'd | cc'ed | cc) to? ME", "cc me not directly to me "),
    ("^ list MAIL {how:CLAUSE}", "on any list {how}"),
    (f"^ (I | only | just)? {_LOOK} me? (only | just)?", ""),
    ("^ (do i have | have i got | are there | is there) (any | some)?", ""),
    ("^ (which | what) of? (all | my | the)? MAIL did i send", "from me "),
    ("^ (which | what) of? my? SENT MAIL", "from me "),
    ("^ (what | which) (did | have) i ALSO? WRITE", "from me "),
    (", both {how:OPENED}", ", {how}"),
    ("sometime (in | during | around)", "in "),
    ("cc to {who:SOMEBODY}", "cc {who}"),
    ("^ (which | what) of? my MAIL", "my messages "),
    ("^ (which | what) of? the? MAIL", "messages "),
    ("^ my LATEST SINGULAR $", "among the latest one from me "),
    ("my (LATEST | recent) {what:PLURAL}", "my {what}"),
    ("for my (LATEST | recent) {what:MAIL}", "for my {what}"),
    ("^ my MAIL {rest:ALL}", _mine),
    ("^ (if | when | whenever) (an | a | the)? MAIL", ""),
    ("^ (if | when | whenever) (an | a | the)? SUBJECT", "subject "),
    ("^ the (one | ones)", "messages "),
    ("^ (the last | the past)", "the last "),
    (
        "COMMA? but? only (if | when | those | the ones) "
        "(they | it | that | which)? (are | is | were | was)? DONE? {how:OPENED}",
        "and {how}",
    ),
    ("^ any of the following :? {words:ALL}", lambda found: found["words"].replace(" , ", " or ")),
    ("^ all (of the following)? :", ""),
    ("^ all of the following", ""),
    ("^ attachment status is (has)?", "with "),
    (f"^ {_EACH} {_EACH}?", ""),
    ("whose {field:FIELD}", "{field}"),
    ("(but | and)? not mine $", "and not from me "),
    ("^ (what's | what is | anything | everything) new {when:WHEN}", "{when}"),
    ("^ people WHICH? (i'm | i am | i) (meeting | meet)", "from people I meet "),
    ("{how:HOW} {words:NAME} and {other:NAME} both", "{how} {words} and {other}"),
    ("^ my own (MAIL | THREAD)", "from me "),
    ("^ my own", "my "),
    ("^ my unanswered QUESTION", "from me asking a question with no reply "),
    ("^ my unanswered MAIL?", "from me with no reply "),
    ("SENDER ISNT (in | among) A? CONTACTS", "not from contacts "),
    ("(that | who | SENDER) (are | is) (in | from | among) A? CONTACTS", "from contacts "),
    ("and (an | some) (attachment | attachments)", "and with attachments "),
    (f"(my | our | his | her) {KIN} {{who:NAME}}", "{who}"),
    ("{which:CLAUSE} (my | our) {who:NAME}", "{which} {who}"),
    ("and a (link | picture | photo | video)", lambda found: f"and with {found[0].split()[-1]}s "),
    ("(relating to | related to | having to do with) me", "mentioning me "),
    (
        "(relating to | related to | on the topic of | on the subject of | discussing | "
        "having to do "
        "with)",
        "about ",
    ),
    ("^ list (mail | traffic | posts)", "on any list "),
    ("WHICH? (came | come | comes | arrived | originated) from", "from "),
    ("the (beginning | start) of", ""),
    ("^ my REPLY", "replies by me "),
    ("^ my patches", "patch series from me "),
    ("^ my {threads:THREAD}", "from me {threads}"),
    ("{act:VOTED} (it | them) $", "{act}"),
    ("(, please | yet | please | so far | at all | anymore | in my inbox) $", ""),
)
"""Applied first."""

LAST = (
    ("starting starting", "starting"),
    (
        "^ (EVERYTHING | MAIL | with PICTURES)? {how:WHOM} the {who:NAME}",
        lambda found: re.sub(r"(?i)\bthe ", "", found[0]),
    ),
    ("{join:JOIN} and", "{join}"),
    ("not and", "not "),
    ("^ (EVERYTHING | MAIL) (, | and | but) not", "not "),
    ("^ (and | but | that | which | who | where | is | are | MAIL)", ""),
    ("^ (and | but | that | which | who | where | is | are)", ""),
    ("^ THREAD from", "from "),
    ("^ {word:NAME} (emails | mails | e-mails) $", 'mentioning "{word}"'),
    ("(that | which | , | MAIL) $", ""),
)
"""Applied last: what joined words that are gone."""
