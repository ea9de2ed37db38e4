"""Classes of words that mean the same in a request: the capital words of rules.

A class lists its members between bars.  One member may have several words, and classes in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from tapestry.query.phrases.dates import (
    DAY_PATTERN,
    MONTHS,
    NUMBERS,
    PERIOD_PATTERN,
    WEEKDAYS,
    WORDS,
)
from tapestry.query.phrases.filetypes import NOUNS, file_type
from tapestry.query.phrases.spellings import HOST, SHARE

_MONTHS = "|".join(f"{month[:3]}(?:{month[3:]})?" for month in MONTHS)
_WEEKDAYS = f"(?:{'|'.join(WEEKDAYS)})"
QUOTE = "\ue000"
"""The sign of a quoted text in a request, which no rule looks into."""

LEXICON = {
    "A": "a | an | any | any of | some | one | one of | the | my | your | his | her | their | "
    "our | all",
    "AGE": "N UNIT",
    "ALSO": "also | already | still | ever | just | only | do | really | explicitly",
    "ANSWER": "ANSWERED | write back | get back | get back to | answer | answer to "
    "| reply | reply to | respond | respond to | react",
    "ANSWERED": "answered | replied | replied to | replied on | responded | responded to | reacted "
    "| reacted to | got back to | got back | gotten back to | gotten back "
    "| wrote back | written back",
    "ASK": "ask | asks | asked | asking",
    "BE": "is | are | was | were | be | been | being | has been | have been",
    "ACKED": "acked | ack'ed | acknowledged | reviewed | looked at | commented on | tested",
    "BUT": "and | but",
    "BY": "from | by",
    "COMMA": ", | and | but",
    "HAS": "has | have",
    "BEGIN": "start | starts | starting | begin | begins | beginning",
    "BYTES": "kb | mb",
    "CONTAIN": "contain | contains | containing | include | includes | including | have | has "
    "| having | with | mention | mentions | mentioning | saying | says",
    "COPIED": "cc'd | cc'ed | cced | been cc'd | been copied | copied "
    "| copied in | in cc | in copy | on cc | in the cc | on the cc line | in the cc line "
    "| in the cc field",
    "COMPARING": "more than | over | fewer than | less than | under | at least | at most | UNUSUAL",
    "UNUSUAL": "up to | no more than | not more than | not over | no fewer than | no less than "
    "| not fewer than | not less than",
    "COUNTED": "reply | replies | answer | answers | response | responses | attachment "
    "| attachments | file | files | VOTES | DOWNVOTES",
    "DIDNT": "didn't | did not | hasn't | has not | doesn't | does not",
    "DEED": "NOT | ANSWERED | wrote | sent | posted | voted | tagged | liked | reviewed "
    "| took part | taken part | participated | commented",
    "DOWNVOTES": "downvote | downvotes | dislike | dislikes | vote against | votes against",
    "DONE": "sent | addressed | written | received | posted",
    "END": "end | ends | ending",
    "FILES": "attachment | attachments | attached file | attached files | file attached "
    "| files attached | file | files | attached",
    "GET": "get | gets | got | gotten | receive | receives | received | have | has | had",
    "HASBEEN": "is | was | has | isn't | wasn't | hasn't | answered | replied | wrote | sent | got "
    "| received | voted | tagged | reviewed | took part",
    "HAVE": "with | has | have | having | got",
    "HOW": "from | to | by | cc | about | tagged | CONTAIN | ANSWERED by | voted for by "
    "| voted against by",
    "I": "i | i've | i have | i am | i'm | i was | you | you've | you have | you are | you're | we "
    "| we have | we've",
    "LIST": "list | lists | mailing list | mailing lists",
    "ISNT": "isn't | aren't | wasn't | weren't | is not | are not | was not | were not",
    "JOIN": "and | or | but",
    "LETTER": "MAIL | anything | something | everything",
    "PLURAL": "mails | emails | e-mails | messages | letters | posts | items | articles",
    "SINGULAR": "mail | email | e-mail | message | letter | post | item | article",
    "MAIL": "mail | mails | email | emails | e-mail | e-mails | message | messages | letter | "
    "letters "
    "| post | posts | item | items | article | articles | email messages | mail messages | ones",
    "ME": "me | you | us | myself | mine | my address | my addresses | my email address "
    "| my e-mail address | my email addresses | my e-mail addresses | any of my addresses "
    "| one of my addresses | one of my email addresses | one of my e-mail addresses "
    "| any of my email "
    "addresses",
    "MENTION": "mention | mentions | mentioning | mentioned | contain | contains | containing "
    "| say "
    "| says | saying",
    "TAG": "tag | tags | label | labels | category | categories",
    "MORE": "more | fewer | less | at least | at most",
    "MUST": "must | should | have to | need to | ought to | must still | still need to | do "
    "need to "
    "| still have to | need | owe",
    "NEVER": "never | not | not yet | NOT",
    "NOBODY": "nobody | no one | noone | no-one | none",
    "NOT": "haven't | hasn't | hadn't | didn't | don't | doesn't | have not | has not | had not "
    "| did not | do not | does not | never | has never | have never | not | isn't | aren't | "
    "wasn't "
    "| weren't | is not | are not | was not | were not | haven't been | hasn't been | have not "
    "been "
    "| has not been | haven't yet | have not yet | hasn't yet | has not yet | didn't ever "
    "| haven't ever | have yet to | has yet to | *not* | are *not* | havent | didnt | hasnt",
    "OPENED": "directly to | to | from | cc | with | without | about | mentioning",
    "OTHERS": "someone | somebody | anyone | anybody | people | others | another user | other "
    "people "
    "| someone else | anybody else | anyone else | somebody else",
    "PATCHES": "on | from | by | with | without | that | which | nobody | older | newer | "
    "since | about | not",
    "PEOPLE": "they | people | anybody | anyone | anybody else | anyone else | the recipient "
    "| the recipients | recipients | recipient | somebody | someone | the other side",
    "PICTURES": "photos | pictures | images | videos | documents | spreadsheets | presentations "
    "| pdfs | slides | recordings | movies",
    "PREP": "from | to | by | cc",
    "QUESTION": "question | questions | question mark | question marks",
    "PHRASE": "HOW | REPLY | in | on | since | before | after | LIST",
    "RECIPIENT": "recipient | recipients | the recipient | the recipients | addressee",
    "REPLY": "reply | replies | follow-up | follow-ups | followup | followups | answer | "
    "answers | response | responses | reaction | reactions "
    "| replys | reply's",
    "SENDER": "from | sender | the sender | sender name | the sender name | the sender's name "
    "| author | the author",
    "SENT": "sent | outgoing | outbound",
    "SUBJECT": "headline | subject | subjects | subject line | subject lines | the subject | "
    "the subject line "
    "| the subject box | subject box | subject field | the subject field | title | the title | "
    "titles "
    "| their subject | its subject | their title",
    "GOVERNS": "from | to | by | cc | about | mentioning | tagged",
    "THREAD": "thread | threads | conversation | conversations | topic | topics | discussion "
    "| discussions",
    "UNANSWERED": "with no reply by me | with no reply by NAME | with no reply | unanswered",
    "VOTERS": "voters | votes",
    "VOTES": "vote | votes | upvote | upvotes | likes",
    "UNVOTED": "(not voted for by more than 0 people and not voted against by more than 0 people) "
    "| not voted for by more than 0 people",
    "UPON": "in | on | to | of",
    "WAIT": "wait | waits | waiting | awaiting | still waiting | still awaiting",
    "WHICH": "that | which | who | whom | where | in which | to which | when | if | what",
    "WAY": "more | fewer | less",
    "WITHIN": "in | within | after | for | since | more than | over | for more than | for over "
    "| after more than | for at least | in the last | in the past | in over | for the last",
    "WITHOUT": "without | with no | without any | without a | without an | with an empty "
    "| with empty | have no | has no | having no",
    "WRITE": "sent | send | wrote | write | written | posted | mailed | emailed | e-mailed",
}

_NO_NAMES = r"""
    i you we they he she it me us them him her do does did just not never also ever already still
    only really that which who whom what when where why how if whether is are was were be been am
    has have had will would can could shall should may might must nobody no-one noone people anyone
    anybody someone somebody everyone everybody others things? stuff anything something everything
    nothing a an the all any some each every no my your our their his its this these those in on at
    by to from of for with without about since until before after during within and or but as than
    e?-?mails? messages? posts? threads? discussions? conversations? topics? articles? replies
    answers questions? patch(?:es)? attachments? files? votes? ones? least most more less fewer
    sent wrote got gets? received please show find list today yesterday tomorrow now yet exactly
    \*?not\*? havent hasnt didnt haven't hasn't hadn't didn't don't doesn't isn't aren't wasn't
    weren't unanswered mentioning unless except excluding both either neither nor old new unread
    starred directly personally pictures photos images videos documents
    pdfs slides spreadsheets presentations name address email domain
    late early soon often fast quickly slowly lately immediately twice again
    iphone ipad mobile phone company organi[sz]ation employer future past way same other last first
