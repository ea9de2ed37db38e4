"""Rules about what is left out: “from anyone except joe”, “anything but newsletters”."""

from __future__ import annotations

import re

from tapestry.query.phrases.wordings.lexicon import left_out
from tapestry.query.phrases.wordings.rules.clauses import any_of

_BUT = "(except | excluding | but not | other than)"
_BUT_OF_ALL = "(except | excluding | besides | but | but not | other than)"
_ANY = "(anyone | anybody | everyone | everybody)"


_KINDS = {
    "replies": "replies",
    "newsgroups": "in any newsgroup",
    "lists": "on any list",
    "attachments": "with attachments",
    "questions": "asking a question",
}
"""Words that stand for a phrase."""

_OPENING = frozenset(("from", "to", "by", "cc", "in", "on", "with", "since", "before", "about"))


def _mentioned(found: re.Match[str]) -> str:
    words = [f'mentioning "{word}"' for word in found["word"].split()]
    return f"({' and '.join(words)})" if len(words) > 1 else words[0]


def _also_not(found: re.Match[str]) -> str:
    how, words, word = found.group("how", "words", "word")
    if word in _KINDS or not _OPENING.isdisjoint(words.lower().split()):
        return found[0]
    return f"{how} {words} and not {how} {word} "


def _without_kind(found: re.Match[str]) -> str:
    return f"and not {left_out(found['kind'])} {found['next'] or ''} "


def _at_host(found: re.Match[str]) -> str:
    return f"@{found['host'].lstrip('@')} {'never ' if found['none'] else ''}{found['act']} "


RULES = (
    ("(apart from | with the exception of | save for)", "except "),
    (
        f"^ ((all | any | every) LIST | the? (lists | mailing lists)) {_BUT_OF_ALL} (the)? "
        "{word:PLAIN} (list)? $",
        "on any list not on the {word} list",
    ),
    (
        "(^ EVERYTHING MAIL? but | COMMA? (except | excluding | but not | and not | but no | not)) "
        "(the | any)? {kind:KIND} (please)? ($ | {next:FOLLOW})",
        _without_kind,
    ),
    (
        "(EVERYONE | {none:NOBODY}) (from | at | in) {host:DOMAIN} (has | have)? ALSO? {act:DEED}",
        _at_host,
    ),
    (
        "(unless | except (if | when | where) | but? {only:ONLYIF} (if | when)) {who:NAME} "
        "{be:HASBEEN}",
        lambda found: f"{'and' if found['only'] else 'but not'} that {found['who']} {found['be']} ",
    ),
    (
        "^ (nothing | none | no MAIL) {how:HOW} {words:WORDS} COMMA? (unless | except) "
        "(when | if)? (it BE | they BE | it's | they're)? {rest:ALL}",
        "not {how} {words} or {rest}",
    ),
    (
        "^ no {kind:HELD} COMMA? (unless | except) (when | if)? "
        "(it BE | they BE | it's | they're)? {rest:ALL}",
        "without {kind} or {rest}",
    ),
    (
        "^ MAIL? {no:WITHOUT} {words:WORDS} COMMA? (unless | except) (when | if)? "
        "(it BE | they BE | it's | they're)? {rest:ALL}",
        "{no} {words} or {rest}",
    ),
    (
        f"BY {_ANY} {_BUT_OF_ALL} BY? {{who:SENDERS}} ($ | {{after:FOLLOW}})",
        lambda found: f"not from {any_of(found['who'])} {found['after'] or ''} ",
    ),
    (
        f"^ {_ANY} {_BUT_OF_ALL} {{who:SENDERS}} ($ | (who | that) WRITE)",
        lambda found: f"not from {any_of(found['who'])} ",
    ),
    ("not BY {who:NAME} and {other:NAME} $", "not from {who} or {other}"),
    (
        f"(ANSWERED | for | against | reviewed | annotated | (tagged | labelled | labeled) WORD? "
        f"| noted)? {{how:PREP}} {_ANY} {_BUT_OF_ALL} PREP?",
        lambda found: found[0] if found.start("how") > found.start() else f"not {found['how']} ",
    ),
    (
        f"on any LIST {_BUT_OF_ALL} (the)? {{word:WORD}} (list)? $",
        "on any list not on the {word} list",
    ),
    (
        f"(^ the? newsgroups | (in | from)? (any | all | every) (the)? "
        f"(group | newsgroup | groups | newsgroups)) "
        f"{_BUT_OF_ALL} (for | in)? {{word:GROUP}} $",
        "in any newsgroup not in {word}",
    ),
    (
        "{how:TEXTUAL} {words:WORDS} (except | excluding | other than | , not) {word:PLAIN} $",
        _also_not,
    ),
    (
        f"^ EVERYTHING MAIL? {_BUT_OF_ALL} ({{word:FEW}}) $",
        lambda found: f"not {_KINDS.get(found['word'].lower()) or _mentioned(found)} ",
    ),
    (
        f"^ EVERYTHING MAIL? {_BUT_OF_ALL} {{word:NAME}} {{how:PREP}} {{rest:ALL}}",
        lambda found: (
            f"not ({_KINDS.get(found['word'].lower()) or _mentioned(found)} "
            f"{found['how']} {found['rest']}) "
        ),
    ),
    (
        "{how:GOVERNS} {words:VALUE} (, | but | and)? (but | and)? neither {one:VALUE} nor "
        "{other:VALUE}",
        "{how} {words} and not {how} {one} or {other} ",
    ),
    ("^ (nothing | none) {how:HOW}", "not {how}"),
    ("{what:REPLY} COMMA? COMMA? none BY", "{what} and with no reply by "),
    ("COMMA? COMMA (nothing | none | no MAIL) {how:HOW}", "but not {how}"),
    (
        "(has | have | with) neither {one:PLAIN} nor {other:PLAIN}",
        "not with {one} not with {other}",
    ),
    (
        "{words:VALUE} in SUBJECT (, | but | and)? (but | and)? not in (the)? (body | text)",
        "about {words} not body {words}",
    ),
)
