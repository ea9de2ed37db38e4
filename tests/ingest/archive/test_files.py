"""Files of mail: mboxes of all sorts, Maildirs, directories; and what is not mail."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import sys
import zlib
from itertools import pairwise
from pathlib import Path
from subprocess import PIPE, Popen

import pytest

from tapestry.core.errors import TapestryError
from tapestry.ingest.archive.files import count_messages, open_archive_source
from tapestry.ingest.archive.mbox import entries, open_archive, settled_size

ASCTIME = "Fri Jan  2 14:26:52 2004"


def box(*bodies, end="\n"):
    return "".join(
        f"From joe at x.org  {ASCTIME}{end}Subject: {n}{end}{end}{body}{end}{end}"
        for n, body in enumerate(bodies)
    ).encode()


def nothing_taken(_source):
    return None


def raws(path):
    return [
        item.message.raw for item in open_archive_source(str(path), "public", nothing_taken).items
    ]


def split(data):
    return [entry.raw for entry in entries(io.BytesIO(data))]


def test_messages_come_with_their_places():
    data = box("one", "two")
    first, second = entries(io.BytesIO(data))
    assert (first.start, first.end, second.start, second.end) == (0, 61, 61, len(data))
    assert first.raw == b"Subject: 0\n\none\n"
    (again,) = entries(io.BytesIO(data), first.end)
    assert again == second


def test_a_from_line_counts_after_a_blank_line_only_and_with_a_date():
    body = f"text\nFrom joe  {ASCTIME}\n\nFrom what I know, it is so.\n\nFrom May 2004 on."
    assert split(box(body, "two"))[0] == f"Subject: 0\n\n{body}\n".encode()


@pytest.mark.parametrize(
    "line",
    [
        "From joe at x.org  Fri Jan  2 14:26:52 2004",
        "From joe@x.org Fri Jan 02 14:26:52 +0000 2004",
        "From - Fri Jan  2 14:26:52 2004",
        "From Joe Doe <joe@x.org>  Fri Jan  2 14:26:52 2004",
        "From joe@x.org Fri, 2 Jan 2004 14:26:52 +0100",
    ],
)
def test_from_lines_of_many_programs(line):
    assert len(split(f"{line}\nA: b\n\nx\n\n{line}\nA: c\n\ny\n".encode())) == 2


def test_quoted_from_lines_are_unquoted():
    (raw,) = split(box(">From here\n>>From there\n> From not"))
    assert raw == b"Subject: 0\n\nFrom here\n>From there\n> From not\n"


def sized(body, claimed=None):
    """A message of an mboxcl2, which says how long it is and quotes nothing."""
    head = b"From a@x Fri Jan  2 14:26:52 2004\nSubject: s\n"
    length = len(body) if claimed is None else claimed
    return head + b"Content-Length: %d\n\n" % length + body


TRAP = b"one\n\nFrom b@x Fri Jan  2 14:26:52 2004\n>From here\n"


def test_a_message_that_says_its_length_may_hold_from_lines():
    content = sized(TRAP) + b"\n" + sized(b"two\n") + sized(TRAP)
    items = list(entries(io.BytesIO(content)))
    assert [entry.raw.partition(b"\n\n")[2] for entry in items] == [TRAP, b"two\n", TRAP]
    assert (items[0].start, items[-1].end) == (0, len(content))
    for before, after in pairwise(items):
        assert before.end == after.start
        assert next(entries(io.BytesIO(content), after.start)) == after


@pytest.mark.parametrize("claimed", [3, 20, 10_000, 10**12])
def test_a_length_that_lies_is_not_believed(claimed):
    content = sized(b"one\n\n", claimed) + sized(b"two\n", claimed)
    items = entries(io.BytesIO(content))
    assert [entry.raw.strip()[-3:] for entry in items] == [b"one", b"two"]


def test_a_length_that_ends_within_a_line_is_not_believed():
    """Or a sender could have the quoted line after it taken for the beginning of a message."""
    trap = b">From b@x Fri Jan  2 14:26:52 2004\nMessage-ID: <forged@x>\n\nx\n"
    (entry,) = entries(io.BytesIO(sized(trap, 1)))
    assert b"forged" in entry.raw


def test_lengths_are_believed_again_after_one_that_lies():
    content = sized(b"one\n\n", 10_000) + sized(TRAP) * 3
    items = [entry.raw.partition(b"\n\n")[2] for entry in entries(io.BytesIO(content))]
    assert items == [b"one\n", TRAP, TRAP, TRAP]


def test_a_length_of_thousands_of_digits_is_no_length():
    head = b"From a@x Fri Jan  2 14:26:52 2004\nContent-Length: " + b"9" * 5000
    (entry,) = entries(io.BytesIO(head + b"\n\none\n"))
    assert entry.raw.endswith(b"one\n")


def test_crlf_is_tolerated():
    assert split(box("one", "two", end="\r\n")) == [
        b"Subject: 0\r\n\r\none\r\n",
        b"Subject: 1\r\n\r\ntwo\r\n",
    ]


def test_a_half_written_last_message_is_kept_but_not_passed_by(tmp_path):
    path = tmp_path / "box"
    path.write_bytes(box("one", "two")[:-3])
    first, last = open_archive_source(str(path), "public", nothing_taken).items
    assert first.cursor is not None
    assert (last.message.raw, last.cursor) == (b"Subject: 1\n\ntw", None)


WRITER = """
import fcntl, sys
with open(sys.argv[1], "ab") as file:
    fcntl.lockf(file, fcntl.LOCK_EX)
    file.write(sys.argv[2].encode()), file.flush(), print("begun", flush=True)
    sys.stdin.read(1)
    file.write(sys.argv[3].encode())
