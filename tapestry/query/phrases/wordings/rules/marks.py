"""Rules about votes, tags, files, sizes, lists, and what is left out."""

from __future__ import annotations

_MARK = "(important | urgent | todo | later | spam)"

RULES = (
    ("WHICH? I (have)? tagged (as | with)? {words:VALUE}", "tagged {words} by me"),
    ("(label | tag | category) (is | :) {words:VALUE}", "tagged {words}"),
    ("untagged", "without a tag "),
    ("WHICH? I (have)? voted for", "voted for by me "),
    ("WHICH? I (have)? voted against", "voted against by me "),
    ("with (more than | over) {number:NUMBER} votes", "with a score above {number}"),
    ("over {size:SIZE} (kilobytes | kilobyte | kb)", "larger than {size} KB"),
    ("over {size:SIZE} (megabytes | megabyte | mb)", "larger than {size} MB"),
    ("^ large attachments", "with attachments "),
    ("^ no LIST $", "not on any list "),
    ("{group:GROUP} newsgroups", "in {group}"),
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
    ("WHICH? (got | BE)? (voted down | downvoted | down-voted)", "with a score below 0 "),
    ("WHICH? (got | BE)? (voted up | upvoted | up-voted)", "with a score above 0 "),
    ("WHICH? CONTAIN (an | a | any | some)? FILES", "with attachments "),
    ("^ (email | e-mail | mail)? attachments", "with attachments "),
    ("^ large MAIL", "larger than 1 MB "),
    (
        "(bigger | larger | more | greater) than {size:SIZE} (kilobytes | kilobyte | kb | k)",
        "larger than {size} KB",
    ),
    (
        "(bigger | larger | more | greater) than {size:SIZE} (megabytes | megabyte | mb | m)",
        "larger than {size} MB",
    ),
    ("(on | from) (A)? LIST", "on any list "),
    (
        "(from | on | in | to) the {words:WORD} (mailing list | list | mailinglist)",
        "on list {words}",
    ),
    ("^ LIST (traffic | MAIL)", "on any list "),
    ("^ no MAIL (on | from) (A)? LIST unless", "not on any list or "),
    ("^ no MAIL (on | from) (A)? LIST", "not on any list "),
    ("^ no MAIL from", "not from "),
    (
        "(but | and)? not if (they are | it is) from (a)? (particular | certain)? (sender)?",
        "and not from ",
    ),
    ("(everything | anything | all) (except | but) newsgroups $", "not in any newsgroup "),
    ("(everything | anything | all) (except | but) LIST $", "not on any list "),
    ("(everything | anything) (except | but)", "not "),
    ("(except | excluding | but not)", "and not "),
)
