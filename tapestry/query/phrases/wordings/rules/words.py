"""Rules about the words of a subject and of a body."""

from __future__ import annotations

import re

from tapestry.query.phrases.wordings.lexicon import QUOTE


def _value(found: re.Match[str]) -> str:
    """Return the words of a match in quotes, so that no rule looks into them."""
    words = found["words"]
    return words if words.startswith(QUOTE) else f'"{words}"'


def _mentioning(found: re.Match[str]) -> str:
    return f"mentioning {_value(found)} "


_HOLDER = re.compile(
    r"(?:(?:e-?)?mails?|messages?|posts?|threads?|and|but|or|,|(?:from|to|by|cc) \S+)\s\Z",
    re.IGNORECASE,
)
"""What stands before “with” where a quoted text that follows is in a message."""


def _with_text(found: re.Match[str]) -> str:
    """Return “messages with "final notice"” as what is mentioned."""
    is_of_mail = _HOLDER.search(found.string[: found.start()])
    return _mentioning(found) if is_of_mail else found[0]


def _empty(found: re.Match[str]) -> str:
    return f"without a body {found['how'] or ''} "


def _and_about(found: re.Match[str]) -> str:
    return f"{found[0].split()[0]} about {found['words']} "


def _saying(found: re.Match[str]) -> str:
    return f"saying {_value(found)} "


def _but_not(found: re.Match[str]) -> str:
    """Return “budget and not draft” as words, unless it is of a newsgroup."""
    is_group = "." in found["one"]
    mentioned = f'mentioning "{found["one"]}" and not mentioning "{found["other"]}" '
    return found[0] if is_group else mentioned


def _few(found: re.Match[str]) -> str:
    return "and ".join([f'mentioning "{word}" ' for word in found["words"].split()])


