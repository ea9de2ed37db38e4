"""Names in the newest mail: the most frequent first, only those of the reader's audiences."""

from __future__ import annotations

from support.clocks import MemoryClock

from tapestry.core.message import Message
from tapestry.tables.append import append_messages
from tapestry.tables.log import Tables
from tapestry.tables.recent_names import Names, recent_names

PUBLIC = ("public",)


def test_an_empty_table_has_no_names(tmp_path):
    assert recent_names(Tables(tmp_path), PUBLIC) == Names((), (), ())


def test_names_come_most_frequent_first(tmp_path):
    tables, clock = Tables(tmp_path), MemoryClock()
    mail = [
        Message("a", sender="ann@x.org", newsgroups=("comp.misc",), list="l.x.org"),
        Message("b", sender="bob@x.org", sender_name="Bob", newsgroups=("alt.a", "comp.misc")),
        Message("c", sender="bob@x.org", sender_name="Robert"),
        Message("d"),
    ]
    append_messages(tables, clock, mail)
    found = recent_names(tables, PUBLIC)
    assert found.newsgroups == ("comp.misc", "alt.a")
    assert found.lists == ("l.x.org",)
    assert found.people == (("bob@x.org", "Bob"), ("ann@x.org", ""))
    assert recent_names(tables, PUBLIC, most=1).people == (("bob@x.org", "Bob"),)


def test_nobody_reads_names_in_mail_that_is_not_theirs(tmp_path):
    tables, clock = Tables(tmp_path), MemoryClock()
    secret = Message("a", sender="a@x.org", newsgroups=("g",), list="l", audience="user:joe")
    append_messages(tables, clock, [secret])
    assert recent_names(tables, PUBLIC) == Names((), (), ())
    assert recent_names(tables, ("public", "user:joe")).newsgroups == ("g",)


def test_only_the_newest_mail_is_looked_at(tmp_path):
    tables, clock = Tables(tmp_path), MemoryClock()
    for number in range(3):
        append_messages(tables, clock, [Message(str(number), newsgroups=(f"g{number}",))])
    assert recent_names(tables, PUBLIC, rows=2).newsgroups == ("g2", "g1")
