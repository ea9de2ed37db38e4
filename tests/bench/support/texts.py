"""Filters whose compilation is measured: the paper's examples, and many alternatives."""

from __future__ import annotations

PAPER = {
    "q1": "SELECT msgid FROM messages WHERE newsgroups = 'comp.databases'",
    "q2": "SELECT msgid FROM messages WHERE newsgroups LIKE 'comp.sys.%'",
    "q3": (
        "SELECT m.msgid FROM messages m, messages m1\n"
        "WHERE m1.inreplyto = m.msgid AND m1.newsgroups = 'comp.databases'"
    ),
    "q4": (
        "SELECT m.msgid FROM messages m WHERE m.ts < dateadd(week, -4, getdate())\n"
        "AND NOT EXISTS (SELECT * FROM messages m1 WHERE m1.inreplyto = m.msgid)"
    ),
    "q5": (
        "SELECT m.msgid FROM messages m, messages m1, messages m2 WHERE m.inreplyto IS NULL\n"
        "AND m1.inreplyto = m.msgid AND m2.inreplyto = m1.msgid"
    ),
    "unexpired": (
        "SELECT m.msgid FROM messages m\n"
        "WHERE m.date > getdate() AND m.ts > dateadd(week, -4, CURRENT_TIMESTAMP)"
    ),
    "no_reply": "NOT EXISTS (r: r.inreplyto = m.msgid)",
    "standard_form": (
        "(m.date > now() AND m.subject = 'base') OR (m.date < now() AND m.subject LIKE '%base')"
    ),
    "in_the_future": "m.date > now()",
    "two_to_three_weeks": "m.ts + 2 weeks < now() AND now() < m.ts + 3 weeks",
    "two_weeks_no_reply": "m.ts + 2 weeks < now() AND NOT EXISTS (r: r.inreplyto = m.msgid)",
    "silent_two_weeks": "NOT EXISTS (r: r.inreplyto = m.msgid AND now() < r.ts + 2 weeks)",
    "replied": "SELECT m1.msgid FROM messages m1, messages m2 WHERE m2.inreplyto = m1.msgid",
}
"""[Terry92, figure 4], and the worked examples of [Terry92 §4] and [Terry92 §5]."""

KINDS = {
    "in a thread with": "in a thread with p7",
    "in a large thread": "in a thread with more than 20 messages",
    "below": "below a message by p7",
    "after a message in the thread": "in a thread after a message by p7",
    "asked again": "asking again after a reply",
    "answered in time": "answered within an hour",
    "numbered": "ROW_NUMBER() OVER (PARTITION BY m.inreplyto ORDER BY m.received) = 3",
    "later than the one before": (
        "LAG(m.received) OVER (PARTITION BY m.inreplyto ORDER BY m.received) < m.received - 1 day"
    ),
    "sum of a week": (
        "SUM(m.size) OVER (PARTITION BY m.sender ORDER BY m.received RANGE 7 days PRECEDING)"
        " > 20000"
    ),
    "last of a sender": "m IN LAST 3 PER m.sender AMONG m.newsgroups = 'comp.databases'",
    "aggregate of the last": "MAX(x.size IN LAST 2: x.inreplyto = m.msgid) > 8000",
    "from new senders": "from new senders",
    "different repliers": "COUNT(DISTINCT r.sender: r.inreplyto = m.msgid) > 2",
    "last of all": "m IN LAST 50 AMONG m.newsgroups = 'comp.databases'",
    "top of the week": "among the top 10 by replies this week",
}
"""A filter of each kind of construct, by what it asks."""

MANY = {
    "columns": ("m.sender = 'a{0}'", " OR "),
    "conjunctions": ("(m.sender = 'a{0}' AND m.subject HAS 'x{0}')", " OR "),
    "joins": ("EXISTS (r: r.inreplyto = m.msgid AND r.sender = 'a{0}')", " OR "),
    "unanswered": (
        "(m.ts < now() - {0} days AND NOT EXISTS (r: r.inreplyto = m.msgid AND r.sender = 'a{0}'))",
        " OR ",
    ),
    "phrases": ("from a{0}", " or "),
    "replied_phrases": ("replied to by a{0}", " or "),
}
"""Kinds of alternatives: a template with a number, and the word between two."""


def alternatives(kind: str, count: int) -> str:
    """Return a filter of ``count`` alternatives of a kind.

    >>> alternatives("phrases", 3)
    'from a1 or from a2 or from a3'
    """
    alternative, separator = MANY[kind]
    return separator.join(alternative.format(number) for number in range(1, count + 1))