"""


def test_a_message_is_waited_for_while_it_is_written(tmp_path):
    path = tmp_path / "box"
    path.write_bytes(box("one"))
    content = box("two").decode()
    argv = [sys.executable, "-c", WRITER, str(path), content[:-8], content[-8:]]
    with Popen(argv, stdin=PIPE, stdout=PIPE) as writer:
        writer.stdout.readline()
        assert settled_size(path, patience=0.2) == len(box("one")) + len(content) - 8
        writer.stdin.write(b"\n")
        writer.stdin.close()
        assert raws(path) == [b"Subject: 0\n\none\n", b"Subject: 0\n\ntwo\n"]


def test_what_comes_while_an_mbox_is_read_is_left_for_the_next_time(tmp_path):
    path = tmp_path / "box"
    path.write_bytes(box("one"))
    items = iter(open_archive_source(str(path), "public", nothing_taken).items)
    first = next(items)
    with path.open("ab") as file:
        file.write(box("one", "two")[len(box("one")) : -3])
    assert list(items) == []
    again = open_archive_source(str(path), "public", lambda _source: first.cursor).items
    assert [item.message.raw for item in again] == [b"Subject: 1\n\ntw"]


@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress, lzma.compress])
def test_packed_mboxes_are_told_by_content(tmp_path, pack):
    path = tmp_path / "box"
    path.write_bytes(pack(box("one", "two")))
    assert len(raws(path)) == count_messages(path) == 2


def test_a_packed_mbox_cut_short_yields_what_is_whole_and_says_so(tmp_path):
    path = tmp_path / "box.gz"
    packed = gzip.compress(box(*(f"{n} " * 5000 for n in range(50))), 0)
    path.write_bytes(packed[: len(packed) // 2])
    source = open_archive_source(str(path), "public", nothing_taken)
    items = []
    with pytest.raises(TapestryError, match="cut short after its message") as caught:
        for item in source.items:
            items.append(item)
    assert 10 < len(items) < 50
    assert f"after its message {len(items)}" in caught.value.message
    assert "nothing will be there twice" in caught.value.hint


def test_a_maildir_is_read(tmp_path):
    for name in ("cur", "new", "tmp"):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"1.{name}:2,S").write_bytes(f"Subject: {name}\n\n".encode())
    subfolder = tmp_path / ".lists" / "new"
    subfolder.mkdir(parents=True)
    (subfolder / "1").write_bytes(b"Subject: list\n\n")
    assert raws(tmp_path) == [b"Subject: new\n\n", b"Subject: cur\n\n"]
    assert raws(subfolder.parent) == [b"Subject: list\n\n"]


def test_a_directory_is_read_recursively_in_order(tmp_path):
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "b.eml").write_bytes(b"Subject: b\n\n")
    (tmp_path / "a.eml").write_bytes(b"Subject: a\n\n")
    (tmp_path / "notes.txt").write_bytes(b"nothing of the kind")
    (tmp_path / ".hidden.eml").write_bytes(b"Subject: hidden\n\n")
    (tmp_path / "z.mbox.gz").write_bytes(gzip.compress(box("one", "two")))
    items = raws(tmp_path)
    assert items[:2] == [b"Subject: a\n\n", b"Subject: b\n\n"]
    assert len(items) == 4
    assert open_archive_source(str(tmp_path), "public", nothing_taken).total() == 4


def test_what_cannot_be_read_of_a_directory_is_told_after_the_rest(tmp_path, monkeypatch):
    (tmp_path / "a.mbox.gz").write_bytes(gzip.compress(box("one", "two"))[:-4])
    (tmp_path / "b.mbox.gz").write_bytes(b"\x1f\x8b not really gzip")
    (tmp_path / "c.mbox").write_bytes(box("three"))
    source = open_archive_source(str(tmp_path), "public", nothing_taken)
    items = []
    with pytest.raises(TapestryError, match=r"b\.mbox\.gz is damaged .*a\.mbox\.gz is damaged"):
        for item in source.items:
            items.append(item.message.raw[-5:])
    assert items == [b"\none\n", b"hree\n"]


def test_all_that_can_be_unpacked_before_the_damage_is_read(tmp_path):
    path = tmp_path / "box.gz"
    packed = gzip.compress(box(*(f"{n} {n * 7919 % 104729}" for n in range(3000))))
    for share in (0.3, 0.999):
        cut = packed[: int(len(packed) * share)]
        path.write_bytes(cut)
        readable = zlib.decompressobj(31).decompress(cut).count(b"From joe at x.org  Fri ")
        source, items = open_archive_source(str(path), "public", nothing_taken), []
        with pytest.raises(TapestryError, match="cut short"):
            items.extend(source.items)
        assert readable - 2 <= len(items) <= readable


def test_what_is_being_delivered_to_a_maildir_waits(tmp_path):
    for name in ("cur", "new", "tmp"):
        (tmp_path / "Inbox" / name).mkdir(parents=True)
        (tmp_path / "Inbox" / name / "1").write_bytes(f"Subject: {name}\n\n".encode())
    assert raws(tmp_path) == [b"Subject: cur\n\n", b"Subject: new\n\n"]


def test_an_mbox_of_an_old_macintosh_is_read(tmp_path):
    path = tmp_path / "In"
    path.write_bytes(box("one", "two", end="\r"))
    assert raws(path) == [b"Subject: 0\n\none\n", b"Subject: 1\n\ntwo\n"]
    (_, end), (start, _) = ((entry.start, entry.end) for entry in entries(open_archive(path)))
    assert next(entries(open_archive(path), start)).raw == b"Subject: 1\n\ntwo\n"
    assert end == start


def test_a_name_that_is_no_text_is_a_name(tmp_path):
    path = os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.mbox")
    Path(path).write_bytes(box("one"))
    (item,) = open_archive_source(path, "public", nothing_taken).items
    assert "caf\\xe9.mbox" in item.origin


def test_what_is_no_file_is_refused_in_a_sentence(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(TapestryError, match="neither a file nor a directory"):
        open_archive_source(str(tmp_path / "pipe"), "public", nothing_taken)
    with pytest.raises(TapestryError, match="no user"):
        open_archive_source("~nobody-of-that-name/x", "public", nothing_taken)


def test_a_single_message_is_read(tmp_path):
    path = tmp_path / "one.eml"
    path.write_bytes(b"Subject: a\n\nhi")
    assert raws(path) == [b"Subject: a\n\nhi"]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "is empty"),
        (b"\n\n", "is empty"),
        (bytes(range(256)) * 20, "neither an mbox nor a message"),
        (b"once upon a time\n", "neither an mbox nor a message"),
        (b"\x1f\x8b not really gzip", "cut short, and no message of it can be read"),
        (b"BZh91 not really bzip2", "cut short, and no message of it can be read"),
    ],
)
def test_what_is_not_mail_is_refused_in_a_sentence(tmp_path, content, sentence):
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(TapestryError, match=sentence) as caught:
        open_archive_source(str(path), "public", nothing_taken)
    assert caught.value.hint


def test_what_is_not_there_is_refused_in_a_sentence(tmp_path):
    with pytest.raises(TapestryError, match="There is no file or directory"):
        open_archive_source(str(tmp_path / "nowhere"), "public", nothing_taken)
    with pytest.raises(TapestryError, match="holds no mail"):
        open_archive_source(str(tmp_path), "public", nothing_taken)


def test_a_file_that_may_not_be_read_is_refused_in_a_sentence(tmp_path, monkeypatch):
    path = tmp_path / "one.eml"
    path.write_bytes(b"Subject: a\n\n")

    def refuse(_path):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("tapestry.ingest.archive.files.open_archive", refuse)
    with pytest.raises(TapestryError, match="cannot be read: Permission denied"):
        open_archive_source(str(path), "public", nothing_taken)
