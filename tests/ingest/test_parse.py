"""Parsing: whatever was sent becomes a Message, and says what could not be read."""

from __future__ import annotations

import tarfile

import pytest

from tapestry.core.clock import parse_instant
from tapestry.core.message import Message
from tapestry.identity.message_id import made_id
from tapestry.ingest.parse import UNREADABLE, parse

SIMPLE = b"From: Joe <Joe@X.org>\nMessage-ID: <a@x.org>\n"


def read(text, **more):
    raw = text if isinstance(text, bytes) else text.encode()
    return parse(raw, **more).message


def mime(kind, *parts, boundary="b"):
    body = "".join(f"--{boundary}\n{part}\n" for part in parts)
    head = f"From: joe@x.org\nContent-Type: multipart/{kind}; boundary={boundary}\n\n"
    return f"{head}{body}--{boundary}--\n"


def test_every_column_is_read():
    raw = b"""\
From: "Jones, Mary" <Mary.Jones@X.org>
To: Joe <joe@x.org>, ANN@x.org
Cc: joe@x.org (Joe)
Date: Fri, 02 Jan 2004 14:26:52 +0100
Subject: =?iso-8859-1?q?Caf=E9?= and
 more
Message-ID: <b@x.org>
In-Reply-To: <a@x.org>
References: <z@x.org> <a@x.org>
\t<z@x.org>
Newsgroups: comp.Misc,comp.misc, alt.test
List-Id: The list <Talk.X.org>

Hello
"""
    assert read(raw, source="here", audience="user:joe") == Message(
        msgid="b@x.org",
        received=parse_instant("2004-01-02T13:26:52Z"),
        date=parse_instant("2004-01-02T13:26:52Z"),
        sender="mary.jones@x.org",
        sender_name="Jones, Mary",
        to=("joe@x.org", "ann@x.org"),
        to_names=("Joe",),
        cc=("joe@x.org",),
        cc_names=("Joe",),
        subject="Café and more",
        newsgroups=("comp.misc", "alt.test"),
        list="talk.x.org",
        inreplyto="a@x.org",
        references=("z@x.org", "a@x.org"),
        body="Hello\n",
        size=len(raw),
        attachments=0,
        questions=0,
        source="here",
        audience="user:joe",
    )
    assert not parse(raw).problems


def test_a_message_without_an_id_gets_one_from_its_content():
    raw = b"From: joe@x.org\n\nHello\n"
    made = read(raw).msgid
    assert made == made_id(raw)
    assert made.endswith("@content.invalid")
    assert read(raw.replace(b"\n", b"\r\n") + b"\r\n").msgid == made
    assert read(raw + b"more\n").msgid != made


def test_what_mail_programs_note_in_a_message_makes_no_other_id():
    sent = b"From: joe@x.org\nDate: Fri, 2 Jan 2004 14:26:52 +0000\n"
    made = made_id(sent + b"\nHello\n")
    for noted in (
        b"Status: RO\nX-Status: A\n",
        b"X-Mozilla-Status2: 00000000\nContent-Length: 6\nLines: 1\n",
        b"X-IMAPbase: 1 2\nX-UID: 2\n",
        b"X-Keywords:  \n     a b\n",
    ):
        assert made_id(sent + noted + b"\nHello\n") == made
    for noted in (b"Statuses: RO\n", b"Reply-To: ann@x.org\n", b"\nStatus: RO\n"):
        assert made_id(sent + noted + b"\nHello\n") != made


def test_the_way_it_came_makes_another_id_only_of_what_does_not_say_when_it_was_sent():
    came = b"Return-Path: <x>\nReceived: from a by b;\n Fri, 2 Jan 2004 14:26:52 +0000\n"
    dated = b"Date: Fri, 2 Jan 2004 14:26:52 +0000\nSubject: hi\n\nHello\n"
    assert made_id(came + dated) == made_id(dated)
    assert made_id(came + b"Subject: hi\n\nHello\n") != made_id(b"Subject: hi\n\nHello\n")