RULES = (
    (
        "either? (the)? (subject or (the)? body | body or (the)? subject) "
        "(CONTAIN | mentions | says | has) {words:VALUE}",
        "mentioning {words}",
    ),
    ("^ {words:BRACKETED} in SUBJECT", 'about "{words}"'),
    ("not mine ($ | and | ,)", "not from me "),
    ("NOBODY (asks | asked) (anything | something | A? QUESTION)", "not asking a question "),
    ("WHICH {who:NAME} BE mentioned (in)?", "mentioning {who}"),
    ("WHICH {who:NAME} ISNT mentioned (in)?", "not mentioning {who}"),
    (
        "^ MAIL? WHICH? my name (appears | occurs | is mentioned) (in the (text | body))?",
        "mentioning me ",
    ),
    ("WHICH? SUBJECT is (empty | blank | missing)", "without a subject "),
    (
        "^ MAIL? SUBJECT (contains | has | includes | mentions | is) {words:VALUE} $",
        "about {words}",
    ),
    ("COMMA COMMA? SUBJECT (has | includes | mentions) {words:VALUE}", "and about {words}"),
    ("^ no subject", "without a subject "),
    ("^ SUBJECT (has | contains) no {words:VALUE} $", "not about {words}"),
    ("^ (filename | file name) (contains | has | is) {words:VALUE}", "attachment named {words}"),
    ("WITHOUT (body | text | content)", "without a body "),
    ("WHICH? (the)? body is (empty | blank | missing)", "without a body "),
    ("^ (no | empty) body $", "without a body "),
    ("^ (empty | blank) MAIL ($ | {how:PREP})", _empty),
    ("{how:PREP} SIGN {words:VALUE}", "{how} {words}"),
    ("SENDER SIGN {words:VALUE}", "from {words}"),
    ("cc (includes | contains) {words:VALUE}", "cc {words}"),
    ("SUBJECT SIGN {words:VALUE}", "about {words}"),
    ("(body | text) SIGN {words:VALUE}", "saying {words}"),
    ("^ (if | when | where | whenever) (the)? {how:FIELD} {rest:ALL}", "{how} {rest}"),
    (
        "(from | sender) , (to | recipient) (, cc)? (, bcc)? (or (cc | bcc))? (contains | matches) "
        "{words:WORD}",
        "(from addresses like *{words}* or to addresses like *{words}*)",
    ),
    ("SENDER (contains | matches | includes) {words:DOMAIN}", "from addresses like *{words}*"),
    (
        "the? sender's? address (contains | matches | includes) {words:WORD}",
        "from addresses like *{words}*",
    ),
    ("the? sender's? address END (with | in) {words:WORD}", "from addresses like *{words}"),
    ("SENDER (contains | matches | includes) {words:VALUE}", "from {words}"),
    ("^ {words:WORD} or {other:WORD} in SUBJECT", "about {words} or {other}"),
    ("{how:WHOM} (address)? END (with | in) {words:WORD}", "{how} addresses like *{words}"),
    ("{how:WHOM} (address)? BEGIN with {words:WORD}", "{how} addresses like {words}*"),
    ("SENDER END (with | in) {words:WORD}", "from addresses like *{words}"),
    ("SENDER BEGIN with {words:WORD}", "from addresses like {words}*"),
    ("{how:WHOM} (ISNT | NOT CONTAIN) {who:VALUE}", "not {how} {who}"),
    ("SENDER (ISNT | NOT CONTAIN) {who:VALUE}", "not from {who}"),
    ("SUBJECT (ISNT | not) {words:VALUE}", "not about {words}"),
    ("(body | text) NOT CONTAIN {words:VALUE}", "not body {words}"),
    ("the? sender's domain (is | =) {words:DOMAIN}", "from @{words}"),
    ("SENDER (is | =)", "from "),
    (
        "SUBJECT (contains | has | includes | mentions)? {words:WORD} (but | and) not "
        "{other:PLAIN} $",
        "about {words} and not about {other}",
    ),
    ("and {words:VALUE} in (the)? (body | text)", "and saying {words}"),
    (
        "the? (to or cc | recipient | recipients) "
        "(is | are | include | includes | contain | contains | =)",
        "to ",
    ),
    ("(from | to) not {who:VALUE}", lambda found: f"not {found[0].replace(' not', '', 1)}"),
    ("SUBJECT WHICH? END (with | in) {words:WORD}", 'with a subject like "*{words}"'),
    ("WITHOUT (the)? (word | words)", "and not mentioning "),
    ("BUT not the (word | words)", "and not mentioning "),
    ("(has | have | with) the (word | words)", "mentioning "),
    (
        "^ (with | the)? the? (word | words | phrase)? {words:VALUE} in (the)? (subject | body) "
        "(or | and) (in)? (the)? (subject | body)",
        "mentioning {words}",
    ),
    ("^ {words:VALUE} in (the)? (subject | subject line)", "about {words}"),
    ("SUBJECT NOT (contain | include | mention | have) {words:VALUE}", "not about {words}"),
    ("BUT? WHICH? (do not | don't | NOT) MENTION (the)? (word | words)?", "and not mentioning "),
    (
        "CONTAIN {words:VALUE} but not in SUBJECT",
        lambda found: f"{_saying(found)}and not about {found['words']} ",
    ),
    ("SUBJECT (contains | has | with) a question mark", lambda _: 'with a subject like "*\\?*" '),
    (
        "SUBJECT WHICH? BEGIN with {words:VALUE}",
        lambda found: f"with a subject starting with {_value(found)} ",
    ),
    ("^ {words:BRACKETED} {how:PREP}", 'about "{words}" {how}'),
    ("^ {words:FEW} only $", _few),
    (
        "^ {words:FEW} mentioning {more:PLAIN} $",
        lambda found: f"{_few(found)}{found[0].split()[-2]} {found['more']} ",
    ),
    ("with {words:QUOTED} in SUBJECT", "about {words}"),
    ("^ {words:QUOTED} in SUBJECT", "about {words}"),
    ("^ the? word {words:QUOTED} in SUBJECT", "about {words}"),
    (
        "unless A? SUBJECT ALSO? (CONTAIN) (the words | the word)? {words:QUOTED} or {more:QUOTED}",
        "and not about {words} or {more}",
    ),
    (
        "SUBJECT (like | matches | includes | has | is | equals | with | with the word | has "
        "the word) {words:QUOTED}",
        "about {words}",
    ),
    (
        "WHICH? CONTAIN {words:DOMAIN} (in | as) (the | an | any | its | their | some)? "
        "(email | e-mail | mail)? (address | addresses)",
        "(from addresses like *{words} or to addresses like *{words}) ",
    ),
    ("WHICH? CONTAIN (the words | the word)? {words:WORDS} (in | on) SUBJECT", "about {words}"),
    (
        "WHICH? CONTAIN (the words | the word)? {first:WORD} , {second:WORD} (, {third:WORD})? "
        "or {last:WORD} in SUBJECT",
        lambda found: (
            "(about "
            + " or about ".join(filter(None, found.group("first", "second", "third", "last")))
            + ") "
        ),
    ),
    (
        "(MAIL | the)? (body | text | content) (includes | include | has | contains | contain | "
        "mentions | says | say) {words:WORD}",
        _saying,
    ),
    (
        "with no (re : | re) (or | and) (fwd : | fwd | fw :) in SUBJECT",
        'and not (with a subject starting with "re:" or with a subject starting with "fwd:") ',
    ),
    (
        "WHICH? CONTAIN (the words | the word | the phrase)? {words:VALUE} in the? (body | text)",
        _saying,
    ),
    ("^ MAIL WHICH {who:NAME} ASK (me | us)? A? QUESTION", "from {who} asking a question"),
    ("WHICH? (CONTAIN | ASK) (me | us)? A? QUESTION", "asking a question "),
    (
        "^ {who:NAME} ASK (me | us) (something | A? QUESTION) $",
        "from {who} to me asking a question",
    ),
    ("WHICH? ASK (me | us) (something | anything)", "asking a question to me "),
    (
        "WHICH? CONTAIN A? (link | links | url | urls) to {words:WORD} $",
        "with links and mentioning {words}",
    ),
    ("WHICH? CONTAIN A? (link | links | url | urls | hyperlink | hyperlinks)", "with links "),
    ("WHICH (mention | mentions) me", "mentioning me "),
    (
        "WHICH (say | says | mention | mentions | contain | contains) the? {words:VALUE}",
        _mentioning,
    ),
    ("with the phrase {words:VALUE}", _mentioning),
    ("the? (body | text) (says | say) {words:VALUE}", _saying),
    (
        "WHICH (talk | talks | is | are) about {words:WORDS} $",
        lambda found: f'mentioning "{found["words"].strip()}" ',
    ),
    (
        "SUBJECT (has | contains | mentions) (either)? {first:WORD} or {second:WORD} $",
        "(about {first} or about {second})",
    ),
    ("SUBJECT (mentions | says) {words:VALUE}", "about {words}"),
    ("SUBJECT (is | equals) exactly {words:VALUE}", "with a subject like {words}"),
    ("WITHOUT (subject | title)", "without a subject "),
    ("(and | or) (the words | the word)? {words:VALUE} (in | on) SUBJECT", _and_about),
    ("(with | has | have | having) {words:QUOTED} (in (it | them | there))?", _with_text),
    ("WHICH? (with | CONTAIN) {words:WORD} in (it | them)", _mentioning),
    (
        "^ forwarded MAIL",
        '(with a subject starting with "fwd:" or with a subject starting with "fw:") ',
    ),
    ("^ (fwd | fw) : $", lambda found: f'with a subject starting with "{found[0].split()[0]}:" '),
    ("(without | with no) {words:QUOTED} (in (it | them | there))?", "not mentioning {words}"),
    ("QUESTION i asked", "from me asking a question "),
    ("^ {one:NAME} or {other:NAME} $", 'mentioning "{one}" or mentioning "{other}"'),
    (
        "^ {one:NAME} (and | but | , | , but) not {other:NAME} $",
        _but_not,
    ),
)
