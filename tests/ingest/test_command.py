"""Pulling: batches with cursors, going on, growing files, and the whole of a real archive."""

from __future__ import annotations

import gzip
import re
import shutil

import pytest

from tapestry.core.errors import TapestryError
from tapestry.identity.content import message_id_of
from tapestry.ingest.archive.files import open_archive_source
from tapestry.ingest.command import count_new
from tapestry.ingest.ingest_batch import Tally, ingest_batches
from tapestry.tables.delta.log import Tables, snapshot
from tapestry.tables.read.messages import message
from tapestry.tables.write.compact import MOST_SMALL
from tests.support.clocks import MemoryClock
from tests.support.intake import FreeIntake, ingest, ingest_target

PUBLIC = ("public",)


@pytest.fixture
def tables(tmp_path):
    return Tables(tmp_path / "tables")


@pytest.fixture
def clock():
    return MemoryClock()


def one(n, body="hello"):
    head = f"From joe at x.org  Fri Jan  2 14:26:52 2004\nMessage-ID: <{n}@x.org>\n"
    return f"{head}From: joe at x.org (Joe)\n\n{body}\n\n"


def write(path, numbers, more=""):
    path.write_text("".join(one(n) for n in numbers) + more)
    return str(path)


def counts(report):
    return report.read, report.added, report.duplicates, report.broken


def ids(tables):
    rows = tables.open("messages").to_pyarrow_table(columns=["msgid"])
    return sorted(rows.column("msgid").to_pylist())


def test_an_mbox_is_taken_in_once(tmp_path, tables, clock):
    what = write(tmp_path / "box", range(5))
    assert counts(ingest(what, tables, clock)) == (5, 5, 0, 0)
    assert counts(ingest(what, tables, clock)) == (0, 0, 0, 0)
    row = message(tables, "3@x.org", PUBLIC)
    assert (row.message.sender, row.message.source) == ("joe@x.org", "box")


def test_a_file_that_grew_is_read_from_where_it_ended(tmp_path, tables, clock):
    ingest(write(tmp_path / "box", range(5)), tables, clock)
    what = write(tmp_path / "box", range(8))
    assert counts(ingest(what, tables, clock)) == (3, 3, 0, 0)


def test_a_dry_run_counts_what_then_is_taken_in(tmp_path, tables, clock):
    ingest(write(tmp_path / "box", range(5)), tables, clock)
    shutil.rmtree(tables.root / "staging")
    for numbers in ([*range(5), 5, 6, 6], [7, 1, 2], [9, 9, 7]):
        what, stored = write(tmp_path / "box", numbers, more=one(1, "other words")), ids(tables)
        dry = count_new(what, tables, clock, "public", FreeIntake())
        assert ids(tables) == stored and not list(tables.root.rglob("staging"))
        assert counts(dry) == counts(ingest(what, tables, clock))
        shutil.rmtree(tables.root / "staging")
    with pytest.raises(TapestryError, match="once it is taken in"):
        count_new("imap://joe@x.org/INBOX", tables, clock, "public", FreeIntake())


def test_a_file_that_was_rewritten_or_shrank_is_read_anew(tmp_path, tables, clock):
    ingest(write(tmp_path / "box", range(5)), tables, clock)
    what = write(tmp_path / "box", [0, 1, 2, 9])
    assert counts(ingest(what, tables, clock)) == (4, 1, 3, 0)
    what = write(tmp_path / "box", [7, 0, 1, 2, 9, 8])
    assert counts(ingest(what, tables, clock)) == (6, 2, 4, 0)
    assert len(ids(tables)) == 8


@pytest.mark.parametrize("then", [(1, 2, 4), (1, 9, 2, 3), (1, 3, 4, 5)])
def test_a_file_that_changed_before_its_end_is_read_anew(tmp_path, tables, clock, then):
    """Messages of one length: what stood at the cursor still begins a message there."""
    path = tmp_path / "box"
    write(path, (1, 2, 3))
    ingest(str(path), tables, clock)
    write(path, then)
    ingest(str(path), tables, clock)
    assert sorted(ids(tables)) == sorted(f"{n}@x.org" for n in {1, 2, 3, *then})


def test_a_message_whose_end_was_not_yet_written_does_not_hide_what_follows(
    tmp_path, tables, clock
):
    whole = "".join(one(n, "hello\n" * 5) for n in range(4))
    path = tmp_path / "box"
    within = whole.index("hello", whole.index("<2@"))
    for cut in (within + 3, within + 12, within + 15, len(whole)):
        path.write_text(whole[:cut])
        ingest(str(path), tables, clock)
    stored = tables.open("messages").to_pyarrow_table().to_pylist()
    expected = [f"{n}@x.org" for n in range(4)]
    assert sorted({message_id_of(row["msgid"]) for row in stored}) == expected
    texts = [row["body"] for row in stored if message_id_of(row["msgid"]) == "2@x.org"]
    assert "hello\n" * 5 in [f"{text.strip()}\n" for text in texts], "the end comes as a copy"