@pytest.mark.parametrize("long", ["x" * 995 + "@x.org", "ä" * 600 + "@x.org", "y" * 60_000])
def test_an_id_too_long_for_a_line_is_stood_for_by_another(long):
    made = read(f"Message-ID: <{long}>\n\n".encode()).msgid
    assert made.endswith("@long.invalid") and len(made) < 60
    assert read(f"In-Reply-To: <{long}>\n\n".encode()).inreplyto == made
    assert read(f"References: <a@x.org> <{long}>\n\n".encode()).references == ("a@x.org", made)
    assert read(f"Message-ID: <{long}z>\n\n".encode()).msgid != made
    assert read(b"Message-ID: <%s@x.org>\n\n" % (b"x" * 900)).msgid == "x" * 900 + "@x.org"


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("<a@x.org>", "a@x.org"),
        (" a@x.org ", "a@x.org"),
        ("<a@x.org> (added by x)", "a@x.org"),
        ("<a@\n x.org>", "a@x.org"),
        ("<no-at-sign>", "no-at-sign"),
        ("12223", "12223"),
    ],
)
def test_message_ids_lose_their_brackets(header, expected):
    assert read(f"Message-ID: {header}\n\n").msgid == expected


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ("In-Reply-To: <a@x.org>", "a@x.org"),
        ('In-Reply-To: Your message of "Fri, 2 Jan" <a@x.org>', "a@x.org"),
        ("In-Reply-To: a@x.org", "a@x.org"),
        ("In-Reply-To: <a@x.org> <b@x.org>", "a@x.org"),
        ("In-Reply-To: \nReferences: <a@x.org> <b@x.org>", "b@x.org"),
        ("In-Reply-To: your message of Friday\nReferences: <b@x.org>", "b@x.org"),
        ("In-Reply-To: joe@x.org's message of Friday\nReferences: <b@x.org>", "b@x.org"),
        ("In-Reply-To: joe@x.org's message of Friday", None),
        ('In-Reply-To: Message from Joe <joe@x.org> of "Fri, 2 Jan" <b@x.org>', "b@x.org"),
        ("In-Reply-To: On <b@x.org> Joe <joe@x.org> said\nReferences: <b@x.org>", "b@x.org"),
        ("References: <a@x.org>\n\t<b@x.org>", "b@x.org"),
        ("Subject: nothing", None),
    ],
)
def test_the_parent_is_in_reply_to_else_the_last_reference(headers, expected):
    assert read(f"{headers}\n\n").inreplyto == expected


@pytest.mark.parametrize(
    ("header", "address", "name"),
    [
        ("joe@x.org", "joe@x.org", None),
        ("Joe Doe <JOE@X.ORG>", "joe@x.org", "Joe Doe"),
        ("joe at x.org (Joe Doe)", "joe@x.org", "Joe Doe"),
        ("joe@x.org (Joe (the one) Doe)", "joe@x.org", "Joe (the one) Doe"),
        ("Doe, Joe <joe@x.org>", "joe@x.org", "Doe, Joe"),
        ('"Joe \\"J\\" Doe" <joe@x.org>', "joe@x.org", 'Joe "J" Doe'),
        ("=?utf-8?q?Doe=2C_J=C3=B6?= <joe@x.org>", "joe@x.org", "Doe, Jö"),
        ("joe at x.org (=?iso-8859-1?q?J=F6?=)", "joe@x.org", "Jö"),
        ("Joe Doe joe@x.org", "joe@x.org", "Joe Doe"),
        ("<@relay.org:joe@x.org>", "joe@x.org", None),
        ("joe@x.org, ann@x.org", "joe@x.org", None),
        ("Joe Doe <joe@x.org", "joe@x.org", "Joe Doe"),
        ("pete(his account)@silly.test (Pete)", "pete@silly.test", "his account Pete"),
        ("Joe Doe", None, "Joe Doe"),
        ("MAILER-DAEMON", "mailer-daemon", None),
        ("<>", None, None),
        ("", None, None),
    ],
)
def test_senders_of_all_styles(header, address, name):
    message = read(f"From: {header}\n\n")
    assert (message.sender, message.sender_name) == (address, name)


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("joe@x.org, Ann <ann@x.org>", ("joe@x.org", "ann@x.org")),
        ("undisclosed-recipients:;", ()),
        ("friends: joe@x.org, ann@x.org; bob@x.org", ("joe@x.org", "ann@x.org", "bob@x.org")),
        ("joe@x.org ann@x.org", ("joe@x.org", "ann@x.org")),
        ("joe at x.org, ann at x.org", ("joe@x.org", "ann@x.org")),
        ("joe@x.org\nTo: ann@x.org, JOE@x.org", ("joe@x.org", "ann@x.org")),
        (",,", ()),
    ],
)
def test_recipients_are_a_set_of_addresses(header, expected):
    assert read(f"To: {header}\n\n").to == expected


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("Fri, 02 Jan 2004 14:26:52 -0100 (XXX)", "2004-01-02T15:26:52Z"),
        ("Fri Jan  2 14:26:52 2004", "2004-01-02T14:26:52Z"),
        ("02 Jan 94 14:26 GMT", "1994-01-02T14:26:00Z"),
        ("Sun, 02 Jan 104 14:26:52 +0000", "2004-01-02T14:26:52Z"),
        ("2012-12-08 00:48", "2012-12-08T00:48:00Z"),
        ("Wed, 31 Dec 2008 23:59:60 +0000", "2008-12-31T23:59:59Z"),
    ],
)
def test_dates_are_read(header, expected):
    assert read(f"Date: {header}\n\n").date == parse_instant(expected)


