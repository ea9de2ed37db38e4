"""Rules about votes, tags, files, sizes, lists, and what is left out."""

from __future__ import annotations

import re

from tapestry.query.phrases.wordings.lexicon import is_phrase_word

_MARK = "(important | urgent | todo | later | spam)"


def _sized(found: re.Match[str]) -> str:
    """Return a size whose unit stands at its number, ``25mb``."""
    number = found["size"].rstrip("KMBkmb")
    return f"larger than {number} {found['size'][len(number)].upper()}B "


def _without_word(found: re.Match[str]) -> str:
    """Return that a word is not mentioned, unless it is a phrase by itself."""
    word = found["word"]
    return f"and not {word} " if is_phrase_word(word) else f'and not mentioning "{word}" '


RULES = (
    (
        "WHICH? I NOT (yet)? (tagged | labelled | labeled | tag | label) (with anything)? $",
        "without a tag by me ",
    ),
    ("WHICH? I (have)? tagged (as | with)? {words:VALUE}", "tagged {words} by me"),
    ("(label | tag | category) (is | :) {words:VALUE}", "tagged {words}"),
    ("untagged", "without a tag "),
    ("WHICH? I (have)? voted for", "voted for by me "),
    ("WHICH? I (have)? voted against", "voted against by me "),
    ("with (more than | over) {number:NUMBER} votes", "with a score above {number}"),
    (
        "(with)? (the | an)? average of (the | its)? (last | latest) (ten | 10) votes (is)? "
        "(above | over | more than) {number:NUMBER}",
        "with latest votes averaging above {number}",
    ),
    ("(over | larger than | bigger than | more than) {size:SIZED}", _sized),
    ("size (is)? (greater | larger | bigger | more) than", "larger than "),
    ("(size (is)?)? at least {size:SIZE} {unit:BYTES}", "larger than {size} {unit}"),
    ("(under | smaller than | less than) {size:SIZED}", lambda found: f"not {_sized(found)}"),
    ("over {size:SIZE} (kilobytes | kilobyte | kb)", "larger than {size} KB"),
    ("over {size:SIZE} (megabytes | megabyte | mb)", "larger than {size} MB"),
    ("^ large attachments", "with attachments "),
    ("^ no LIST $", "not on any list "),
    ("{group:GROUP} newsgroups", "in {group}"),
    (
        "(in | on) (any | all) {group:WORD} (group | groups | newsgroups | hierarchy)",
        "in {group}.*",
    ),
    ("crossposted to {first:GROUP} and {second:GROUP}", "in {first} and in {second}"),
    ("(and | but)? WHICH? NOT marked as? {words:WORD}", "and not tagged {words}"),
    ("WHICH? BE? marked as? {words:WORD}", "tagged {words}"),
    (
        "WHICH? BE? (labelled | labeled | categorized | categorised) as? {words:WORD}",
        "tagged {words}",
    ),
    ("WHICH? {who:NAME} (has | have)? (voted for | upvoted | up-voted)", "voted for by {who}"),
    (
        "WHICH? {who:NAME} (has | have)? (voted against | downvoted | down-voted)",
        "voted against by {who}",
    ),
    ("(and | but) against by", "and voted against by "),
    ("WHICH? (got | BE)? (voted down | downvoted | down-voted)", "with a score below 0 "),
    ("WHICH? (got | BE)? (voted up | upvoted | up-voted)", "with a score above 0 "),
    ("WHICH? CONTAIN (an | a | any | some)? FILES", "with attachments "),
    ("^ (email | e-mail | mail)? attachments", "with attachments "),
    ("^ large MAIL", "larger than 1 MB "),
    ("^ (long | lengthy) MAIL", "larger than 10 KB "),
    ("^ short MAIL", "smaller than 2 KB "),
    (
        "(bigger | larger | more | greater) than {size:SIZE} (kilobytes | kilobyte | kb | k)",
        "larger than {size} KB",
    ),
    (
        "(bigger | larger | more | greater) than {size:SIZE} (megabytes | megabyte | mb | m)",
        "larger than {size} MB",
    ),
    (
        ", (in order)? to (find | see | get | catch | collect) A? (meeting | calendar) "
        "(invites | invite | invitations | invitation)",
        "with invitations ",
    ),
    (
        "(with)? A? (meeting | calendar) (invites | invite | invitations | invitation)",
        "with invitations ",
    ),
    (
        "(with | have | has) A? FILES? (ending | that ends | whose name ends | which ends) "
        "(with | in | on) {ending:WORD}",
        lambda found: f'with an attachment named like "*.{found["ending"].strip(".*")}" ',
    ),
    ("(on | from) (A)? LIST", "on any list "),
    (
        "(from | on | in | to) the {words:WORD} (mailing list | list | mailinglist)",
        "on list {words}",
    ),
    ("^ LIST (traffic | MAIL)", "on any list "),
    (
        "^ {words:DASHED} LIST but not {word:PLAIN} $",
        'on list {words} and not mentioning "{word}"',
    ),
    ("^ no MAIL (on | from) (A)? LIST unless", "not on any list or "),
    ("^ no MAIL (on | from) (A)? LIST", "not on any list "),
    ("^ no MAIL from", "not from "),
    (
        "(but | and)? not if (they are | it is) from (a)? (particular | certain)? (sender)?",
        "and not from ",
    ),
    ("(everything | anything | all) (except | but) newsgroups $", "not in any newsgroup "),
    ("(everything | anything | all) (except | but) LIST $", "not on any list "),
    ("(everything | anything) (except | but) not?", "not "),
    (
        "unless (it | they | these | those | i'm | i am | its | it's | they're | MAIL)? "
        "(is | are | come | comes | came | was | were)?",
        "and not ",
    ),
    (
        "{how:PREP} (anyone | anybody | people)? at? {domain:DOMAIN} (except | excluding | but "
        "not) {word:NAME} $",
        lambda found: (
            f"{found['how']} @{found['domain'].lstrip('@')} and not {found['how']} {found['word']} "
        ),
    ),
    ("(except | excluding | but not | and not) {word:PLAIN} $", _without_word),
    ("(except | excluding | but not)", "and not "),
)