def test_an_interrupted_pull_goes_on_from_its_last_batch(tmp_path, tables, clock, monkeypatch):
    monkeypatch.setattr("tapestry.ingest.ingest_batch.BATCH", 3)
    what = write(tmp_path / "box", range(10))

    def stop(done, total):
        assert total == 10
        if done >= 6:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ingest(what, tables, clock, progress=stop)
    assert ids(tables) == []
    seen = []
    report = ingest(what, tables, clock, progress=lambda done, _: seen.append(done))
    assert counts(report) == (10, 10, 0, 0)
    assert seen == [9, 10]
    assert len(ids(tables)) == 10
    assert counts(ingest(what, tables, clock)) == (0, 0, 0, 0)


def test_each_audience_takes_in_its_own(tmp_path, tables, clock):
    what = write(tmp_path / "box", range(2))
    ingest(what, tables, clock)
    assert ingest(what, tables, clock, audience="user:joe").added == 2
    assert ingest(what, tables, clock, audience="group:parc").added == 2
    assert message(tables, "0@x.org", ("user:joe",)).message.audience == "user:joe"


@pytest.mark.parametrize("name", ["Human Resources", "comp:lang", "a\u00a0b/c", "Éire"])
def test_a_group_may_have_any_name(tmp_path, tables, clock, name):
    what = write(tmp_path / "box", range(2))
    assert ingest(what, tables, clock, audience=f"group:{name}").added == 2
    assert ingest(what, tables, clock, audience=f"group:{name}").added == 0
    assert message(tables, "0@x.org", (f"group:{name}",)) is not None


@pytest.mark.parametrize(
    "audience",
    [
        "",
        "everyone",
        "user:",
        "user: a",
        "group:a\n",
        "group:\0",
        "group:\ud800",
        "Public",
        "group",
    ],
)
def test_an_unknown_audience_is_refused(tmp_path, tables, clock, audience):
    with pytest.raises(TapestryError, match="is not an audience"):
        ingest(str(tmp_path), tables, clock, audience=audience)


def test_what_is_no_source_of_mail_is_refused(tables, clock):
    with pytest.raises(TapestryError, match="cannot be pulled from https"):
        ingest("https://x.org/a.mbox", tables, clock)


def test_a_directory_of_mboxes_keeps_a_cursor_for_each(tmp_path, tables, clock):
    mail = tmp_path / "mail"
    mail.mkdir()
    write(mail / "a.mbox", range(3))
    write(mail / "b.mbox", range(3, 7))
    (mail / "c.eml").write_text("Message-ID: <c@x.org>\nSubject: hi\n\nhi\n")
    assert counts(ingest(str(mail), tables, clock)) == (8, 8, 0, 0)
    write(mail / "a.mbox", [0, 1, 2, 8])
    assert counts(ingest(str(mail), tables, clock)) == (2, 1, 1, 0)


def letters(path, numbers):
    """A directory of letters whose first line is that of an mbox."""
    path.mkdir(exist_ok=True)
    for n in numbers:
        (path / f"{n:03}").write_text(one(n))
    return path


def test_a_directory_of_letters_with_from_lines_is_one_append(tmp_path, tables, clock):
    mail = letters(tmp_path / "mail", range(7))
    (mail / "003.eml").write_text(one("a", "From here on\n\nFrom May on"))
    write(mail / "box", range(10, 13))
    assert counts(ingest(str(mail), tables, clock)) == (11, 11, 0, 0)
    assert [part.rows for part in snapshot(tables).messages] == [11]
    assert message(tables, "a@x.org", PUBLIC).message.body.startswith("From here on")


def test_a_large_directory_goes_on_where_it_was_interrupted(tmp_path, tables, clock, monkeypatch):
    monkeypatch.setattr("tapestry.ingest.ingest_batch.BATCH", 4)
    monkeypatch.setattr("tapestry.ingest.archive.directory.FEW", 5)
    mail = letters(tmp_path / "mail", range(10))

    def stop(done, total):
        assert total == 10
        if done >= 4:
            raise KeyboardInterrupt

    with pytest.raises(
        KeyboardInterrupt, match=r"^4 of 10 have been read; run it again to go on\.$"
    ):
        ingest(str(mail), tables, clock, progress=stop)
    with pytest.raises(KeyboardInterrupt, match=r"^8 of 10 have been read"):
        ingest(str(mail), tables, clock, progress=lambda done, _: done < 8 or stop(done, 10))
    assert counts(ingest(str(mail), tables, clock)) == (10, 10, 0, 0)
    assert counts(ingest(str(mail), tables, clock)) == (0, 0, 0, 0)
    assert ids(tables) == [f"{n}@x.org" for n in range(10)]


