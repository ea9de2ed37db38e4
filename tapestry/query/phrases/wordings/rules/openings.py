"""Rules about what says nothing, at the beginning and at the end of a request."""

from __future__ import annotations

_LOOK = (
    "(show | find | list | give | get | display | select | fetch | query | see | view | check "
    "| match | include | collect | search for | search | look for | looking for | filter for "
    "| filter | filer)"
)
_EACH = (
    "(only | just | every | each | all | any | of | the | those | these | that | a list of "
    "| a | an)"
)


RULES = (
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
    ("^ (ignore | hide | skip | exclude | leave out | filter out)", "not "),
    ("^ (check | read | open) (my | the) (MAIL | inbox | mailbox) $", "newer than one day "),
    ("^ (stuff | things | anything | whatever) (that | which)?", ""),
    ("^ (please | hey | hi | ok | okay) ,?", ""),
    ("^ (can | could | would | will) (you | I) please?", ""),
    ("^ I (want | need | would like | can | wish) to?", ""),
    ("^ i'd like to?", ""),
    (f"^ (only | just)? {_LOOK} me? (only | just)?", ""),
    ("^ (do i have | have i got | are there | is there) (any | some)?", ""),
    ("^ (which | what) of? (all | my | the)? MAIL did i send", "from me "),
    ("^ (which | what) of? my? SENT MAIL", "from me "),
    ("^ (which | what) of? (my | the)? MAIL", "messages "),
    ("^ (if | when | whenever) (an | a | the)? MAIL", ""),
    ("^ (if | when | whenever) (an | a | the)? SUBJECT", "subject "),
    ("^ the (one | ones)", "messages "),
    ("^ (the last | the past)", "the last "),
    ("^ any of the following :? {words:ALL}", lambda found: found["words"].replace(" , ", " or ")),
    ("^ all of the following :?", ""),
    (f"^ {_EACH} {_EACH}?", ""),
    ("(yet | please | so far | at all | anymore | in my inbox) $", ""),
)
"""Applied first."""

LAST = (
    ("^ (and | but | that | which | who | where | is | are | MAIL)", ""),
    ("^ (and | but | that | which | who | where | is | are)", ""),
    ("^ THREAD from", "from "),
    ("(that | which | , | MAIL) $", ""),
)
"""Applied last: what joined words that are gone."""
