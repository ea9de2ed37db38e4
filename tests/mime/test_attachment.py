"""Names and media types of attachments, as mail programs of all kinds write them."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tapestry.ingest.parse import parse
from tapestry.mime.attachment import ANYTHING, LONGEST_NAME, file_name, media_type
from tapestry.mime.body import MOST_FILES
from tapestry.mime.header_section import headers_of

PDF = "application/pdf"


def name(disposition: str | bytes, kind: str | bytes = b"application/octet-stream") -> str:
    both = [text.encode() if isinstance(text, str) else text for text in (disposition, kind)]
    return file_name(headers_of(b"Content-Disposition: %s\nContent-Type: %s\n" % tuple(both))[0])


@pytest.mark.parametrize(
    ("disposition", "expected"),
    [
        ("attachment", ""),
        ("attachment; filename=a.pdf", "a.pdf"),
        ("attachment; filename=annual report.pdf; size=3", "annual report.pdf"),
        ('attachment; filename="a \\"b\\".pdf"', 'a "b".pdf'),
        ("attachment; filename*=utf-8''%C3%A4.pdf", "ä.pdf"),
        ("attachment; filename*=\"iso-8859-1''Fr%F6sche.txt\"", "Frösche.txt"),
        ("attachment; filename*0*=utf-8''%C3%A4; filename*1=b.pdf", "äb.pdf"),
        ("attachment; filename*0=long; filename*1=er.pdf", "longer.pdf"),
        ("attachment; filename*=no-charset''%E4.pdf", "ä.pdf"),
        ("attachment; filename*=utf-8''%zz.pdf", "%zz.pdf"),
        ("attachment; filename==?utf-8?B?w6QucGRm?=", "ä.pdf"),
        ('attachment; filename="=?koi8-r?B?89DJ08/LLmRvYw==?="', "Список.doc"),
        ('attachment; filename="=?utf-8?q?=C3?=\n =?utf-8?q?=A4.pdf?="', "ä.pdf"),
        ('attachment; filename="=?utf-8?q?broken"', "=?utf-8?q?broken"),
        ('attachment; filename="ä.pdf"', "ä.pdf"),
        ('attachment; filename="ä.pdf"'.encode("latin-1"), "ä.pdf"),
        ('attachment; filename="a\n\tb.pdf"', "a b.pdf"),
        ('inline; filename="C:\\\\docs\\\\a.pdf"', "C:\\docs\\a.pdf"),
    ],
)
def test_a_name_is_decoded(disposition, expected):
    assert name(disposition) == expected


def test_a_name_may_be_that_of_the_content_type():
    assert name("attachment", "application/pdf; name=a.pdf") == "a.pdf"
    assert name("attachment; filename=b.pdf", "application/pdf; name=a.pdf") == "b.pdf"
    assert name("attachment", b"application/pdf; name*=utf-8''%C3%A4.pdf") == "ä.pdf"


def test_of_a_long_name_the_end_is_kept():
    shown = name(f"attachment; filename={'x' * 4000}.pdf")
    assert (len(shown), shown[-5:]) == (LONGEST_NAME, "x.pdf")


@given(st.binary(max_size=80))
@example(b"attachment; filename*0*=; filename*=''")
@example(b"attachment; filename*1*=utf-8''x; filename*9999999=y")
def test_whatever_is_sent_has_a_name_of_one_line(disposition):
    shown = name(b"attachment; filename" + disposition)
    assert len(shown) <= LONGEST_NAME and len(shown.splitlines()) <= 1


@pytest.mark.parametrize(
    ("kind", "called", "expected"),
    [
        ("image/jpg", "", "image/jpg"),
        ("image/png", "a.pdf", "image/png"),
        (ANYTHING, "", ANYTHING),
        (ANYTHING, "a.pdf", PDF),
        (ANYTHING, "C:\\my: report.PDF", PDF),
        (ANYTHING, "a.tar.gz", ANYTHING),
        (ANYTHING, "a.unheard-of", ANYTHING),
        ("application/x-download", "a.jpg", "image/jpeg"),
        ("application/octetstream", "http://x.org/a.zip", "application/zip"),
        ("image", "a.png", "image/png"),
        ("a/b c", "", ANYTHING),
        ("a/" + "b" * 4000, "", ANYTHING),
    ],
)
def test_a_media_type_is_what_is_said_or_what_the_name_says(kind, called, expected):
    assert media_type(kind, called) == expected


def message(*heads: str) -> bytes:
    parts = "".join(f"--b\n{head}\n\nx\n" for head in heads)
    return f"Content-Type: multipart/mixed; boundary=b\n\n{parts}--b--\n".encode()


def test_names_and_types_are_those_of_the_attachments():
    raw = message(
        "Content-Type: text/plain",
        "Content-Type: text/plain; name=notes.txt\nContent-Disposition: attachment",
        "Content-Type: image/png",
        "Content-Type: image/png; name=chart.png",
        "Content-Type: application/octet-stream; name=a.pdf",
        "Content-Type: application/pgp-signature; name=signature.asc",
        "Content-Type: message/rfc822; name=forwarded.eml\n\nSubject: inner",
    )
    read = parse(raw).message
    assert read.attachments == 5
    assert read.filenames == ("notes.txt", "chart.png", "a.pdf", "forwarded.eml")
    assert read.media_types == ("text/plain", "image/png", PDF, "message/rfc822")


def test_a_picture_that_a_page_shows_is_no_attachment():
    raw = message("Content-Type: text/html", "Content-Type: image/png; name=logo.png")
    read = parse(raw.replace(b"mixed", b"related", 1)).message
    assert (read.attachments, read.filenames, read.media_types) == (0, (), ())


def test_so_many_names_are_read():
    raw = message(*[f"Content-Type: image/png; name={at}.png" for at in range(MOST_FILES + 5)])
    read = parse(raw).message
    assert (read.attachments, len(read.filenames)) == (MOST_FILES + 5, MOST_FILES)
