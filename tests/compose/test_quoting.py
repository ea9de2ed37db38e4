"""What replies quote, and addresses of the scheme mailto."""

from __future__ import annotations

import pytest

from tapestry.compose.mailto import Mailto, read_mailto
from tapestry.compose.quoting import LONGEST_QUOTE, forward_subject, quoted, reply_subject
from tapestry.core.errors import TapestryError


@pytest.mark.parametrize(
    ("subject", "replied", "sent_on"),
    [
        ("lunch", "Re: lunch", "Fwd: lunch"),
        ("RE: Re: AW: Sv:lunch", "Re: lunch", "Fwd: RE: Re: AW: Sv:lunch"),
        ("Fwd: fw: lunch", "Re: Fwd: fw: lunch", "Fwd: lunch"),
        ("Regarding lunch", "Re: Regarding lunch", "Fwd: Regarding lunch"),
        ("", "Re:", "Fwd:"),
        (None, "Re:", "Fwd:"),
        ("a\r\nBcc: e@x.org", "Re: a Bcc: e@x.org", "Fwd: a Bcc: e@x.org"),
    ],
)
def test_subjects(subject: str | None, replied: str, sent_on: str) -> None:
    assert (reply_subject(subject), forward_subject(subject)) == (replied, sent_on)


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("Lunch? \r\nAt noon.\r\n", "> Lunch?\n> At noon."),
        ("> earlier\n>> before\n\nyes", ">> earlier\n>>> before\n>\n> yes"),
        ("yes\n-- \nMary\nPhone 7", "> yes"),
        ("yes\n____\nR-devel mailing list\n", "> yes"),
        ("-- \nonly this", "> --\n> only this"),
        ("a\x00b\x1b[0m", "> ab[0m"),
        ("", ""),
        (None, ""),
    ],
)
def test_quotes(text: str | None, quote: str) -> None:
    assert quoted(text) == quote


def test_a_very_long_text_is_quoted_in_part() -> None:
    quote = quoted("a line of text\n" * 100_000)
    assert len(quote) < 2 * LONGEST_QUOTE and quote.endswith("> […]")


@pytest.mark.parametrize(
    ("url", "found"),
    [
        ("mailto:a@x.org,b@x.org", Mailto("a@x.org,b@x.org")),
        ("MAILTO:?to=a@x.org&cc=b@x.org", Mailto("a@x.org", "b@x.org")),
        ("mailto:a@x.org?Subject=a+b%20c", Mailto("a@x.org", subject="a+b c")),
        ("mailto:a@x.org?bcc=e@x.org&attach=/etc/passwd&from=x", Mailto("a@x.org")),
        ("mailto:a@x.org?subject=a%0D%0ABcc:e@x.org", Mailto("a@x.org", subject="a Bcc:e@x.org")),
        ("mailto:a@x.org%0D%0ABcc:e@x.org", Mailto("a@x.org Bcc:e@x.org")),
        ("mailto:?body=a%0D%0Ab%00", Mailto(body="a\nb")),
        ("mailto:", Mailto()),
    ],
)
def test_mailto(url: str, found: Mailto) -> None:
    assert read_mailto(url) == found


@pytest.mark.parametrize("url", ["javascript:alert(1)", "", "a@x.org", "mailto:" + "a" * 9000])
def test_what_is_no_mailto(url: str) -> None:
    with pytest.raises(TapestryError):
        read_mailto(url)
