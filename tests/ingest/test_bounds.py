"""What is too large, or too much, comes in as far as a bound; what is beside it comes in whole."""

from __future__ import annotations

import bz2
import gzip
import lzma
import resource
import subprocess
import sys

import pytest

from tapestry.core.errors import TapestryError
from tapestry.core.message import LARGEST
from tapestry.ingest.archive.mbox import MOST_UNPACKED
from tapestry.ingest.large_message import BEGINNING, MessageBytes
from tapestry.ingest.parse import TOO_LARGE, parse
from tapestry.tables.delta.log import Tables
from tapestry.tables.read.messages import copies, message
from tapestry.tables.read.originals import original
from tests.support.clocks import MemoryClock
from tests.support.intake import ingest
from tests.support.paths import ROOT
from tests.support.work import SECOND, counted

PUBLIC = ("public",)
FROM = b"From joe at x.org  Fri Jan  2 14:26:52 2004\n"
GOOD = b"From: ann@x.org\nMessage-ID: <good@x.org>\nSubject: good\n\ngood\n\n"
HEAD = b"From: joe@x.org\nMessage-ID: <bad@x.org>\n"
MIXED = b"Content-Type: multipart/mixed; boundary=b\n\n"

INGEST = """
import sys
from pathlib import Path
from tests.support.clocks import MemoryClock
from tests.support.intake import ingest
from tapestry.tables.delta.log import Tables
if __name__ == "__main__":
    report = ingest(sys.argv[1], Tables(sys.argv[2]), MemoryClock())
    status = Path("/proc/self/status").read_text()
    print(report.added, int(status.partition("VmHWM:")[2].split()[0]) // 1024)
"""


@pytest.fixture
def tables(tmp_path):
    return Tables(tmp_path / "tables")


def stored(tables, msgid):
    """Return a message of the tables and its original."""
    (copy,) = copies(tables, msgid, PUBLIC)
    return message(tables, msgid, PUBLIC).message, original(tables, msgid, copy)


HOSTILE = {
    "parts": (
        HEAD + b"Subject: many\n" + MIXED + b"--b\n\nhi\n" * 600_000,
        "more than 10,000 parts: the rest is not read",
    ),
    "some parts": (
        HEAD + b"Subject: many\n" + MIXED + b"--b\n\nhi\n" * 60_000,
        "more than 10,000 parts: the rest is not read",
    ),
    "header lines": (
        HEAD + b"Subject: many\n" + b"X-A: b\n" * 100_000 + b"\nhi\n",
        "more than 50,000 header lines: the rest is not read",
    ),
    "a header": (
        HEAD + b"X-A: " + b"z" * 10_000_000 + b"\nSubject: many\n\nhi\n",
        "a header of more than 65,536 characters: its end is not read",
    ),
    "a folded header": (
        HEAD + b"X-A: b\n" + b" folded\n" * 20_000 + b"Subject: many\n\nhi\n",
        "a header of more than 65,536 characters: its end is not read",
    ),
    "headers": (
        HEAD + b"Subject: many\n" + (b"X-A: " + b"z" * 55_000 + b"\n") * 150 + b"\nhi\n",
        "more than 4,194,304 characters of headers: the rest is not read",
    ),
    "recipients": (
        HEAD + b"Subject: many\n" + (b"To: " + b"ann@x.org, " * 5_000 + b"\n") * 150 + b"\nhi\n",
        "more than 4,194,304 characters of headers: the rest is not read",
    ),
    "lines": (
        HEAD + b"Subject: many\n" + MIXED + b"--b\n" * 1_000_000,
        "more than 200,000 lines between parts: the rest is not read",
    ),
}


SLOW = {"parts", "recipients"}
"""What takes seconds; what is read sooner meets the same bounds."""

every_kind = [pytest.param(what, marks=[pytest.mark.long] * (what in SLOW)) for what in HOSTILE]


@pytest.mark.parametrize("what", every_kind)
def test_too_many_of_anything_are_read_up_to_a_bound(tmp_path, tables, what):
    raw, problem = HOSTILE[what]
    with counted() as work:
        assert parse(raw).problems[0] == problem
    assert work.calls < (SECOND if what.startswith("some ") else 5 * SECOND)
    box = tmp_path / "box"
    box.write_bytes(FROM + GOOD + FROM + raw + b"\n" + FROM + GOOD.replace(b"good@", b"last@"))
    assert ingest(str(box), tables, MemoryClock()).added == 3
    bad, its_original = stored(tables, "bad@x.org")
    assert (bad.sender, bad.subject, bad.size) == ("joe@x.org", "many", len(raw))
    assert its_original.raw == raw and problem in its_original.problems
    for msgid in ("good@x.org", "last@x.org"):
        assert stored(tables, msgid)[0].body == "good\n"


