"""What a forged copy has beside the words of the genuine one makes it another message."""

from __future__ import annotations

import pytest

from tapestry.identity.list_footers import without_footers
from tapestry.identity.other_parts import other_parts
from tapestry.ingest.parse import parse
from tapestry.mime.sections import MOST_DELIMITERS, MOST_PARTS
from tapestry.tables.delta.log import Tables
from tapestry.tables.read.originals import Original
from tapestry.tables.write.append import append_messages
from tapestry.tables.write.publish import publish
from tapestry.tables.write.staging import Staging
from tests.support.clocks import MemoryClock

HEAD = "Message-ID: <a@x.org>\nFrom: Joe <joe@x.org>\nSubject: Invoice\nMIME-Version: 1.0\n"
TEXT = "Please pay at noon.\nSee https://x.org/pay for more.\n"
FOOTER = "____________\nR-devel mailing list\nTo unsubscribe: https://x.org/listinfo/r-devel\n"
HTML = "<p>Please pay at noon. See <a href='https://x.org/pay'>https://x.org/pay</a> for more.</p>"
EXE = "Content-Type: application/octet-stream; name=invoice.exe\n\nTVqQ"


def multipart(*parts: str, kind: str = "mixed", boundary: str = "=b=") -> bytes:
    """A message of these parts, each with its headers."""
    head = f'{HEAD}Received: by {boundary}\nContent-Type: multipart/{kind};\n boundary="{boundary}"'
    return (
        "".join(
            [head, "\n\nThis is a multi-part message.\n", *(f"--{boundary}\n{p}\n" for p in parts)]
        ).encode()
        + f"--{boundary}--\n".encode()
    )


def plain(text: str = TEXT) -> str:
    return f"Content-Type: text/plain; charset=utf-8\n\n{text}"


def html(text: str = HTML) -> str:
    return f"Content-Type: text/html; charset=utf-8\n\n{text}"


def add(tables: Tables, *raws: bytes, staged: bool = False) -> int:
    """Take messages in; return how many were new."""
    clock, messages = MemoryClock(), [parse(raw).message for raw in raws]
    originals = [Original(raw) for raw in raws]
    if not staged:
        return append_messages(tables, clock, messages, originals=originals).added
    with Staging.opened(tables, "box", "public") as staging:
        for message, original in zip(messages, originals, strict=True):
            staging.add([message], [original], None)
        return publish(staging, clock, pause=lambda _seconds: None).added


GENUINE = f"{HEAD}\n{TEXT}".encode()
BOTH = multipart(plain(), html(), kind="alternative")
LETTER = multipart(plain(), EXE)

FORGED = {
    "a footer": (GENUINE, f"{HEAD}\n{TEXT}____\nPay Eve, account 666\nTo unsubscribe\n".encode()),
    "a link in a footer": (
        GENUINE,
        f"{HEAD}\n{TEXT}____\nhttps://evil.example/pay\nTo unsubscribe\n".encode(),
    ),
    "a footer of a list above it": (
        GENUINE,
        f"{HEAD}\n{TEXT}____\nPay Eve\n____\nR mailing list\n".encode(),
    ),
    "an attachment": (GENUINE, LETTER),
    "another attachment": (LETTER, LETTER.replace(b"TVqQ", b"TVqR")),
    "another name": (LETTER, LETTER.replace(b"invoice.exe", b"invoice.pdf")),
    "another type": (LETTER, LETTER.replace(b"octet-stream", b"pdf")),
    "HTML": (GENUINE, multipart(plain(), html("<p>Pay Eve</p>"), kind="alternative")),
    "other HTML": (BOTH, BOTH.replace(b"at noon. See", b"Eve. See")),
    "a link in HTML": (BOTH, BOTH.replace(b"href='https://x.org", b"href='https://evil.example")),
    "a link of HTML alone": (
        f"{HEAD}{html()}".encode(),
        f"{HEAD}{html()}".replace("href='https://x", "href='https://y").encode(),
    ),
    "a link that begins alike": (
        GENUINE,
        BOTH.replace(b"href='https://x.org/pay'", b"href='https://x.or'"),
    ),
    "an address": (
        f"{HEAD}\nWrite to joe@x.org\n".encode(),
        f"{HEAD}\nWrite to eve@evil.example\n".encode(),
    ),
    "a link with an at sign": (
        f"{HEAD}\nSee https://x.org/@joe\n".encode(),
        f"{HEAD}\nSee https://evil.example/@joe\n".encode(),
    ),
    "a subject": (GENUINE, GENUINE.replace(b": Inv", b": [Pay account 666 at once] Inv")),
    "two types": (
        GENUINE,
        f"{HEAD}Content-Type: text/plain\nContent-Type: text/html\n\n{TEXT}".encode(),
    ),
    "two types of parts": (
        BOTH,
        BOTH.replace(
            b"Content-Type: multipart", b"Content-Type: text/plain\nContent-Type: multipart"
        ),
    ),
    "a part after the last": (GENUINE, multipart(plain()) + f"--=b=\n{EXE}\n".encode()),
    "lines that end otherwise": (GENUINE, LETTER.replace(b"\n", b"\r")),
}


