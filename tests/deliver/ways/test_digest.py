"""The email digest: what is in it, in which order, and that strangers cannot write into it."""

from __future__ import annotations

from dataclasses import replace
from email import policy
from email.header import decode_header, make_header
from email.message import EmailMessage
from email.parser import BytesParser
from email.utils import parseaddr
from html.parser import HTMLParser

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tapestry.core.errors import TapestryError
from tapestry.deliver.batch import Batch, DeliveredMatch, Link
from tapestry.deliver.mail.envelope import DELIVERY_HEADER
from tapestry.deliver.one_line import one_line
from tapestry.deliver.ways.digest import MOST, compose
from tests.support.delivery.delivered_matches import ENVELOPE, KEY, SIGNER, batch, match

NAMES = [
    "From", "To", "Subject", "Date", "Message-ID", "List-Id", "List-Unsubscribe",
    "List-Unsubscribe-Post", "Auto-Submitted", "X-Auto-Response-Suppress", DELIVERY_HEADER,
    "MIME-Version", "Content-Type",
]  # fmt: skip
INJECTIONS = [
    "lunch\r\nBcc: all@example.com",
    "lunch\n\n<script>alert(1)</script>",
    "=?utf-8?q?x=0d=0aBcc:_all@example.com?=",
    "\u202etxt.exe\u2066",
    "half \ud800 a character",
    '"><img src=x onerror=alert(1)>{{ 7 * 7 }}',
    "--=_alternative\n--=_alternative--",
    'Jones, "Terry" <x@example.com>; \\',
    "\x00\x0b\x0c\x1c\x85\u2028\u2029",
    "words " * 500,
    "é" * 900,
    "x" * 2000,
]
STRANGE = st.text(st.characters()) | st.sampled_from(INJECTIONS)
"""Any text, surrogates included."""


