"""Names in the newest mail: the most frequent first, only those of the reader's audiences."""

from __future__ import annotations

from tapestry.core.message import Annotation, Message
from tapestry.tables.delta.log import Tables
from tapestry.tables.read.recent_names import Names, recent_names
from tapestry.tables.write.append import append_annotations, append_messages
from tapestry.tables.write.compact import compact
from tests.support.clocks import MemoryClock

PUBLIC = ("public",)


def test_an_empty_table_has_no_names(tmp_path):
    assert recent_names(Tables(tmp_path), PUBLIC) == Names()


def test_names_come_most_frequent_first(tmp_path):
    tables, clock = Tables(tmp_path), MemoryClock()
    mail = [
        Message("a", sender="ann@x.org", newsgroups=("comp.misc",), list="l.x.org"),
        Message("b", sender="bob@x.org", sender_name="Bob", newsgroups=("alt.a", "comp.misc")),
        Message("c", sender="bob@x.org", sender_name="Robert", cc=("eve@x.org", "bob@x.org")),
        Message("d", to=("eve@x.org",), to_names=("Eve", "Bob")),
    ]
    append_messages(tables, clock, mail)
    found = recent_names(tables, PUBLIC)
    assert found.newsgroups == ("comp.misc", "alt.a")
    assert found.lists == ("l.x.org",)
    assert found.people == (("bob@x.org", "Bob"), ("ann@x.org", ""))
    assert found.recipients == (("eve@x.org", ""), ("bob@x.org", "Bob"), ("", "Eve"))
    assert recent_names(tables, PUBLIC, most=1).people == (("bob@x.org", "Bob"),)


def test_nobody_reads_names_in_mail_that_is_not_theirs(tmp_path):
    tables, clock = Tables(tmp_path), MemoryClock()
    secret = Message(
        "a", sender="a@x.org", newsgroups=("g",), list="l", audience="user:joe", to=("b@x.org",)
    )
    append_messages(tables, clock, [secret])
    assert recent_names(tables, PUBLIC) == Names()
    assert recent_names(tables, ("public", "user:joe")).newsgroups == ("g",)


def test_mail_of_others_changes_no_names(tmp_path):
    """Not by newer files, however many, nor by lying in the same files."""
    names = []
    for secrets in (False, True):
        tables, clock = Tables(tmp_path / str(secrets)), MemoryClock()
        for number in range(110):
            mail = [Message(f"a{number}", list=f"mine{number}", audience="user:joe")]
            mail *= number < 5
            mail += [Message(f"b{number}", list="theirs", audience="user:ann")] * secrets
            append_messages(tables, clock, mail)
            if number == 3:
                compact(tables, keep_hours=0)
        names.append([recent_names(tables, ("user:joe",), rows) for rows in (1, 4, 10_000)])
    without, with_secrets = names
    assert with_secrets == without
    assert [len(found.lists) for found in without] == [1, 4, 5]


def test_the_order_of_files_and_row_groups_changes_no_names(tmp_path, monkeypatch):
    """Neither of mail that came at one instant."""
    mail = [
        Message(f"m{n}", sender="joe@x", sender_name=f"Joe {n}", newsgroups=(f"g{n}",), received=1)
        for n in range(9)
    ]
    names = []
    for number, order in enumerate((mail, mail[::-1], [*mail[5:], *mail[:5]])):
        monkeypatch.setattr("tapestry.tables.rows.ROW_GROUP", number + 1)
        tables = Tables(tmp_path / str(number))
        append_messages(tables, MemoryClock(), order)
        names.append([recent_names(tables, PUBLIC, rows) for rows in (1, 5, 10_000)])
    assert names[0] == names[1] == names[2]


def test_the_newest_of_one_import_are_looked_at(tmp_path):
    """All of it has one ``ts``; it was received at different instants."""
    tables, clock = Tables(tmp_path), MemoryClock()
    mail = [Message(f"a{n}", list=f"l{n}", received=1000 + n, date=1000 + n) for n in range(9)]
    append_messages(tables, clock, [mail[place] for place in (3, 0, 8, 1, 7, 2, 6, 4, 5)])
    assert recent_names(tables, PUBLIC, rows=3).lists == ("l8", "l7", "l6")


def test_tags_and_who_gave_them_are_names(tmp_path):
    tables, clock = Tables(tmp_path), MemoryClock()
    append_messages(tables, clock, [Message("a")])
    tags = [("terry", "later", "public"), ("mary", "later", "public"), ("joe", "mine", "user:joe")]
    given = [
        Annotation(f"t{number}", "a", owner, "tag", tag, None, audience)
        for number, (owner, tag, audience) in enumerate(tags)
    ]
    vote = Annotation("v", "a", "bob", "vote", "aye", 1.0)
    append_annotations(tables, clock, [*given, vote])
    found = recent_names(tables, PUBLIC)
    assert found.tags == ("later",)
    assert sorted(found.annotators) == ["bob", "mary", "terry"]
    assert set(recent_names(tables, ("public", "user:joe")).tags) == {"later", "mine"}


def test_only_the_newest_mail_is_looked_at(tmp_path):
    tables, clock = Tables(tmp_path), MemoryClock()
    for number in range(3):
        append_messages(tables, clock, [Message(str(number), newsgroups=(f"g{number}",))])
    assert recent_names(tables, PUBLIC, rows=2).newsgroups == ("g2", "g1")
