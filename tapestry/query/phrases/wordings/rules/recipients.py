"""Rules about recipients."""

from __future__ import annotations

import re

from tapestry.query.phrases.dates import MONTHS, NUMBERS

_DAY = re.compile(
    rf"[0-9].*|.*(?:day|week|month|year)s?|{'|'.join((*MONTHS, *NUMBERS))}", re.IGNORECASE
)


def _both_ways(found: re.Match[str]) -> str:
    one, other = found["one"], found["other"]
    after = found[0].split()[-1]
    rest = "" if after == other else after
    if _DAY.fullmatch(one) or _DAY.fullmatch(other):
        return found[0]
    return f"(from {one} to {other} or from {other} to {one}) {rest} "


def _copied_alone(found: re.Match[str]) -> str:
    """Return “cc me but not to me” as what it means: to be in Cc is to receive a message, too."""
    copied, left_out = found["copied"], found["left_out"]
    is_same = copied.casefold() == left_out.casefold()
    way = "directly to" if is_same else "to"
    return f"cc {copied} and not {way} {left_out} {found['next'] or ''} "


def _in_to(found: re.Match[str]) -> str:
    is_not = re.search(r"\b(?:not|\w+n't)\b", found[0], re.IGNORECASE)
    return f"{'not ' if is_not else ''}directly to me "


RULES = (
    (
        "cc {copied:SOMEBODY} (, | but | and)? (but | and)? not to {left_out:SOMEBODY} "
        "($ | {next:FOLLOW})",
        _copied_alone,
    ),
    (
        "to ME BUT (nobody | no one | noone | not to? (anyone | anybody | others)) (else)?",
        "only to me ",
    ),
    ("WHICH? BE? DONE? (only | solely | exclusively | just) to ME (alone | only)?", "only to me "),
    (
        "(WHICH? I (am)? (only (COPIED | cc) | COPIED only) | cc me only)",
        "cc me and not directly to me ",
    ),
    ("WHICH? I NOT? (directly)? (in | on) (the)? to (HEADER)? $", _in_to),
    ("to ME only", "only to me "),
    ("WHICH? BE? DONE? to ME and only (to)? ME", "only to me "),
    ("only to me COMMA? no (cc | ccs | cc's | other recipients)", "only to me "),
    ("WHICH? I (was | am)? put (in | on) (cc | copy)", "cc me "),
    ("WHICH {who:NAME} ISNT (COPIED | cc)", "not cc {who}"),
    ("WHICH {who:NAME} BE (COPIED | cc)", "cc {who}"),
    ("WHICH {who:NAME} is (in | on) the? to HEADER?", "directly to {who}"),
    ("WHICH {who:NAME} and {other:NAME} BE both? (recipients | addressed)", "to {who} and {other}"),
    ("WHICH {who:NAME} BE (a | the)? (recipient | addressee)", "to {who}"),
    ("WHICH? BE? DONE? to ME (alone | only)", "only to me "),
    (
        "WHICH? I (am | 'm | was)? (the | a) (only | sole) (recipient | recipent | addressee)",
        "only to me ",
    ),
    ("WHICH? BE? DONE? (directly | personally | straight) to ME", "directly to me "),
    ("WHICH? BE? DONE? to ME (directly | personally)", "directly to me "),
    ("WHICH? BE? (directly | personally) DONE to ME", "directly to me "),
    (
        "WHICH? (my | the) (email | e-mail | name | address) (address)? is (explicitly)? (in | "
        "on) the? to :? HEADER?",
        "directly to me ",
    ),
    (
        "WHICH? (my | the) (email | name | address) is not (in | on) the? to (box | field | line)?",
        "not directly to me ",
    ),
    ("WHICH? I (am)? ALSO? named? (in | on) the? to :? HEADER?", "directly to me "),
    ("^ direct MAIL", "directly to me "),
    ("^ cc'd MAIL", "cc me "),
    ("WHICH? I (am)? (named | mentioned) in (it | them)", "to me "),
    ("(in | on) to : HEADER?", "directly to me "),
    ("to {who:NAMES} (, | but)? (but | and)? (not | without) (in | on)? cc $", "directly to {who}"),
    (
        "(, | but | and)? (not | NOT) (when)? I? (in | on)? (cc | bcc | copy | COPIED) :? "
        "(( , | or | "
        "and | nor) (bcc | cc) :?)? ($ | {next:AFTERLIST})",
        lambda found: f"and not cc me {found['next'] or ''} ",
    ),
    ("WHICH? I NOT (the | a | an) (primary | direct | main) recipient", "not directly to me "),
    ("WHICH? I (was | been)? (only)? (COPIED | cc) on?", "cc me "),
    ("WHICH? BE? (ccing | cc'ing | copying | cc) (to)? ME", "cc me "),
    ("WHICH? NOT (DONE)? to ME", "not to me "),
    ("WHICH? ISNT DONE? {how:HOW}", "and not {how}"),
    (
        "{how:WHOM} {one:NAME} or {other:NAME} but not both $",
        "({how} {one} or {how} {other}) and not ({how} {one} and {how} {other})",
    ),
    ("to or cc", "to "),
    (
        "(MAIL | THREAD)? (exchanged)? between {one:WORD} and {other:WORD} "
        "($ | PHRASE | with | newer)",
        _both_ways,
    ),
    ("^ MAIL WHICH? I (am | was)? NOT (part of | in | on) $", "not from me and not to me "),
    ("^ MAIL WHICH? I (am | was)? NOT (a | the)? recipient (of)? $", "not to me "),
    ("to myself", "to me "),
)