class Elements(HTMLParser):
    """The tags, their attributes' names, the addresses and the text of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, tuple[str, ...]]] = []
        self.addresses: list[str] = []
        self.text = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, tuple(name for name, _ in attrs)))
        self.addresses += [value or "" for name, value in attrs if name == "href"]

    def handle_data(self, data: str) -> None:
        self.text += data


def read(message: EmailMessage | None) -> tuple[EmailMessage, str, str]:
    """Return a digest as a mail program reads it: from its bytes, with its text and its HTML."""
    assert message is not None
    received = BytesParser(policy=policy.default).parsebytes(message.as_bytes())
    assert isinstance(received, EmailMessage)
    plain, html = received.iter_parts()
    assert [plain.get_content_type(), html.get_content_type()] == ["text/plain", "text/html"]
    texts = (part.get_content().replace("\r\n", "\n") for part in (plain, html))
    return received, *texts


def composed(*matches: DeliveredMatch, note: str = "") -> tuple[EmailMessage, str, str]:
    return read(compose(batch(*matches, note=note), ENVELOPE))


def subject(*matches: DeliveredMatch, note: str = "") -> str:
    return str(composed(*matches, note=note)[0]["Subject"])


def in_order(text: str, *wanted: str) -> bool:
    place = 0
    for words in wanted:
        place = text.find(words, place) + len(words)
        if place < len(words):
            return False
    return True


def test_an_empty_batch_is_not_written() -> None:
    assert compose(batch(), ENVELOPE) is None
    assert compose(batch(note=" \n"), ENVELOPE) is None


def test_its_headers_are_those_of_mail_that_a_program_sends() -> None:
    message, _, _ = composed(match(1), match(2))
    assert message.keys() == NAMES
    headers = dict(message.items())
    assert headers["From"] == "Tapestry <digest@tapestry.example.org>"
    assert headers["To"] == "Terry Moore <terry@example.com>"
    assert headers["Date"] == "Mon, 23 Nov 2026 08:00:00 +0100"
    assert headers["Message-ID"] == "<digest-1-40@tapestry.example.org>"
    assert headers["List-Id"] == "<terry.tapestry.example.org>"
    assert headers["List-Unsubscribe"] == "<https://tapestry.example.org/stop/abc>"
    assert headers["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    assert headers["Auto-Submitted"] == "auto-generated"
    assert headers[DELIVERY_HEADER] == SIGNER.value(KEY)


def test_it_is_known_as_ours_when_it_comes_back() -> None:
    message, _, _ = composed(match(1))
    assert SIGNER.has_signed(message.as_bytes())


def test_it_is_the_same_bytes_whenever_it_is_tried_again() -> None:
    first, again = (compose(batch(match(1), match(2)), ENVELOPE) for _ in range(2))
    assert first is not None
    assert again is not None
    assert first.as_bytes() == again.as_bytes()


def test_its_bytes_are_those_that_the_email_package_writes() -> None:
    message = compose(batch(match(1), match(2, 2, op="delete")), ENVELOPE)
    assert message is not None
    assert message.as_bytes() == message.as_bytes(policy=message.policy)


def test_its_lines_are_as_smtp_wants_them() -> None:
    message = compose(batch(*(match(n, subject="ö" * 300) for n in range(30))), ENVELOPE)
    assert message is not None
    data = message.as_bytes()
    assert data.isascii()
    assert data.count(b"\n") == data.count(b"\r\n") == data.count(b"\r")
    assert max(map(len, data.split(b"\r\n"))) <= 78


@pytest.mark.parametrize(
    ("matches", "note", "words"),
    [
        ([match(1)], "", "New in filter-1: Subject 1"),
        ([match(1, subject="")], "", "New in filter-1: (no subject)"),
        ([match(1), match(2), match(3)], "", "3 new in filter-1"),
        ([match(1), match(2, 2), match(3, 3)], "", "3 new messages in 3 filters"),
        ([match(1), match(2), match(3, 2, op="delete")], "", "2 new in filter-1"),
        ([match(1, op="delete")], "", "1 message left filter-1"),
        ([match(1, op="delete"), match(2, 2, op="delete")], "", "2 messages left 2 filters"),
        ([], "A filter was paused.", "A note from Tapestry"),
        ([match(n) for n in range(40)], "", "40 new in filter-1"),
    ],
)
def test_its_subject_says_what_is_in_it(
    matches: list[DeliveredMatch], note: str, words: str
) -> None:
    assert subject(*matches, note=note) == words


def test_it_is_grouped_by_filter_ranked_and_says_why() -> None:
    rows = [match(1, 2), match(2, 1), match(3, 2, votes=4), match(4, 2)]
    _, plain, html = composed(*rows, note="Filter-2 is slow today.")
    for text in (plain, Elements(html).text):
        assert in_order(text, "Filter-2 is slow", "filter-1", "Subject 2", "filter-2", "replies by")
        assert in_order(text, "filter-2", "Subject 3", "+4 votes", "Subject 4", "Subject 1")
        assert in_order(text, "Subject 3", "Why: Jones replied to message 3")
        assert "Brian Jones · 23 Nov, 07:00" in text
        assert "See the rest" not in text


def test_its_links_are_in_both_parts() -> None:
    row = match(7)
    _, plain, html = composed(row)
    addresses = Elements(html).addresses
    for url in (row.url, *(link.url for link in row.links), ENVELOPE.settings_url):
        assert url in plain
        assert url in addresses
    assert ENVELOPE.unsubscribe_url in addresses


def test_only_addresses_of_the_web_are_links() -> None:
    row = match(1, url="javascript:alert(1)", links=(Link("Vote", "data:text/html,x"),))
    _, plain, html = composed(row)
    assert "javascript:" not in html + plain
    assert "data:" not in html + plain
    assert "Subject 1" in html


def test_what_left_a_live_list_is_told_shortly() -> None:
    _, plain, html = composed(match(1), match(2, 2, op="delete"))
    for text in (plain, Elements(html).text):
        assert in_order(text, "Subject 1", "No longer in filter-2", "Subject 2, Brian Jones")
        assert "Jones replied to message 2" not in text


def test_what_came_and_went_at_once_is_told_once() -> None:
    came, went = match(1), match(2, op="delete", msgid="m1@example.com", subject="Subject 1")
    message, plain, _ = composed(came, went)
    assert message["Subject"] == "1 message left filter-1"
    assert plain.count("Subject 1") == 1


def test_of_many_it_shows_the_first_and_counts_the_rest() -> None:
    rows = [*(match(n) for n in range(40)), *(match(50 + n, 2, op="delete") for n in range(3))]
    _, plain, html = composed(*rows)
    elements = Elements(html)
    assert plain.count("Why: ") == elements.text.count("Why: ") == MOST == 25
    assert "filter-1 (25 of 40)" in plain
    assert "No longer in" not in plain
    for text in (plain, elements.text):
        assert "See the rest: 18 more" in text
        assert "Subject 39" in text
        assert "Subject 14" not in text
    assert elements.addresses.count(ENVELOPE.site_url) == 2


def test_the_largest_ordinary_one_is_not_clipped_by_gmail() -> None:
    link = Link("Mute the thread", "https://tapestry.example.org/do/" + "x" * 120)
    rows = [match(n, n % 5, subject="s" * 150, links=(link,) * 3) for n in range(30)]
    assert len(composed(*rows)[2].encode()) < 102 * 1024


def test_the_text_keeps_to_72_columns_and_addresses_whole() -> None:
    long = "https://tapestry.example.org/" + "long/" * 40
    row = match(1, subject="words " * 30, explanation="because " * 30, url=long)
    _, plain, _ = composed(row, note="A note. " * 30)
    lines = plain.splitlines()
    assert f"  {long}" in lines
    assert all(len(line) <= 72 for line in lines if "https://" not in line)


def test_times_are_those_of_the_reader() -> None:
    instants = [match(1, received=0), match(2, received=-(2**62)), match(3, received=2**62)]
    _, plain, _ = composed(*instants)
    assert plain.count("1 Jan 1970") == 3


TEXTS = st.fixed_dictionaries(
    dict.fromkeys(
        ["subject", "sender", "sender_name", "explanation", "filter_name", "filter_text"], STRANGE
    )
)


def tags(message: tuple[EmailMessage, str, str]) -> list[tuple[str, tuple[str, ...]]]:
    return Elements(message[2]).tags


@settings(deadline=None)
@given(TEXTS, STRANGE)
def test_no_stranger_can_add_a_header_or_an_element(texts: dict[str, str], note: str) -> None:
    wanted = {name: one_line(text) for name, text in texts.items()}
    harmless = {name: "x" if text else "" for name, text in wanted.items()}
    quiet = "x" if one_line(note) else ""
    message, plain, html = composed(match(1, **texts), note=note)
    assert message.keys() == NAMES
    assert not message.defects
    assert str(message["To"]) == "Terry Moore <terry@example.com>"
    assert tags((message, plain, html)) == tags(composed(match(1, **harmless), note=quiet))
    assert not set(plain + html) & set("\r\x00\u202e\u2066\u2028")


@settings(deadline=None)
@given(STRANGE, STRANGE)
@example("=?utf-8?q?a?= =?utf-8?q?b?=", '"Terry" <x@example.com>')
def test_headers_read_as_they_were_meant(name: str, person: str) -> None:
    envelope = replace(ENVELOPE, to_name=person)
    rows = (match(1, filter_name=name), match(2, filter_name=name))
    message, _, _ = read(compose(batch(*rows), envelope))
    assert message.keys() == NAMES
    assert str(message["Subject"]) == f"2 new in {one_line(name, 60)}".rstrip()
    display, address = parseaddr("".join(str(dict(message.raw_items())["To"]).splitlines()))
    assert address == "terry@example.com"
    assert str(make_header(decode_header(display))) == one_line(person, 80)


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(1, 4), st.booleans(), STRANGE), max_size=MOST))
def test_every_match_of_a_small_batch_is_in_both_parts(
    rows: list[tuple[int, bool, str]],
) -> None:
    matches = [
        match(number, filter_id, op="insert" if entered else "delete", subject=f"[{number}] {text}")
        for number, (filter_id, entered, text) in enumerate(rows)
    ]
    message = compose(batch(*matches), ENVELOPE)
    assert (message is None) == (not matches)
    if message is None:
        return
    _, plain, html = read(message)
    text, shown = " ".join(plain.split()), " ".join(Elements(html).text.split())
    for row in matches:
        assert " ".join(one_line(row.subject).split()) in text
        assert " ".join(one_line(row.subject).split()) in shown
    assert "See the rest" not in html


@settings(deadline=None, max_examples=30)
@given(st.lists(st.tuples(st.integers(1, 40), st.booleans()), min_size=MOST, max_size=90))
def test_never_more_than_the_most(rows: list[tuple[int, bool]]) -> None:
    matches = [
        match(number, filter_id, op="insert" if entered else "delete")
        for number, (filter_id, entered) in enumerate(rows)
    ]
    _, plain, _ = composed(*matches)
    shown = plain.count("Why: ") + plain.count("\n- ")
    assert shown == MOST
    assert (f"See the rest: {len(rows) - MOST} more" in plain) == (len(rows) > MOST)


@pytest.mark.parametrize(
    "changed",
    [
        {"to_address": "terry@example.com\r\nBcc: all@example.com"},
        {"to_address": "terry@example.com, all@example.com"},
        {"to_address": "terry"},
        {"to_address": "térry@example.com"},
        {"to_address": "terry@" + "x" * 70 + ".example"},
        {"from_address": "<digest@example.org>"},
        {"list_id": "two words"},
        {"message_id": "a@b>\nBcc: x"},
        {"message_id": ""},
        {"unsubscribe_url": "https://example.org/a>, <mailto:all@example.com"},
    ],
)
def test_a_broken_envelope_is_refused_in_words(changed: dict[str, str]) -> None:
    with pytest.raises(TapestryError) as caught:
        compose(batch(match(1)), replace(ENVELOPE, **changed))
    assert caught.value.hint
    assert "\n" not in caught.value.message


def test_a_broken_key_is_refused() -> None:
    with pytest.raises(TapestryError):
        compose(Batch("two\nlines", 0, 1, (match(1),)), ENVELOPE)


def test_a_domain_in_letters_of_its_country_is_written_to() -> None:
    envelope = replace(ENVELOPE, to_address="info@bücher.example", to_name="")
    message, _, _ = read(compose(batch(match(1)), envelope))
    assert message["To"] == "info@xn--bcher-kva.example"