@pytest.mark.parametrize("what", FORGED)
@pytest.mark.parametrize("staged", [False, True])
def test_a_forged_copy_keeps_the_genuine_message_in(tmp_path, what, staged):
    genuine, forged = FORGED[what]
    assert genuine != forged
    tables = Tables(tmp_path)
    assert add(tables, forged) == 1
    assert add(tables, genuine, genuine, staged=staged) == 1
    assert add(tables, genuine, forged, staged=staged) == 0


SAME = {
    "a list's footer": (GENUINE, f"{HEAD}\n{TEXT}{FOOTER}".encode()),
    "a part with a footer": (LETTER, multipart(plain(), EXE, plain(FOOTER), boundary="of.list")),
    "the same parts": (BOTH, multipart(plain(), html(), kind="alternative", boundary="other")),
    "HTML that says the same": (GENUINE, BOTH),
    "encoded otherwise": (
        LETTER,
        multipart(
            plain(TEXT.replace("noon", "n=6Fon")).replace(
                "\n\n", "\nContent-Transfer-Encoding: quoted-printable\n\n", 1
            ),
            EXE.replace("TVqQ", "TV\nqQ\n"),
        ),
    ),
    "other line ends": (LETTER, LETTER.replace(b"\n", b"\r\n")),
    "a hidden address": (
        f"{HEAD}\nWrite to joe@x.org\n".encode(),
        f"{HEAD}\nWrite to joe at x.org\n".encode(),
    ),
    "a list's tag": (GENUINE, GENUINE.replace(b": Inv", b": [R-devel] Inv")),
}


@pytest.mark.parametrize("what", SAME)
def test_a_copy_that_a_list_has_sent_is_the_same(tmp_path, what):
    for number, pair in enumerate((SAME[what], SAME[what][::-1])):
        assert add(Tables(tmp_path / str(number)), *pair) == 1
        assert add(Tables(tmp_path / str(number)), *pair, staged=True) == 0


FOOTERS = [
    "R-devel@stat.math.ethz.ch mailing list\nhttps://www.stat.math.ethz.ch/mailman/listinfo/r-devel",
    'r-devel mailing list -- Read http://www.ci.tuwien.ac.at/~hornik/R/R-FAQ.html\nSend "info", '
    '"help", or "[un]subscribe"\n(in the "body", not the subject !)  To: r-devel-request@x.ch',
    "R-help at r-project.org mailing list\nhttps://stat.ethz.ch/mailman/listinfo/r-help\nPLEASE do "
    "read the posting guide http://www.R-project.org/posting-guide.html\nand provide commented, "
    "minimal, self-contained, reproducible code.",
    "You received this message because you are subscribed to the Google Groups group.\nTo "
    "unsubscribe from this group and stop receiving emails from it, send an email to "
    "g+unsubscribe@googlegroups.com.\nTo view this discussion on the web visit "
    "https://groups.google.com/d/msgid/g/1.",
]


@pytest.mark.parametrize("footer", FOOTERS)
def test_what_lists_write_is_a_footer(footer):
    assert without_footers(f"Lunch?\n_____\n{footer}\n") == "Lunch?"


def test_parts_beyond_those_told_apart_are_counted():
    few, many = (multipart(*[plain()] * number, EXE) for number in (3, MOST_PARTS + 3))
    changed = many.replace(b"TVqQ", b"TVqR")
    assert len({other_parts(raw, TEXT) for raw in (few, many, changed)}) == 3


def test_lines_that_only_look_like_boundaries_take_no_time_for_ever():
    many = multipart(plain("--=b=x\n" * (MOST_DELIMITERS + 1)), EXE)
    assert other_parts(many, TEXT) != other_parts(many.replace(b"TVqQ", b"TVqR"), TEXT)


def test_text_beyond_what_is_kept_counts():
    long = GENUINE + b"word\n" * 100_000
    assert other_parts(long, "") != other_parts(long + b"Eve", "") != ""
