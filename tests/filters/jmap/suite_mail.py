"""Mail of all sorts for the requests of ``requests.test``: by name, the mailbox and the bytes."""

from __future__ import annotations

from base64 import b64encode

_KOREAN = "한국어".encode("euc-kr")


def _mail(name: str, fields: str, body: bytes, kind: str = "text/plain; charset=utf-8") -> bytes:
    head = f"Message-ID: <{name}@x>\n{fields}\nMIME-Version: 1.0\nContent-Type: {kind}\n\n"
    return head.encode() + body


def _parts(*parts: tuple[str, bytes]) -> bytes:
    return b"".join(b"--b\nContent-Type: " + k.encode() + b"\n\n" + p + b"\n" for k, p in parts)


MAIL: dict[str, tuple[str, bytes]] = {
    "start": (
        "archive",
        _mail(
            "start",
            "From: Alice <alice@example.org>\nTo: mary@example.org\nSubject: Lunch\n"
            "Date: Mon, 2 Feb 2026 10:00:00 +0000",
            b"Where shall we eat?\n",
        ),
    ),
    "reply": (
        "plans",
        _mail(
            "reply",
            "From: Mary Jones <mary@example.org>\nTo: alice@example.org\nCc: bob@example.org\n"
            "Subject: Re: Lunch\nDate: Tue, 3 Feb 2026 10:00:00 +0000\n"
            "In-Reply-To: <start@x>\nReferences: <start@x>",
            b"At the harbour, near the lighthouse.\n",
        ),
    ),
    "again": (
        "plans",
        _mail(
            "again",
            "From: Bob <bob@example.org>\nTo: alice@example.org, mary@example.org\n"
            "Subject: Re: Lunch\nDate: Wed, 4 Feb 2026 11:00:00 +0100\n"
            "In-Reply-To: <reply@x>\nReferences: <start@x> <reply@x>",
            b"I shall come, too.\n",
        ),
    ),
    "report": (
        "plans",
        _mail(
            "report",
            "From: =?utf-8?q?Zo=C3=AB?= <zoe@example.org>\nTo: Friends: alice@example.org;\n"
            "Subject: =?utf-8?q?Caf=C3=A9?= report\nDate: Thu, 5 Feb 2026 09:00:00 +0000",
            _parts(
                ("text/html; charset=utf-8", b"<p>The <b>report</b> is attached.</p>"),
                ('application/pdf; name="report.pdf"\nContent-Disposition: attachment', b"PDF"),
            )
            + b"--b--\n",
            "multipart/mixed; boundary=b",
        ),
    ),
    "digest": (
        "plans",
        _mail(
            "digest",
            "From: news@example.org\nTo: alice@example.org\nSubject: News\n"
            "Date: Fri, 6 Feb 2026 09:00:00 +0000",
            _parts(
                ("text/plain", b"News in plain words."), ("text/html", b"<h1>News in colours.</h1>")
            )
            + b"--b--\n",
            "multipart/alternative; boundary=b",
        ),
    ),
    "picture": (
        "plans",
        _mail(
            "picture",
            "From: Carol <carol@example.org>\nTo: alice@example.org\nSubject: Picture\n"
            "Date: Sat, 7 Feb 2026 09:00:00 +0000",
            _parts(
                ("text/html", b'<img src="cid:boat@x">'),
                ("image/jpeg\nContent-ID: <boat@x>\nContent-Disposition: inline", b"JPEG"),
            )
            + b"--b--\n",
            "multipart/related; boundary=b",
        ),
    ),
    "list": (
        "plans",
        _mail(
            "list",
            "From: Owner <owner@example.org>\nTo: sailors@example.org\nSubject: \n"
            "Bcc: alice@example.org\nDate: Sun, 8 Feb 2026 09:00:00 +0000\n"
            "List-Unsubscribe: <https://example.org/leave>, <mailto:leave@example.org>\n"
            "X-Boat: sloop 12",
            b"Fair winds.\n",
        ),
    ),
    "korean": (
        "archive",
        _mail(
            "korean",
            f"From: =?euc-kr?B?{b64encode(_KOREAN).decode()}?= <kim@example.org>\n"
            "To: alice@example.org\nSubject: Korean\nDate: Mon, 9 Feb 2026 09:00:00 +0000\n"
            "Content-Transfer-Encoding: base64",
            b64encode(_KOREAN) + b"\n",
            "text/plain; charset=euc-kr",
        ),
    ),
    "broken": (
        "archive",
        _mail(
            "broken",
            "From: broken@example.org\nTo: alice@example.org\nSubject: Broken\n"
            "Date: Tue, 10 Feb 2026 09:00:00 +0000\nX-Bell: a\x01b",
            b"caf\xe9\n" + b"x" * 1200 + b"\n",
            "text/plain; charset=us-ascii",
        ),
    ),
    "long": (
        "archive",
        _mail(
            "long",
            "From: Dora <dora@example.org>\nTo: alice@example.org\nSubject: Long\n"
            "Date: Wed, 11 Feb 2026 09:00:00 +0000",
            b"All about boats and sails. " * 200,
        ),
    ),
}