@pytest.mark.parametrize("change", ["new first", "new last", "changed", "gone", "damaged"])
def test_a_large_directory_that_changed_loses_nothing(tmp_path, tables, clock, monkeypatch, change):
    monkeypatch.setattr("tapestry.ingest.archive.directory.FEW", 3)
    mail = letters(tmp_path / "mail", range(5))
    ingest(str(mail), tables, clock)
    if change == "damaged":
        (mail / "002").write_bytes(gzip.compress(one("a").encode())[:-9])
        with pytest.raises(TapestryError, match="damaged"):
            ingest(str(mail), tables, clock)
        (mail / "002").write_bytes(gzip.compress(one("a").encode()))
    elif change == "gone":
        (mail / "002").unlink()
        (mail / "009").write_text(one("a"))
    else:
        name = {"new first": "0", "new last": "9", "changed": "002"}[change]
        (mail / name).write_text(one("a"))
    assert ingest(str(mail), tables, clock).added == 1
    assert ids(tables) == sorted(f"{n}@x.org" for n in (*range(5), "a"))
    assert ingest(str(mail), tables, clock).added == 0


def test_an_mbox_that_is_gone_on_with_counts_what_was_in(tmp_path, tables, clock, monkeypatch):
    monkeypatch.setattr("tapestry.ingest.ingest_batch.BATCH", 2)
    what = write(tmp_path / "box", range(6))
    seen = []
    for _ in range(3):
        with pytest.raises(KeyboardInterrupt) as interruption:
            ingest(what, tables, clock, progress=lambda done, _: seen.append(done) or stop_now())
    assert seen == [2, 4, 6]
    assert str(interruption.value) == "6 have been read; run it again to go on."


def stop_now():
    raise KeyboardInterrupt


@pytest.mark.parametrize("what", ["", " "])
def test_nothing_is_no_source(tables, clock, what):
    with pytest.raises(TapestryError, match="No mail is named") as refused:
        ingest(what, tables, clock)
    assert "imap(s)://" in refused.value.hint


def test_broken_messages_are_kept_and_counted(tmp_path, tables, clock):
    broken = one("x").replace("From: joe", "Date: whenever\nFrom: joe")
    what = write(tmp_path / "box", range(2), broken)
    assert counts(ingest(what, tables, clock)) == (3, 3, 0, 1)


def test_what_came_before_the_damage_is_kept(tmp_path, tables, clock):
    text = "".join(one(n, f"{n} " * 5000) for n in range(50))
    packed = gzip.compress(text.encode(), 0)
    path = tmp_path / "box.gz"
    path.write_bytes(packed[: len(packed) // 2])
    with pytest.raises(TapestryError, match="cut short after its message"):
        ingest(str(path), tables, clock)
    before = len(ids(tables))
    assert before > 10
    path.write_bytes(packed)
    assert ingest(str(path), tables, clock).added == 50 - before


@pytest.mark.parametrize("share", [4, pytest.param(1, marks=pytest.mark.long)])
def test_a_real_archive_goes_in_whole(shared_mail, tmp_path, tables, clock, share):
    """A year of mail, or the first months of it."""
    archive = shared_mail / "r-devel" / "2004.mbox.gz"
    text = gzip.decompress(archive.read_bytes())
    if share > 1:
        text = text[: text.index(b"\n\nFrom ", len(text) // share) + 2]
        archive = tmp_path / "months.mbox.gz"
        archive.write_bytes(gzip.compress(text))
    headers = re.findall(rb"^From .*\n(?:[!-9;-~]+:.*\n(?:[ \t].*\n)*)+", text, re.MULTILINE)
    found = [re.search(rb"^Message-ID: *<(.*)>", head, re.MULTILINE) for head in headers]
    report = ingest(str(archive), tables, clock)
    assert counts(report) == (len(headers), len({match[1] for match in found}), 0, 0)
    assert set(ids(tables)) == {match[1].decode() for match in found}
    # Elsewhere it is another archive, and its messages are known.
    copy = shutil.copy(archive, tmp_path / "copy.gz")
    assert ingest(str(copy), tables, clock).added == 0


@pytest.mark.long
def test_a_news_archive_has_its_newsgroups(shared_mail, tables, clock):
    report = ingest(str(shared_mail / "comp.lang.cobol.sample.mbox.gz"), tables, clock)
    assert (report.read, report.broken) == (5000, 0)
    rows = tables.open("messages").to_pyarrow_table(columns=["newsgroups", "sender", "date"])
    assert all("comp.lang.cobol" in groups for groups in rows.column("newsgroups").to_pylist())
    assert rows.column("date").null_count == 0


def test_many_small_appends_leave_few_files(tmp_path, tables, clock, monkeypatch):
    monkeypatch.setattr("tapestry.ingest.ingest_batch.BATCH", 1)
    stream = open_archive_source(
        write(tmp_path / "box", range(MOST_SMALL + 6)), "public", lambda source: None
    )
    assert ingest_batches(stream, ingest_target(tables, clock, "public"), Tally())
    assert [part.rows for part in snapshot(tables).messages] == [MOST_SMALL, *[1] * 6]
    assert ids(tables) == sorted(f"{n}@x.org" for n in range(MOST_SMALL + 6))