@pytest.mark.parametrize(
    "header", ["Whenever", "", "32 Jan 2004 14:00:00", "Fri, 02 Jan 99999 14:26:52 +0000"]
)
def test_a_date_that_cannot_be_read_is_null_and_counted(header):
    parsed = parse(f"From: joe@x.org\nDate: {header}\n\n".encode())
    assert (parsed.message.date, bool(parsed.problems)) == (None, True)


def test_a_missing_date_is_null_and_no_fault():
    parsed = parse(SIMPLE + b"\n")
    assert (parsed.message.date, bool(parsed.problems)) == (None, False)


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("Über".encode(), "Über"),
        ("Über".encode("latin-1"), "Über"),
        (b"=?utf-8?b?w5w=?=\n =?utf-8?q?ber_alles?=", "Über alles"),
        (b"=?utf-8?b?w5xi?= er", "Üb er"),
        # One character split over two words.
        (b"=?utf-8?q?=C3?= =?utf-8?q?=9Cber?=", "Über"),
        # The label says Latin, the bytes are UTF-8.
        (b"=?iso-8859-1?q?=C3=9Cber?=", "Über"),
        (b"=?utf-8?q?=DCber?=", "Über"),
        (b"=?no-such-charset?q?=C3=9Cber?=", "Über"),
        (b"=?utf-8*de?q?=C3=9Cber?=", "Über"),
        (b"=?utf-8?x?abc?=", "=?utf-8?x?abc?="),
        (b"two\r\n lines", "two lines"),
        (b"\ttabs\n\tand folds", "tabs and folds"),
    ],
)
def test_subjects_are_decoded_and_unfolded(raw, expected):
    assert read(b"Subject: " + raw + b"\n\n").subject == expected


@pytest.mark.parametrize(
    ("charset", "data", "expected"),
    [
        ("utf-8", "naïve".encode(), "naïve"),
        ("utf-8", b"na\xefve", "naïve"),
        ("iso-8859-1", "naïve".encode(), "naïve"),
        ("us-ascii", b"na\xefve", "naïve"),
        ("iso-8859-1", b"\x93quoted\x94", "“quoted”"),
        ("x-unknown", "naïve".encode(), "naïve"),
        ("base64", b"na\xefve", "naïve"),
        ("utf-16", b"plain", "plain"),
        ("gb2312", "你好".encode("gbk"), "你好"),
        ("iso-2022-jp", "日本".encode("iso-2022-jp"), "日本"),
        ("shift_jis", "日本".encode("cp932"), "日本"),
        ("koi8-r", "мир".encode("koi8-r"), "мир"),
    ],
)
def test_charsets_that_lie_do_not_matter(charset, data, expected):
    head = f"Content-Type: text/plain; charset={charset}\nContent-Transfer-Encoding: 8bit\n\n"
    assert read(head.encode() + data).body == expected


def test_a_bad_byte_in_good_utf_8_does_not_spoil_the_rest():
    data = "größer, schöner, weiter".encode() + b"\xff"
    head = b"Content-Type: text/plain; charset=utf-8\n\n"
    assert read(head + data).body == "größer, schöner, weiter\ufffd"


def test_transfer_encodings_are_undone():
    head = "Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: "
    assert read(f"{head}quoted-printable\n\nna=C3=AFve=\n ty").body == "naïve ty"
    assert read(f"{head}base64\n\nbmHDr3Zl\n").body == "naïve"


def test_plain_text_is_preferred_to_html():
    plain, html = "\nplain", "Content-Type: text/html\n\n<p>rich</p>"
    assert read(mime("alternative", plain, html)).body == "plain"
    assert read(mime("alternative", "\n \n", html)).body == "rich"


def test_html_alone_becomes_text():
    html = "<html><head><title>t</title><style>p{}</style></head><body><p>Caf&eacute;&nbsp;au"
    html += " lait<br>hot</p><script>x<y</script><!-- no --><ul><li>a &lt; b</ul></body></html>"
    assert read(f"Content-Type: text/html\n\n{html}").body == "Café au lait\nhot\n\na < b"


