"""Bounces of Postfix, Exim, Exchange, Gmail and qmail; what is none; and hostile input."""

from __future__ import annotations

import random

import pytest

from tapestry.deliver.mail.bounces import LONGEST, LONGEST_DIAGNOSTIC, BounceReport, read_bounce
from tests.support.paths import FIXTURES

REPORTS = FIXTURES / "deliver" / "bounces"

BOUNCES = {
    "postfix": (
        "failed",
        "5.1.1",
        "550 5.1.1 <joe@x.example>: Recipient address rejected: User unknown",
    ),
    "postfix-delayed": (
        "delayed",
        "4.4.1",
        "connect to mx.x.example[192.0.2.1]:25: Connection timed out",
    ),
    "exim": ("failed", "5.2.2", "552 5.2.2 mailbox is full"),
    "exim-text": (
        "failed",
        "5.1.1",
        "SMTP error from remote mail server after RCPT TO:<joe@x.example>: host mx.x.example "
        "[192.0.2.1]: 550 5.1.1 User unknown",
    ),
    "exim-delayed-text": ("delayed", "4.0.0", ""),
    "exchange": (
        "failed",
        "5.1.10",
        "550 5.1.10 RESOLVER.ADR.RecipientNotFound; Recipient joe@x.example not found by SMTP "
        "address lookup",
    ),
    "gmail": (
        "failed",
        "5.1.1",
        "550-5.1.1 The email account that you tried to reach does not exist. Please try 550-5.1.1 "
        "double-checking the recipient's email address for typos.",
    ),
    "qmail": (
        "failed",
        "5.1.1",
        "192.0.2.1 does not like recipient. Remote host said: 550 5.1.1 User unknown Giving up on "
        "192.0.2.1.",
    ),
}
NONE = ["vacation", "read-receipt", "delivered", "sent-on"]


def fixture(name):
    return (REPORTS / f"{name}.eml").read_bytes()


def test_every_fixture_is_used():
    assert {path.stem for path in REPORTS.iterdir()} == {*BOUNCES, *NONE}


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
@pytest.mark.parametrize("name", BOUNCES)
def test_a_bounce_is_read(name, end):
    action, status, diagnostic = BOUNCES[name]
    assert read_bounce(fixture(name).replace(b"\n", end)) == BounceReport(
        "joe@x.example",
        action,
        status,
        diagnostic,
        ("tapestry@tapestry.example",),
    )


@pytest.mark.parametrize("name", NONE)
def test_what_is_no_bounce(name):
    assert read_bounce(fixture(name)) is None


def test_of_several_recipients_the_first_that_failed_counts():
    raw = fixture("postfix-delayed").replace(
        b"Will-Retry-Until",
        b"\nFinal-Recipient: rfc822; ann@x.example\nAction: failed\nStatus: 5.7.1\n\n"
        b"Final-Recipient: rfc822; bob@x.example\nAction: failed\nStatus: 5.2.2\nX",
    )
    report = read_bounce(raw)
    assert (report.recipient, report.action, report.status) == ("ann@x.example", "failed", "5.7.1")


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ("Status: 5.1.1", ("failed", "5.1.1")),
        ("Status: 4.4.7 (delivery time expired)", ("delayed", "4.4.7")),
        ("Action: failed", ("failed", "5.0.0")),
        ("Action: failed\nDiagnostic-Code: smtp; 5.9.1.2: 554 no", ("failed", "5.0.0")),
        ("Action: failed\nDiagnostic-Code: smtp; 554 5.7.1.", ("failed", "5.7.1")),
        ("Action: FAILED (expired)\nStatus: 4.4.7", ("failed", "4.4.7")),
        ("Action: delayed\nDiagnostic-Code: smtp; 451 try again", ("delayed", "4.0.0")),
        ("Action: relayed\nStatus: 5.1.1", None),
        ("Status: 2.0.0", None),
        ("", None),
    ],
)
def test_action_and_status_may_be_missing(fields, expected):
    raw = fixture("postfix").decode()
    start, end = raw.index("Action: failed"), raw.index("--4Xabc123", raw.index("Action: failed"))
    report = read_bounce((raw[:start] + fields + "\n\n" + raw[end:]).encode())
    assert (report and (report.action, report.status)) == expected


def test_encoded_parts_are_decoded():
    raw = fixture("postfix").replace(
        b"Content-Type: message/delivery-status\n",
        b"Content-Type: message/delivery-status\nContent-Transfer-Encoding: quoted-printable\n",
    )
    raw = raw.replace(b"Status: 5.1.1", b"Status: 5=2E1.1")
    assert read_bounce(raw).status == "5.1.1"


# Hostile input


def test_garbled_bounces_raise_nothing():
    rng = random.Random(20261123)
    texts = [fixture(name) for name in (*BOUNCES, *NONE)]
    read = 0
    for _ in range(1500):
        raw = bytearray(rng.choice(texts))
        for _ in range(rng.randrange(1, 30)):
            at = rng.randrange(len(raw))
            raw[at : at + rng.randrange(8)] = rng.choice(
                [
                    b"\0",
                    b"\xff\xfe",
                    b"\n",
                    b"\r\n\r\n",
                    b";",
                    b'"',
                    b"=?utf-8?q?=FF?=",
                    b"*0*=",
                    b":",
                ]
            )
        report = read_bounce(bytes(raw))
        assert report is None or isinstance(report, BounceReport)
        read += report is not None
    assert read > 100


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"\0" * 1000,
        b"Content-Type: multipart/report; boundary=\n\n--\n--\n",
        b"Content-Type: multipart/report; boundary*0*=x'y'%FF; boundary*=''%\n\n--x\n",
        b"Content-Type: multipart/report; boundary=b\n\n" + b"--b\n" * 200_000,
        b"Content-Type: multipart/report; boundary=b\n\n--b\nContent-Type: message/delivery-status"
        b"\n\n" + b"Final-Recipient: x\n\n" * 50_000,
        b"From: mailer-daemon@x\n\nHi. This is the " + b"<a>:\n" * 200_000,
        b"From: mailer-daemon@x\n\nThis message was created automatically by mail delivery software"
        + b"\n  a@\n    b" * 100_000,
        b"From: " + b"(" * 1_000_000,
        b"Content-Type: multipart/report; " + b'a="' * 300_000,
        b"X: y\n" * 200_000,
    ],
    ids=range(11),
)
def test_hostile_input_is_no_bounce(raw):
    assert read_bounce(raw) is None


def test_no_more_is_read_than_the_limit():
    raw = fixture("postfix")
    start = raw.index(b"--4Xabc123.1795420802/mail.tapestry.example\nContent-Description: Delivery")
    assert read_bounce(raw[:start] + b"x" * LONGEST + raw[start:]) is None


def test_what_it_says_can_be_stored_and_is_short():
    raw = fixture("postfix").replace(b"User unknown", b"\x00\xff" + b"x" * 5000)
    diagnostic = read_bounce(raw).diagnostic
    assert diagnostic.isprintable()
    assert len(diagnostic) == LONGEST_DIAGNOSTIC
    assert diagnostic.encode()
