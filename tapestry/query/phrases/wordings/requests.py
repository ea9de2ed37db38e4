"""Signs by which a request for mail is told from words that are merely looked for."""

from __future__ import annotations

import re

from tapestry.query.phrases.wordings.patterns import compiled, words_of

_KIND = (
    "(all | any | every | each | some | the | only | just | my | new | unread | un-read | sent "
    "| incoming | inbound | outgoing | unanswered | direct | recent | large | old | older "
    "| starred | flagged | important | long | short | big | labeled | labelled | draft "
    "| suspicious | a | an | of | those | no | never | this | last | NUMBER | most | half | NTH "
    "| next | latest | newest | oldest | earliest | largest | biggest | smallest | longest)"
)
_SIGNS = (
    f"^ {_KIND}? {_KIND}? {_KIND}? {_KIND}? (mail | mails | email | emails | e-mail | e-mails "
    "| message | messages | THREAD | attachments | replies | answers | responses)",
    "^ (please)? (show | find | list | search | get | remind | filter | select | display | give "
    "| ignore | query | look | can you | do i | from | unanswered | sent)",
    f"^ {_KIND}? {_KIND}? (posts | patches | questions | articles | crossposts) "
    "(from | by | in | on | to | with | without | that | which | where | nobody | WROTE)",
    "^ I (only | just | really)? (want | need | would like)",
    "^ (check | look) (for | my | if | whether)",
    "^ (ignore | hide | skip | exclude | leave out | filter out)",
    "^ (what's | what is) (the status of | new with | up with | happening with)",
    "^ (with | without) WORD",
    "unless",
    "^ (everyone | anyone | people | everybody) (at | from | in) DOMAIN",
    "^ cc'd MAIL",
    "^ (SUBJECT | header | body) (matches | does | is | contains | include | includes)",
    "(in | from | to | cc | about) (contains | equals | like | matches)",
    "^ (since | until | on | between) N",
    "(larger | smaller | bigger) (than | then) N",
    "^ ANSWERED by",
    "^ (about | mentioning | replied | replies | among the top "
    "| voted | tagged | annotated | subject)",
    "^ (has)? N (UNIT $ | REPLY)",
    "^ (after | before | since) DATE",
    "flag (seen | flagged)",
    "(when | if) (receiving | no | nobody)",
    "(unread | un-read | starred | flagged | all | my) MAIL",
    "star marked",
    "^ (anything | everything | stuff | things | whatever | where | contains | containing "
    "| has | have | did | untagged | label | title | no (LIST | REPLY))",
    "^ (the)? MAIL that",
    "(unless | except | excluding | but not) "
    "(from | to | replies | those | they | it | newsletters | MAIL)",
    "(from | to | by | cc | at) the? ADDRESS",
    "(in | on) (the)? (subject | subject line | body | newsgroup | newsgroups)",
    "(i | i've) (have)? (tagged | voted)",
    "(tagged | labelled | labeled) as",
    "^ (popular | hot | busy) THREAD",
    "(mailing list | mailing lists | newsgroups | senders) $",
    "WORD sent (me | us)",
    "^ PICTURES DONE PREP",
    "(that | which) NOBODY",
    "^ NOBODY (has | have)? ANSWERED (except | but | other)",
    "^ I looking for",
    "WAIT for",
    "(that | which | who | where | if | when | and | but | only) (i | i'm | i've | my | you | "
    "you're | we | me)",
    "(i | i've) (haven't | didn't | never | sent | wrote | replied | starred | been cc'd)",
    "UNIT (ago | old | older)",
    "(older | newer) (than | then)",
    "OTHERS (has | have) (reply | ANSWERED)",
    "(to | from | by | cc'ing | ccing) (me | you | my | your)",
)
_QUESTION = "^ (who | which | what | who's)"
_OF_MAIL = "(me | my | i | MAIL | REPLY | follow-ups)"


_COMPOUND = (
    "^ (thread | message | mail | email | e-mail | reply | answer | attachment) NAME NAME? $ "
    "| ^ (thread | message | mail | email | e-mail) (list | address | addresses | server | client "
    "| account | queue | pool | header | headers) | ^ please find (attached | enclosed) "
    "| ^ sent from (my | our) (iphone | ipad | phone | mobile | mobile phone) $ | ^ from now on "
    "| ^ no REPLY (needed | required | necessary | expected | possible) $"
)
"""Words that are a name of their own, “thread safety”."""

_NEGATION = re.compile(r"\A\W*(?:not\b\W*)+")


def is_request(text: str) -> bool:
    """Tell whether a text asks for mail, so that its words are not all to be looked for.

    >>> is_request("mails that my boss forgot"), is_request("reminder to the team")
    (True, False)
    >>> is_request("not voted for by joe or with at least 1")  # what is left out is of mail, too
    True
    """
    words = _NEGATION.sub("", words_of(text))
    if _found(_QUESTION, words) and _found(_OF_MAIL, words):
        return True
    return not _found(f"({_COMPOUND})", words) and any(_found(sign, words) for sign in _SIGNS)


def _found(pattern: str, words: str) -> bool:
    return compiled(pattern).search(words) is not None