def test_attachments_are_counted_and_not_read():
    raw = mime(
        "mixed",
        "\nhello",
        "Content-Type: text/plain\nContent-Disposition: attachment; filename=a.txt\n\nsecret",
        "Content-Type: application/pdf\n\n%PDF",
        "Content-Type: application/pgp-signature\n\nsigned",
        "Content-Type: text/plain\n\nfooter",
    )
    message = read(raw)
    assert (message.body, message.attachments) == ("hello\nfooter", 2)


def test_pictures_inside_a_page_are_no_attachments():
    page = "Content-Type: text/html\n\n<img src=cid:p>hi"
    picture = "Content-Type: image/png\nContent-ID: <p>\n\nx"
    message = read(mime("related", page, picture))
    assert (message.body, message.attachments) == ("hi", 0)


def test_a_forwarded_message_is_text_and_an_attachment():
    forwarded = "Content-Type: message/rfc822\n\nSubject: inner\n\ninner text"
    message = read(mime("mixed", "\nouter", forwarded))
    assert (message.body, message.attachments, message.subject) == ("outer\ninner text", 1, None)


def test_a_cut_multipart_is_kept_and_counted():
    parsed = parse(mime("mixed", "\nhello").removesuffix("--b--\n").encode())
    assert parsed.message.body == "hello"
    assert parsed.problems == ("its last part has no end",)


def test_no_headers_at_all_is_kept_and_counted():
    parsed = parse(b"just some text\n")
    assert parsed.problems
    assert parsed.message.body == "just some text\n"


def test_what_is_no_charset_is_taken_for_none():
    for name in ("base64", "quoted-printable", "hex", "zip", "rot13", "no-such"):
        text = f"Subject: =?{name}?q?caf=C3=A9?=\nContent-Type: text/plain; charset={name}\n\nhé\n"
        parsed = parse(text.encode())
        assert (parsed.message.subject, parsed.message.body) == ("café", "hé\n")
        assert parsed.problems == ()


def test_an_instant_that_no_calendar_has_is_no_date():
    for value in ("9999-12-31T23:59:59-14:00", "0001-01-01T00:00:00+14:00"):
        assert read(f"Date: {value}\n\n").date is None


def test_a_header_cannot_smuggle_in_another():
    smuggled = b"Subject: =?utf-8?q?hi=0D=0ABcc:_eve@x.org=0D=0A=0D=0Abody?=\n\ntext"
    message = read(b"From: joe@x.org\nMessage-ID: <a@x.org>\n" + smuggled)
    assert (message.subject, message.cc, message.body) == ("hi Bcc: eve@x.org body", (), "text")


def test_a_date_that_lies_is_kept_and_noted():
    received = b"Received: from a by b; Mon, 5 Jan 2004 10:00:00 +0000\n"
    for date, lies in (
        (b"Mon, 5 Jan 2004 09:00:00 +0000", False),
        (b"Tue, 1 Jan 1980 00:00:00 +0000", True),
    ):
        parsed = parse(received + SIMPLE.replace(b"From:", b"Date: " + date + b"\nFrom:", 1))
        assert parsed.message.date is not None
        assert ("its date is not that of its delivery" in parsed.problems) == lies


def test_the_parser_corpus_is_read_without_a_crash(shared_mail):
    count = senders = dates = bodies = broken = odd = 0
    with tarfile.open(shared_mail / "parser-samples.tar.xz") as archive:
        for member in archive:
            if not member.isfile() or member.name.endswith("MANIFEST.tsv"):
                continue
            parsed = parse(archive.extractfile(member).read())
            message = parsed.message
            assert UNREADABLE not in parsed.problems
            count += 1
            broken += bool(parsed.problems)
            senders += message.sender is not None and "@" in message.sender
            dates += message.date is not None
            bodies += bool(message.body)
            assert message.msgid
            odd += any(" " in name or "," in name for name in message.to if "@" in name)
    assert count > 1000
    assert broken < count / 4
    assert odd <= 2
    assert min(senders, dates, bodies) > count * 0.7


def test_what_answers_itself_starts_a_thread():
    raw = b"Message-ID: <a@x>\nIn-Reply-To: <a@x>\nReferences: <b@x> <a@x>\n\nhi"
    assert parse(raw).message.inreplyto == "b@x"
    assert parse(raw.replace(b"<b@x> ", b"")).message.inreplyto is None