"""
NO_NAME = "|".join(_NO_NAMES.split())
"""Words that are nobody: of the closed classes of English, and what messages are called."""

_SURE_NAME = rf"(?!(?:{NO_NAME})\s)[^\s,():]+"
_NAMES = rf"{_SURE_NAME}(?: {_SURE_NAME})?"

_PATTERNS = {
    "ACTED": "(?:reviewed|tagged|labell?ed|voted)",
    "ALL": ".+",
    "BEGAN": "(?:started|created|opened|began|begun)",
    "LATEST": "(?:most recent|latest|newest|last)",
    "HEADER": "(?:header|field|line)",
    "EVERYONE": "(?:everybody|everyone|anybody|anyone|people)",
    "KB": "(?:kilobytes|kilobyte|kb|k)",
    "MB": "(?:megabytes|megabyte|mb|m)",
    "HUMANS": r"(?:humans|a human|human beings|a real person|people(?! (?:who|that|like|i|we)\b))",
    "INVITE": "(?:invitations|invitation|invites|invite)",
    "CONTACTS": "(?:address book|contacts)",
    "EVERYTHING": "(?:everything|anything|all)",
    "DAYPART": "(?:afternoon|morning|evening|night)",
    "PART": "(?:quarter|week|half)",
    "SHARE": SHARE,
    "SEASON": "(?:spring|summer|autumn|fall)",
    "NONE": r"(?:nobody|no one|noone|no-one|none)(?! (?:but|except|other) )",
    "NTH": "(?:second|fourth|first|third|last|1st|2nd|3rd|4th)",
    "PERIOD": "(?:early|late|mid|q1|q2|q3|q4)",
    "KIND": rf"(?:patch(?:es)?|{NOUNS})",
    "ORDINAL": "(?:seventh|second|fourth|eighth|first|third|fifth|sixth|ninth)",
    "AMP": r"(?:&&?|\+|;)",
    "BAR": r"\|\|?",
    "ADDRESS": r"[^\s,()@]*@[^\s,()]+\.[^\s,()]+",
    "CLOCK": r"[0-9]{1,2}(?::[0-5][0-9])?(?: ?[ap]\.?m\.?)?",
    "DAYNAME": rf"(?:{'|'.join((*WORDS, *WEEKDAYS))})",
    "DATED": rf"(?:(?:[0-9]{{1,2}}\.? )?(?:{_MONTHS})\.? )?[12][0-9]{{3}}",
    "HOST": f"@?{HOST}",
    "DOMAIN": r"@?[\w-]+(?:\.[\w-]+)+",
    "GROUP": r"[\w+-]+(?:\.[\w+*-]+)+",
    "NAMES": _NAMES,
    "VERSION": r"v[1-9]",
    "NAME": _SURE_NAME,
    "SENDERS": rf"{_NAMES}(?: (?:and|or|,) {_NAMES})*",
    "PARTY": rf"(?:i|me|{_SURE_NAME})",
    "SOMEBODY": rf"(?:me|{_NAMES})",
    "RECEIVED": r"(?:directly to|to|cc|(?:voted for|voted against|annotated|replied to) by)",
    "OWNER": r"(?!(?:today|yesterday|week|month|year|what|who|where|that|it|let|men|women|children"
    r"|people|company|everyone|everybody|someone|somebody|anyone|anybody)'s)[^\s,()]+'s",
    "VALUE": rf"(?:{QUOTE}[0-9]+|[^\s,():]+)",
    "DOTTED": r"\.[a-z][a-z0-9]{1,5}",
    "DASHED": r"\w+(?:-\w+)+",
    "OPEN": r"\(",
    "CLOSE": r"\)",
    "COMPARED": r"(?:older|newer|larger|smaller|bigger|more|less)",
    "DATE": f"(?:{DAY_PATTERN}|{PERIOD_PATTERN})",
    "N": rf"(?:[0-9]+|an?|{'|'.join(NUMBERS)})",
    "NUMBER": rf"(?:[0-9]+|{'|'.join(NUMBERS)})",
    "PLAIN": r"[\w-]+",
    "QUOTED": f"{QUOTE}[0-9]+",
    "SIZE": r"[0-9.]+",
    "SIZED": r"[0-9.]+[km]b?",
    "SPAN": "(?:today|this week|this month)",
    "TOPIC": r"(?!e?-?mails?\s|messages?\s)[^,():]+?",
    "WEEKDAY": rf"(?:last )?(?:{'|'.join(WEEKDAYS)})",
    "CURRENT": "(?:week|month)",
    "YEAR": "[12][0-9]{3}",
    "VOTED": r"(?:voted (?:for|against)|liked|tagged|reviewed)",
    "WHEN": "(?:since|before|after|until|on)",
    "WROTE": r"(?:sent|sends|wrote|writes|posted|mailed|e-?mailed|forwarded)"
    r"(?! (?:e?-?mails?|messages?|posts?|items?|by|via|from)\b)",
    "CALENDAR": rf"(?:(?:{_MONTHS})\.?(?: [12][0-9]{{3}})?|[12][0-9]{{3}})",
    "HIERARCHY": r"(?:alt|comp|gmane|humanities|misc|news|rec|sci|soc|talk|uk|de|fr)\.[\w.+-]*\w",
    "MANY": r"(?:(?:more than|over|at least|fewer than|less than) )?"
    rf"(?:[0-9]+|many|several|multiple|few|{'|'.join(NUMBERS)}) "
    "(?:recipients?|people|addressees|addresses)",
    "NIGHTS": "(?:at night|(?:in|during) the (?:evening|night|morning)s?"
    "|(?:outside|during|after) (?:of )?(?:office|working|business) hours)",
    "OURS": "(?:within )?(?:my|our) (?:own )?(?:domain|company|organi[sz]ation|employer)",
    "VISIT": "since (?:i was (?:last )?here|my last (?:visit|login)|i last (?:looked|logged in))",
    "WEEKENDS": "(?:on|at|over|during) (?:the )?weekends?",
    "REPEATED": rf"(?:on (?:an?|every|each) |every |each |on (?={_WEEKDAYS}s ))"
    rf"(?P<weekday>{_WEEKDAYS})s?",
    "ANGLED": "[<>]=?[0-9.]+[km]b?",
    "STARRED": r"\*\.[a-z][a-z0-9]{1,4}",
    "WAYS": "(?:for|against)",
    "PLUSSED": r"[0-9]+\+",
    "COMPARISON": "[<>]=?|[≤≥]",
    "NTHDAY": "[0-9]{1,2}(?:st|nd|rd|th)?",
    "NUMERIC": r"(?:[0-9]{1,2}\.[0-9]{1,2}\.[12][0-9]{3}|[12][0-9]{3}-[0-9]{2}(?:-[0-9]{2})?)",
    "SLASHED": r"[0-9]{1,2}/[0-9]{1,2}/[12][0-9]{3}",
    "MONTH": r"(?:january|february|march|july|september|october|november|december)",
    "EITHER": "(?:or|nor)",
    "ONLYIF": "only",
    "TIMES": rf"(?:once|twice|thrice|(?:[0-9]+|{'|'.join(NUMBERS)}) times)",
    "TEXTUAL": "(?:about|mentioning|saying)",
    "SIGN": r"(?:==?|~|equals|equal to|is equal to)",
    "BYONE": rf"(?:from|by) {_SURE_NAME}",
    "FURTHER": "(?:to|cc|about|mentioning|with|without|since|before|today|yesterday|this|that)",
    "WHOSE": "(?:my|the)",
    "FOLLOW": "(?:and|but|or|,|from|to|cc|in|on|about|since|before)",
    "HELD": "(?:attachments|links|pictures|photos|videos)",
    "HOLD": "(?:with|without)",
    "FIELD": "(?:from|to|cc|sender|subject|body)",
    "FEW": rf"{_SURE_NAME}(?: {_SURE_NAME}){{0,2}}",
    "BRACKETED": r"\[[^\[\]]+\]",
    "ITS": r"(?:today|yesterday|(?:this|last) (?:week|month|year))'s",
    "MASK": r"(?=[^\s,():]*\*)[^\s,():@]*@[^\s,():]+",
    "FILENAME": r"[^\s,():]*\w\.[a-z][a-z0-9]{1,4}",
    "WHOM": "(?:from|to|cc)",
    "ACTOR": rf"(?!\w+s (?:sent|posted|mailed|forwarded) (?:to|by|from|on|in) "
    rf")(?!(?:{NO_NAME})\s)[^\s,():]+",
    "ARTICLE": r"an?(?! (?:second|minute|hour|day|week|month|quarter|year)s?\b)",
    "CLAUSE": "(?:that|which|whom|in which|to which|where)",
    "AFTERLIST": r""
    r"(?:from|to|by|cc|about|with|without|in|on|since|before|after|and|or|but|not|,|that|which|older|newer|mentioning|replies|replied|answered|unanswered|voted|tagged|larger)",
    "SOURCE": "(?:from|to|cc|by|about|list)",
    "COMPACT": "[0-9]+[dwmy]",
    "UNIT": r"(?:second|minute|hour|day|week|month|quarter|year)s?",
    "WORD": r"[^\s,():]+",
    "WORDS": r"[^,():]+?",
}
"""Classes that are regular expressions."""


def is_phrase_word(word: str) -> bool:
    """Tell whether a word is a phrase by itself, such as ``replies``."""
    return word.lower() in ("answered", "links", "pictures", "replies", "today", "unanswered")


def left_out(kind: str) -> str | None:
    """Return the phrase for a kind of mail that is left out, None if a word is no name of one.

    >>> left_out("patches"), left_out("PDF"), left_out("lunch")
    ('with a patch', 'with pdf files', None)
    """
    if not re.fullmatch(class_pattern("KIND"), kind, re.IGNORECASE):
        return None
    return "with a patch" if kind.lower().startswith("patch") else f"with {file_type(kind)}"


@cache
def class_pattern(name: str) -> str:
    """Return the regular expression of a class, without the space that follows.

    Raises KeyError if there is none.
    """
    if name in _PATTERNS:
        return _PATTERNS[name]
    members = [member.split() for member in LEXICON[name].split("|")]
    patterns = [" ".join(map(_word_pattern, member)) for member in members]
    return f"(?:{'|'.join(sorted(patterns, key=len, reverse=True))})"


def first_words_of(word: str) -> frozenset[str]:
    """Return the words with which a class begins, or a word itself; none where any may stand."""
    if word in _PATTERNS:
        return frozenset()
    if word not in LEXICON:
        return frozenset({word.lower()})
    firsts = [first_words_of(member.split()[0]) for member in LEXICON[word].split("|")]
    return frozenset().union(*firsts) if all(firsts) else frozenset()


def _word_pattern(word: str) -> str:
    return class_pattern(word) if word in LEXICON or word in _PATTERNS else re.escape(word)


def known_words(patterns: Iterable[str]) -> frozenset[str]:
    """Return the words that patterns and the classes in them are made of.

    >>> sorted(known_words(["^ {who:NAME} DONE by"]) & {"by", "done", "mary", "posted"})
    ['by', 'posted']
    """
    sources = " ".join((*patterns, *LEXICON.values(), *_PATTERNS.values()))
    return frozenset(re.findall(r"(?<![A-Za-z])[a-z][a-z'-]+", sources))


VOCABULARY = frozenset(
    word for members in LEXICON.values() for word in re.findall(r"[a-z-]{5,}", members)
) | {
    "unanswered",
    "please",
    "tagged",
    "voted",
    "upvoted",
    "downvoted",
    "disliked",
    "without",
    "before",
    "since",
    "about",
    "older",
    "newer",
    "larger",
    "smaller",
    "mentioning",
    "attachments",
    "yesterday",
    "from",
}
"""Words of requests, long enough to be told when they are misspelt."""
