"""Awkward and broken mail of many parsers' tests: each becomes a row, its bytes are kept."""

from __future__ import annotations

import tarfile

import pytest

from tapestry.identity.content import content_hash
from tapestry.identity.other_parts import other_parts
from tapestry.ingest.ingest_batch import Tally, ingest_batches
from tapestry.ingest.large_message import RawMessage
from tapestry.ingest.parse import parse
from tapestry.ingest.stream import Item, MessageStream
from tapestry.tables.delta.log import Tables
from tapestry.tables.read.messages import copies, message
from tapestry.tables.read.originals import original
from tapestry.tables.rows import to_arrow
from tests.support.clocks import MemoryClock
from tests.support.intake import ingest_target

PUBLIC = ("public",)


@pytest.fixture(scope="module")
def samples(shared_mail):
    with tarfile.open(shared_mail / "parser-samples.tar.xz") as archive:
        return [
            archive.extractfile(member).read()
            for member in archive
            if member.isfile() and not member.name.endswith("MANIFEST.tsv")
        ]


@pytest.mark.parametrize("step", [3, pytest.param(1, marks=pytest.mark.long)])
def test_each_becomes_a_row_with_its_bytes_and_what_is_wrong(samples, tmp_path, monkeypatch, step):
    """Each of all samples, or each third."""
    assert len(samples) > 1000
    samples = samples[::step]
    monkeypatch.setattr("tapestry.ingest.ingest_batch.BATCH", 100)
    tables, tally = Tables(tmp_path), Tally()
    stream = MessageStream(
        "samples", iter(Item(RawMessage(raw)) for raw in samples), lambda: len(samples)
    )
    ingest_batches(stream, ingest_target(tables, MemoryClock(), "public"), tally)
    assert tally.read == len(samples)
    first, contents = {}, set()
    for raw in samples:
        parsed = parse(raw)
        first.setdefault(parsed.message.msgid, (raw, parsed.problems))
        read = to_arrow("messages", [parsed.message]).to_pylist()[0]
        content = content_hash(
            read["sender"], read["subject"], read["body"], other_parts(raw, read["body"])
        )
        contents.add((read["msgid"], content))
    assert sum(part.rows for part in tables.data_files("messages")) == len(contents)
    for msgid, (raw, problems) in list(first.items())[::7]:
        kept = original(tables, msgid, *copies(tables, msgid, PUBLIC))
        assert (kept.raw, kept.problems) == (raw, problems)
        assert message(tables, msgid, PUBLIC).message.size == len(raw)
    assert {problem for _, problems in first.values() for problem in problems} >= {
        "no headers",
        "unreadable date",
        "its parts are announced but not there",
    }


def test_names_in_samples_of_many_programs(shared_mail):
    expected = {
        "japanese_attachment.eml": "てすと.txt",
        "hment_with_quoted_filename.eml": "Eelanalüüsi päring.jpg",
        "tachment_nonascii_filename.eml": "ciële.txt",
        "anese_attachment_long_name.eml": "かきくけこ" * 5 + ".txt",
        "t-filename-encoding-Latin1.msg": "attachment.äöü",
        "ent-filename-encoding-UTF8.msg": "attachment.äöü",
        "eml__legacy__016.eml": "HasenundFrösche.txt",
        "utf-attachment-name.eml": "тестовый файл.txt",
        "data__nice__unicode1": "документы для отдела кадров.pdf",
    }
    found = set()
    with tarfile.open(shared_mail / "parser-samples.tar.xz") as archive:
        for member in archive:
            read = parse(archive.extractfile(member).read()).message if member.isfile() else None
            if read is None:
                continue
            assert len(read.filenames) <= read.attachments
            assert bool(read.media_types) == bool(read.attachments)
            found |= {
                ending
                for ending, name in expected.items()
                if member.name.endswith(ending) and name in read.filenames
            }
    assert found == expected.keys()
