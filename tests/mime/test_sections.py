"""The parts of a message by their section numbers."""

from __future__ import annotations

import time

import pytest

from tapestry.mime.sections import MOST_PARTS, sections

MIXED = b"""\
Content-Type: multipart/mixed; boundary="b"\r
\r
preamble\r
--b\r
Content-Type: multipart/alternative; boundary=bb\r
\r
--bb\r
Content-Type: text/plain; format=flowed; DelSp=Yes\r
\r
Hello\r
--bb\r
Content-Type: text/html\r
Content-Transfer-Encoding: quoted-printable\r
\r
<p>caf=C3=A9</p>\r
--bb--\r
--b\r
Content-Type: image/png\r
Content-Disposition: attachment; filename*=utf-8''caf%C3%A9.png\r
Content-Transfer-Encoding: base64\r
\r
iVBORw0K\r
GgoAAA==\r
--b\r
Content-Type: message/rfc822\r
\r
Subject: inner\r
Content-Type: multipart/mixed; boundary=i\r
\r
--i\r
\r
Inside\r
--i--\r
--b--\r
epilogue\r
"""


def test_numbers_are_those_of_imap() -> None:
    found = [(section.number, section.kind) for section in sections(MIXED)]
    assert found == [
        ("", "multipart/mixed"),
        ("1", "multipart/alternative"),
        ("1.1", "text/plain"),
        ("1.2", "text/html"),
        ("2", "image/png"),
        ("3", "message/rfc822"),
        ("3", "multipart/mixed"),
        ("3.1", "text/plain"),
    ]


def test_content_is_decoded() -> None:
    by_kind = {section.kind: section for section in sections(MIXED)}
    assert by_kind["text/html"].text(MIXED, 1000) == "<p>café</p>"
    picture = by_kind["image/png"]
    assert picture.content(MIXED) == b"\x89PNG\r\n\x1a\n\0\0"
    assert picture.size(MIXED) == 10 and picture.head(MIXED, 4) == b"\x89PNG"
    assert picture.is_attached and not by_kind["text/html"].is_attached
    assert by_kind["message/rfc822"].content(MIXED).startswith(b"Subject: inner")


def test_what_is_in_an_attached_mail_says_so() -> None:
    assert [section.is_of_mail for section in sections(MIXED)] == [False] * 6 + [True] * 2


def test_parameters_are_in_lower_case() -> None:
    text = list(sections(MIXED))[2]
    assert (text.parameter("format"), text.parameter("delsp")) == ("flowed", "yes")
    assert text.parameter("none") == ""


@pytest.mark.parametrize(
    ("raw", "content"),
    [
        (b"Subject: x\n\nHello\n", b"Hello\n"),
        (b"Subject: x\n", b""),
        (b"\nHello", b"Hello"),
        (b"", b""),
        (b"Content-Type: multipart/mixed\n\nNo boundary", b"No boundary"),
        (b"Content-Transfer-Encoding: base64\n\nSGVs!bG8", b"Hello"),
        (b"Content-Transfer-Encoding: x-uuencode\n\nbegin 644 a\n#0V%T\n`\nend\n", b"Cat"),
    ],
)
def test_a_message_without_parts_is_one(raw: bytes, content: bytes) -> None:
    assert [(s.number, s.content(raw)) for s in sections(raw)] == [("1", content)]


def test_a_multipart_without_its_end_has_its_parts() -> None:
    raw = b"Content-Type: multipart/mixed; boundary=x\n\n--x\n\nOne\n--xy\n--x\n\nTwo"
    assert [s.content(raw) for s in list(sections(raw))[1:]] == [b"One\n--xy", b"Two"]


def test_a_boundary_that_is_folded_is_unfolded() -> None:
    raw = (
        b'Content-Type: multipart/mixed; boundary="x\r\n y"\r\n\r\n--x y\r\n\r\nOne\r\n--x y--\r\n'
    )
    assert [s.content(raw) for s in list(sections(raw))[1:]] == [b"One"]


@pytest.mark.parametrize(
    "raw",
    [
        b"Content-Type: multipart/mixed; boundary=x\n\n" + b"--x\n\n" * 200_000,
        b"".join(
            b"Content-Type: multipart/mixed; boundary=%d\n\n--%d\n" % (n, n) for n in range(3000)
        ),
        b"Content-Type: message/rfc822\n\n" * 50_000,
        b"Content-Type: multipart/mixed; boundary=-\n\n" + b"--" * 500_000,
    ],
)
def test_what_is_made_to_cost_hours_is_bounded(raw: bytes) -> None:
    began = time.process_time()
    found = list(sections(raw))
    assert len(found) <= MOST_PARTS
    assert time.process_time() - began < 5


def test_what_announces_parts_and_has_none_is_text() -> None:
    for raw in (b"\n\nHello", b"; boundary=x\n\nHello", b"; boundary=x\n\nHello\n--y\n"):
        (section,) = sections(b"Content-Type: multipart/mixed" + raw)
        assert (section.number, section.kind, section.is_multipart) == ("1", "text/plain", False)
        assert section.content(b"Content-Type: multipart/mixed" + raw).startswith(b"Hello")
        assert section.problems


def test_delimiters_that_only_look_like_some_divide_nothing() -> None:
    raw = b"Content-Type: multipart/mixed; boundary=x\n\n--x\n\nOne --x\n --x\n--xy\n---x\n--x--"
    assert [s.content(raw) for s in sections(raw)][1:] == [b"One --x\n --x\n--xy\n---x"]


def test_a_part_after_the_last_delimiter_is_read() -> None:
    raw = b"Content-Type: multipart/mixed; boundary=x\r\r--x\r\rOne\r--x--\r\rend\r--x\r\rTwo"
    assert [s.content(raw) for s in sections(raw)][1:] == [b"One", b"Two"]


def test_an_encoded_message_is_not_divided() -> None:
    raw = b"Content-Type: message/rfc822\nContent-Transfer-Encoding: base64\n\nU3ViamVjdDogeA=="
    (section,) = sections(raw)
    assert (section.is_mail, section.content(raw)) == (False, b"Subject: x")