def test_parts_and_headers_at_the_bounds_are_read():
    parts = b"--b\n\nhi\n" * 9_998 + b"--b\nContent-Disposition: attachment\n\nx\n--b--\n"
    whole = parse(HEAD + MIXED + parts)
    assert (whole.problems, whole.message.attachments) == ((), 1)
    over = parse(HEAD + MIXED + b"--b\n\nhi\n" + parts)
    assert (over.problems, over.message.attachments) == (
        ("more than 10,000 parts: the rest is not read",),
        0,
    )
    headers = parse(HEAD + b"X-A: b\n" * 49_997 + b"Subject: last\n\nhi\n")
    assert (headers.problems, headers.message.subject) == ((), "last")


def test_what_follows_a_large_attachment_is_read():
    attachment = b"--b\nContent-Type: a/b\n\n" + (b"A" * 76 + b"\n") * 200_000
    lone = b"--b\nContent-Disposition: attachment\n\n" + (b"--A\r") * 200_000
    parsed = parse(HEAD + MIXED + attachment + lone + b"\n--b\n\nhi\n--b--\n")
    assert (parsed.problems, parsed.message.body, parsed.message.attachments) == ((), "hi", 2)


@pytest.mark.parametrize("form", ["mbox", "eml"])
def test_a_message_of_200_megabytes_comes_in_by_its_beginning(tmp_path, tables, form):
    box = tmp_path / "box"
    line = b"A" * 998 + b"\n"
    with box.open("wb") as file:
        if form == "mbox":
            file.write(FROM + GOOD + FROM)
        file.write(HEAD + b"\nhello\n")
        for _ in range(20):
            file.write(line * 10_000)
        if form == "mbox":
            file.write(b"\n" + FROM + GOOD.replace(b"good@", b"last@"))
    run = subprocess.run(
        [sys.executable, "-c", INGEST, str(box), str(tables.root)],
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    added, megabytes = map(int, run.stdout.split())
    assert added == (3 if form == "mbox" else 1)
    assert megabytes < 400
    bad, its_original = stored(tables, "bad@x.org")
    assert (bad.sender, bad.size) == ("joe@x.org", len(HEAD) + 7 + 200_000 * len(line))
    assert bad.body.startswith("hello\nAAA")
    assert (its_original.raw, its_original.problems) == (b"", (TOO_LARGE,))
    if form == "mbox":
        assert stored(tables, "last@x.org")[0].body == "good\n"


def test_of_a_message_too_large_the_beginning_is_kept():
    file = MessageBytes()
    for _ in range(LARGEST // BEGINNING):
        file.write(b"x" * BEGINNING)
    assert (file.size, len(file.raw)) == (None, LARGEST)
    file.write(b"x")
    assert (file.size, len(file.raw)) == (LARGEST + 1, BEGINNING)


FAST = {gzip: {"compresslevel": 1}, bz2: {"compresslevel": 1}, lzma: {"preset": 0}}


@pytest.mark.parametrize(
    ("pack", "begins", "most"),
    [
        (gzip, FROM, MOST_UNPACKED),
        (bz2, FROM, 2**25),
        (lzma, HEAD, 2**25),
        pytest.param(bz2, FROM, MOST_UNPACKED, marks=pytest.mark.long),
        pytest.param(lzma, HEAD, MOST_UNPACKED, marks=pytest.mark.long),
    ],
)
def test_a_bomb_is_refused_and_what_is_beside_it_comes_in(
    tmp_path, tables, monkeypatch, pack, begins, most
):
    monkeypatch.setattr("tapestry.ingest.archive.mbox.MOST_UNPACKED", most)
    folder = tmp_path / "mail"
    folder.mkdir()
    bomb = folder / "b.mbox"
    with pack.open(bomb, "wb", **FAST[pack]) as file:
        file.write(begins + HEAD + b"\n")
        for _ in range(most // 2**20 + 1):
            file.write(b"\0" * 2**20)
    assert bomb.stat().st_size * 100 < most
    for name in ("a", "c"):
        (folder / name).write_bytes(FROM + GOOD.replace(b"good", name.encode()))
    sentence = (
        rf"{bomb} is packed mail of more than 100 times its size, and more than {most // 2**20} MiB"
    )
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(TapestryError, match=sentence):
        ingest(str(folder), tables, MemoryClock())
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 400 * 1024
    assert {stored(tables, f"{name}@x.org")[0].subject for name in "ac"} == {"a", "c"}
    assert message(tables, "bad@x.org", PUBLIC) is None
    with pytest.raises(TapestryError, match=sentence):
        ingest(str(bomb), tables, MemoryClock())


def test_an_archive_that_packs_well_is_no_bomb(tmp_path, tables, monkeypatch):
    monkeypatch.setattr("tapestry.ingest.archive.mbox.MOST_UNPACKED", 1000)
    packed = tmp_path / "box.gz"
    packed.write_bytes(gzip.compress(FROM + HEAD + b"\n" + b"hello\n" * 1000))
    assert ingest(str(packed), tables, MemoryClock()).added == 1
