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
